#include "tests/bench/common/peers.h"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <ostream>
#include <string>

#ifdef TENON_HAVE_LIBXSMM
#include <libxsmm.h>
#endif

namespace tenon::bench {

namespace {

/// Variables that make a library use an older instruction set than the processor's.
struct Hold {
  const char* library;
  const char* variable;
};
constexpr Hold kHolds[] = {{"oneDNN", "ONEDNN_MAX_CPU_ISA"},
                           {"oneDNN", "DNNL_MAX_CPU_ISA"},
                           {"MKL", "MKL_ENABLE_INSTRUCTIONS"},
                           {"MKL", "MKL_DEBUG_CPU_TYPE"},
                           {"MKL", "MKL_CBWR"},
                           {"BLIS", "BLIS_ARCH_TYPE"},
                           {"LIBXSMM", "LIBXSMM_TARGET"}};

/// The variable that holds the library; null if none does.
const char* hold_of(const std::string& library) {
  for (const Hold& hold : kHolds)
    if (library.starts_with(hold.library) && std::getenv(hold.variable)) return hold.variable;
  return nullptr;
}

#ifdef TENON_HAVE_LIBXSMM
/// LIBXSMM generates code for the requested product; it is meant for small products. It lays
/// matrices out by columns, so that it is given the transposed product.
Call libxsmm(const MatrixProduct& p) {
  constexpr double kMaxMultiplications = 128.0 * 128 * 128;
  if (p.transpose_a || p.transpose_b || p.is_b_packed || p.of_a != Float(32) ||
      double{1} * p.m * p.n * p.k > kMaxMultiplications)
    return nullptr;
  const float one = 1, zero = 0;
  const libxsmm_smmfunction kernel =
      libxsmm_smmdispatch(p.n, p.m, p.k, &p.n, &p.k, &p.n, &one, &zero, nullptr, nullptr);
  if (!kernel) return nullptr;
  return [=] {
    const auto *a = static_cast<const float*>(p.a), *b = static_cast<const float*>(p.b);
    auto* c = static_cast<float*>(p.c);
    for (int n = 0; n < p.batch; ++n)
      kernel(b + std::int64_t{n} * p.k * p.n, a + std::int64_t{n} * p.m * p.k,
             c + std::int64_t{n} * p.m * p.n);
  };
}
#endif

/// Each oneDNN is a module of its own, opened so that it sees only its own library.
void add_onednn(const std::string& module, int threads, std::vector<Operators>& to) {
  void* const handle = dlopen(module.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!handle) return;
  using Get = void(Operators * result, int threads);
  if (auto* get = reinterpret_cast<Get*>(dlsym(handle, "tenon_onednn_operators")))
    get(&to.emplace_back(), threads);
}

std::vector<Operators> opened(int threads) {
  // The device of builds of oneDNN that run through SYCL.
  setenv("OCL_ICD_FILENAMES", "libintelocl.so", 0);
  std::vector<Operators> all = {eigen_operators()};
#ifdef TENON_HAVE_LIBXSMM
  all.push_back({.library = {"LIBXSMM", LIBXSMM_VERSION, libxsmm_get_target_arch()},
                 .max_threads = 1,
                 .product = libxsmm});
#endif
  const std::string modules = TENON_ONEDNN_MODULES;
  for (std::size_t start = 0; start < modules.size();) {
    const std::size_t end = std::min(modules.find(' ', start), modules.size());
    add_onednn(modules.substr(start, end - start), threads, all);
    start = end + 1;
  }
  std::erase_if(all, [&](const Operators& each) {
    return hold_of(each.library.name) || (each.max_threads != 0 && each.max_threads < threads);
  });
  return all;
}

}  // namespace

void prepare_for_peers(int threads) {
  for (const char* variable : {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"}) unsetenv(variable);
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int cpu = 0, others = CPU_COUNT(&allowed) - threads; others > 0 && cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_CLR(cpu, &allowed);
      --others;
    }
  sched_setaffinity(0, sizeof allowed, &allowed);
}

const std::vector<Operators>& peer_operators(int threads) {
  static const std::vector<Operators> found = opened(threads);
  return found;
}

void print_peers(std::ostream& out, int threads) {
  std::vector<MatrixLibrary> libraries = matrix_libraries(threads);
  for (const Operators& each : peer_operators(threads)) libraries.push_back(each.library);
  for (const auto& [name, version, instruction_set] : libraries) {
    if (hold_of(name)) continue;
    out << "# " << name << " " << version << ", " << instruction_set << "\n";
  }
  for (const Hold& hold : kHolds)
    if (std::getenv(hold.variable))
      out << "# " << hold.library << " is not timed, because " << hold.variable << " is set\n";
}

std::vector<Contest> peers_of(const MatrixProduct& product, int threads) {
  std::vector<Contest> peers;
  for (const LibraryProduct& each : library_products(product, threads))
    if (!hold_of(each.name))
      peers.push_back({each.name == "oneDNN" ? "oneDNN-gemm" : each.name, each.run});
  for (Contest& each : peers_of(threads, &Operators::product, product))
    peers.push_back(std::move(each));
  return peers;
}

std::vector<LibraryFunction> functions_of_peers(const std::string& symbol, int threads) {
  std::vector<LibraryFunction> functions = library_functions(symbol, threads);
  std::erase_if(functions, [](const LibraryFunction& each) { return hold_of(each.library); });
  return functions;
}

std::vector<Contest> transposes_of(int threads, const Map& m) {
  std::vector<Contest> peers = peers_of(threads, &Operators::transpose, m);
  if (threads > 1) return peers;
  for (const LibraryProduct& each : library_transposes(m.rows, m.columns, m.x, m.y))
    if (!hold_of(each.name)) peers.push_back({each.name, each.run});
  return peers;
}

}  // namespace tenon::bench
