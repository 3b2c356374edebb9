#include "tests/bench/common/peers.h"

#include <optional>

#ifdef TENON_HAVE_EIGEN
#include <Eigen/Dense>
#endif
#ifdef TENON_HAVE_LIBXSMM
#include <libxsmm.h>
#endif

namespace tenon::bench {

namespace {

#ifdef TENON_HAVE_LIBXSMM
/// Made for small products: its code is generated for the one that is asked for. It lays matrices
/// out by columns, so that it is given the transposed product.
std::optional<LibraryProduct> libxsmm(const MatrixProduct& p) {
  constexpr double kMaxMultiplications = 128.0 * 128 * 128;
  if (p.transpose_a || p.transpose_b || double{1} * p.m * p.n * p.k > kMaxMultiplications)
    return std::nullopt;
  const float one = 1, zero = 0;
  const libxsmm_smmfunction kernel =
      libxsmm_smmdispatch(p.n, p.m, p.k, &p.n, &p.k, &p.n, &one, &zero, nullptr, nullptr);
  if (!kernel) return std::nullopt;
  return LibraryProduct{"LIBXSMM", [=] { kernel(p.b, p.a, p.c); }};
}
#endif

#ifdef TENON_HAVE_EIGEN
/// With one thread: its others are OpenMP's, which this program is not built with.
LibraryProduct eigen(const MatrixProduct& p) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using View = Eigen::Map<const Matrix>;
  return {"Eigen", [=] {
            const View a(p.a, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k);
            const View b(p.b, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n);
            Eigen::Map<Matrix> c(p.c, p.m, p.n);
            if (p.transpose_a && p.transpose_b) c.noalias() = a.transpose() * b.transpose();
            if (p.transpose_a && !p.transpose_b) c.noalias() = a.transpose() * b;
            if (!p.transpose_a && p.transpose_b) c.noalias() = a * b.transpose();
            if (!p.transpose_a && !p.transpose_b) c.noalias() = a * b;
          }};
}
#endif

}  // namespace

std::vector<LibraryProduct> peers_of(const MatrixProduct& product, int threads) {
  std::vector<LibraryProduct> peers = library_products(product, threads);
#ifdef TENON_HAVE_EIGEN
  if (threads == 1) peers.push_back(eigen(product));
#endif
#ifdef TENON_HAVE_LIBXSMM
  if (const std::optional<LibraryProduct> small = threads == 1 ? libxsmm(product) : std::nullopt)
    peers.push_back(*small);
#endif
  return peers;
}

}  // namespace tenon::bench
