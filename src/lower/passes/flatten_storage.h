// From multi-dimensional buffers to memory: every Realize becomes an Allocate, every access an
// index into it.
//
//   realize B[i*8 .. +8, 0 .. 16) { B[i*8 + 3, j] = A[i, j] }
//   allocate(B, [128]) { B[((3*16) + j)] = A[((i*16) + j)] }
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// What holds afterwards: Form::Flat.
/// - A realized buffer has the shape of its bounds and indices that begin at 0; strides padded as
/// its Realize asks;
///   where its scope was not set, that of the threads around: global outside, shared in a block,
///   local in a thread.
/// - A temporary shorter than 128 bytes is aligned to the largest power of two not above its size.
/// - One index per physical dimension, in elements, the buffer's offset included. Bools are kept as
/// bytes.
/// - Views are gone: accesses go to their source, their variables have values; what cannot be
/// proved is asserted. With options.keep_buffer_sizes, stores and allocations carry the sizes of
/// the buffers that they touch.
tir::PrimFunc flatten_storage(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
