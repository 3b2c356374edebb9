// A function as bytes: equal bytes mean that compilers cannot distinguish the functions.
//
//   ByteWriter key;
//   if (encode(func, key)) look_up(key.bytes());
#pragma once

#include "tenon/support/bytes.h"
#include "tenon/tir/function.h"

namespace tenon::tir {

/// Appends everything that the function contains: names, types, the bits of constants, annotations,
/// and which uses of a variable, buffer or expression share one node. Identities become numbers in
/// order of appearance, so that a function that is built again has the same bytes. Returns false
/// for a function that reads tensors (ProducerLoad, Reduce), which cannot be encoded.
bool encode(const PrimFunc& func, ByteWriter& out);

}  // namespace tenon::tir
