#include "tenon/tooling/matrix_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

namespace tenon {

namespace {

/// Whether libraries may be opened, and how. RTLD_DEEPBIND isolates each library with its
/// dependencies, but AddressSanitizer does not support it. ThreadSanitizer does not recognize the
/// synchronization of OpenMP.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kHow = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int kHow = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif
#if defined(__SANITIZE_THREAD__)
constexpr bool kIsAllowed = false;
#else
constexpr bool kIsAllowed = true;
#endif

/// Opens the first of several files that exists. Null if none exists.
void* open_library(std::initializer_list<const char*> files) {
  void* handle = nullptr;
  for (const char* file : files)
    if (kIsAllowed && !handle) handle = dlopen(file, kHow);
  return handle;
}

/// An open library, and the functions that configure and call it.
struct Library {
  const char* name;
  void* handle;
  /// The prefix of all symbols of the library.
  std::string prefix;
  void (*set_threads)(const Library& library, int threads);
  std::function<void()> (*product)(const Library& library, const MatrixProduct& p);
  MatrixLibrary (*describe)(const Library& library);  // null for oneDNN

  /// Returns the function with this name; null if the library does not have it.
  template <class F>
  F* find(const std::string& symbol) const {
    return reinterpret_cast<F*>(dlsym(handle, (prefix + symbol).c_str()));
  }
};

constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112, kPacked = 151, kBMatrix = 162;

template <class T>
using Gemm = void(int, int, int, int, int, int, T, const void*, int, const void*, int, T, void*,
                  int);

// The arguments of a product in the form of the CBLAS interface.

int order(bool is_transposed) { return is_transposed ? kTransposed : kPlain; }
int lda(const MatrixProduct& p) { return p.transpose_a ? p.m : p.k; }
int ldb(const MatrixProduct& p) { return p.transpose_b ? p.k : p.n; }

/// Returns a function that executes `call` for each product of the batch.
template <class Call>
std::function<void()> for_each_product(const MatrixProduct& p, const Call& call) {
  if (p.batch == 1) return [call, p] { call(p); };
  // An element of C has 8 or 4 bytes, also if it is an int32.
  const DataType of_c = p.of_a == Float(64) ? Float(64) : Float(32);
  const auto at = [](const void* start, std::int64_t elements, DataType type) {
    return static_cast<const char*>(start) + elements * type.bytes();
  };
  std::vector<MatrixProduct> products(static_cast<std::size_t>(p.batch), p);
  for (std::int64_t n = 0; n < p.batch; ++n) {
    MatrixProduct& each = products[static_cast<std::size_t>(n)];
    each.a = at(p.a, n * p.m * p.k, p.of_a);
    each.b = at(p.b, n * p.k * p.n, p.of_b);
    each.c = const_cast<char*>(at(p.c, n * p.m * p.n, of_c));
  }
  return [call, products = std::move(products)] {
    for (const MatrixProduct& each : products) call(each);
  };
}

template <class T>
std::function<void()> cblas_products(Gemm<T>* gemm, const MatrixProduct& p) {
  if (!gemm) return nullptr;
  return for_each_product(p, [gemm](const MatrixProduct& o) {
    gemm(kRowMajor, order(o.transpose_a), order(o.transpose_b), o.m, o.n, o.k, T{1}, o.a, lda(o),
         o.b, ldb(o), T{0}, o.c, o.n);
  });
}

/// Returns a function for products with a single row or column. Null if the library does not
/// support them.
template <class T>
std::function<void()> cblas_vector_products(const Library& library, const char* symbol,
                                            const MatrixProduct& p) {
  using Gemv = void(int, int, int, int, T, const void*, int, const void*, int, T, void*, int);
  auto* gemv = library.find<Gemv>(symbol);
  if (!gemv) return nullptr;
  return for_each_product(p, [gemv](const MatrixProduct& o) {
    const bool is_a_the_matrix = o.n == 1;
    const bool is_stored_k_first = is_a_the_matrix ? o.transpose_a : !o.transpose_b;
    const int others = is_a_the_matrix ? o.m : o.n;
    gemv(kRowMajor, order(is_stored_k_first), is_stored_k_first ? o.k : others,
         is_stored_k_first ? others : o.k, T{1}, is_a_the_matrix ? o.a : o.b,
         is_stored_k_first ? others : o.k, is_a_the_matrix ? o.b : o.a, 1, T{0}, o.c, 1);
  });
}

/// Returns a function that computes all products of the batch in one call. Null if the library does
/// not support this.
std::function<void()> cblas_batch(const Library& library, const MatrixProduct& p) {
  using Batch = void(int, int, int, int, int, int, float, const void*, int, long, const void*, int,
                     long, float, void*, int, long, int);
  auto* gemm = library.find<Batch>("cblas_sgemm_batch_strided");
  if (!gemm) return nullptr;
  return [gemm, p] {
    gemm(kRowMajor, order(p.transpose_a), order(p.transpose_b), p.m, p.n, p.k, 1.0f, p.a, lda(p),
         long{p.m} * p.k, p.b, ldb(p), long{p.k} * p.n, 0.0f, p.c, p.n, long{p.m} * p.n, p.batch);
  };
}

/// Returns a function that multiplies by a factor that MKL has packed in advance. Null if the
/// library does not support this.
std::function<void()> cblas_by_packed(const Library& library, const MatrixProduct& p) {
  using Size = std::size_t(int, int, int, int);
  using Pack = void(int, int, int, int, int, int, float, const void*, int, void*);
  using Compute =
      void(int, int, int, int, int, int, const void*, int, const void*, int, float, void*, int);
  auto* size = library.find<Size>("cblas_sgemm_pack_get_size");
  auto* pack = library.find<Pack>("cblas_sgemm_pack");
  auto* compute = library.find<Compute>("cblas_sgemm_compute");
  if (!size || !pack || !compute || p.batch > 1 || p.of_a != Float(32)) return nullptr;
  constexpr std::size_t kAlignment = 64;
  const std::size_t bytes = size(kBMatrix, p.m, p.n, p.k) / kAlignment * kAlignment + kAlignment;
  const std::shared_ptr<void> packed(std::aligned_alloc(kAlignment, bytes), &std::free);
  pack(kRowMajor, kBMatrix, order(p.transpose_b), p.m, p.n, p.k, 1.0f, p.b, ldb(p), packed.get());
  return [compute, p, packed] {
    compute(kRowMajor, order(p.transpose_a), kPacked, p.m, p.n, p.k, p.a, lda(p), packed.get(), p.n,
            0.0f, p.c, p.n);
  };
}

/// Returns a function for MKL's product of unsigned and signed bytes. Null if the library does not
/// support it.
std::function<void()> cblas_of_bytes(const Library& library, const MatrixProduct& p) {
  using GemmOfBytes = void(int, int, int, int, int, int, int, float, const void*, int, signed char,
                           const void*, int, signed char, float, void*, int, const int*);
  auto* gemm = library.find<GemmOfBytes>("cblas_gemm_s8u8s32");
  if (!gemm) return nullptr;
  return for_each_product(p, [gemm](const MatrixProduct& o) {
    constexpr int kFixedOffset = 173, kOffset = 0;
    gemm(kRowMajor, order(o.transpose_a), order(o.transpose_b), kFixedOffset, o.m, o.n, o.k, 1.0f,
         o.a, lda(o), 0, o.b, ldb(o), 0, 0.0f, o.c, o.n, &kOffset);
  });
}

std::function<void()> cblas(const Library& library, const MatrixProduct& p) {
  if (p.is_b_packed) return cblas_by_packed(library, p);
  const bool has_vector = p.m == 1 || p.n == 1;
  if (p.of_a == Float(32)) {
    std::function<void()> run;
    if (has_vector) run = cblas_vector_products<float>(library, "cblas_sgemv", p);
    if (!run && p.batch > 1) run = cblas_batch(library, p);
    return run ? run : cblas_products(library.find<Gemm<float>>("cblas_sgemm"), p);
  }
  if (p.of_a == Float(64)) {
    if (has_vector) return cblas_vector_products<double>(library, "cblas_dgemv", p);
    return cblas_products(library.find<Gemm<double>>("cblas_dgemm"), p);
  }
  if (p.of_a == BFloat(16))
    return cblas_products(library.find<Gemm<float>>("cblas_gemm_bf16bf16f32"), p);
  if (p.of_a == UInt(8) && p.of_b == Int(8)) return cblas_of_bytes(library, p);
  return nullptr;
}

std::string text_of(const Library& library, const char* symbol) {
  auto* get = library.find<const char*()>(symbol);
  return get ? get() : "";
}

// ---- the libraries ------------------------------------------------------------------------------

template <class Count>
void set_threads_by(const Library& library, const char* symbol, int threads) {
  if (auto* set = library.find<void(Count)>(symbol)) set(static_cast<Count>(threads));
}

void set_openblas_threads(const Library& library, int threads) {
  set_threads_by<int>(library, "openblas_set_num_threads", threads);
}

/// Parses a text such as "OpenBLAS 0.3.34 DYNAMIC_ARCH NO_AFFINITY SkylakeX MAX_THREADS=64".
MatrixLibrary describe_openblas(const Library& library) {
  const std::string config = text_of(library, "openblas_get_config");
  const std::size_t start = config.find(' ') + 1;
  return {"OpenBLAS", config.substr(start, config.find(' ', start) - start),
          text_of(library, "openblas_get_corename")};
}

/// Sets the number of threads. MKL chooses its threading library only once per process.
void set_mkl_threads(const Library& library, int threads) {
  constexpr int kSequential = 1, kGnu = 3;
  if (auto* choose = library.find<int(int)>("MKL_Set_Threading_Layer"))
    choose(threads == 1 ? kSequential : kGnu);
  set_threads_by<int>(library, "MKL_Set_Num_Threads", threads);
}

/// Returns the name of the kernel library that MKL has opened. MKL opens the library for the
/// instruction set when it is called first.
std::string mkl_kernels(const Library& library) {
  float x = 0;
  if (auto* gemm = library.find<Gemm<float>>("cblas_sgemm"))
    gemm(kRowMajor, kPlain, kPlain, 1, 1, 1, 1.0f, &x, 1, &x, 1, 0.0f, &x, 1);
  std::string found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        for (const char* set : {"def", "mc3", "avx2", "avx512", "avx10"})
          if (std::strstr(info->dlpi_name, ("libmkl_" + std::string(set) + ".so").c_str()))
            *static_cast<std::string*>(into) = set;
        return 0;
      },
      &found);
  return found;
}

