#include "bindings/rooms.h"

#include <nanobind/stl/array.h>

#include "bindings/driver.h"
#include "tenon/topi/blas.h"
#include "tenon/topi/broadcast.h"
#include "tenon/topi/convolution.h"
#include "tenon/topi/cpu.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/gpu.h"
#include "tenon/topi/nn.h"
#include "tenon/topi/parts.h"
#include "tenon/topi/reduction.h"
#include "tenon/topi/scan.h"
#include "tenon/topi/schedule.h"
#include "tenon/topi/tensor_intrinsics.h"
#include "tenon/topi/transform.h"
#include "tenon/topi/transformer.h"

namespace tenon::python {

using te::Tensor;
using tir::Operand;

namespace {

/// An operand of a broadcasting operation: a tensor or a scalar.
using TermLike = std::variant<Tensor, Operand>;

topi::Term to_term(const TermLike& term) {
  if (const auto* tensor = std::get_if<Tensor>(&term)) return {*tensor, here()};
  return topi::Term(std::get<Operand>(term));
}

/// Returns the axes that users give as one axis or several. None means all axes and gives an empty
/// list.
std::vector<int> to_axes(const std::optional<OneOrMore<int>>& axes) {
  return axes ? axes->items : std::vector<int>();
}

/// Returns two numbers, for the height and the width. A single number is used for both.
std::array<int, 2> to_pair(const OneOrMore<int>& value, const char* what) {
  const std::vector<int>& items = value.items;
  if (items.size() == 1) return {items[0], items[0]};
  if (items.size() == 2) return {items[0], items[1]};
  throw TypeError(std::string(what) + " must be an integer or two of them", here());
}

/// Returns the padding at the top, left, bottom and right. Users may also give one number for all
/// sides, or the pair (vertical, horizontal).
std::array<int, 4> to_padding(const OneOrMore<int>& value) {
  const std::vector<int>& items = value.items;
  if (items.size() == 1) return {items[0], items[0], items[0], items[0]};
  if (items.size() == 2) return {items[0], items[1], items[0], items[1]};
  if (items.size() == 4) return {items[0], items[1], items[2], items[3]};
  throw TypeError("padding must be 1, 2 or 4 integers", here());
}

topi::Layout to_layout(const std::string& layout) {
  if (layout == "NCHW") return topi::Layout::Nchw;
  if (layout == "NHWC") return topi::Layout::Nhwc;
  throw TypeError("layout must be \"NCHW\" or \"NHWC\", got \"" + layout + "\"", here());
}

std::optional<DataType> to_type(const std::optional<DTypeLike>& type) {
  return type ? std::optional<DataType>(*type) : std::nullopt;
}

topi::ConvolutionOptions convolution_options(const OneOrMore<int>& stride,
                                             const OneOrMore<int>& dilation,
                                             const OneOrMore<int>& padding,
                                             const std::optional<DTypeLike>& out_dtype,
                                             const std::string& name) {
  return {.stride = to_pair(stride, "stride"),
          .dilation = to_pair(dilation, "dilation"),
          .padding = to_padding(padding),
          .out_dtype = to_type(out_dtype),
          .name = name};
}

void bind_broadcasts(PyModule& topi) {
  using Broadcast = Tensor (*)(const topi::Term&, const topi::Term&, Name);
  auto bind = [&](const char* name, Broadcast f) {
    const std::string default_name = std::string("T_") + name;
    topi.def(
        name,
        [=](const TermLike& a, const TermLike& b, const std::string& op_name) {
          return f(to_term(a), to_term(b), op_name);
        },
        "a"_a, "b"_a, "name"_a = default_name.c_str());
  };
  bind("add", topi::add);
  bind("subtract", topi::subtract);
  bind("multiply", topi::multiply);
  bind("divide", topi::divide);
  bind("floor_divide", topi::floor_divide);
  bind("floor_mod", topi::floor_mod);
  bind("trunc_divide", topi::trunc_divide);
  bind("trunc_mod", topi::trunc_mod);
  bind("power", topi::power);
  bind("minimum", topi::minimum);
  bind("maximum", topi::maximum);
  bind("less", topi::less);
  bind("less_equal", topi::less_equal);
  bind("greater", topi::greater);
  bind("greater_equal", topi::greater_equal);
  bind("equal", topi::equal);
  bind("not_equal", topi::not_equal);
  bind("logical_and", topi::logical_and);
  bind("logical_or", topi::logical_or);
  bind("bitwise_and", topi::bitwise_and);
  bind("bitwise_or", topi::bitwise_or);
  bind("bitwise_xor", topi::bitwise_xor);
  bind("left_shift", topi::left_shift);
  bind("right_shift", topi::right_shift);
  topi.def(
      "broadcast_to",
      [](const Tensor& x, const Operands& shape, const std::string& name) {
        return topi::broadcast_to(x, to_exprs(shape), name, here());
      },
      "x"_a, "shape"_a, "name"_a = "T_broadcast_to");
}

void bind_elementwise(PyModule& topi) {
  using Map = Tensor (*)(const Tensor&, Name, SourceLocation);
  auto bind = [&](const char* name, Map f) {
    const std::string default_name = std::string("T_") + name;
    topi.def(name, with_line(f), "x"_a, "name"_a = default_name.c_str());
  };
  bind("abs", topi::abs);
  bind("negative", topi::negative);
  bind("sign", topi::sign);
  bind("exp", topi::exp);
  bind("exp2", topi::exp2);
  bind("exp10", topi::exp10);
  bind("log", topi::log);
  bind("log2", topi::log2);
  bind("log10", topi::log10);
  bind("log1p", topi::log1p);
  bind("sqrt", topi::sqrt);
  bind("rsqrt", topi::rsqrt);
  bind("erf", topi::erf);
  bind("sigmoid", topi::sigmoid);
  bind("sin", topi::sin);
  bind("cos", topi::cos);
  bind("tan", topi::tan);
  bind("asin", topi::asin);
  bind("acos", topi::acos);
  bind("atan", topi::atan);
  bind("sinh", topi::sinh);
  bind("cosh", topi::cosh);
  bind("tanh", topi::tanh);
  bind("asinh", topi::asinh);
  bind("acosh", topi::acosh);
  bind("atanh", topi::atanh);
  bind("floor", topi::floor);
  bind("ceil", topi::ceil);
  bind("trunc", topi::trunc);
  bind("round", topi::round);
  bind("isnan", topi::isnan);
  bind("isinf", topi::isinf);
  bind("isfinite", topi::isfinite);
  bind("logical_not", topi::logical_not);
  bind("bitwise_not", topi::bitwise_not);
  bind("relu", topi::relu);
  bind("gelu", topi::gelu);
  bind("flatten", topi::flatten);
  topi.def("cast", with_line(topi::cast), "x"_a, "dtype"_a, "name"_a = "T_cast");
  topi.def("reinterpret", with_line(topi::reinterpret), "x"_a, "dtype"_a,
           "name"_a = "T_reinterpret");
  topi.def("clip", with_line(topi::clip), "x"_a, "low"_a, "high"_a, "name"_a = "T_clip");
  topi.def(
      "full",
      [](const Operands& shape, const DTypeLike& dtype, const Operand& value,
         const std::string& name) {
        return topi::full(to_exprs(shape), dtype, value, name, here());
      },
      "shape"_a, "dtype"_a, "value"_a, "name"_a = "T_full");
}

void bind_reductions_and_scans(PyModule& topi) {
  using Reduction =
      Tensor (*)(const Tensor&, std::vector<int>, topi::ReductionOptions, SourceLocation);
  auto bind = [&](const char* name, Reduction f) {
    topi.def(
        name,
        [=](const Tensor& x, const std::optional<OneOrMore<int>>& axis, bool keepdims,
            const std::string& op_name) {
          return f(x, to_axes(axis), {.keepdims = keepdims, .name = op_name}, here());
        },
        "x"_a, "axis"_a = nb::none(), "keepdims"_a = false, "name"_a = "");
  };
  bind("sum", topi::sum);
  bind("prod", topi::prod);
  bind("max", topi::max);
  bind("min", topi::min);
  bind("all", topi::all);
  bind("any", topi::any);
  bind("argmax", topi::argmax);
  bind("argmin", topi::argmin);
  using Scan = Tensor (*)(const Tensor&, int, topi::CumulativeOptions, SourceLocation);
  auto scan = [&](const char* name, Scan f) {
    topi.def(
        name,
        [=](const Tensor& x, int axis, bool exclusive, const std::optional<DTypeLike>& dtype,
            std::optional<int> block, const std::string& op_name) {
          return f(
              x, axis,
              {.exclusive = exclusive, .dtype = to_type(dtype), .block = block, .name = op_name},
              here());
        },
        "x"_a, "axis"_a = 0, "exclusive"_a = false, "dtype"_a = nb::none(), "block"_a = nb::none(),
        "name"_a = "");
  };
  scan("cumsum", topi::cumsum);
  scan("cumprod", topi::cumprod);
}

void bind_shapes(PyModule& topi) {
  topi.def(
      "transpose",
      [](const Tensor& x, const std::optional<OneOrMore<int>>& axes, const std::string& name) {
        return topi::transpose(x, to_axes(axes), name, here());
      },
      "x"_a, "axes"_a = nb::none(), "name"_a = "T_transpose");
  topi.def(
      "reshape",
      [](const Tensor& x, const Operands& shape, const std::string& name) {
        return topi::reshape(x, to_exprs(shape), name, here());
      },
      "x"_a, "shape"_a, "name"_a = "T_reshape");
  topi.def("expand_dims", with_line(topi::expand_dims), "x"_a, "axis"_a, "count"_a = 1,
           "name"_a = "T_expand_dims");
  topi.def(
      "squeeze",
      [](const Tensor& x, const std::optional<OneOrMore<int>>& axis, const std::string& name) {
        return topi::squeeze(x, to_axes(axis), name, here());
      },
      "x"_a, "axis"_a = nb::none(), "name"_a = "T_squeeze");
  topi.def("concatenate", with_line(topi::concatenate), "tensors"_a, "axis"_a = 0,
           "name"_a = "T_concat");
  topi.def("stack", with_line(topi::stack), "tensors"_a, "axis"_a = 0, "name"_a = "T_stack");
  topi.def(
      "split",
      [](const Tensor& x, const std::variant<int, std::vector<int>>& sections_or_places, int axis,
         const std::string& name) {
        if (const int* sections = std::get_if<int>(&sections_or_places))
          return topi::split_sections(x, *sections, axis, name, here());
        return topi::split(x, std::get<std::vector<int>>(sections_or_places), axis, name, here());
      },
      "x"_a, "sections_or_places"_a, "axis"_a = 0, "name"_a = "T_split",
      "Splits into equal sections, or at the given places.");
  topi.def("strided_slice", with_line(topi::strided_slice), "x"_a, "begin"_a, "end"_a,
           "strides"_a = std::vector<int>(), "name"_a = "T_strided_slice");
  topi.def("take", with_line(topi::take), "x"_a, "indices"_a, "axis"_a = 0, "name"_a = "T_take");
  topi.def(
      "pad",
      [](const Tensor& x, const Operands& before, const std::optional<Operands>& after,
         const Operand& value, const std::string& name) {
        return topi::pad(x, to_exprs(before), to_exprs(after ? *after : before), value, name,
                         here());
      },
      "x"_a, "before"_a, "after"_a = nb::none(), "value"_a = 0, "name"_a = "T_pad");
}

void bind_networks(PyModule& topi) {
  using Matmul = Tensor (*)(const Tensor&, const Tensor&, topi::MatmulOptions, SourceLocation);
  auto matmul = [&](const char* name, Matmul f) {
    topi.def(
        name,
        [=](const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b,
            const std::optional<DTypeLike>& out_dtype, const std::string& op_name) {
          return f(a, b,
                   {.transpose_a = transpose_a,
                    .transpose_b = transpose_b,
                    .out_dtype = to_type(out_dtype),
                    .name = op_name},
                   here());
        },
        "a"_a, "b"_a, "transpose_a"_a = false, "transpose_b"_a = false, "out_dtype"_a = nb::none(),
        "name"_a = "");
  };
  matmul("matmul", topi::matmul);
  matmul("batch_matmul", topi::batch_matmul);
  topi.def(
      "dense",
      [](const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
         const std::optional<DTypeLike>& out_dtype, const std::string& name) {
        const topi::DenseOptions options{.out_dtype = to_type(out_dtype), .name = name};
        return bias ? topi::dense(x, weight, *bias, options, here())
                    : topi::dense(x, weight, options, here());
      },
      "x"_a, "weight"_a, "bias"_a = nb::none(), "out_dtype"_a = nb::none(), "name"_a = "T_dense");
  topi.def("softmax", with_line(topi::softmax), "x"_a, "axis"_a = -1, "name"_a = "T_softmax_norm");
  using Pool = Tensor (*)(const Tensor&, std::array<int, 2>, topi::PoolOptions, SourceLocation);
  auto pool = [&](const char* name, Pool f) {
    topi.def(
        name,
        [=](const Tensor& x, const OneOrMore<int>& window, const OneOrMore<int>& stride,
            const OneOrMore<int>& padding, const std::string& layout, const std::string& op_name) {
          return f(x, to_pair(window, "window"),
                   {.stride = to_pair(stride, "stride"),
                    .padding = to_padding(padding),
                    .layout = to_layout(layout),
                    .name = op_name},
                   here());
        },
        "x"_a, "window"_a, "stride"_a = 1, "padding"_a = 0, "layout"_a = "NCHW", "name"_a = "");
  };
  pool("max_pool2d", topi::max_pool2d);
  pool("avg_pool2d", topi::avg_pool2d);
  using Convolution =
      Tensor (*)(const Tensor&, const Tensor&, topi::ConvolutionOptions, SourceLocation);
  auto convolution = [&](const char* name, Convolution f) {
    topi.def(
        name,
        [=](const Tensor& x, const Tensor& kernel, const OneOrMore<int>& stride,
            const OneOrMore<int>& dilation, const OneOrMore<int>& padding,
            const std::optional<DTypeLike>& out_dtype, const std::string& op_name) {
          return f(x, kernel, convolution_options(stride, dilation, padding, out_dtype, op_name),
                   here());
        },
        "x"_a, "kernel"_a, "stride"_a = 1, "dilation"_a = 1, "padding"_a = 0,
        "out_dtype"_a = nb::none(), "name"_a = "");
  };
  convolution("conv2d_nchw", topi::conv2d_nchw);
  convolution("depthwise_conv2d_nchw", topi::depthwise_conv2d_nchw);
  convolution("conv2d_nhwc", topi::conv2d_nhwc);
  convolution("depthwise_conv2d_nhwc", topi::depthwise_conv2d_nhwc);
  topi.def(
      "group_conv2d_nchw",
      [=](const Tensor& x, const Tensor& kernel, int groups, const OneOrMore<int>& stride,
          const OneOrMore<int>& dilation, const OneOrMore<int>& padding,
          const std::optional<DTypeLike>& out_dtype, const std::string& name) {
        return topi::group_conv2d_nchw(
            x, kernel, groups, convolution_options(stride, dilation, padding, out_dtype, name),
            here());
      },
      "x"_a, "kernel"_a, "groups"_a, "stride"_a = 1, "dilation"_a = 1, "padding"_a = 0,
      "out_dtype"_a = nb::none(), "name"_a = "");
  using Winograd = Tensor (*)(const Tensor&, const Tensor&, topi::WinogradOptions, SourceLocation);
  auto winograd = [&](const char* name, Winograd f) {
    topi.def(
        name,
        [=](const Tensor& x, const Tensor& kernel, int tile, const OneOrMore<int>& padding,
            int channel_multiple, const std::string& op_name) {
          return f(x, kernel,
                   {.tile = tile,
                    .padding = to_padding(padding),
                    .channel_multiple = channel_multiple,
                    .name = op_name},
                   here());
        },
        "x"_a, "kernel"_a, "tile"_a = 4, "padding"_a = 0, "channel_multiple"_a = 16, "name"_a = "");
  };
  winograd("conv2d_winograd_nchw", topi::conv2d_winograd_nchw);
  winograd("conv2d_winograd_nhwc", topi::conv2d_winograd_nhwc);
  topi.def("layer_norm", with_line(topi::layer_norm), "x"_a, "gamma"_a, "beta"_a,
           "epsilon"_a = 1e-5, "name"_a = "T_layer_norm");
  topi.def("rms_norm", with_line(topi::rms_norm), "x"_a, "gamma"_a, "epsilon"_a = 1e-5,
           "name"_a = "T_rms_norm");
  topi.def(
      "attention",
      [](const Tensor& q, const Tensor& k, const Tensor& v, std::optional<double> scale,
         const std::string& name) {
        return topi::attention(q, k, v, {.scale = scale, .name = name}, here());
      },
      "q"_a, "k"_a, "v"_a, "scale"_a = nb::none(), "name"_a = "T_attention");
}

void bind_library_schedules(PyModule& topi) {
  using Make = te::Schedule (*)(const Tensor&, const tir::TargetFacts&, SourceLocation);
  auto bind = [](PyModule& room, const char* name, Make f, const char* target) {
    room.def(
        name,
        [=](const Tensor& out, const TargetLike& made) {
          return f(out, to_target(made).facts(), here());
        },
        "out"_a, "target"_a = target);
  };
  PyModule cpu = topi.def_submodule("cpu", "Schedules of operators for CPUs.");
  using Fastest = Tensor (*)(const Tensor&, const Tensor&, const tir::TargetFacts&,
                             topi::ConvolutionOptions, SourceLocation);
  auto fastest = [&](const char* name, Fastest f) {
    cpu.def(
        name,
        [=](const Tensor& x, const Tensor& kernel, const TargetLike& target,
            const OneOrMore<int>& stride, const OneOrMore<int>& dilation,
            const OneOrMore<int>& padding, const std::optional<DTypeLike>& out_dtype,
            const std::string& op_name) {
          return f(x, kernel, to_target(target).facts(),
                   convolution_options(stride, dilation, padding, out_dtype, op_name), here());
        },
        "x"_a, "kernel"_a, "target"_a = "llvm", "stride"_a = 1, "dilation"_a = 1, "padding"_a = 0,
        "out_dtype"_a = nb::none(), "name"_a = "");
  };
  fastest("fastest_conv2d_nchw", topi::cpu::fastest_conv2d_nchw);
  fastest("fastest_conv2d_nhwc", topi::cpu::fastest_conv2d_nhwc);
  bind(cpu, "schedule_matmul", topi::cpu::schedule_matmul, "llvm");
  bind(cpu, "schedule_conv2d", topi::cpu::schedule_conv2d, "llvm");
  bind(cpu, "schedule_conv2d_winograd", topi::cpu::schedule_conv2d_winograd, "llvm");
  bind(cpu, "schedule_windows", topi::cpu::schedule_windows, "llvm");
  bind(cpu, "schedule_attention", topi::cpu::schedule_attention, "llvm");
  bind(cpu, "schedule_rows", topi::cpu::schedule_rows, "llvm");
  bind(cpu, "schedule_reduction", topi::cpu::schedule_reduction, "llvm");
  bind(cpu, "schedule_elementwise", topi::cpu::schedule_elementwise, "llvm");
  bind(cpu, "schedule_transpose", topi::cpu::schedule_transpose, "llvm");
  PyModule gpu = topi.def_submodule("gpu", "Schedules of operators for devices.");
  bind(gpu, "schedule_matmul", topi::gpu::schedule_matmul, "cuda");
  bind(gpu, "schedule_conv2d", topi::gpu::schedule_conv2d, "cuda");
  bind(gpu, "schedule_softmax", topi::gpu::schedule_softmax, "cuda");
  bind(gpu, "schedule_reduction", topi::gpu::schedule_reduction, "cuda");
  bind(gpu, "schedule_transpose", topi::gpu::schedule_transpose, "cuda");
  bind(gpu, "schedule_elementwise", topi::gpu::schedule_elementwise, "cuda");
  using Intrin =
      te::TensorIntrin (*)(const std::string&, const topi::gpu::MatrixTile&, SourceLocation);
  auto tile_of = [](int m, int n, int k, const DTypeLike& type, const DTypeLike& sum, bool ta,
                    bool tb) {
    return topi::gpu::MatrixTile{
        .m = m, .n = n, .k = k, .type = type, .sum = sum, .transpose_a = ta, .transpose_b = tb};
  };
  auto fragment = [&](const char* name, Intrin f) {
    gpu.def(
        name,
        [=](const std::string& scope, int m, int n, int k, const DTypeLike& dtype,
            const DTypeLike& sum, bool ta,
            bool tb) { return f(scope, tile_of(m, n, k, dtype, sum, ta, tb), here()); },
        "scope"_a, "m"_a = 16, "n"_a = 16, "k"_a = 16, "dtype"_a = DTypeLike{Float(16)},
        "sum"_a = DTypeLike{Float(32)}, "transpose_a"_a = false, "transpose_b"_a = false);
  };
  fragment("load_matrix_a", topi::gpu::load_matrix_a);
  fragment("load_matrix_b", topi::gpu::load_matrix_b);
  fragment("store_matrix", topi::gpu::store_matrix);
  gpu.def(
      "multiply_matrices",
      [=](int m, int n, int k, const DTypeLike& dtype, const DTypeLike& sum, bool ta, bool tb) {
        return topi::gpu::multiply_matrices(tile_of(m, n, k, dtype, sum, ta, tb), here());
      },
      "m"_a = 16, "n"_a = 16, "k"_a = 16, "dtype"_a = DTypeLike{Float(16)},
      "sum"_a = DTypeLike{Float(32)}, "transpose_a"_a = false, "transpose_b"_a = false);
  using TileIntrin =
      te::TensorIntrin (*)(const std::string&, const topi::cpu::RegisterTile&, SourceLocation);
  auto register_tile_of = [](int m, int n, int k, const DTypeLike& a, const DTypeLike& b, bool ta,
                             bool tb, bool tc) {
    return topi::cpu::RegisterTile{.m = m,
                                   .n = n,
                                   .k = k,
                                   .a = a,
                                   .b = b,
                                   .transpose_a = ta,
                                   .transpose_b = tb,
                                   .transpose_c = tc};
  };
  auto tile = [&](const char* name, TileIntrin f) {
    cpu.def(
        name,
        [=](const std::string& scope, int m, int n, int k, const DTypeLike& a, const DTypeLike& b,
            bool ta, bool tb,
            bool tc) { return f(scope, register_tile_of(m, n, k, a, b, ta, tb, tc), here()); },
        "scope"_a, "m"_a = 16, "n"_a = 16, "k"_a = 32, "a"_a = DTypeLike{BFloat(16)},
        "b"_a = DTypeLike{BFloat(16)}, "transpose_a"_a = false, "transpose_b"_a = false,
        "transpose_c"_a = false);
  };
  tile("load_tile_a", topi::cpu::load_tile_a);
  tile("load_tile_b", topi::cpu::load_tile_b);
  tile("store_tile", topi::cpu::store_tile);
  cpu.def(
      "multiply_tiles",
      [=](int m, int n, int k, const DTypeLike& a, const DTypeLike& b, bool ta, bool tb, bool tc) {
        return topi::cpu::multiply_tiles(register_tile_of(m, n, k, a, b, ta, tb, tc), here());
      },
      "m"_a = 16, "n"_a = 16, "k"_a = 32, "a"_a = DTypeLike{BFloat(16)},
      "b"_a = DTypeLike{BFloat(16)}, "transpose_a"_a = false, "transpose_b"_a = false,
      "transpose_c"_a = false);
  gpu.def("dot_product_of_four", with_line(topi::gpu::dot_product_of_four),
          "a"_a = DTypeLike{Int(8)}, "b"_a = DTypeLike{Int(8)});
  topi.def(
      "schedule",
      [](const te::Schedule& s, const OneOrMore<Tensor>& outs, const TargetLike& target) {
        topi::schedule(s, outs.items, to_target(target).facts(), here());
      },
      "schedule"_a, "outs"_a, "target"_a = "llvm");
}

/// Binds the routines of topi/blas.h. Each takes as keywords the options that affect it.
void bind_blas(PyModule& topi) {
  PyModule blas = topi.def_submodule(
      "blas",
      "Routines of the BLAS, levels 1 and 2, for CPUs. Each function returns a loop program for "
      "`tenon.build`, whose arguments are those of the BLAS without sizes and strides.");
  const auto dtype = "dtype"_a = DTypeLike{Float(32)};
  const auto unit_strides = "unit_strides"_a = true, transposed = "transposed"_a = false,
             lower = "lower"_a = false, unit_diagonal = "unit_diagonal"_a = false;
  const auto target = "target"_a = "llvm";
  using OnVectors =
      tir::PrimFunc (*)(const topi::blas::VectorOptions&, const tir::TargetFacts&, SourceLocation);
  auto on_vectors = [&](const char* name, OnVectors f) {
    blas.def(
        name,
        [=](const DTypeLike& type, bool has_unit_strides, const TargetLike& made) {
          return f({.dtype = type, .unit_strides = has_unit_strides}, to_target(made).facts(),
                   here());
        },
        nb::kw_only(), dtype, unit_strides, target);
  };
  on_vectors("axpy", topi::blas::axpy);
  on_vectors("dot", topi::blas::dot);
  on_vectors("nrm2", topi::blas::nrm2);
  on_vectors("asum", topi::blas::asum);
  on_vectors("iamax", topi::blas::iamax);
  on_vectors("rot", topi::blas::rot);
  blas.def(
      "gemv",
      [](const DTypeLike& type, bool has_unit_strides, bool is_transposed, const TargetLike& made) {
        return topi::blas::gemv(
            {.dtype = type, .unit_strides = has_unit_strides, .transposed = is_transposed},
            to_target(made).facts(), here());
      },
      nb::kw_only(), dtype, unit_strides, transposed, target);
  blas.def(
      "ger",
      [](const DTypeLike& type, bool has_unit_strides, const TargetLike& made) {
        return topi::blas::ger({.dtype = type, .unit_strides = has_unit_strides},
                               to_target(made).facts(), here());
      },
      nb::kw_only(), dtype, unit_strides, target);
  using OnTriangles = tir::PrimFunc (*)(const topi::blas::TriangleOptions&, const tir::TargetFacts&,
                                        SourceLocation);
  auto on_symmetric = [&](const char* name, OnTriangles f) {
    blas.def(
        name,
        [=](const DTypeLike& type, bool has_unit_strides, bool is_lower, const TargetLike& made) {
          return f({.dtype = type, .unit_strides = has_unit_strides, .lower = is_lower},
                   to_target(made).facts(), here());
        },
        nb::kw_only(), dtype, unit_strides, lower, target);
  };
  on_symmetric("symv", topi::blas::symv);
  on_symmetric("syr2", topi::blas::syr2);
  auto on_triangles = [&](const char* name, OnTriangles f) {
    blas.def(
        name,
        [=](const DTypeLike& type, bool has_unit_strides, bool is_lower, bool is_transposed,
            bool has_unit_diagonal, const TargetLike& made) {
          return f({.dtype = type,
                    .unit_strides = has_unit_strides,
                    .lower = is_lower,
                    .transposed = is_transposed,
                    .unit_diagonal = has_unit_diagonal},
                   to_target(made).facts(), here());
        },
        nb::kw_only(), dtype, unit_strides, lower, transposed, unit_diagonal, target);
  };
  on_triangles("trmv", topi::blas::trmv);
  on_triangles("trsv", topi::blas::trsv);
}

/// Defines the operators of tensors. They work elementwise with broadcasting, as in NumPy.
void bind_tensor_operators(PyClass<Tensor>& tensor) {
  using Broadcast = Tensor (*)(const topi::Term&, const topi::Term&, Name);
  auto op = [&](const std::string& name, Broadcast f, const std::string& op_name) {
    tensor.def(("__" + name + "__").c_str(),
               [=](const Tensor& a, const TermLike& b) {
                 return f({a, here()}, to_term(b), op_name);
               },
               nb::is_operator());
    tensor.def(("__r" + name + "__").c_str(),
               [=](const Tensor& b, const TermLike& a) {
                 return f(to_term(a), {b, here()}, op_name);
               },
               nb::is_operator());
  };
  op("add", topi::add, "T_add");
  op("sub", topi::subtract, "T_subtract");
  op("mul", topi::multiply, "T_multiply");
  op("truediv", topi::divide, "T_divide");
  op("floordiv", topi::floor_divide, "T_floor_divide");
  op("mod", topi::floor_mod, "T_floor_mod");
  op("pow", topi::power, "T_power");
  tensor.def("__neg__", [](const Tensor& x) { return topi::negative(x, "T_negative", here()); });
  tensor.def(
      "astype",
      [](const Tensor& x, const DTypeLike& type) { return topi::cast(x, type, "T_cast", here()); },
      "dtype"_a, "Converts every element.");
}

}  // namespace

void bind_topi(PyModule& topi, PyClass<Tensor> tensor) {
  bind_broadcasts(topi);
  bind_elementwise(topi);
  bind_reductions_and_scans(topi);
  bind_shapes(topi);
  bind_networks(topi);
  bind_library_schedules(topi);
  bind_blas(topi);
  bind_tensor_operators(tensor);
}

}  // namespace tenon::python
