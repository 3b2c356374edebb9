// The arrays that a candidate is called with, and checks of its results.
#pragma once

#include <optional>
#include <string>

#include "tenon/runtime/ndarray.h"
#include "tune/measure/job.h"

namespace tenon::tune {

/// Returns the initial value of argument n. Inputs are random, determined by the seed: floats in
/// [0, 1), and integers from 0 to 3, which are valid indices. Outputs are filled with NaN, or with
/// an unlikely integer.
runtime::NDArray initial_array(const Job& job, std::size_t n);

/// Returns the bytes of the written arguments.
std::string bytes_of_outputs(const Job& job, const std::vector<runtime::NDArray>& arrays);

/// Returns the first difference: "argument 2 is wrong at element 17: 3.5 instead of 4". Nullopt if
/// all elements are right.
std::optional<std::string> fault(const Job& job, const std::vector<runtime::NDArray>& arrays,
                                 const std::string& expected);

}  // namespace tenon::tune
