// Schedule helpers for matrix products of low-precision types on CPUs. Dot product instructions
// multiply several adjacent elements along the reduction axis and add their products (the pragma
// dot_products).
#pragma once

#include "tenon/te/schedule.h"

namespace tenon::topi::cpu {

using te::Tensor;

/// Returns the number of adjacent elements that one instruction multiplies for each accumulator of
/// a matrix product: four for int8 or uint8 accumulated in int32, two for bfloat16 accumulated in
/// float32. Returns 1 if there is no such instruction or the reduction is too short for it.
int neighbours_at_once(const Tensor& product);

/// Like keep_in_registers, but for dot products. The tile must have a single reduction axis.
/// `steps` groups of adjacent elements are unrolled.
void keep_dot_products_in_registers(const te::Stage& sums, const te::IterVar& row,
                                    const te::IterVar& column, int lanes, int steps);

/// Packs the second factor in panels of `width` columns. `neighbours` elements of a column, which
/// one instruction multiplies, are adjacent in a panel. An element whose indices are x in dimension
/// `k` and y in dimension `j` moves to {y / width, x / neighbours, y % width * neighbours + x %
/// neighbours}, after the batch dimension. `k` and `j` are dimensions of `packed`. Packs
/// `panels_at_once` panels together, which reads longer contiguous pieces of the source's rows.
/// Returns the loop over panels, or over groups of `panels_at_once` panels.
te::IterVar lay_out_neighbours(const te::Schedule& s, const Tensor& packed, std::size_t k,
                               std::size_t j, int width, int lanes, int neighbours,
                               int panels_at_once = 1);

}  // namespace tenon::topi::cpu
