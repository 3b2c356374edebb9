// Arguments for the block programs of tutorials.
#pragma once

#include <tenon/tenon.h>

/// Random arrays for the parameters of the module's only function.
std::vector<tenon::runtime::NDArray> random_arrays(const tenon::tir::IRModule& mod);
