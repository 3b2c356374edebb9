// Small functions for the tests of code generation: made from a body, compiled for this host,
// called on vectors.
//
//   Kernel k;
//   Buffer a = k.array({16}), c = k.array({16});
//   IRBuilder ib; ...
//   auto run = k.compile(ib.get());
//   run(a_values, c_values);
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tenon/codegen/llvm/compile.h"
#include "tenon/codegen/llvm/processor.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/stmt.h"

namespace tenon::codegen::testing {

inline tir::TargetFacts host_target() {
  const Processor host = host_processor();
  tir::TargetFacts facts;
  facts.cpu = host.name;
  facts.features = host.features;
  facts.vector_registers = vector_registers(facts);
  return facts;
}

/// A processor without vectors beyond SSE2: no float16 conversions, no fused multiply-add.
inline tir::TargetFacts plain_target() {
  tir::TargetFacts facts;
  facts.cpu = "x86-64";
  return facts;
}

class Kernel {
 public:
  tir::Buffer array(std::vector<tir::Expr> shape, DataType dtype, std::string name = "") {
    if (name.empty()) name = std::string(1, static_cast<char>('A' + func_.params.size()));
    return add(tir::decl_buffer(std::move(shape), dtype, {.name = std::move(name)}));
  }
  tir::Buffer add(tir::Buffer declared) {
    const tir::Var param(declared->name, Handle());
    func_.params.push_back(param);
    func_.buffers.push_back(
        {.param = param, .declared = declared, .buffer = tir::flattened(declared)});
    return func_.buffers.back().buffer;
  }
  tir::Var scalar(DataType dtype, std::string name) {
    const tir::Var param(std::move(name), dtype);
    func_.params.push_back(param);
    return param;
  }

  tir::IRModule module(const tir::Stmt& body, const std::string& name = "main") {
    tir::PrimFunc func{.params = func_.params, .buffers = func_.buffers, .body = body};
    func.attrs.global_symbol = name;
    tir::IRModule result;
    result.functions.emplace(name, std::move(func));
    return result;
  }
  runtime::Function compile(const tir::Stmt& body, const tir::TargetFacts& facts = host_target(),
                            const CompileOptions& options = {}) {
    return codegen::compile(module(body), facts, options).load()["main"];
  }
  std::string source(const tir::Stmt& body, std::string_view kind,
                     const CompileOptions& options = {}) {
    return codegen::compile(module(body), host_target(), options).source(kind);
  }

 private:
  tir::PrimFunc func_{.params = {}, .buffers = {}, .body = tir::make_nop()};
};

template <class T>
runtime::NDArray array_of(const std::vector<T>& values) {
  return runtime::NDArray::from(values, {static_cast<std::int64_t>(values.size())});
}

/// f(A[i], B[i], ...) of the inputs, for all of their elements, so many at a time.
inline runtime::NDArray map_all(const std::vector<runtime::NDArray>& inputs, DataType result,
                                const std::function<tir::Expr(const std::vector<tir::Expr>&)>& f,
                                int lanes, const tir::TargetFacts& target) {
  const std::int64_t elements = inputs[0].num_elements();
  const tir::Expr count = tir::make_int(Int(32), elements);
  Kernel k;
  std::vector<tir::Buffer> from;
  for (const runtime::NDArray& input : inputs) from.push_back(k.array({count}, input.dtype()));
  const tir::Buffer to = k.array({count}, result);
  tir::IRBuilder ib;
  ib.for_range(0, tir::make_int(Int(32), elements / lanes), "i", [&](tir::Var i) {
    const tir::Expr at = lanes == 1 ? tir::Expr(i) : tir::make_ramp(i * lanes, 1, lanes);
    std::vector<tir::Expr> values;
    for (const tir::Buffer& buffer : from) values.push_back(tir::make_load(buffer, {at}));
    ib.emit(tir::make_store(to, f(values), {at}));
  });
  const runtime::NDArray output = runtime::NDArray::zeros(inputs[0].shape(), result);
  std::vector<runtime::Argument> args(inputs.begin(), inputs.end());
  args.emplace_back(output);
  k.compile(ib.get(), target).call(args);
  return output;
}
/// B[i] = f(A[i]).
inline runtime::NDArray map(const runtime::NDArray& input, DataType result,
                            const std::function<tir::Expr(const tir::Expr&)>& f, int lanes = 1,
                            const tir::TargetFacts& target = host_target()) {
  return map_all(
      {input}, result, [&](const std::vector<tir::Expr>& x) { return f(x[0]); }, lanes, target);
}
/// C[i] = f(A[i], B[i]).
inline runtime::NDArray map(const runtime::NDArray& a, const runtime::NDArray& b, DataType result,
                            const std::function<tir::Expr(const tir::Expr&, const tir::Expr&)>& f,
                            int lanes = 1, const tir::TargetFacts& target = host_target()) {
  return map_all(
      {a, b}, result, [&](const std::vector<tir::Expr>& x) { return f(x[0], x[1]); }, lanes,
      target);
}

}  // namespace tenon::codegen::testing
