// Measures loops without a schedule, or with a small one: in microseconds a call, by this build, by
// another one, and by plain C at -O3 for this processor.
//
//   unscheduled_loops                                          this build, and C
//   unscheduled_loops --against=other/build/bench/unscheduled_loops   and another build's program
//   unscheduled_loops --rows=sum                               rows whose name contains a word
#include <dlfcn.h>
#include <tenon/support/progress.h>
#include <tenon/tenon.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

#include "tenon/s_tir/program.h"

using namespace tenon;

namespace {

struct Program {
  te::Schedule schedule;
  std::vector<LowerArgument> args;
  bool fast_math = false;
};

struct Row {
  const char* name;
  std::function<Program()> make;
  /// The body of `void f(void** p)`; p has the arrays in the order of the arguments.
  std::string in_c;
  /// The value of symbolic extents.
  std::int64_t size = 1000;
};

constexpr int kRows = 256, kColumns = 256;

Program plain(const te::Tensor& out, std::vector<LowerArgument> args) {
  args.emplace_back(out);
  return {te::create_schedule({out}), std::move(args)};
}

te::Tensor matrix(const char* name, DataType type = Float(32)) {
  return te::placeholder({kRows, kColumns}, name, type);
}

Program element_wise(const std::function<Expr(Expr)>& f, DataType type = Float(32)) {
  te::Tensor A = matrix("A", type);
  te::Tensor B = te::compute(
      {kRows, kColumns}, {"i", "j"}, [&](Var i, Var j) { return f(A(i, j)); }, "B");
  return plain(B, {A});
}

Program sums(bool of_columns, DataType from, DataType to, bool fast_math = false) {
  te::Tensor A = matrix("A", from);
  te::IterVar k = te::reduce_axis({0, 256}, "k");
  te::Tensor B = te::compute(
      {256}, {"i"}, [&](Var i) { return te::sum(cast(to, of_columns ? A(k, i) : A(i, k)), {k}); },
      "B");
  Program p = plain(B, {A});
  p.fast_math = fast_math;
  return p;
}

Program column_sums_by_rows() {
  Program p = sums(true, Float(32), Float(32));
  te::Tensor B = std::get<te::Tensor>(p.args.back());
  p.schedule[B].reorder({p.schedule[B].reduce_axis(0), p.schedule[B].axis(0)});
  return p;
}

Program blur() {
  te::Tensor A = te::placeholder({kRows + 2, kColumns + 2}, "A");
  te::IterVar r = te::reduce_axis({0, 3}, "r"), q = te::reduce_axis({0, 3}, "q");
  te::Tensor B = te::compute(
      {kRows, kColumns}, {"i", "j"},
      [&](Var i, Var j) {
        return te::sum(A(i + r, j + q), {r, q});
      },
      "B");
  te::Tensor C = te::compute(
      {kRows, kColumns}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * (1.0F / 9.0F); }, "C");
  return plain(C, {A});
}

Program five_points() {
  te::Tensor A = te::placeholder({kRows + 2, kColumns + 2}, "A");
  te::Tensor B = te::compute(
      {kRows, kColumns}, {"i", "j"},
      [&](Var i, Var j) {
        return A(i + 1, j + 1) * 0.5F +
               (A(i, j + 1) + A(i + 2, j + 1) + A(i + 1, j) + A(i + 1, j + 2)) * 0.125F;
      },
      "B");
  return plain(B, {A});
}

Program padded() {
  te::Tensor A = matrix("A");
  te::Tensor B = te::compute(
      {kRows + 2, kColumns + 2}, {"i", "j"},
      [&](Var i, Var j) {
        return if_then_else(tir::all(i >= 1, i < kRows + 1, j >= 1, j < kColumns + 1),
                            A(i - 1, j - 1), 0.0F);
      },
      "B");
  return plain(B, {A});
}

Program softmax() {
  te::Tensor A = matrix("A");
  return plain(topi::softmax(A), {A});
}

