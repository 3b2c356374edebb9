#include "tests/bench/common/onednn.h"

#ifdef TENON_HAVE_ONEDNN

#include <dlfcn.h>

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

namespace tenon::bench {

namespace {

using dnnl::memory;
using Desc = memory::desc;
using Type = memory::data_type;
using Tag = memory::format_tag;

struct Step {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> args;
};

/// Runs steps in order, and waits for the last.
class Steps {
 public:
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};

  memory array(const Desc& desc, const void* data) const {
    return memory(desc, engine, const_cast<void*>(data));
  }
  void add(dnnl::primitive primitive, std::unordered_map<int, memory> args) {
    steps_.push_back({std::move(primitive), std::move(args)});
  }
  /// The array in that layout: itself, or a copy that every run makes anew.
  memory in_layout(const memory& plain, const Desc& desc) {
    if (plain.get_desc() == desc) return plain;
    memory other(desc, engine);
    add(dnnl::reorder(plain, other), {{DNNL_ARG_FROM, plain}, {DNNL_ARG_TO, other}});
    return other;
  }
  void run() {
    for (const Step& step : steps_) step.primitive.execute(stream_, step.args);
    stream_.wait();
  }

 private:
  dnnl::stream stream_{engine};
  std::vector<Step> steps_;
};

Desc rows_of(int rows, int columns) { return {{rows, columns}, Type::f32, Tag::ab}; }

Call call_of(std::shared_ptr<Steps> steps) {
  return [steps = std::move(steps)] { steps->run(); };
}

constexpr auto kInference = dnnl::prop_kind::forward_inference;

}  // namespace

void set_onednn_threads(int threads) {
  // Debian's uses OpenMP.
  using Set = void(int);
  if (auto* set = reinterpret_cast<Set*>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) set(threads);
}

Call onednn_softmax(int rows, int columns, const float* x, float* y) {
  auto steps = std::make_shared<Steps>();
  const Desc desc = rows_of(rows, columns);
  const dnnl::softmax_forward::primitive_desc softmax({kInference, desc, 1}, steps->engine);
  steps->add(dnnl::softmax_forward(softmax),
             {{DNNL_ARG_SRC, steps->array(desc, x)}, {DNNL_ARG_DST, steps->array(desc, y)}});
  return call_of(steps);
}

Call onednn_layer_norm(int rows, int columns, const float* x, const float* gamma, const float* beta,
                       float* y) {
  auto steps = std::make_shared<Steps>();
  const Desc desc = rows_of(rows, columns), weights({columns}, Type::f32, Tag::a);
  using Flags = dnnl::normalization_flags;
  const dnnl::layer_normalization_forward::primitive_desc norm(
      {kInference, desc, 1e-5f, Flags::use_scale | Flags::use_shift}, steps->engine);
  steps->add(dnnl::layer_normalization_forward(norm),
             {{DNNL_ARG_SRC, steps->array(desc, x)},
              {DNNL_ARG_SCALE, steps->array(weights, gamma)},
              {DNNL_ARG_SHIFT, steps->array(weights, beta)},
              {DNNL_ARG_DST, steps->array(desc, y)}});
  return call_of(steps);
}

Call onednn_relu(int count, const float* x, float* y) {
  auto steps = std::make_shared<Steps>();
  const Desc desc({count}, Type::f32, Tag::a);
  const dnnl::eltwise_forward::primitive_desc relu(
      {kInference, dnnl::algorithm::eltwise_relu, desc, 0.0f, 0.0f}, steps->engine);
  steps->add(dnnl::eltwise_forward(relu),
             {{DNNL_ARG_SRC, steps->array(desc, x)}, {DNNL_ARG_DST, steps->array(desc, y)}});
  return call_of(steps);
}

