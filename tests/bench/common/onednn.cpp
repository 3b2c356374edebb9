// A module for each oneDNN that is installed: its operators, in a table. The benchmarks open each
// with its library in a name space of its own, since all versions have the same symbols.
#include <dlfcn.h>

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

#include "tests/bench/common/operators.h"

extern "C" {
#if DNNL_VERSION_MAJOR >= 3
// Only in builds that run through SYCL.
__attribute__((weak)) dnnl_status_t dnnl_sycl_interop_memory_create(dnnl_memory_t* memory,
                                                                    const_dnnl_memory_desc_t desc,
                                                                    dnnl_engine_t engine, int kind,
                                                                    void* handle);
#endif
// Only in builds that use OpenMP.
__attribute__((weak)) void omp_set_num_threads(int threads);
}

namespace tenon::bench {

namespace {

using dnnl::memory;
using Desc = memory::desc;
using Dims = memory::dims;
using Type = memory::data_type;
using Tag = memory::format_tag;
using Algorithm = dnnl::algorithm;

#if DNNL_VERSION_MAJOR < 3
constexpr const char* kName = "oneDNN";
using Softmax = dnnl::softmax_v2_forward;
using Pooling = dnnl::pooling_v2_forward;

template <class Primitive, class... Args>
typename Primitive::primitive_desc described(const dnnl::engine& engine,
                                             const dnnl::primitive_attr& attributes,
                                             const Args&... args) {
  return {typename Primitive::desc(args...), attributes, engine};
}
#else
const char* const kName = dnnl_sycl_interop_memory_create ? "oneDNN-sycl" : "oneDNN";
using Softmax = dnnl::softmax_forward;
using Pooling = dnnl::pooling_forward;

template <class Primitive, class... Args>
typename Primitive::primitive_desc described(const dnnl::engine& engine,
                                             const dnnl::primitive_attr& attributes,
                                             const Args&... args) {
  return {engine, args..., attributes};
}
#endif

struct Step {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> args;
};

/// Steps that run in order.
class Steps {
 public:
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};

