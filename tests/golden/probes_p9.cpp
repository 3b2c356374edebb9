// Operations on regions, options of the passes, and the steps of lower one by one.
#include "probes.h"
#include "tenon/tir/stmt.h"

namespace tenon::probes {
namespace {

struct Steps {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::Tensor Y = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return X(i, j) + 1.0f; }, "Y");
  te::Tensor Z = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return Y(i, j) * 2.0f; }, "Z");
};

std::string tensor_compute() {
  Steps steps;
  te::Tensor a = te::placeholder({16}, "a");
  te::Tensor c = te::compute(
      {16}, {"i"}, [&](Var i) { return a(i) + 1.0f; }, "c");
  tir::Buffer Ab =
      tir::decl_buffer({16}, Float(32), {.name = "Ab", .strides = {1}, .offset_factor = 1});
  tir::Buffer Cb =
      tir::decl_buffer({16}, Float(32), {.name = "Cb", .strides = {1}, .offset_factor = 1});
  auto body = [](std::span<const tir::Buffer> ins,
                 std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    return {.body = tir::make_evaluate(
                call_extern(Int(32), "f", ins[0].access_ptr("r"), outs[0].access_ptr("w")))};
  };
  te::TensorIntrin intrin = te::decl_tensor_intrin(c.op(), body, {.binds = {{a, Ab}, {c, Cb}}});
  te::Tensor T = te::tensor_compute(
      {4, 16}, {"i"},
      [&](Var i) {
        return intrin({steps.X.region({i, Range(0, 16)})});
      },
      "T");
  return text_of(te::create_schedule({T}), {steps.X, T});
}

std::string novec_nocse() {
  Steps steps;
  te::Schedule s = te::create_schedule({steps.Z});
  s[steps.Y].compute_inline();
  s[steps.Z].vectorize(s[steps.Z].axis(1));
  return text_of(s, {steps.X, steps.Z},
                 {.passes = {.disable_vectorize = true, .disable_cse = true}});
}

std::string bounds() {
  Steps steps;
  return text_of(te::create_schedule({steps.Y}), {steps.X, steps.Y}, {.instrument_bounds = true});
}

}  // namespace

std::vector<Probe> probes_of_p9() {
  return {
      {"p9: tensor_compute", tensor_compute},
      {"p9: novec nocse", novec_nocse},
      {"p9: bounds", bounds},
  };
}

}  // namespace tenon::probes