Call onednn_product(const NarrowProduct& p, bool lays_out) {
  const auto type_of = [](DataType t) {
    return t == Int(8) ? Type::s8 : t == UInt(8) ? Type::u8 : Type::bf16;
  };
  const Desc a({p.m, p.k}, type_of(p.of_a), Tag::ab), b({p.k, p.n}, type_of(p.of_b), Tag::ab),
      c({p.m, p.n}, p.of_a.is_bfloat() ? Type::f32 : Type::s32, Tag::ab);
  try {
    auto steps = std::make_shared<Steps>();
    const Desc chosen({p.k, p.n}, type_of(p.of_b), Tag::any);
    const dnnl::matmul::primitive_desc product({a, lays_out ? chosen : b, c}, steps->engine);
    const memory laid_out = steps->in_layout(steps->array(b, p.b), product.weights_desc());
    steps->add(dnnl::matmul(product), {{DNNL_ARG_SRC, steps->array(a, p.a)},
                                       {DNNL_ARG_WEIGHTS, laid_out},
                                       {DNNL_ARG_DST, steps->array(c, p.c)}});
    return call_of(steps);
  } catch (const dnnl::error&) {  // It has none of these types.
    return std::nullopt;
  }
}

Call onednn_convolution(const Convolution& c, const float* x, const float* kernel,
                        const float* bias, float* y) {
  auto steps = std::make_shared<Steps>();
  const memory::dims from{c.batch, c.in, c.height, c.width},
      to{c.batch, c.out, c.out_height(), c.out_width()}, biases{c.out}, strides{c.stride, c.stride},
      padding{c.padding, c.padding};
  const memory::dims weights = c.depthwise ? memory::dims{c.in, 1, 1, c.kernel, c.kernel}
                                           : memory::dims{c.out, c.in, c.kernel, c.kernel};
  const auto chosen = [](const memory::dims& dims) { return Desc(dims, Type::f32, Tag::any); };
  dnnl::primitive_attr attributes;
  if (c.with_relu) {
    dnnl::post_ops relu;
    relu.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    attributes.set_post_ops(relu);
  }
  const dnnl::convolution_forward::primitive_desc convolution(
      {kInference, dnnl::algorithm::convolution_auto, chosen(from), chosen(weights),
       Desc(biases, Type::f32, Tag::a), chosen(to), strides, padding, padding},
      attributes, steps->engine);
  const memory source = steps->in_layout(steps->array({from, Type::f32, Tag::abcd}, x),
                                         convolution.src_desc()),
               factors = steps->in_layout(
                   steps->array({weights, Type::f32, c.depthwise ? Tag::abcde : Tag::abcd}, kernel),
                   convolution.weights_desc()),
               plain = steps->array({to, Type::f32, Tag::abcd}, y),
               result = convolution.dst_desc() == plain.get_desc()
                            ? plain
                            : memory(convolution.dst_desc(), steps->engine);
  steps->add(dnnl::convolution_forward(convolution),
             {{DNNL_ARG_SRC, source},
              {DNNL_ARG_WEIGHTS, factors},
              {DNNL_ARG_BIAS, steps->array({biases, Type::f32, Tag::a}, bias)},
              {DNNL_ARG_DST, result}});
  if (result.get_desc() != plain.get_desc())
    steps->add(dnnl::reorder(result, plain), {{DNNL_ARG_FROM, result}, {DNNL_ARG_TO, plain}});
  return call_of(steps);
}

}  // namespace tenon::bench

#else

namespace tenon::bench {

void set_onednn_threads(int) {}
Call onednn_softmax(int, int, const float*, float*) { return std::nullopt; }
Call onednn_layer_norm(int, int, const float*, const float*, const float*, float*) {
  return std::nullopt;
}
Call onednn_relu(int, const float*, float*) { return std::nullopt; }
Call onednn_product(const NarrowProduct&, bool) { return std::nullopt; }
Call onednn_convolution(const Convolution&, const float*, const float*, const float*, float*) {
  return std::nullopt;
}

}  // namespace tenon::bench

#endif
