#include "tests/bench/common/peers.h"

#include <dlfcn.h>

#include <optional>

#ifdef TENON_HAVE_EIGEN
#include <Eigen/Dense>
#endif
#ifdef TENON_HAVE_LIBXSMM
#include <libxsmm.h>
#endif

namespace tenon::bench {

namespace {

/// Null where the machine has none of the files, or they lack the name.
template <class F>
F* find(std::initializer_list<const char*> files, const char* symbol) {
  for (const char* file : files)
    if (void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND))
      return reinterpret_cast<F*>(dlsym(library, symbol));
  return nullptr;
}

using CblasSgemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int,
                        float, float*, int);

std::function<void()> call_cblas(CblasSgemm* gemm, const Product& p) {
  constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
  return [=] {
    gemm(kRowMajor, p.transpose_a ? kTransposed : kPlain, p.transpose_b ? kTransposed : kPlain, p.m,
         p.n, p.k, 1.0f, p.a, p.transpose_a ? p.m : p.k, p.b, p.transpose_b ? p.k : p.n, 0.0f, p.c,
         p.n);
  };
}

/// A library with the interface of CBLAS and a function of its own that sets the threads.
template <class Count>
std::optional<Peer> cblas(const char* name, const char* file, const char* set_threads,
                          const Product& p, int threads) {
  auto* gemm = find<CblasSgemm>({file}, "cblas_sgemm");
  auto* set = find<void(Count)>({file}, set_threads);
  if (!gemm || !set) return std::nullopt;
  set(threads);
  return Peer{name, call_cblas(gemm, p)};
}

/// Debian's uses OpenMP.
std::optional<Peer> onednn(const Product& p, int threads) {
  using Sgemm = int(char, char, long, long, long, float, const float*, long, const float*, long,
                    float, float*, long);
  auto* gemm = find<Sgemm>({"libdnnl.so.3", "libdnnl.so.2"}, "dnnl_sgemm");
  auto* set_threads = find<void(int)>({"libgomp.so.1"}, "omp_set_num_threads");
  if (!gemm || !set_threads) return std::nullopt;
  set_threads(threads);
  return Peer{"oneDNN", [=] {
                gemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k, 1.0f, p.a,
                     p.transpose_a ? p.m : p.k, p.b, p.transpose_b ? p.k : p.n, 0.0f, p.c, p.n);
              }};
}

#ifdef TENON_HAVE_LIBXSMM
/// Made for small products: its code is generated for the one that is asked for. It lays matrices
/// out by columns, so that it is given the transposed product.
std::optional<Peer> libxsmm(const Product& p) {
  constexpr double kMostMultiplications = 128.0 * 128 * 128;
  if (p.transpose_a || p.transpose_b || double{1} * p.m * p.n * p.k > kMostMultiplications)
    return std::nullopt;
  const float one = 1, zero = 0;
  const libxsmm_smmfunction kernel =
      libxsmm_smmdispatch(p.n, p.m, p.k, &p.n, &p.k, &p.n, &one, &zero, nullptr, nullptr);
  if (!kernel) return std::nullopt;
  return Peer{"LIBXSMM", [=] { kernel(p.b, p.a, p.c); }};
}
#endif

#ifdef TENON_HAVE_EIGEN
/// With one thread: its others are OpenMP's, which this program is not built with.
Peer eigen(const Product& p) {
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

std::vector<Peer> peers_of(const Product& product, int threads) {
  std::vector<Peer> peers;
  for (const std::optional<Peer>& peer :
       {cblas<int>("OpenBLAS", "libopenblas.so.0", "openblas_set_num_threads", product, threads),
        cblas<long>("BLIS", "libblis.so.4", "bli_thread_set_num_threads", product, threads),
        onednn(product, threads)})
    if (peer) peers.push_back(*peer);
#ifdef TENON_HAVE_EIGEN
  if (threads == 1) peers.push_back(eigen(product));
#endif
#ifdef TENON_HAVE_LIBXSMM
  if (const std::optional<Peer> small = threads == 1 ? libxsmm(product) : std::nullopt)
    peers.push_back(*small);
#endif
  return peers;
}

}  // namespace tenon::bench
