// Libraries whose matrix products are timed alongside Tenon's.
#pragma once

#include <vector>

#include "tenon/tooling/matrix_libraries.h"

namespace tenon::bench {

/// OpenBLAS, BLIS, oneDNN, Eigen and, of small products, LIBXSMM. The last two have one thread, and
/// are left out where there are more.
std::vector<LibraryProduct> peers_of(const MatrixProduct& product, int threads);

}  // namespace tenon::bench
