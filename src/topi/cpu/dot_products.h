// What sums of products of narrow numbers need on processors: instructions multiply neighbours of
// the reduction and add up their products (the pragma dot_products).
#pragma once

#include "tenon/te/schedule.h"

namespace tenon::topi::cpu {

using te::Tensor;

/// How many neighbours are multiplied at once in the product of two matrices: four of int8 or uint8
/// that are added up in int32, two of bfloat16 in float32. 1: there is no such instruction, or the
/// reduction is too short for it.
int neighbours_at_once(const Tensor& product);

/// As keep_in_registers, of the tile's only reduction, so many steps of neighbours in a row.
void keep_dot_products_in_registers(const te::Stage& sums, const te::IterVar& row,
                                    const te::IterVar& column, int lanes, int steps);

/// Lays the second factor out in panels `width` wide, in which the neighbours of a column lie side
/// by side: {k, j} becomes {j / width, k / neighbours, j % width * neighbours + k % neighbours},
/// behind the dimension of a batch. `k` and `j` are the places of its dimensions. Returns the loop
/// over panels.
te::IterVar lay_out_neighbours(const te::Schedule& s, const Tensor& packed, std::size_t k,
                               std::size_t j, int width, int lanes, int neighbours);

}  // namespace tenon::topi::cpu
