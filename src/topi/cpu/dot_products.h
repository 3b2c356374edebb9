// Schedule parts for sums of products of low-precision types on CPUs. Dot product instructions
// multiply adjacent elements of the reduction and add their products (the pragma dot_products).
#pragma once

#include "tenon/te/schedule.h"

namespace tenon::topi::cpu {

using te::Tensor;

/// Returns the number of adjacent elements multiplied at once in the product of two matrices: four
/// of int8 or uint8 accumulated in int32, two of bfloat16 accumulated in float32. Returns 1 if
/// there is no such instruction or the reduction is too short for it.
int neighbours_at_once(const Tensor& product);

/// Like keep_in_registers, for the only reduction of the tile, with `steps` groups of adjacent
/// elements unrolled.
void keep_dot_products_in_registers(const te::Stage& sums, const te::IterVar& row,
                                    const te::IterVar& column, int lanes, int steps);

/// Packs the second factor in panels of `width` columns, in which the elements that are multiplied
/// at once for a column are adjacent: {k, j} becomes {j / width, k / neighbours, j % width *
/// neighbours + k % neighbours}, after the batch dimension. `k` and `j` are the positions of its
/// dimensions. `panels_at_once` panels are packed together, so that longer pieces of the rows of
/// the source are read. Returns the loop over panels.
te::IterVar lay_out_neighbours(const te::Schedule& s, const Tensor& packed, std::size_t k,
                               std::size_t j, int width, int lanes, int neighbours,
                               int panels_at_once = 1);

}  // namespace tenon::topi::cpu
