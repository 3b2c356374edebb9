// Includes all of Tenon that programs with schedules need.
//
//   #include <tenon/tenon.h>
//   using namespace tenon;
//
//   te::Tensor A = te::placeholder({n}, "A");
//   te::Tensor B = te::compute({n}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
//   te::Schedule s = te::create_schedule({B});
//   std::cout << lower(s, {A, B}, {.simple_mode = true});
//
// Headers that are only needed to inspect programs must be included separately, because they would
// double the compile time: the kinds of expressions (tir/expr.h), statements (tir/stmt.h) and
// operations (te/operation_kind.h), the steps of traces (s_tir/trace_steps.h), and profiles
// (driver/profile.h).
#pragma once

// Not used here; programs rely on this header including them.
#include <algorithm>
#include <sstream>

#include "tenon/arith/simplify.h"
#include "tenon/driver/build.h"
#include "tenon/driver/kernel_library.h"
#include "tenon/driver/lower.h"
#include "tenon/driver/target.h"
#include "tenon/inspect/bounds_report.h"
#include "tenon/inspect/draw.h"
#include "tenon/inspect/explain.h"
#include "tenon/runtime/device.h"
#include "tenon/runtime/function.h"
#include "tenon/runtime/module.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/runtime/stream.h"
#include "tenon/runtime/threads.h"
#include "tenon/runtime/timing.h"
#include "tenon/s_tir/func_builder.h"
#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/s_tir/trace.h"
#include "tenon/te/analysis.h"
#include "tenon/te/auto_inline.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/intrin.h"
#include "tenon/te/operation.h"
#include "tenon/te/prim_func.h"
#include "tenon/te/reduce.h"
#include "tenon/te/schedule.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/make.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/topi/broadcast.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/nn.h"
#include "tenon/topi/parts.h"
#include "tenon/topi/reduction.h"
#include "tenon/topi/tags.h"
#include "tenon/topi/transform.h"

namespace tenon {

using tir::Expr;
using tir::ForKind;
using tir::Range;
using tir::Stmt;
using tir::Var;

// Constants and types.
using tir::cast;
using tir::infinity;
using tir::make_const;
using tir::max_value;
using tir::min_value;
using tir::reinterpret;

// Arithmetic, choice.
using tir::abs;
using tir::all;
using tir::any;
using tir::ceildiv;
using tir::div;
using tir::floordiv;
using tir::floormod;
using tir::if_then_else;
using tir::likely;
using tir::max;
using tir::min;
using tir::select;
using tir::truncdiv;
using tir::truncmod;

// Mathematics.
using tir::acos;
using tir::acosh;
using tir::asin;
using tir::asinh;
using tir::atan;
using tir::atan2;
using tir::atanh;
using tir::ceil;
using tir::clz;
using tir::copysign;
using tir::cos;
using tir::cosh;
using tir::erf;
using tir::exp;
using tir::exp10;
using tir::exp2;
using tir::floor;
using tir::fma;
using tir::fmod;
using tir::hypot;
using tir::isfinite;
using tir::isinf;
using tir::isnan;
using tir::ldexp;
using tir::log;
using tir::log10;
using tir::log1p;
using tir::log2;
using tir::nearbyint;
using tir::nextafter;
using tir::popcount;
using tir::pow;
using tir::round;
using tir::rsqrt;
using tir::sigmoid;
using tir::sin;
using tir::sinh;
using tir::sqrt;
using tir::tan;
using tir::tanh;
using tir::trunc;

// Calls.
using tir::call_extern;
using tir::call_intrin;
using tir::call_pure_extern;

}  // namespace tenon