  memory array(const Desc& desc, const void* data) const {
    void* const writable = const_cast<void*>(data);
#if DNNL_VERSION_MAJOR < 3
    return memory(desc, engine, writable);
#else
    // The header may be newer than the library, and its constructors then use what that lacks.
    constexpr int kPointers = 0;  // dnnl_sycl_interop_usm
    dnnl_memory_t created = nullptr;
    dnnl::error::wrap_c_api(dnnl_sycl_interop_memory_create
                                ? dnnl_sycl_interop_memory_create(&created, desc.get(),
                                                                  engine.get(), kPointers, writable)
                                : dnnl_memory_create(&created, desc.get(), engine.get(), writable),
                            "no array");
    return memory(created);
#endif
  }
  memory array(const Desc& desc) const { return array(desc, DNNL_MEMORY_ALLOCATE); }
  void add(dnnl::primitive primitive, std::unordered_map<int, memory> args) {
    steps_.push_back({std::move(primitive), std::move(args)});
  }
  void add_reorder(const memory& from, const memory& to) {
    add(dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }
  /// The array in that layout: itself, or a copy that every run makes anew.
  memory in_layout(const memory& plain, const Desc& desc) {
    if (plain.get_desc() == desc) return plain;
    const memory other = array(desc);
    add_reorder(plain, other);
    return other;
  }
  /// Waits for the last.
  void run() {
    for (const Step& step : steps_) step.primitive.execute(stream_, step.args);
    stream_.wait();
  }
  void clear() { steps_.clear(); }

 private:
  dnnl::stream stream_{engine};
  std::vector<Step> steps_;
};

constexpr auto kInference = dnnl::prop_kind::forward_inference;

/// The steps that `describe` adds; null if oneDNN has no implementation of them.
template <class Describe>
Call call_of(const Describe& describe) {
  try {
    auto steps = std::make_shared<Steps>();
    describe(*steps);
    return [steps = std::move(steps)] { steps->run(); };
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

// ---- maps ---------------------------------------------------------------------------------------

Desc rows_of(const Map& m) { return {{m.rows, m.columns}, Type::f32, Tag::ab}; }

Call softmax(const Map& m) {
  return call_of([&](Steps& steps) {
    const Desc desc = rows_of(m);
    const auto described_softmax = described<Softmax>(steps.engine, {}, kInference,
                                                      Algorithm::softmax_accurate, desc, desc, 1);
    steps.add(Softmax(described_softmax),
              {{DNNL_ARG_SRC, steps.array(desc, m.x)}, {DNNL_ARG_DST, steps.array(desc, m.y)}});
  });
}

Call layer_norm(const Map& m) {
  return call_of([&](Steps& steps) {
    using Norm = dnnl::layer_normalization_forward;
    using Flags = dnnl::normalization_flags;
    const Desc desc = rows_of(m), weights({m.columns}, Type::f32, Tag::a);
    const Flags flags = Flags::use_scale | Flags::use_shift;
#if DNNL_VERSION_MAJOR < 3
    const auto norm = described<Norm>(steps.engine, {}, kInference, desc, 1e-5f, flags);
#else
    const auto norm = described<Norm>(steps.engine, {}, kInference, desc, desc, 1e-5f, flags);
#endif
    steps.add(Norm(norm), {{DNNL_ARG_SRC, steps.array(desc, m.x)},
                           {DNNL_ARG_SCALE, steps.array(weights, m.gamma)},
                           {DNNL_ARG_SHIFT, steps.array(weights, m.beta)},
                           {DNNL_ARG_DST, steps.array(desc, m.y)}});
  });
}

template <Algorithm algorithm>
Call element_by_element(const Map& m) {
  return call_of([&](Steps& steps) {
    const Desc desc({std::int64_t{m.rows} * m.columns}, Type::f32, Tag::a);
    using Function = dnnl::eltwise_forward;
#if DNNL_VERSION_MAJOR < 3
    const auto function =
        described<Function>(steps.engine, {}, kInference, algorithm, desc, 0.0f, 0.0f);
#else
    const auto function =
        described<Function>(steps.engine, {}, kInference, algorithm, desc, desc, 0.0f, 0.0f);
#endif
    steps.add(Function(function),
              {{DNNL_ARG_SRC, steps.array(desc, m.x)}, {DNNL_ARG_DST, steps.array(desc, m.y)}});
  });
}

dnnl::post_ops relu_after() {
  dnnl::post_ops relu;
#if DNNL_VERSION_MAJOR < 3
  relu.append_eltwise(1.0f, Algorithm::eltwise_relu, 0.0f, 0.0f);
#else
  relu.append_eltwise(Algorithm::eltwise_relu, 0.0f, 0.0f);
#endif
  return relu;
}

Call chain(const Map& m) {
  return call_of([&](Steps& steps) {
    const Desc desc = rows_of(m), row({1, m.columns}, Type::f32, Tag::ab);
    dnnl::post_ops then;
    then.append_binary(Algorithm::binary_add, row);
#if DNNL_VERSION_MAJOR < 3
    then.append_eltwise(1.0f, Algorithm::eltwise_relu, 0.0f, 0.0f);
#else
    then.append_eltwise(Algorithm::eltwise_relu, 0.0f, 0.0f);
#endif
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(then);
    const auto product =
        described<dnnl::binary>(steps.engine, attributes, Algorithm::binary_mul, desc, row, desc);
    steps.add(dnnl::binary(product),
              {{DNNL_ARG_SRC_0, steps.array(desc, m.x)},
               {DNNL_ARG_SRC_1, steps.array(row, m.gamma)},
               {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, steps.array(row, m.beta)},
               {DNNL_ARG_DST, steps.array(desc, m.y)}});
  });
}

Call transpose(const Map& m) {
  return call_of([&](Steps& steps) {
    const Desc transposed({m.rows, m.columns}, Type::f32, Tag::ba);
    steps.add_reorder(steps.array(rows_of(m), m.x), steps.array(transposed, m.y));
  });
}

Call sums_of(const Map& m, const Dims& dims) {
  return call_of([&](Steps& steps) {
    const Desc desc = rows_of(m), result(dims, Type::f32, Tag::ab);
    const auto sums = described<dnnl::reduction>(steps.engine, {}, Algorithm::reduction_sum, desc,
                                                 result, 0.0f, 0.0f);
    steps.add(dnnl::reduction(sums),
              {{DNNL_ARG_SRC, steps.array(desc, m.x)}, {DNNL_ARG_DST, steps.array(result, m.y)}});
  });
}

Call row_sums(const Map& m) { return sums_of(m, {m.rows, 1}); }
Call column_sums(const Map& m) { return sums_of(m, {1, m.columns}); }

// ---- products, convolutions, pools --------------------------------------------------------------

Type type_of(DataType type) {
  if (type == Int(8)) return Type::s8;
  if (type == UInt(8)) return Type::u8;
  if (type == BFloat(16)) return Type::bf16;
  if (type == Float(16)) return Type::f16;
  return Type::f32;
}

/// With the strides of the stored matrix: rows x columns, or its transpose.
Desc matrices_of(const MatrixProduct& p, bool is_transposed, std::int64_t rows,
                 std::int64_t columns, Type type) {
  const Dims strides{rows * columns, is_transposed ? 1 : columns, is_transposed ? rows : 1};
  if (p.batch > 1) return {{p.batch, rows, columns}, type, strides};
  return {{rows, columns}, type, Dims{strides[1], strides[2]}};
}

Call product(const MatrixProduct& p) {
  if (p.of_a == Float(64)) return nullptr;
  return call_of([&](Steps& steps) {
    const Desc a = matrices_of(p, p.transpose_a, p.m, p.k, type_of(p.of_a)),
               b = matrices_of(p, p.transpose_b, p.k, p.n, type_of(p.of_b)),
               c = matrices_of(p, false, p.m, p.n, p.of_a.is_integral() ? Type::s32 : Type::f32);
    const Desc chosen(p.batch > 1 ? Dims{p.batch, p.k, p.n} : Dims{p.k, p.n}, type_of(p.of_b),
                      Tag::any);
    const auto matmul = described<dnnl::matmul>(steps.engine, {}, a, p.is_b_packed ? chosen : b, c);
    const memory weights = steps.in_layout(steps.array(b, p.b), matmul.weights_desc());
    steps.run();
    steps.clear();
    steps.add(dnnl::matmul(matmul), {{DNNL_ARG_SRC, steps.array(a, p.a)},
                                     {DNNL_ARG_WEIGHTS, weights},
                                     {DNNL_ARG_DST, steps.array(c, p.c)}});
  });
}

Call convolution(const Convolution& c, const float* x, const float* kernel, const float* bias,
                 float* y) {
  return call_of([&](Steps& steps) {
    const Dims from{c.batch, c.in, c.height, c.width},
        to{c.batch, c.out, c.out_height(), c.out_width()}, biases{c.out},
        strides{c.stride, c.stride}, padding{c.padding, c.padding};
    const Dims weights =
        c.depthwise ? Dims{c.in, 1, 1, c.kernel, c.kernel} : Dims{c.out, c.in, c.kernel, c.kernel};
    const auto chosen = [](const Dims& dims) { return Desc(dims, Type::f32, Tag::any); };
    dnnl::primitive_attr attributes;
    if (c.with_relu) attributes.set_post_ops(relu_after());
    const auto convolution = described<dnnl::convolution_forward>(
        steps.engine, attributes, kInference, Algorithm::convolution_auto, chosen(from),
        chosen(weights), Desc(biases, Type::f32, Tag::a), chosen(to), strides, padding, padding);
    const memory source = steps.in_layout(steps.array({from, Type::f32, Tag::abcd}, x),
                                          convolution.src_desc()),
                 factors = steps.in_layout(
                     steps.array({weights, Type::f32, c.depthwise ? Tag::abcde : Tag::abcd},
                                 kernel),
                     convolution.weights_desc()),
                 plain = steps.array({to, Type::f32, Tag::abcd}, y),
                 result = convolution.dst_desc() == plain.get_desc()
                              ? plain
                              : steps.array(convolution.dst_desc());
    steps.add(dnnl::convolution_forward(convolution),
              {{DNNL_ARG_SRC, source},
               {DNNL_ARG_WEIGHTS, factors},
               {DNNL_ARG_BIAS, steps.array({biases, Type::f32, Tag::a}, bias)},
               {DNNL_ARG_DST, result}});
    if (result.get_desc() != plain.get_desc()) steps.add_reorder(result, plain);
  });
}

Call pool(const Pool& p, const float* x, float* y) {
  return call_of([&](Steps& steps) {
    const Desc from({p.batch, p.channels, p.height, p.width}, Type::f32, Tag::abcd),
        to({p.batch, p.channels, p.out_height(), p.out_width()}, Type::f32, Tag::abcd);
    const Dims strides{p.stride, p.stride}, window{p.window, p.window}, none{0, 0},
        padding{p.padding, p.padding};
    const auto pooling = described<Pooling>(
        steps.engine, {}, kInference,
        p.is_mean ? Algorithm::pooling_avg_exclude_padding : Algorithm::pooling_max, from, to,
        strides, window, none, padding, padding);
    steps.add(Pooling(pooling),
              {{DNNL_ARG_SRC, steps.array(from, x)}, {DNNL_ARG_DST, steps.array(to, y)}});
  });
}

MatrixLibrary description() {
  const dnnl_version_t& v = *dnnl::version();
  const int isa = static_cast<int>(dnnl::get_effective_cpu_isa());
  const char* name = "sse41";
  // The bits of dnnl_cpu_isa_t; each set includes those before it.
  for (const auto& [bits, set] : {std::pair{0x3, "avx"},
                                  {0x7, "avx2"},
                                  {0x27, "avx512_core"},
                                  {0x67, "avx512_core_vnni"},
                                  {0xe7, "avx512_core_bf16"},
                                  {0x1e7, "avx512_core_fp16"},
                                  {0x3e7, "avx512_core_amx"}})
    if ((isa & bits) == bits) name = set;
  return {kName,
          std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.patch),
          name};
}

}  // namespace

/// Entry of the module. OpenMP's threads belong to the calling thread.
extern "C" __attribute__((visibility("default"))) void tenon_onednn_operators(Operators* result,
                                                                              int threads) {
  if (omp_set_num_threads) omp_set_num_threads(threads);
  *result = {.library = description(),
             .product = product,
             .convolution = convolution,
             .pool = pool,
             .chain = chain,
             .relu = element_by_element<Algorithm::eltwise_relu>,
             .gelu = element_by_element<Algorithm::eltwise_gelu_erf>,
             .transpose = transpose,
             .row_sums = row_sums,
             .column_sums = column_sums,
             .softmax = softmax,
             .layer_norm = layer_norm};
}

}  // namespace tenon::bench