Program layer_norm() {
  te::Tensor A = matrix("A");
  te::IterVar k = te::reduce_axis({0, kColumns}, "k"), q = te::reduce_axis({0, kColumns}, "q");
  te::Tensor mean = te::compute(
      {kRows}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "mean");
  te::Tensor square = te::compute(
      {kRows}, {"i"}, [&](Var i) { return te::sum(A(i, q) * A(i, q), {q}); }, "square");
  const float n = 1.0F / kColumns;
  te::Tensor B = te::compute(
      {kRows, kColumns}, {"i", "j"},
      [&](Var i, Var j) {
        const Expr m = mean(i) * n;
        return (A(i, j) - m) * tir::rsqrt(square(i) * n - m * m + 1e-5F);
      },
      "B");
  return plain(B, {A});
}

Program transposed() {
  te::Tensor A = matrix("A");
  te::Tensor B = te::compute(
      {kColumns, kRows}, {"i", "j"}, [&](Var i, Var j) { return A(j, i); }, "B");
  return plain(B, {A});
}

Program gathered() {
  te::Tensor A = te::placeholder({65536}, "A"), I = te::placeholder({65536}, "I", Int(32));
  te::Tensor B = te::compute(
      {65536}, {"i"}, [&](Var i) { return A(I(i)); }, "B");
  return plain(B, {A, I});
}

Program every_second() {
  te::Tensor A = te::placeholder({65536}, "A");
  te::Tensor B = te::compute(
      {32768}, {"i"}, [&](Var i) { return A(i * 2) + A(i * 2 + 1); }, "B");
  return plain(B, {A});
}

Program symbolic() {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A"), B = te::placeholder({n}, "B");
  te::Tensor C = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) * 2.0F + B(i); }, "C");
  return plain(C, {A, B});
}

Program product(bool by_rows) {
  te::Tensor A = te::placeholder({128, 128}, "A"), B = te::placeholder({128, 128}, "B");
  te::IterVar k = te::reduce_axis({0, 128}, "k");
  te::Tensor C = te::compute(
      {128, 128}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  Program p = plain(C, {A, B});
  if (by_rows) p.schedule[C].reorder({p.schedule[C].axis(0), k, p.schedule[C].axis(1)});
  return p;
}

Program sum_of_some() {
  te::Tensor A = matrix("A", Int(32));
  te::IterVar k = te::reduce_axis({0, kColumns}, "k");
  te::Tensor B = te::compute(
      {kRows}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}, {.where = floormod(k, 3) != 0}); },
      "B");
  return plain(B, {A});
}

Program convolution() {
  te::Tensor A = te::placeholder({1, 16, 30, 30}, "A"), W = te::placeholder({16, 16, 3, 3}, "W");
  te::IterVar c = te::reduce_axis({0, 16}, "c"), r = te::reduce_axis({0, 3}, "r"),
              q = te::reduce_axis({0, 3}, "q");
  te::Tensor B = te::compute(
      {1, 16, 28, 28}, {"n", "f", "y", "x"},
      [&](Var n, Var f, Var y, Var x) {
        return te::sum(A(n, c, y + r, x + q) * W(f, c, r, q), {c, r, q});
      },
      "B");
  return plain(B, {A, W});
}

Program unrolled() {
  Program p = element_wise([](const Expr& x) { return x * 2.0F + 1.0F; });
  te::Tensor B = std::get<te::Tensor>(p.args.back());
  auto [outer, inner] = p.schedule[B].split(p.schedule[B].axis(1), 8);
  p.schedule[B].unroll(inner);
  return p;
}

/// b[i] = value for all elements of a matrix, where x is a[i].
std::string loop_of(const std::string& type, const std::string& value) {
  return "const " + type + "* a = p[0]; " + type +
         "* b = p[1]; for (int i = 0; i < 65536; ++i) { " + type + " x = a[i]; b[i] = " + value +
         "; }";
}

std::string sums_of(const std::string& type, const std::string& sum, const std::string& at) {
  return "const " + type + "* a = p[0]; " + sum + "* b = p[1]; for (int i = 0; i < 256; ++i) { " +
         sum + " s = 0; for (int k = 0; k < 256; ++k) s += a[" + at + "]; b[i] = s; }";
}