MatrixLibrary describe_mkl(const Library& library) {
  std::array<char, 256> text{};
  if (auto* version = library.find<void(char*, int)>("MKL_Get_Version_String"))
    version(text.data(), static_cast<int>(text.size()) - 1);
  std::string version(text.data());
  if (const std::size_t at = version.find("Version "); at != std::string::npos)
    version = version.substr(at + 8, version.find(' ', at + 8) - at - 8);
  return {"MKL", version, mkl_kernels(library)};
}

void set_blis_threads(const Library& library, int threads) {
  set_threads_by<long>(library, "bli_thread_set_num_threads", threads);
}

MatrixLibrary describe_blis(const Library& library) {
  auto* arch = library.find<int()>("bli_arch_query_id");
  auto* name = library.find<const char*(int)>("bli_arch_string");
  return {"BLIS", text_of(library, "bli_info_get_version_str"), arch && name ? name(arch()) : ""};
}

std::function<void()> onednn_product(const Library& library, const MatrixProduct& p) {
  using Sgemm = int(char, char, long, long, long, float, const void*, long, const void*, long,
                    float, void*, long);
  auto* gemm = library.find<Sgemm>("dnnl_sgemm");
  if (!gemm || p.is_b_packed || p.of_a != Float(32)) return nullptr;
  return for_each_product(p, [gemm](const MatrixProduct& o) {
    gemm(o.transpose_a ? 'T' : 'N', o.transpose_b ? 'T' : 'N', o.m, o.n, o.k, 1.0f, o.a, lda(o),
         o.b, ldb(o), 0.0f, o.c, o.n);
  });
}

