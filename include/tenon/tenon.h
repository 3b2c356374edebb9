// The whole of Tenon for a program that declares tensors, schedules them, prints the loops and runs them.
//
//   #include <tenon/tenon.h>
//   using namespace tenon;
//
// Tensor expressions and schedules are in tenon::te, the loop IR in tenon::tir, bounds and simplification in
// tenon::arith, arrays and compiled functions in tenon::runtime. What an expression is written with is in tenon itself.
#pragma once

#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/driver/build.h"
#include "tenon/driver/lower.h"
#include "tenon/driver/target.h"
#include "tenon/runtime/device.h"
#include "tenon/runtime/function.h"
#include "tenon/runtime/module.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/runtime/threads.h"
#include "tenon/runtime/timing.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/intrin.h"
#include "tenon/te/operation.h"
#include "tenon/te/reduce.h"
#include "tenon/te/schedule.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon {

using tir::Expr;
using tir::ForKind;
using tir::Range;
using tir::Stmt;
using tir::Var;

using tir::abs;
using tir::acos;
using tir::acosh;
using tir::all;
using tir::any;
using tir::asin;
using tir::asinh;
using tir::atan;
using tir::atan2;
using tir::atanh;
using tir::call_extern;
using tir::call_intrin;
using tir::call_pure_extern;
using tir::cast;
using tir::ceil;
using tir::ceildiv;
using tir::clz;
using tir::copysign;
using tir::cos;
using tir::cosh;
using tir::erf;
using tir::exp;
using tir::exp10;
using tir::exp2;
using tir::floor;
using tir::floordiv;
using tir::floormod;
using tir::fma;
using tir::fmod;
using tir::hypot;
using tir::if_then_else;
using tir::infinity;
using tir::isfinite;
using tir::isinf;
using tir::isnan;
using tir::ldexp;
using tir::likely;
using tir::log;
using tir::log10;
using tir::log1p;
using tir::log2;
using tir::make_const;
using tir::max;
using tir::max_value;
using tir::min;
using tir::min_value;
using tir::nearbyint;
using tir::nextafter;
using tir::popcount;
using tir::pow;
using tir::reinterpret;
using tir::round;
using tir::rsqrt;
using tir::select;
using tir::sigmoid;
using tir::sin;
using tir::sinh;
using tir::sqrt;
using tir::tan;
using tir::tanh;
using tir::trunc;
using tir::truncdiv;
using tir::truncmod;

}  // namespace tenon
