// Programs that the tests tune.
#pragma once

#include <string>

#include "tenon/tir/function.h"
#include "tests/common/sanitized.h"

namespace tenon::tune {

/// Sanitizers take signals over, and more memory than any limit leaves.
using testing::kIsSanitized;

/// C = A B of size x size float32, as the course page has it; a block `C` in function `main`.
tir::IRModule product(int size = 128);
/// With a block `D` that takes the maximum with zero.
tir::IRModule product_relu(int size = 128);
/// B = the sums of A's rows, float32.
tir::IRModule row_sums(int rows, int columns);
/// B = A + `added`, of so many elements.
tir::IRModule sum_with(int added, int size = 64);
/// The same parameters; its block calls extern functions of C: "abort", "pause".
tir::IRModule calling(const std::string& call, int size = 64);

/// A section of tests/golden/data/tuning.
std::string golden_tuning(const std::string& file);
/// Without blank lines and trailing spaces.
std::string normalized(const std::string& text);

}  // namespace tenon::tune
