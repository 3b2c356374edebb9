#include "lower/passes/vectorize_plain_loops.h"

#include "lower/plain_vectorizer.h"

namespace tenon::lowering {

tir::PrimFunc vectorize_plain_loops(const tir::PrimFunc& func, const PassOptions& options) {
  return vectorized(func, options, false);
}

}  // namespace tenon::lowering
