#include "tenon/tir/launch.h"

#include "tenon/tir/ops.h"

namespace tenon::tir {

namespace {

/// Alignment in bytes that matrix tiles require. It exceeds the alignment of the widest vector
/// loads of devices.
constexpr int kDynamicAlignment = 32;

}  // namespace

Expr bytes_of(const Allocate& n) {
  Expr bytes = make_int(Int(64), n.dtype.bytes());
  for (const Expr& extent : n.extents) bytes = bytes * cast(Int(64), extent);
  return bytes;
}

Expr dynamic_shared_bytes(const Allocate& n) {
  const Expr unit = make_int(Int(64), kDynamicAlignment);
  return floordiv(bytes_of(n) + (kDynamicAlignment - 1), unit) * unit;
}

}  // namespace tenon::tir