const Row kAllRows[] = {
    {"a*x + y", [] { return element_wise([](const Expr& x) { return x * 2.0F + 1.0F; }); },
     loop_of("float", "x * 2 + 1")},
    {"a*x + y, n = 1000", symbolic,
     "const float* a = p[0]; const float* b = p[1]; float* c = p[2];"
     "for (int i = 0; i < 1000; ++i) c[i] = a[i] * 2 + b[i];"},
    {"a*x + y, n = 13", symbolic,
     "const float* a = p[0]; const float* b = p[1]; float* c = p[2];"
     "for (int i = 0; i < 13; ++i) c[i] = a[i] * 2 + b[i];",
     13},
    {"a*x + y, 8 unrolled", unrolled, loop_of("float", "x * 2 + 1")},
    {"a*x + y, float64",
     [] { return element_wise([](const Expr& x) { return x * 2 + 1; }, Float(64)); },
     loop_of("double", "x * 2 + 1")},
    {"a*x + y, float16",
     [] { return element_wise([](const Expr& x) { return x * 2 + 1; }, Float(16)); },
     loop_of("_Float16", "x * 2 + 1")},
    {"a*x + y, int8", [] { return element_wise([](const Expr& x) { return x * 3 + 1; }, Int(8)); },
     loop_of("signed char", "x * 3 + 1")},
    {"clipped",
     [] {
       return element_wise(
           [](const Expr& x) { return select(x > 0.5F, select(x < 0.75F, x, 0.75F), 0.5F); });
     },
     loop_of("float", "x > 0.5f ? (x < 0.75f ? x : 0.75f) : 0.5f")},
    {"exp", [] { return element_wise([](const Expr& x) { return exp(x); }); },
     loop_of("float", "expf(x)")},
    {"exp * tanh", [] { return element_wise([](const Expr& x) { return exp(x) * tanh(x); }); },
     loop_of("float", "expf(x) * tanhf(x)")},
    {"sqrt, float64", [] { return element_wise([](const Expr& x) { return sqrt(x); }, Float(64)); },
     loop_of("double", "sqrt(x)")},
    {"exp, float64", [] { return element_wise([](const Expr& x) { return exp(x); }, Float(64)); },
     loop_of("double", "exp(x)")},
    {"row sums", [] { return sums(false, Float(32), Float(32)); },
     sums_of("float", "float", "i*256 + k")},
    {"row sums, fast_math", [] { return sums(false, Float(32), Float(32), true); },
     sums_of("float", "float", "i*256 + k")},
    {"row sums, int32", [] { return sums(false, Int(32), Int(32)); },
     sums_of("int", "int", "i*256 + k")},
    {"row sums, int8", [] { return sums(false, Int(8), Int(32)); },
     sums_of("signed char", "int", "i*256 + k")},
    {"row sums of some", sum_of_some,
     "const int* a = p[0]; int* b = p[1]; for (int i = 0; i < 256; ++i) { int s = 0;"
     "for (int k = 0; k < 256; ++k) if (k % 3) s += a[i*256 + k]; b[i] = s; }"},
    {"column sums", [] { return sums(true, Float(32), Float(32)); },
     sums_of("float", "float", "k*256 + i")},
    {"column sums by rows", column_sums_by_rows,
     "const float* a = p[0]; float* b = p[1]; for (int i = 0; i < 256; ++i) b[i] = 0;"
     "for (int k = 0; k < 256; ++k) for (int i = 0; i < 256; ++i) b[i] += a[k*256 + i];"},
    {"blur 3 x 3", blur,
     "const float* a = p[0]; float* c = p[1]; static float b[65536];"
     "for (int i = 0; i < 256; ++i) for (int j = 0; j < 256; ++j) { float s = 0;"
     "for (int r = 0; r < 3; ++r) for (int q = 0; q < 3; ++q) s += a[(i + r)*258 + j + q];"
     "b[i*256 + j] = s; } for (int i = 0; i < 65536; ++i) c[i] = b[i] * (1.0f / 9);"},
    {"five points", five_points,
     "const float* a = p[0]; float* b = p[1];"
     "for (int i = 0; i < 256; ++i) for (int j = 0; j < 256; ++j) { const float* x = a + i*258 + j;"
     "b[i*256 + j] = x[259]*0.5f + (x[1] + x[517] + x[258] + x[260])*0.125f; }"},
    {"padded copy", padded,
     "const float* a = p[0]; float* b = p[1];"
     "for (int i = 0; i < 258; ++i) for (int j = 0; j < 258; ++j)"
     "b[i*258 + j] = i >= 1 && i < 257 && j >= 1 && j < 257 ? a[(i - 1)*256 + j - 1] : 0;"},
    {"softmax", softmax,
     "const float* a = p[0]; float* b = p[1]; for (int i = 0; i < 256; ++i, a += 256, b += 256) {"
     "float m = -INFINITY, s = 0; for (int j = 0; j < 256; ++j) m = m > a[j] ? m : a[j];"
     "for (int j = 0; j < 256; ++j) b[j] = expf(a[j] - m); for (int j = 0; j < 256; ++j) s += b[j];"
     "for (int j = 0; j < 256; ++j) b[j] /= s; }"},
    {"layer norm", layer_norm,
     "const float* a = p[0]; float* b = p[1]; for (int i = 0; i < 256; ++i, a += 256, b += 256) {"
     "float s = 0, q = 0; for (int j = 0; j < 256; ++j) s += a[j];"
     "for (int j = 0; j < 256; ++j) q += a[j]*a[j]; const float m = s / 256;"
     "for (int j = 0; j < 256; ++j) b[j] = (a[j] - m) * (1 / sqrtf(q / 256 - m*m + 1e-5f)); }"},
    {"transpose", transposed,
     "const float* a = p[0]; float* b = p[1];"
     "for (int i = 0; i < 256; ++i) for (int j = 0; j < 256; ++j) b[i*256 + j] = a[j*256 + i];"},
    {"gather", gathered,
     "const float* a = p[0]; const int* x = p[1]; float* b = p[2];"
     "for (int i = 0; i < 65536; ++i) b[i] = a[x[i]];"},
    {"sums of pairs", every_second,
     "const float* a = p[0]; float* b = p[1];"
     "for (int i = 0; i < 32768; ++i) b[i] = a[i*2] + a[i*2 + 1];"},
    {"matmul, by elements", [] { return product(false); },
     "const float* a = p[0]; const float* b = p[1]; float* c = p[2];"
     "for (int i = 0; i < 128; ++i) for (int j = 0; j < 128; ++j) { float s = 0;"
     "for (int k = 0; k < 128; ++k) s += a[i*128 + k] * b[k*128 + j]; c[i*128 + j] = s; }"},
    {"matmul, by rows", [] { return product(true); },
     "const float* a = p[0]; const float* b = p[1]; float* c = p[2];"
     "for (int i = 0; i < 128; ++i) { for (int j = 0; j < 128; ++j) c[i*128 + j] = 0;"
     "for (int k = 0; k < 128; ++k) for (int j = 0; j < 128; ++j)"
     "c[i*128 + j] += a[i*128 + k] * b[k*128 + j]; }"},
    {"convolution", convolution,
     "const float* a = p[0]; const float* w = p[1]; float* b = p[2];"
     "for (int f = 0; f < 16; ++f) for (int y = 0; y < 28; ++y) for (int x = 0; x < 28; ++x) {"
     "float s = 0; for (int c = 0; c < 16; ++c) for (int r = 0; r < 3; ++r) for (int q = 0; q < 3; ++q)"
     "s += a[(c*30 + y + r)*30 + x + q] * w[((f*16 + c)*3 + r)*3 + q]; b[(f*28 + y)*28 + x] = s; }"},
};

