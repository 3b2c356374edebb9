// From a block program to loops over multi-dimensional buffers. Iterators become the values that
// they are bound to, a predicate becomes an `if`, an init runs under `if` its reduction begins, a
// buffer becomes a Realize of the box that is needed around the statements that need it, a loop
// that is bound to a thread becomes a thread's extent, and pragmas of loops become attributes.
//
//   for i, j_0, k, j_1: block Y ...                 // root block allocates Y[128, 128]
//   for j_1: block C reads Y, writes C
//   =>  for i, j_0 { realize Y[i:i+1, j_0*4:j_0*4+4] { for k, j_1 { if (k == 0) Y = 0; Y += ... } ... } }
//
// Loops that run once and carry no annotation are gone: their variables are their beginnings.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc lower_blocks(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