void set_onednn_threads(const Library&, int threads) {
  // Debian's oneDNN uses OpenMP, so the number of threads is set there. PyPI's oneDNN uses oneTBB,
  // whose threads are limited elsewhere.
  void* openmp = open_library({"libgomp.so.1"});
  if (!openmp) return;
  if (void* set = dlsym(openmp, "omp_set_num_threads"))
    reinterpret_cast<void (*)(int)>(set)(threads);
}

/// Returns the libraries that are installed, each in its newest version.
const std::vector<Library>& installed() {
  static const std::vector<Library> found = [] {
    void* scipy_openblas = open_library({"libscipy_openblas.so"});
    std::vector<Library> all = {
        {"OpenBLAS", scipy_openblas ? scipy_openblas : open_library({"libopenblas.so.0"}),
         scipy_openblas ? "scipy_" : "", set_openblas_threads, cblas, describe_openblas},
        {"MKL", open_library({"libmkl_rt.so.3", "libmkl_rt.so.2"}), "", set_mkl_threads, cblas,
         describe_mkl},
        {"BLIS", open_library({"libblis.so.4"}), "", set_blis_threads, cblas, describe_blis},
        {"oneDNN", open_library({"libdnnl.so.3", "libdnnl.so.2"}), "", set_onednn_threads,
         onednn_product, nullptr}};
    std::erase_if(all, [](const Library& library) { return !library.handle; });
    return all;
  }();
  return found;
}

}  // namespace

