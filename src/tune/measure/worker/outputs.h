// The arrays that a candidate is called with, and whether it left in them what it should.
#pragma once

#include <optional>
#include <string>

#include "tenon/runtime/ndarray.h"
#include "tune/measure/job.h"

namespace tenon::tune {

/// Argument n before a call. What is read is random, the same for the same seed: floats in [0, 1),
/// integers from 0 to 3, which may be indices; what is only written starts as NaN, integers as a
/// value that is no likely result.
runtime::NDArray initial_array(const Job& job, std::size_t n);

/// The bytes of the written arguments.
std::string bytes_of_outputs(const Job& job, const std::vector<runtime::NDArray>& arrays);

/// The first thing that is wrong: "argument 2 is wrong at element 17: 3.5 instead of 4"; none if
/// nothing is.
std::optional<std::string> fault(const Job& job, const std::vector<runtime::NDArray>& arrays,
                                 const std::string& expected);

}  // namespace tenon::tune
