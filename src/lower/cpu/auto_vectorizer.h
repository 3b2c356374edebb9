// Loops of scalar code as loops of vectors: what auto_vectorize does, and
// reassociate_accumulations with more freedom.
#pragma once

#include "tenon/lower/pass.h"

namespace tenon::lowering {

/// `may_reassociate`: floats may be accumulated in another order.
tir::PrimFunc vectorized(const tir::PrimFunc& func, const PassOptions& options,
                         bool may_reassociate);

}  // namespace tenon::lowering
