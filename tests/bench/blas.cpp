// BLAS routines by topi, alongside the libraries that this machine has, on the same arrays and in
// the same run: a line for each routine, type and size. A size is the number of elements of a
// vector or of a square matrix.
//
//   blas --routine trsv --log2 20 --threads 2
//   blas --filter float64                   all rows of float64
#include <tenon/runtime/bound_call.h>
#include <tenon/topi/blas.h>

#include <algorithm>
#include <limits>

#include "tests/bench/common/peers.h"
#include "tests/bench/common/program.h"

using namespace tenon;
namespace po = boost::program_options;

namespace {

using runtime::BoundCall;
using runtime::NDArray;
using tir::TargetFacts;

constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112, kUpper = 121, kLower = 122,
              kNonUnit = 131;

/// The arrays of all routines. The matrix is empty for routines on vectors.
struct Arrays {
  Arrays(DataType type, std::int64_t n, bool has_matrix)
      : x(NDArray::random({n}, type)),
        y(NDArray::random({n}, type)),
        matrix(NDArray::random({has_matrix ? n : 0, has_matrix ? n : 0}, type)),
        result(NDArray::zeros({}, type)),
        index(NDArray::zeros({}, Int(32))) {}

  std::vector<NDArray> all() const { return {x, y, matrix, result, index}; }
  int n() const { return static_cast<int>(x.shape()[0]); }

