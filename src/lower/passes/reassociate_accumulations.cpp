#include "lower/passes/reassociate_accumulations.h"

#include "lower/plain_vectorizer.h"

namespace tenon::lowering {

tir::PrimFunc reassociate_accumulations(const tir::PrimFunc& func, const PassOptions& options) {
  return vectorized(func, options, true);
}

}  // namespace tenon::lowering
