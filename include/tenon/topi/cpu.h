// Schedules of the library's operators for processors, sized by what the target tells of its
// vectors, registers and caches: plain schedules, to be read and copied.
//
//   te::Tensor C = topi::relu(topi::matmul(A, B));
//   te::Schedule s = topi::cpu::schedule_matmul(C, target.facts());
//   build(s, {A, B, C}, target);
//
// Any extents do. Where they are constants, tiles and panels are chosen for them, and what tiles do
// not divide gets loops of its own.
//
// ScheduleError: the tensor is no operator of the kind, or maps of elements of one.
#pragma once

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"

namespace tenon::topi::cpu {

using te::Tensor;
using tir::TargetFacts;

/// For matmul, dense and batch_matmul, transposed or not, and maps of their elements (a bias, an
/// activation), which are computed with the tile that they read.
///
/// A tile of sums stays in registers through the whole reduction (Goto and van de Geijn, "Anatomy
/// of High-Performance Matrix Multiplication"; without their blocking of the reduction, since a
/// panel of B fits the second cache up to some thousands of rows). B is laid out in panels as wide
/// as the tile where the panel is read often enough to pay for it. One row or one column is read as
/// it lies.
te::Schedule schedule_matmul(const Tensor& out, const TargetFacts& target,
                             SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi::cpu