  NDArray x, y, matrix, result, index;
};

/// A routine on elements of type T, with the same arguments for all contestants.
template <class T>
struct Routine {
  const char* name;
  /// Bytes that are read and written, in elements of the vector or matrix.
  double traffic;
  bool has_matrix;
  /// Whether x is the argument and the result of a linear map by the matrix.
  bool is_map;
  tir::PrimFunc (*declare)(const TargetFacts& target);
  BoundCall (*bind)(const runtime::Function& function, const Arrays& a);
  /// The function of the libraries: "cblas_saxpy".
  const char* peer;
  bench::Call (*call)(void* peer, const Arrays& a);
};

constexpr double kAlpha = 0.001, kBeta = 0.25, kCosine = 0.6, kSine = 0.8;

template <class T>
const std::vector<Routine<T>>& routines() {
  static const DataType kType = runtime::data_type_of<T>();
  static constexpr T kA = static_cast<T>(kAlpha), kB = static_cast<T>(kBeta);
  static constexpr bool kIsFloat = sizeof(T) == 4;
  namespace blas = topi::blas;
  using Vectors = blas::VectorOptions;
  using Matrices = blas::MatrixOptions;
  using Triangles = blas::TriangleOptions;
  using Bind = const runtime::Function&;
  using Update = void(int, T, const T*, int, T*, int);
  using Reduce = T(int, const T*, int);
  using Gemv = void(int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
  using Symv = void(int, int, int, T, const T*, int, const T*, int, T, T*, int);
  using Ger = void(int, int, int, T, const T*, int, const T*, int, T*, int);
  using Map = void(int, int, int, int, int, const T*, int, T*, int);
  static const auto bind_map = [](Bind f, const Arrays& a) { return BoundCall(f, a.matrix, a.x); };
  static const auto bind_product = [](Bind f, const Arrays& a) {
    return BoundCall(f, kAlpha, a.matrix, a.x, kBeta, a.y);
  };
  static const auto bind_update = [](Bind f, const Arrays& a) {
    return BoundCall(f, kAlpha, a.x, a.y, a.matrix);
  };
  static const auto bind_reduction = [](Bind f, const Arrays& a) {
    return BoundCall(f, a.x, a.result);
  };
  static const auto reduction = [](void* peer, const Arrays& a) -> bench::Call {
    return [f = reinterpret_cast<Reduce*>(peer), n = a.n(), x = a.x.data<T>(),
            to = a.result.data<T>()] { *to = f(n, x, 1); };
  };
  static const auto gemv = []<int transposed>(void* peer, const Arrays& a) -> bench::Call {
    return [f = reinterpret_cast<Gemv*>(peer), n = a.n(), m = a.matrix.data<T>(), x = a.x.data<T>(),
            y = a.y.data<T>()] { f(kRowMajor, transposed, n, n, kA, m, n, x, 1, kB, y, 1); };
  };
  static const auto map = []<int uplo, int transposed>(void* peer, const Arrays& a) -> bench::Call {
    return [f = reinterpret_cast<Map*>(peer), n = a.n(), m = a.matrix.data<T>(),
            x = a.x.data<T>()] { f(kRowMajor, uplo, transposed, kNonUnit, n, m, n, x, 1); };
  };
  static const std::vector<Routine<T>> all = {
      {"axpy", 3, false, false,
       [](const TargetFacts& t) { return blas::axpy(Vectors{.dtype = kType}, t); },
       [](Bind f, const Arrays& a) { return BoundCall(f, kAlpha, a.x, a.y); },
       kIsFloat ? "cblas_saxpy" : "cblas_daxpy",
       [](void* peer, const Arrays& a) -> bench::Call {
         return [f = reinterpret_cast<Update*>(peer), n = a.n(), x = a.x.data<T>(),
                 y = a.y.data<T>()] { f(n, kA, x, 1, y, 1); };
       }},
      {"dot", 2, false, false,
       [](const TargetFacts& t) { return blas::dot(Vectors{.dtype = kType}, t); },
       [](Bind f, const Arrays& a) { return BoundCall(f, a.x, a.y, a.result); },
       kIsFloat ? "cblas_sdot" : "cblas_ddot",
       [](void* peer, const Arrays& a) -> bench::Call {
         using Dot = T(int, const T*, int, const T*, int);
         return [f = reinterpret_cast<Dot*>(peer), n = a.n(), x = a.x.data<T>(), y = a.y.data<T>(),
                 to = a.result.data<T>()] { *to = f(n, x, 1, y, 1); };
       }},
      {"nrm2", 1, false, false,
       [](const TargetFacts& t) { return blas::nrm2(Vectors{.dtype = kType}, t); }, bind_reduction,
       kIsFloat ? "cblas_snrm2" : "cblas_dnrm2", reduction},
      {"asum", 1, false, false,
       [](const TargetFacts& t) { return blas::asum(Vectors{.dtype = kType}, t); }, bind_reduction,
       kIsFloat ? "cblas_sasum" : "cblas_dasum", reduction},
      {"iamax", 1, false, false,
       [](const TargetFacts& t) { return blas::iamax(Vectors{.dtype = kType}, t); },
       [](Bind f, const Arrays& a) { return BoundCall(f, a.x, a.index); },
       kIsFloat ? "cblas_isamax" : "cblas_idamax",
       [](void* peer, const Arrays& a) -> bench::Call {
         using Search = std::size_t(int, const T*, int);
         return
             [f = reinterpret_cast<Search*>(peer), n = a.n(), x = a.x.data<T>(),
              to = a.index.data<std::int32_t>()] { *to = static_cast<std::int32_t>(f(n, x, 1)); };
       }},
      {"rot", 4, false, false,
       [](const TargetFacts& t) { return blas::rot(Vectors{.dtype = kType}, t); },
       [](Bind f, const Arrays& a) { return BoundCall(f, a.x, a.y, kCosine, kSine); },
       kIsFloat ? "cblas_srot" : "cblas_drot",
       [](void* peer, const Arrays& a) -> bench::Call {
         using Rot = void(int, T*, int, T*, int, T, T);
         return
             [f = reinterpret_cast<Rot*>(peer), n = a.n(), x = a.x.data<T>(), y = a.y.data<T>()] {
               f(n, x, 1, y, 1, static_cast<T>(kCosine), static_cast<T>(kSine));
             };
       }},
      {"gemv", 1, true, false,
       [](const TargetFacts& t) { return blas::gemv(Matrices{.dtype = kType}, t); }, bind_product,
       kIsFloat ? "cblas_sgemv" : "cblas_dgemv",
       [](void* peer, const Arrays& a) { return gemv.template operator()<kPlain>(peer, a); }},
      {"gemv-T", 1, true, false,
       [](const TargetFacts& t) {
         return blas::gemv(Matrices{.dtype = kType, .transposed = true}, t);
       },
       bind_product, kIsFloat ? "cblas_sgemv" : "cblas_dgemv",
       [](void* peer, const Arrays& a) { return gemv.template operator()<kTransposed>(peer, a); }},
      {"ger", 2, true, false,
       [](const TargetFacts& t) { return blas::ger(Matrices{.dtype = kType}, t); }, bind_update,
       kIsFloat ? "cblas_sger" : "cblas_dger",
       [](void* peer, const Arrays& a) -> bench::Call {
         return
             [f = reinterpret_cast<Ger*>(peer), n = a.n(), m = a.matrix.data<T>(),
              x = a.x.data<T>(), y = a.y.data<T>()] { f(kRowMajor, n, n, kA, x, 1, y, 1, m, n); };
       }},
      {"symv", 0.5, true, false,
       [](const TargetFacts& t) { return blas::symv(Triangles{.dtype = kType}, t); }, bind_product,
       kIsFloat ? "cblas_ssymv" : "cblas_dsymv",
       [](void* peer, const Arrays& a) -> bench::Call {
         return [f = reinterpret_cast<Symv*>(peer), n = a.n(), m = a.matrix.data<T>(),
                 x = a.x.data<T>(),
                 y = a.y.data<T>()] { f(kRowMajor, kUpper, n, kA, m, n, x, 1, kB, y, 1); };
       }},
      {"trmv", 0.5, true, true,
       [](const TargetFacts& t) { return blas::trmv(Triangles{.dtype = kType}, t); }, bind_map,
       kIsFloat ? "cblas_strmv" : "cblas_dtrmv",
       [](void* peer, const Arrays& a) {
         return map.template operator()<kUpper, kPlain>(peer, a);
       }},
      {"trmv-T", 0.5, true, true,
       [](const TargetFacts& t) {
         return blas::trmv(Triangles{.dtype = kType, .transposed = true}, t);
       },
       bind_map, kIsFloat ? "cblas_strmv" : "cblas_dtrmv",
       [](void* peer, const Arrays& a) {
         return map.template operator()<kUpper, kTransposed>(peer, a);
       }},
      {"trsv", 0.5, true, true,
       [](const TargetFacts& t) { return blas::trsv(Triangles{.dtype = kType, .lower = true}, t); },
       bind_map, kIsFloat ? "cblas_strsv" : "cblas_dtrsv",
       [](void* peer, const Arrays& a) {
         return map.template operator()<kLower, kPlain>(peer, a);
       }},
      {"trsv-T", 0.5, true, true,
       [](const TargetFacts& t) {
         return blas::trsv(Triangles{.dtype = kType, .lower = true, .transposed = true}, t);
       },
       bind_map, kIsFloat ? "cblas_strsv" : "cblas_dtrsv",
       [](void* peer, const Arrays& a) {
         return map.template operator()<kLower, kTransposed>(peer, a);
       }},
      {"syr2", 1, true, false,
       [](const TargetFacts& t) { return blas::syr2(Triangles{.dtype = kType, .lower = true}, t); },
       bind_update, kIsFloat ? "cblas_ssyr2" : "cblas_dsyr2",
       [](void* peer, const Arrays& a) -> bench::Call {
         return [f = reinterpret_cast<Ger*>(peer), n = a.n(), m = a.matrix.data<T>(),
                 x = a.x.data<T>(),
                 y = a.y.data<T>()] { f(kRowMajor, kLower, n, kA, x, 1, y, 1, m, n); };
       }}};
  return all;
}

/// Makes the matrix well-conditioned: repeated maps do not grow without bound, and solutions of
/// equations are accurate.
template <class T>
void make_dominant(const Arrays& a) {
  T* const matrix = a.matrix.data<T>();
  const std::int64_t n = a.n();
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      matrix[i * n + j] = i == j ? T{1} : (matrix[i * n + j] - T(0.5)) / static_cast<T>(n);
}

/// Leaves only the diagonal, so that calls in place do not change the vector.
template <class T>
void make_identity(const Arrays& a) {
  const std::int64_t n = a.n();
  std::fill_n(a.matrix.data<T>(), n * n, T{0});
  for (std::int64_t i = 0; i < n; ++i) a.matrix.data<T>()[i * n + i] = 1;
}

template <class T>
std::vector<bench::Contest> contests_of(const Routine<T>& routine, int n,
                                        const bench::Settings& settings) {
  const DataType type = runtime::data_type_of<T>();
  const Arrays arrays(type, n, routine.has_matrix);
  if (routine.is_map) make_dominant<T>(arrays);
  std::vector<NDArray> start, ours;
  for (const NDArray& array : arrays.all()) start.push_back(array.copy_to(cpu(0)));
  const tir::PrimFunc func = routine.declare(settings.target.facts());
  const std::string& name = func.attrs.global_symbol;
  const BoundCall call =
      routine.bind(build(tir::IRModule{{{name, func}}}, settings.target)[name], arrays);
  call();
  for (const NDArray& array : arrays.all()) ours.push_back(array.copy_to(cpu(0)));
  std::vector<bench::Contest> contests = {{"Tenon", [=] { call(); }}};
  for (const auto& [library, function] :
       bench::functions_of_peers(routine.peer, settings.threads)) {
    for (std::size_t k = 0; k < start.size(); ++k) start[k].copy_to(arrays.all()[k]);
    const bench::Call run = routine.call(function, arrays);
    run();
    // The bound of the rounding of n additions, which some libraries come close to.
    const double relative = (sizeof(T) == 4 ? 1e-3 : 1e-10) + n * std::numeric_limits<T>::epsilon();
    const auto most = [&](double expected) { return relative * (1 + std::abs(expected)); };
    const std::vector<NDArray> theirs = arrays.all();
    for (std::size_t k = 0; k + 1 < theirs.size(); ++k)
      if (bench::first_difference<T>(ours[k], theirs[k], most) >= 0)
        throw bench::WrongResult(library + " and Tenon disagree");
    if (ours.back().data<std::int32_t>()[0] != arrays.index.data<std::int32_t>()[0])
      throw bench::WrongResult(library + " and Tenon find different elements");
    contests.push_back({library, [arrays, run] { run(); }});
  }
  if (routine.is_map) make_identity<T>(arrays);
  return contests;
}

template <class T>
void add_rows(const po::variables_map& given, std::vector<bench::Row>& rows) {
  for (const Routine<T>& routine : routines<T>()) {
    if (given.count("routine") != 0 && given["routine"].as<std::string>() != routine.name) continue;
    for (int log2 = 4; log2 <= 24; log2 += 2) {
      if (given.count("log2") != 0 && given["log2"].as<int>() != log2) continue;
      const double bytes = routine.traffic * sizeof(T) * (1 << log2);
      rows.push_back(
          {bench::formatted("%-6s float%zu 2^%-2d", routine.name, 8 * sizeof(T), log2),
           {.amount = bytes,
            .copied = std::max<std::int64_t>(static_cast<std::int64_t>(bytes) / 2, 1)},
           [&routine, n = 1 << (routine.has_matrix ? log2 / 2 : log2)](
               const bench::Settings& settings) { return contests_of(routine, n, settings); }});
    }
  }
}

std::vector<bench::Row> rows_of(const po::variables_map& given) {
  std::vector<bench::Row> rows;
  add_rows<float>(given, rows);
  add_rows<double>(given, rows);
  if (rows.empty()) throw po::error("--routine and --log2 name no row");
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description options("BLAS routines, levels 1 and 2");
  options.add_options()("routine", po::value<std::string>(), "only this one: axpy, gemv-T, ...")(
      "log2", po::value<int>(), "only so many elements: an even number from 4 to 24");
  return bench::run(argc, argv, {"blas", options, rows_of});
}
