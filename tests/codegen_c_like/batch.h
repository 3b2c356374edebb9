// Functions that become one text, each with arguments to run it on: the compiler is started once
// for all of them.
//
//   Batch batch;
//   batch.add_map("float32 +", {a, b}, Float(32), 1, [](auto x) { return x[0] + x[1]; });
//   batch.expect_as_interpreted();
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tenon/codegen/c_like/compile.h"
#include "tenon/codegen/c_like/kernels.h"
#include "tenon/interp/evaluate.h"
#include "tenon/runtime/device_api.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"

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

  /// Compares the C code with the interpreter and, where there is one, with OpenCL's device, as
  /// kernels of one thread. NVRTC, where it is found, compiles the kernels as CUDA C.
  void expect_as_interpreted(const CompileOptions& options = {.opt_level = 1}) const {
    const runtime::Module code = compile_to_c({{module_, {}}}, options).load();
    std::vector<tir::PrimFunc> kernels;
    for (const Case& c : cases_) kernels.push_back(module_.functions.at(c.name));
    const KernelCode device_code = emit_kernels(kernels, {.kind = tir::TargetKind::OpenCl});
    static_cast<void>(emit_kernels(kernels, {.kind = tir::TargetKind::Cuda, .arch = "sm_80"}));
    const bool has_device = opencl(0).exists();
    std::unique_ptr<runtime::LoadedKernels> on_device;
    if (has_device)
      on_device =
          runtime::device_api(DeviceType::OpenCL)
              .load_kernels(
                  0, {.kernels = device_code.specs, .source = device_code.text, .binary = {}});
    for (std::size_t k = 0; k < cases_.size(); ++k) {
      const Case& c = cases_[k];
      std::vector<runtime::NDArray> right, there;
      std::vector<tir::HostValue> values;
      std::vector<runtime::Argument> arguments;
      std::vector<TenonValue> handles;
      for (const runtime::NDArray& arg : c.args) {
        right.push_back(arg.copy_to(cpu(0)));
        values.emplace_back(tir::HostArray{
            .data = right.back().dl_tensor().data, .dtype = arg.dtype(), .shape = arg.shape()});
        if (has_device) {
          there.push_back(arg.copy_to(opencl(0)));
          handles.push_back({.p = there.back().dl_tensor().data});
        }
        arguments.emplace_back(arg);
      }
      tir::evaluate(kernels[k], values);
      code[c.name].call(arguments);
      if (has_device) on_device->launch(k, handles, {{1, 1, 1}, {1, 1, 1}, 0});
      for (std::size_t n = 0; n < c.args.size(); ++n) {
        EXPECT_EQ(first_difference(c.args[n], right[n]), -1)
            << "in C, " << c.what << ": " << tir::print_function(kernels[k]);
        if (!has_device) continue;
        EXPECT_EQ(first_difference(there[n].copy_to(cpu(0)), right[n]), -1)
            << "in OpenCL, " << c.what << ": " << tir::print_function(kernels[k]);
      }
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

  /// The first element whose bytes differ, or -1. All NaNs are equal.
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
