#include <tenon/runtime/bound_call.h>
#include <tenon/tooling/multiply_add_peak.h>
#include <tenon/topi/broadcast.h>
#include <tenon/topi/convolution.h>
#include <tenon/topi/cpu.h>
#include <tenon/topi/elementwise.h>
#include <tenon/topi/schedule.h>

#include <cmath>
#include <map>

#include "tests/bench/common/peers.h"
#include "tests/bench/common/rows.h"

namespace tenon::bench {

namespace {

using runtime::NDArray;

te::Tensor convolution_of(const Convolution& c, Form form, const te::Tensor& x,
                          const te::Tensor& kernel, const Target& target) {
  const topi::ConvolutionOptions options{.stride = {c.stride, c.stride},
                                         .padding = {c.padding, c.padding, c.padding, c.padding}};
  if (c.depthwise) return topi::depthwise_conv2d_nchw(x, kernel, options);
  const bool can_be_winograd = c.kernel == 3 && c.stride == 1;
  if (form == Form::Fastest)
    return topi::cpu::fastest_conv2d_nchw(x, kernel, target.facts(), options);
  if (form == Form::Direct || !can_be_winograd) return topi::conv2d_nchw(x, kernel, options);
  return topi::conv2d_winograd_nchw(
      x, kernel, {.tile = form == Form::WinogradOf2 ? 2 : 4, .padding = options.padding});
}

struct Compiled {
  runtime::Module module;
  bool is_winograd;
};

Compiled compile(const Convolution& c, Form form, const Target& target) {
  const te::Tensor X = te::placeholder({c.batch, c.in, c.height, c.width}, "X"),
                   K = te::placeholder({c.out, c.channels_of_filter(), c.kernel, c.kernel}, "K"),
                   Bias = te::placeholder({c.out, 1, 1}, "Bias");
  const te::Tensor Y = convolution_of(c, form, X, K, target);
  te::Tensor Z = topi::add(Y, Bias);
  if (c.with_relu) Z = topi::relu(Z);
  const te::Schedule s = te::create_schedule(Z);
  topi::schedule(s, {Z}, target.facts());
  return {build(s, {X, K, Bias, Z}, target), Y.op().tag() == topi::kConv2dWinogradNchw};
}

int terms_of(const Convolution& c) { return c.channels_of_filter() * c.kernel * c.kernel; }

std::vector<Contest> contests_of(const Convolution& c, Form form, const Settings& settings) {
  const NDArray x = NDArray::random({c.batch, c.in, c.height, c.width}, Float(32)),
                kernel =
                    NDArray::random({c.out, c.channels_of_filter(), c.kernel, c.kernel}, Float(32)),
                bias = NDArray::random({c.out, 1, 1}, Float(32));
  const std::vector<std::int64_t> shape{c.batch, c.out, c.out_height(), c.out_width()};
  const NDArray result = NDArray::zeros(shape, Float(32));
  const Compiled chosen = compile(c, form, settings.target);
  const runtime::BoundCall call(chosen.module["main"], x, kernel, bias, result);
  std::vector<Contest> contests = {{"Tenon", [=] { call(); }}};
  contests.front().run();
  const NDArray ours = taken_out(result);
  const int terms = terms_of(c);
  // Factors are in [0, 1), so a result is about a quarter of the number of its terms. Direct forms
  // add in different orders. The largest measured error of tiles of 4 is 2^-19 of the result.
  const auto most = [&](double) {
    return chosen.is_winograd ? std::ldexp(terms, -16) : 1e-6 * terms * std::sqrt(terms) + 1e-4;
  };
  const auto add = [&](const std::string& name, const Call& call) {
    call();
    if (first_difference<float>(ours, result, most) >= 0)
      throw WrongResult(name + " and Tenon disagree");
    contests.push_back({name, call});
  };
  if (chosen.is_winograd) {
    const runtime::BoundCall direct(compile(c, Form::Direct, settings.target).module["main"], x,
                                    kernel, bias, result);
    add("Tenon-direct", [=] { direct(); });
  }
  for (const Contest& peer :
       peers_of(settings.threads, &Operators::convolution, c, x.data<float>(), kernel.data<float>(),
                bias.data<float>(), result.data<float>()))
    add(peer.name, [=] { (void)result, (void)x, (void)kernel, (void)bias, peer.run(); });
  return contests;
}

std::vector<Contest> contests_of(const Pool& p, const Settings& settings) {
  const NDArray x = NDArray::random({p.batch, p.channels, p.height, p.width}, Float(32));
  const std::vector<std::int64_t> shape{p.batch, p.channels, p.out_height(), p.out_width()};
  const NDArray result = NDArray::zeros(shape, Float(32));
  const te::Tensor X = te::placeholder({p.batch, p.channels, p.height, p.width}, "X");
  const topi::PoolOptions options{.stride = {p.stride, p.stride},
                                  .padding = {p.padding, p.padding, p.padding, p.padding}};
  const te::Tensor Y = p.is_mean ? topi::avg_pool2d(X, {p.window, p.window}, options)
                                 : topi::max_pool2d(X, {p.window, p.window}, options);
  const Target& target = settings.target;
  const runtime::BoundCall call(
      build(topi::cpu::schedule_windows(Y, target.facts()), {X, Y}, target)["main"], x, result);
  std::vector<Contest> contests = {{"Tenon", [=] { call(); }}};
  call();
  const NDArray ours = taken_out(result);
  for (const Contest& peer :
       peers_of(settings.threads, &Operators::pool, p, x.data<float>(), result.data<float>())) {
    peer.run();
    if (first_difference<float>(ours, result, [](double) { return 1e-4; }) >= 0)
      throw WrongResult(peer.name + " and Tenon disagree");
    contests.push_back({peer.name, [=] { (void)x, (void)result, peer.run(); }});
  }
  return contests;
}

double size_of(double batch, int channels, int height, int width) {
  return sizeof(float) * batch * channels * height * width;
}

}  // namespace

Row row_of(const Convolution& c, Form form) {
  static const std::map<Form, std::string> kEndings = {{Form::Fastest, ""},
                                                       {Form::Direct, " direct"},
                                                       {Form::WinogradOf2, " winograd-2"},
                                                       {Form::WinogradOf4, " winograd-4"}};
  const double results = double{1} * c.batch * c.out * c.out_height() * c.out_width();
  const std::string padding = c.padding == c.kernel / 2 ? "" : " + " + std::to_string(c.padding);
  return {formatted("%dx%dx%dx%d to %d, %dx%d / %d%s %s%s", c.batch, c.in, c.height, c.width, c.out,
                    c.kernel, c.kernel, c.stride, padding.c_str(),
                    c.depthwise   ? "depthwise"
                    : c.with_relu ? "relu"
                                  : "-",
                    kEndings.at(form).c_str()),
          {.amount = 2 * results * terms_of(c),
           .peak = multiply_add_peak,
           .touched = size_of(c.batch, c.in, c.height, c.width) +
                      size_of(c.out, c.channels_of_filter(), c.kernel, c.kernel) +
                      sizeof(float) * results},
          [=](const Settings& settings) { return contests_of(c, form, settings); }};
}

Row row_of(const Pool& p) {
  const double read = size_of(p.batch, p.channels, p.height, p.width),
               written = size_of(p.batch, p.channels, p.out_height(), p.out_width());
  return {formatted("%dx%dx%dx%d, %s %dx%d / %d + %d", p.batch, p.channels, p.height, p.width,
                    p.is_mean ? "mean" : "max", p.window, p.window, p.stride, p.padding),
          {.amount = read + written, .copied = static_cast<std::int64_t>((read + written) / 2)},
          [=](const Settings& settings) { return contests_of(p, settings); }};
}

}  // namespace tenon::bench
