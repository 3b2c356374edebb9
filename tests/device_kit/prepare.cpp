// Compiles the programs of the device kit for an architecture, and writes their arguments and the
// results of the interpreter. Needs no device.
//
//   device_kit_prepare --target "cuda -arch=sm_90" --out kernels/sm_90 [--random 300] [--seed 1]
//                      [--only TEXT]
#include <tenon/tenon.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>

#include "tenon/interp/evaluate.h"
#include "tenon/support/error.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/gpu.h"
#include "tenon/topi/nn.h"
#include "tenon/topi/reduction.h"
#include "tenon/topi/transform.h"
#include "tests/common/gpu_programs.h"
#include "tests/common/run_on_device.h"
#include "tests/common/ways_to_run.h"
#include "tests/common/work.h"
#include "tests/device_kit/case_file.h"
#include "tests/device_kit/table_rows.h"
#include "tests/fuzz/block_case.h"
#include "tests/fuzz/random_case.h"
#include "tests/fuzz/thread_reductions.h"

namespace tenon::device_kit {

// ---- programs of the tables ---------------------------------------------------------------------

// The programs behind the table rows.

namespace {

struct TableProgram {
  te::Schedule schedule;
  std::vector<LowerArgument> args;
};

using te::placeholder;
using te::Tensor;

/// Threads with a chain of kChain dependent multiply-adds each.
TableProgram multiply_adds(int threads) {
  const Tensor A = placeholder({threads}, "A"), B = placeholder({threads}, "B");
  const te::IterVar k = te::reduce_axis({0, kChain}, "k");
  const Tensor C = te::compute(
      {threads}, {"i"}, [&](Var i) { return te::sum(A(i) * B(i), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  const Tensor own = s.cache_write(C, "local");
  te::Stage stage = s[C], sums = s[own];
  auto [block, thread] = stage.split(stage.axis(0), 256);
  stage.bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  sums.compute_at(stage, thread);
  auto [rounds, step] = sums.split(sums.reduce_axis(0), 64);
  sums.unroll(step);
  return {s, {A, B, C}};
}

/// Returns the row's program with the library's schedule for the target.
TableProgram table_program(const Row& row, const tir::TargetFacts& target) {
  using namespace topi;
  const int n = row.n;
  const Tensor X = placeholder({kRows, kColumns}, "X");
  switch (row.kind) {
    case RowKind::Add: {
      const Tensor A = placeholder({n}, "A"), B = placeholder({n}, "B"), C = add(A, B);
      return {gpu::schedule_elementwise(C, target), {A, B, C}};
    }
    case RowKind::MultiplyAdds:
      return multiply_adds(n);
    case RowKind::Product: {
      const Tensor A = placeholder({n, n}, "A", row.type), B = placeholder({n, n}, "B", row.type);
      const DataType sums = row.type.is_int() ? Int(32) : Float(32);
      const Tensor C = row.type == sums ? matmul(A, B) : matmul(A, B, {.out_dtype = sums});
      return {gpu::schedule_matmul(C, target), {A, B, C}};
    }
    case RowKind::Convolution: {
      const Tensor I = placeholder({n, row.channels, row.size, row.size}, "I");
      const Tensor K = placeholder({row.channels, row.channels, 3, 3}, "K");
      const Tensor C = conv2d_nchw(I, K, {.stride = {1, 1}, .padding = {1, 1, 1, 1}});
      return {gpu::schedule_conv2d(C, target), {I, K, C}};
    }
    case RowKind::Softmax: {
      const Tensor Y = softmax(X);
      return {gpu::schedule_softmax(Y, target), {X, Y}};
    }
    case RowKind::SumsOfRows:
    case RowKind::SumsOfColumns: {
      const Tensor Y = sum(X, {row.kind == RowKind::SumsOfRows ? 1 : 0});
      return {gpu::schedule_reduction(Y, target), {X, Y}};
    }
    case RowKind::Transpose: {
      const Tensor Y = transpose(X);
      return {gpu::schedule_transpose(Y, target), {X, Y}};
    }
    case RowKind::Relu: {
      const Tensor Y = relu(X);
      return {gpu::schedule_elementwise(Y, target), {X, Y}};
    }
  }
  internal_error("a row of no kind");
}

using namespace tenon::testing;

struct Options {
  std::string target = "cuda -arch=sm_90", out, only;
  int random = 300;
  unsigned first_seed = 1;
};

/// The maximum work of one run by the interpreter (tests/common/work.h).
constexpr double kMaxWork = 5e6;

/// Writes the files of all cases. Only random programs may be refused; they are left out then.
class Preparation {
 public:
  explicit Preparation(const Options& options)
      : options_(options), target_(options.target), folder_(options.out) {
    std::filesystem::create_directories(folder_);
  }

  void library() {
    for (const GpuProgram& program : gpu_programs(target_.facts())) library_case(program, "topi");
    if (target_.facts().kind != tir::TargetKind::Cuda) return;
    for (const GpuProgram& program : tensor_core_programs(target_.facts()))
      library_case(program, "tensor_cores");
  }

  /// Tries seeds from `first_seed` on until `random` programs are accepted.
  void random_programs() {
    using fuzz::Programs;
    static constexpr Programs kPrograms[] = {Programs::Small, Programs::Small,
                                             Programs::Overflowing, Programs::Special};
    int made = 0;
    for (unsigned seed = options_.first_seed; made < options_.random; ++seed) {
      const bool is_of_blocks = seed % 5 == 0;
      const std::string name = (is_of_blocks ? "blocks_" : "random_") + std::to_string(seed);
      if (!chosen(name)) {
        if (seed > options_.first_seed + 100'000) return;
        continue;
      }
      try {
        made += is_of_blocks
                    ? random_blocks(name, seed)
                    : random_program(name, fuzz::make_case(seed, {}, true, kPrograms[seed % 4]));
      } catch (const ScheduleError&) {
      } catch (const BoundError&) {
      } catch (const LowerError&) {
      } catch (const RuntimeError& error) {
        if (std::string_view(error.what()).find("gave up") == std::string_view::npos) throw;
      }
    }
  }

  /// Reductions over 2^n - 1, 2^n and 2^n + 1 threads, in one module per number of groups and axes.
  void thread_reductions() {
    std::map<std::string, std::vector<fuzz::ThreadReduction>> modules;
    const auto is_at_power = [](int n) { return std::has_single_bit(static_cast<unsigned>(n)); };
    for (const fuzz::ThreadReduction& c : fuzz::all_thread_reductions())
      if (fuzz::threads_of(c) <= target_.facts().max_threads_per_block &&
          (is_at_power(c.extent) || is_at_power(c.extent + 1) || is_at_power(c.extent - 1)))
        modules["reductions_" + std::to_string(c.groups) + "_" + std::to_string(c.axes)].push_back(
            c);
    for (const auto& [name, cases] : modules) {
      if (!chosen(name)) continue;
      fuzz::ThreadReductionProgram program = fuzz::thread_reduction_program(cases);
      library_case({name, std::move(program.schedule), std::move(program.args)}, "reductions");
    }
  }

  /// The table programs are too large for the interpreter; `measure` checks their results.
  void tables() {
    for (const Row& row : table_rows()) {
      if (!chosen(row.name)) continue;
      if (target_.facts().kind != tir::TargetKind::Cuda && row.type != Float(32)) continue;
      const TableProgram program = table_program(row, target_.facts());
      compile(program.schedule, program.args, target_).save(folder_ + "/" + row.name + ".so");
      ++count_;
    }
  }

  int count() const { return count_; }

 private:
  bool chosen(const std::string& name) const {
    return options_.only.empty() || name.find(options_.only) != std::string::npos;
  }

  void library_case(const GpuProgram& program, const char* group) {
    if (!chosen(program.name)) return;
    CaseSpec spec{.name = program.name, .group = group, .tolerance = 1e-4};
    write(spec, compile(program.schedule, program.args, target_), {7}, {},
          lower_to_loops(default_schedule(program.args), program.args), program.args, Data::Small);
  }

  bool random_program(const std::string& name, const fuzz::Case& c) {
    if (!c.has_threads) return false;
    const tir::PrimFunc truth = lower_to_loops(default_schedule(c.args), c.args);
    std::vector<std::int64_t> sizes = {7};
    if (std::holds_alternative<Var>(c.args.front())) sizes = {1, 7, 17};
    if (c.least_size == 0) sizes.insert(sizes.begin(), 0);
    for (const std::int64_t size : sizes)
      if (work_of(truth, size) > kMaxWork ||
          work_of(lower_to_loops(c.schedule, c.args, {.binds = c.build.binds}), size) > kMaxWork)
        return false;
    CaseSpec spec{.name = name,
                  .group = "random",
                  .tolerance = c.tolerance,
                  .zeros_alike = c.zeros == Zeros::Alike,
                  .description = c.describe()};
    write(spec, compile(c.schedule, c.args, target_, c.build), sizes, c.build.binds, truth, c.args,
          c.data);
    return true;
  }

  bool random_blocks(const std::string& name, unsigned seed) {
    const fuzz::BlockCase c = fuzz::make_block_case(seed, {}, true);
    const tir::PrimFunc& before = c.before.functions.at("main");
    std::vector<LowerArgument> args;
    for (const tir::Var& param : before.params) {
      if (const tir::BufferParam* buffer = before.buffer_of(param)) {
        args.emplace_back(buffer->buffer);
      } else {
        args.emplace_back(param);
      }
    }
    CaseSpec spec{.name = name, .group = "blocks", .tolerance = 1e-4, .description = c.describe()};
    write(spec, compile(c.schedule.mod(), target_), {7}, {}, before, args, Data::Small);
    return true;
  }

  void write(CaseSpec spec, const codegen::Artifact& code, const std::vector<std::int64_t>& sizes,
             const std::vector<std::pair<te::Tensor, tir::Buffer>>& binds,
             const tir::PrimFunc& truth, const std::vector<LowerArgument>& args, Data data) {
    std::vector<std::byte> bytes;
    for (const std::int64_t size : sizes) {
      const ArgumentOptions compact{.symbol = size, .data = data};
      ArgumentOptions apart = compact;
      apart.binds = binds;
      const Arguments right = make_arguments(args, compact), given = make_arguments(args, apart);
      tir::evaluate(truth, right.values, {.check_uninitialized = true});
      CaseCall call;
      std::size_t array = 0;
      for (std::size_t n = 0; n < args.size(); ++n) {
        if (std::holds_alternative<tir::HostArray>(given.values[n])) {
          call.arguments.push_back(
              array_argument(*given.arrays[array], *right.arrays[array], bytes));
          ++array;
          continue;
        }
        CaseArgument argument{.name = std::get<Var>(args[n]).name(),
                              .dtype = std::get<Var>(args[n]).dtype().str()};
        if (const auto* whole = std::get_if<std::int64_t>(&given.values[n]))
          argument.integer = *whole;
        else
          argument.real = std::get<double>(given.values[n]);
        call.arguments.push_back(std::move(argument));
      }
      spec.calls.push_back(std::move(call));
    }
    code.save(folder_ + "/" + spec.name + ".so");
    write_case(folder_, spec, bytes);
    ++count_;
  }

  /// Appends the initial and the expected contents of an array.
  static CaseArgument array_argument(Arguments::Array& given, const Arguments::Array& right,
                                     std::vector<std::byte>& bytes) {
    CaseArgument argument{.name = given.name,
                          .dtype = given.dtype.str(),
                          .is_array = true,
                          .shape = given.shape,
                          .strides = given.strides,
                          .offset = static_cast<std::int64_t>(bytes.size()),
                          .bytes = given.bytes()};
    bytes.insert(bytes.end(), given.data(), given.data() + given.bytes());
    const auto size = static_cast<std::size_t>(given.dtype.element().bytes());
    for (std::int64_t n = 0; n < given.elements(); ++n)
      std::memcpy(given.data() + given.place(n) * static_cast<std::int64_t>(size),
                  right.data() + right.place(n) * static_cast<std::int64_t>(size), size);
    bytes.insert(bytes.end(), given.data(), given.data() + given.bytes());
    return argument;
  }

  const Options& options_;
  const Target target_;
  const std::string folder_;
  int count_ = 0;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int n = 1; n + 1 < argc; n += 2) {
    const std::string_view name = argv[n];
    if (name == "--target") options.target = argv[n + 1];
    if (name == "--out") options.out = argv[n + 1];
    if (name == "--only") options.only = argv[n + 1];
    if (name == "--seed") options.first_seed = static_cast<unsigned>(std::stoul(argv[n + 1]));
    if (name == "--random") options.random = std::stoi(argv[n + 1]);
  }
  if (options.out.empty())
    throw RuntimeError(
        "usage: device_kit_prepare --target TARGET --out FOLDER [--random N] [--seed S] "
        "[--only TEXT]");
  return options;
}

}  // namespace

}  // namespace tenon::device_kit

int main(int argc, char** argv) {
  try {
    const tenon::device_kit::Options options = tenon::device_kit::parse(argc, argv);
    tenon::device_kit::Preparation preparation(options);
    preparation.library();
    preparation.tables();
    preparation.thread_reductions();
    preparation.random_programs();
    std::cout << preparation.count() << " modules for `" << options.target << "` in " << options.out
              << "\n";
  } catch (const std::exception& error) {
    std::cerr << "device_kit_prepare: " << error.what() << "\n";
    return 1;
  }
}