std::vector<LibraryProduct> library_products(const MatrixProduct& product, int threads) {
  std::vector<LibraryProduct> products;
  for (const Library& library : installed()) {
    library.set_threads(library, threads);
    if (std::function<void()> run = library.product(library, product))
      products.push_back({library.name, std::move(run)});
  }
  return products;
}

std::vector<LibraryProduct> library_transposes(int rows, int columns, const float* x, float* y) {
  using Cblas = void(int, int, int, int, float, const float*, int, float*, int);
  using Mkl = void(char, char, std::size_t, std::size_t, float, const float*, std::size_t, float*,
                   std::size_t);
  std::vector<LibraryProduct> found;
  for (const Library& library : installed()) {
    if (auto* copy = library.find<Cblas>("cblas_somatcopy"))
      found.push_back({library.name, [=] {
                         copy(kRowMajor, kTransposed, rows, columns, 1.0f, x, columns, y, rows);
                       }});
    if (auto* copy = library.find<Mkl>("MKL_Somatcopy"))
      found.push_back({library.name, [=] {
                         copy('R', 'T', static_cast<std::size_t>(rows),
                              static_cast<std::size_t>(columns), 1.0f, x,
                              static_cast<std::size_t>(columns), y, static_cast<std::size_t>(rows));
                       }});
  }
  return found;
}

std::vector<LibraryFunction> library_functions(const std::string& symbol, int threads) {
  std::vector<LibraryFunction> found;
  for (const Library& library : installed()) {
    if (!library.describe) continue;
    library.set_threads(library, threads);
    if (auto* function = library.find<void()>(symbol))
      found.push_back({library.name, reinterpret_cast<void*>(function)});
  }
  return found;
}

std::vector<MatrixLibrary> matrix_libraries(int threads) {
  std::vector<MatrixLibrary> libraries;
  for (const Library& library : installed()) {
    if (!library.describe) continue;
    library.set_threads(library, threads);
    libraries.push_back(library.describe(library));
  }
  return libraries;
}

}  // namespace tenon
