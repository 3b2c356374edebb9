// The requirements of a reader on a tensor, given the domains of the reader's axes.
#pragma once

#include <vector>

#include "te/operations/body.h"
#include "tenon/arith/interval.h"
#include "tenon/support/function_ref.h"
#include "tenon/te/operation.h"

namespace tenon::te {

/// For each dimension of a tensor, the intervals that reads require, one per read.
using Needs = std::vector<std::vector<arith::Interval>>;

/// Adds what `reader` requires of `tensor` for every point in `domains` (of the reader's root
/// axes). Indices are assumed to be within the tensor's shape: an unknown index requires the whole
/// dimension, and an index that provably covers the dimension requires no more. If an index is an
/// element of a tensor that satisfies `is_input`, at a position that does not vary, the requirement
/// is expressed in terms of that element. Along a dimension that is rounded up, requirements are
/// not clipped to the shape.
void add_needs(const Operation& reader, const std::vector<TensorRead>& reads, const Tensor& tensor,
               const arith::IntervalMap& domains, const arith::Facts& facts,
               FunctionRef<bool(const Tensor&)> is_input,
               FunctionRef<bool(std::size_t dim)> rounds_up, Needs& needs);

// Extents that syntactically depend on outer loops but are constant.

/// Returns the value of the expression if it is the same for all values of its variables, found by
/// enumeration; nullopt otherwise, or if there are too many values.
///
///   floordiv(min(i*3 + 2, 20) + 9 - min(i*3, 20), 6), i in [0, 7]:   1
std::optional<std::int64_t> only_value(const tir::Expr& e, const arith::IntervalMap& values);

// The range that covers several requirements on one axis.

using tir::Expr;
using tir::Range;

/// Returns the hull of the sets, or `declared` if the sets provably cover it or the hull is
/// unbounded. The hull is not simplified with `facts`, so that bounds agree with TVM 0.9. If its
/// expression becomes too large, as along a chain of stages with clamped indices, the clamps are
/// dropped. The result is then a tile and a halo of constant size, or all of `declared` if that is
/// not larger.
Range cover(const std::vector<arith::Interval>& sets, const Range& declared,
            const arith::Facts& facts);

/// Returns the hull of the sets, without a limit for its expression. Returns `declared` if that is
/// shorter: padding around a tile can make the hull larger than a small tensor. (TVM 0.9 keeps the
/// longer range.)
Range exact_cover(const std::vector<arith::Interval>& sets, const Range& declared,
                  const arith::Facts& facts);

/// Converts the range to the type of the axis. Consumers may use wider indices, but what they
/// require is inside the axis. If the minimum may exceed the maximum of the type, it is clamped so
/// that the range ends at the end of the axis.
Range in_type_of(const IterVar& axis, const Range& range, const arith::Facts& facts);

}  // namespace tenon::te
