// What tests of threads ask of schedules that are refused.
#pragma once

#include <gtest/gtest.h>

#include "tenon/te/infer_bound.h"
#include "tenon/te/schedule.h"

namespace tenon::te {

inline Tensor elementwise(const Tensor& x, const std::string& name) {
  return compute(
      x.shape(), [&](std::span<const Var> i) { return x(i) + 1.0f; }, name);
}

/// What the refusal says; "" if there is none.
inline std::string refusal(const Schedule& s) {
  try {
    infer_bound(s);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

inline void expect_refused(const Schedule& s, const std::vector<std::string>& parts) {
  const std::string text = refusal(s);
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

}  // namespace tenon::te
