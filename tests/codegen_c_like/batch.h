// Functions that become one C text, each with arguments to run it on: the C compiler is started
// once for all of them.
//
//   Batch batch;
//   batch.add_map("float32 +", {a, b}, Float(32), 1, [](auto x) { return x[0] + x[1]; });
//   batch.expect_as_interpreted();
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tenon/codegen/c_like/compile.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/evaluate.h"
#include "tenon/tir/print.h"

namespace tenon::codegen::testing {

/// A function of arrays, made from its body.
class Kernel {
 public:
  tir::Buffer array(std::vector<tir::Expr> shape, DataType dtype, std::string name = "") {
    if (name.empty()) name = std::string(1, static_cast<char>('A' + func_.params.size()));
    const tir::Buffer declared = tir::decl_buffer(std::move(shape), dtype, {.name = name});
    const tir::Var param(declared->name, Handle());
    func_.params.push_back(param);
    func_.buffers.push_back(
        {.param = param, .declared = declared, .buffer = tir::flattened(declared)});
    return func_.buffers.back().buffer;
  }
  tir::Var scalar(DataType dtype, std::string name) {
    func_.params.emplace_back(std::move(name), dtype);
    return func_.params.back();
  }
  tir::PrimFunc function(const tir::Stmt& body, const std::string& name) const {
    tir::PrimFunc func = func_;
    func.body = body;
    func.attrs.global_symbol = name;
    return func;
  }

 private:
  tir::PrimFunc func_{.params = {}, .buffers = {}, .body = tir::make_nop()};
};

class Batch {
 public:
  void add(const std::string& what, const Kernel& kernel, const tir::Stmt& body,
           std::vector<runtime::NDArray> args) {
    const std::string name = "f" + std::to_string(cases_.size());
    module_.functions.emplace(name, kernel.function(body, name));
    cases_.push_back({what, name, std::move(args)});
  }

  using Compute = std::function<tir::Expr(const std::vector<tir::Expr>&)>;
  /// result[i] = f(inputs[i]), so many elements at a time.
  void add_map(const std::string& what, const std::vector<runtime::NDArray>& inputs,
               DataType result, int lanes, const Compute& f) {
    Kernel kernel;
    const auto count = static_cast<int>(inputs[0].num_elements());
    std::vector<tir::Buffer> buffers;
    for (const runtime::NDArray& input : inputs)
      buffers.push_back(kernel.array({count}, input.dtype()));
    const tir::Buffer out = kernel.array({count}, result);
    tir::IRBuilder ib;
    ib.for_range(0, count / lanes, "i", [&](tir::Var i) {
      const tir::Expr at = lanes == 1 ? tir::Expr(i) : tir::make_ramp(i * lanes, 1, lanes);
      std::vector<tir::Expr> values;
      for (const tir::Buffer& buffer : buffers) values.push_back(tir::make_load(buffer, {at}));
      ib.emit(tir::make_store(out, f(values), {at}));
    });
    std::vector<runtime::NDArray> args = inputs;
    args.push_back(runtime::NDArray::zeros({count}, result));
    add(what + (lanes > 1 ? ", in vectors" : ""), kernel, ib.get(), std::move(args));
  }

  void expect_as_interpreted(const CompileOptions& options = {.opt_level = 1}) const {
    const runtime::Module code = load(compile_to_c({{module_, {}}}, options));
    for (const Case& c : cases_) {
      std::vector<runtime::NDArray> copies;
      std::vector<tir::HostValue> values;
      std::vector<runtime::Argument> arguments;
      for (const runtime::NDArray& arg : c.args) {
        copies.push_back(arg.copy_to(cpu(0)));
        values.emplace_back(tir::HostArray{
            .data = copies.back().dl_tensor().data, .dtype = arg.dtype(), .shape = arg.shape()});
        arguments.emplace_back(arg);
      }
      const tir::PrimFunc& func = module_.functions.at(c.name);
      tir::evaluate(func, values);
      code[c.name].call(arguments);
      for (std::size_t n = 0; n < c.args.size(); ++n)
        EXPECT_EQ(first_difference(c.args[n], copies[n]), -1)
            << c.what << ": " << tir::print_function(func);
    }
  }

 private:
  struct Case {
    std::string what, name;
    std::vector<runtime::NDArray> args;
  };

  static bool is_nan(const char* bytes, DataType t) {
    if (!t.is_floating()) return false;
    if (t.bits == 64) return std::isnan(*reinterpret_cast<const double*>(bytes));
    if (t.bits == 32) return std::isnan(*reinterpret_cast<const float*>(bytes));
    const auto magnitude = *reinterpret_cast<const std::uint16_t*>(bytes) & 0x7fff;
    return magnitude > (t.is_bfloat() ? 0x7f80 : 0x7c00);
  }

  /// The bytes count, but one NaN is like another. -1: there is none.
  static std::int64_t first_difference(const runtime::NDArray& a, const runtime::NDArray& b) {
    const auto bytes = static_cast<std::size_t>(a.dtype().bytes());
    const auto* x = static_cast<const char*>(a.dl_tensor().data);
    const auto* y = static_cast<const char*>(b.dl_tensor().data);
    for (std::int64_t n = 0; n < a.num_elements(); ++n, x += bytes, y += bytes) {
      const bool both_nan = is_nan(x, a.dtype()) && is_nan(y, a.dtype());
      if (!both_nan && std::memcmp(x, y, bytes) != 0) return n;
    }
    return -1;
  }

  tir::IRModule module_;
  std::vector<Case> cases_;
};

}  // namespace tenon::codegen::testing