runtime::NDArray array_for(const te::Tensor& tensor, std::int64_t size) {
  std::vector<std::int64_t> shape;
  std::int64_t count = 1;
  for (const Expr& extent : tensor.shape()) {
    shape.push_back(tir::constant_int(extent).value_or(size));
    count *= shape.back();
  }
  if (tensor.dtype().is_floating()) return runtime::NDArray::random(shape, tensor.dtype());
  runtime::NDArray array = runtime::NDArray::zeros(shape, tensor.dtype(), cpu(0));
  if (tensor.dtype() == Int(32))
    for (std::int64_t n = 0; n < count; ++n)
      array.data<std::int32_t>()[n] = static_cast<std::int32_t>((n * 7919) % 65536);
  return array;
}

/// The least time of a call, in microseconds.
double least_time(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  const auto until = Clock::now() + std::chrono::milliseconds(150);
  for (int run = 0; run < 30 || Clock::now() < until; ++run) {
    const auto start = Clock::now();
    for (int n = 0; n < 4; ++n) call();
    best =
        std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count() / 4);
  }
  return best;
}

double time_here(const Row& row) {
  const Program program = row.make();
  std::vector<runtime::NDArray> arrays;
  std::vector<runtime::Argument> args;
  for (const LowerArgument& arg : program.args)
    arrays.push_back(array_for(std::get<te::Tensor>(arg), row.size));
  for (const runtime::NDArray& array : arrays) args.emplace_back(array);
  const runtime::Module module = build(program.schedule, program.args, Target("llvm -mcpu=native"),
                                       {.fast_math = program.fast_math});
  const runtime::Function function = module["main"];
  return least_time([&] { function.call(args); });
}

