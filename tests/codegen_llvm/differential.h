// Runs a function compiled and interpreted on equal arguments, and compares the bytes of every
// array.
//
//   expect_as_interpreted(kernel.module(body), {a, b, c});
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "kernel.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/print.h"

namespace tenon::codegen::testing {

inline tir::HostArray borrowed(const runtime::NDArray& array) {
  return {.data = array.dl_tensor().data,
          .dtype = array.dtype(),
          .shape = array.shape(),
          .strides = {}};
}

inline std::size_t bytes_of(const runtime::NDArray& array) {
  return static_cast<std::size_t>(array.num_elements() * array.dtype().bytes());
}

inline void expect_as_interpreted(const tir::IRModule& module,
                                  const std::vector<runtime::NDArray>& args,
                                  const tir::TargetFacts& target = host_target()) {
  std::vector<runtime::NDArray> copies;
  std::vector<tir::HostValue> values;
  std::vector<runtime::Argument> compiled_args;
  for (const runtime::NDArray& arg : args) {
    copies.push_back(arg.copy_to(cpu(0)));
    values.emplace_back(borrowed(copies.back()));
    compiled_args.emplace_back(arg);
  }
  tir::evaluate(module.functions.begin()->second, values);
  compile(module, target).load()[module.functions.begin()->first].call(compiled_args);
  for (std::size_t n = 0; n < args.size(); ++n) {
    const auto* got = static_cast<const std::uint8_t*>(args[n].dl_tensor().data);
    const auto* wanted = static_cast<const std::uint8_t*>(copies[n].dl_tensor().data);
    const std::size_t element = static_cast<std::size_t>(args[n].dtype().bytes());
    for (std::size_t at = 0; at < bytes_of(args[n]); at += element) {
      if (std::memcmp(got + at, wanted + at, element) == 0) continue;
      ADD_FAILURE() << "argument " << n << ", element " << at / element << " differs:\n"
                    << print_module(module);
      return;
    }
  }
}

}  // namespace tenon::codegen::testing
