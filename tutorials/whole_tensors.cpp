// Arithmetic on whole tensors: each row of a matrix is normalized to mean 0 and variance 1, then
// scaled and shifted by a vector.
//
// The operators + - * / and the functions of topi declare one operation each. Shapes broadcast as
// in NumPy: a dimension of extent 1, or a missing leading dimension, is repeated. Eleven operations
// should not be computed one by one, because each would write an array that the next one reads.
// te::auto_inline_broadcast inlines all operations that are not reductions.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

#include <cmath>
#include <numeric>

using namespace tenon;

namespace {

constexpr float kEpsilon = 1e-5f;

struct Normalization {
  te::Tensor X, Gain, Bias, Total, Squares, Y;
  std::vector<LowerArgument> args() const { return {X, Gain, Bias, Y}; }
};

Normalization declare(int n) {
  te::Tensor X = te::placeholder({n, n}, "X");
  te::Tensor Gain = te::placeholder({n}, "Gain"), Bias = te::placeholder({n}, "Bias");
  const auto count = static_cast<float>(n);
  te::Tensor Total = topi::sum(X, {1}, {.keepdims = true, .name = "Total"});
  te::Tensor Centred = X - Total / count;
  te::Tensor Squares = topi::sum(Centred * Centred, {1}, {.keepdims = true, .name = "Squares"});
  te::Tensor Y = Centred * topi::rsqrt(Squares / count + kEpsilon) * Gain + Bias;
  return {X, Gain, Bias, Total, Squares, Y};
}

/// The same in plain C++, for --check.
Reference in_plain_loops(int n) {
  return [n](std::span<const runtime::NDArray> arrays) {
    const float *gain = arrays[1].data<float>(), *bias = arrays[2].data<float>();
    for (int i = 0; i < n; ++i) {
      const float* x = arrays[0].data<float>() + i * n;
      float* y = arrays[3].data<float>() + i * n;
      const float mean = std::accumulate(x, x + n, 0.0f) / static_cast<float>(n);
      float squares = 0;
      for (int j = 0; j < n; ++j) squares += (x[j] - mean) * (x[j] - mean);
      const float scale = 1 / std::sqrt(squares / static_cast<float>(n) + kEpsilon);
      for (int j = 0; j < n; ++j) y[j] = (x[j] - mean) * scale * gain[j] + bias[j];
    }
  };
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "Rows of a matrix normalized, by arithmetic on whole tensors.",
      .size_means = "the number of rows and of columns"};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    const Normalization norm = declare(n);
    const ShowOptions options{.reference = in_plain_loops(n)};

    program.print("=== as declared: a loop nest for every operation ===\n");
    program.show("as declared", te::create_schedule(norm.Y), norm.args(), options);

    te::Schedule s = te::create_schedule(norm.Y);
    const std::vector<te::Operation> inlined = te::auto_inline_broadcast(s);
    program.print("=== inlined: three loop nests remain; these operations are inlined ===\n");
    for (const te::Operation& op : inlined) program.print(op.name(), "\n");
    program.show("inlined", s, norm.args(), options);

    // Both sums of a row are computed inside the loop over rows, while the row is in the cache. The
    // rows are parallel.
    for (const te::Tensor& sum : {norm.Total, norm.Squares})
      s[sum].compute_at(s[norm.Y], s[norm.Y].axis(0));
    s[norm.Y].parallel(s[norm.Y].axis(0));
    program.print("=== by rows: a row's sums are computed with the row, rows in parallel ===\n");
    program.show("by rows", s, norm.args(), options);
  });
}
