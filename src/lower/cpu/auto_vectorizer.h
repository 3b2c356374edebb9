// The vectorizer of scalar loops that auto_vectorize and reassociate_accumulations share.
#pragma once

#include "tenon/lower/pass.h"

namespace tenon::lowering {

/// `may_reassociate`: float accumulations may change their order.
tir::PrimFunc vectorized(const tir::PrimFunc& func, const PassOptions& options,
                         bool may_reassociate);

}  // namespace tenon::lowering