/// All rows in C, as one library.
void* compile_rows() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::string name = (folder / ("unscheduled_loops_" + std::to_string(getpid()))).string();
  std::ofstream source(name + ".c");
  source << "#include <math.h>\n";
  for (std::size_t n = 0; n < std::size(kAllRows); ++n)
    source << "void f" << n << "(void** restrict p) {" << kAllRows[n].in_c << "}\n";
  source.close();
  const std::string command =
      "cc -O3 -march=native -shared -fPIC -o " + name + ".so " + name + ".c -lm";
  void* library =
      std::system(command.c_str()) == 0 ? dlopen((name + ".so").c_str(), RTLD_NOW) : nullptr;
  std::filesystem::remove(name + ".c");
  std::filesystem::remove(name + ".so");
  return library;
}

double time_in_c(const Row& row, std::size_t number, void* library) {
  const auto function =
      reinterpret_cast<void (*)(void**)>(dlsym(library, ("f" + std::to_string(number)).c_str()));
  std::vector<runtime::NDArray> arrays;
  std::vector<void*> pointers;
  for (const LowerArgument& arg : row.make().args)
    arrays.push_back(array_for(std::get<te::Tensor>(arg), row.size));
  for (const runtime::NDArray& array : arrays)
    pointers.push_back(array.to_dlpack()->dl_tensor.data);
  return least_time([&] { function(pointers.data()); });
}

/// Returns what the program of another build prints with --times: a row's number and its time per
/// line.
std::map<std::size_t, double> times_of(const std::string& program, const std::string& rows) {
  std::map<std::size_t, double> times;
  FILE* output = popen((program + " --times --rows='" + rows + "'").c_str(), "r");
  if (!output) return times;
  unsigned long number = 0;
  double time = 0;
  while (std::fscanf(output, "%lu %lf", &number, &time) == 2) times[number] = time;
  pclose(output);
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  std::string against, rows;
  bool only_times = false;
  for (int n = 1; n < argc; ++n) {
    const std::string arg = argv[n];
    if (arg.starts_with("--against="))
      against = arg.substr(10);
    else if (arg.starts_with("--rows="))
      rows = arg.substr(7);
    else if (arg == "--times")
      only_times = true;
    else
      return std::cerr << "unknown option " << arg << "\n", 2;
  }
  void* library = only_times ? nullptr : compile_rows();
  if (!only_times)
    std::cout << std::left << std::setw(24) << "microseconds a call" << std::right << std::setw(10)
              << "this" << std::setw(10) << "other" << std::setw(10) << "C -O3" << std::setw(12)
              << "other/this" << std::setw(10) << "C/this"
              << "\n"
              << std::fixed;
  Progress progress({.what = "rows", .total = std::size(kAllRows)});
  for (std::size_t n = 0; n < std::size(kAllRows); ++n) {
    const Row& row = kAllRows[n];
    progress.add();
    if (std::string(row.name).find(rows) == std::string::npos) continue;
    const double here = time_here(row);
    progress.hide();
    if (only_times) {
      std::cout << n << " " << here << std::endl;
      continue;
    }
    const double in_c = library ? time_in_c(row, n, library) : 0;
    // Right after this one, so that both meet the machine in the same mood.
    const double other = against.empty() ? 0 : times_of(against, row.name)[n];
    std::cout << std::left << std::setw(24) << row.name << std::right << std::setprecision(2)
              << std::setw(10) << here << std::setw(10) << other << std::setw(10) << in_c
              << std::setw(12) << other / here << std::setw(10) << in_c / here << std::endl;
  }
}
