// What tuning finds, and what the learned model is good for.
//
//   tuning --size=128 --trials=64 --seeds=10
//   tuning --size=1024 --trials=200 --seeds=1 --models=XGB
//   tuning --workload=conv2d --trials=200 --seeds=1      3 x 3 on 1 x 64 x 56 x 56, 64 channels out
//
// A product of square matrices, or a convolution, on one thread, in the default space. For each
// model and seed: the best after all trials, as a share of the peak of multiply-adds measured in
// the same run, the trials until 95% of that best, the best timed again beside the database's
// figure, and how well predictions ordered what was measured after them (Kendall's tau of the
// candidates of all rounds but the first, which the model had not seen). Every candidate was
// compared with the program before scheduling.
#include <tenon/support/progress.h>
#include <tenon/tenon.h>
#include <tenon/tooling/multiply_add_peak.h>
#include <tenon/tune/cost_model.h>
#include <tenon/tune/database.h>
#include <tenon/tune/export.h>
#include <tenon/tune/report.h>
#include <tenon/tune/task_table.h>
#include <tenon/tune/tune.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tenon/tir/expr.h"

using namespace tenon;

namespace {

struct Options {
  int size = 128, trials = 64, seeds = 3, per_round = 16;
  std::string models = "XGB,random", workload = "product";
};

Options parse(int argc, char** argv) {
  Options options;
  for (int n = 1; n < argc; ++n) {
    const std::string argument = argv[n];
    const std::size_t at = std::min(argument.find('='), argument.size() - 1);
    const std::string key = argument.substr(0, at), value = argument.substr(at + 1);
    if (key == "--size")
      options.size = std::atoi(value.c_str());
    else if (key == "--trials")
      options.trials = std::atoi(value.c_str());
    else if (key == "--seeds")
      options.seeds = std::atoi(value.c_str());
    else if (key == "--per-round")
      options.per_round = std::atoi(value.c_str());
    else if (key == "--workload")
      options.workload = value;
    else if (key == "--models")
      options.models = value;
    else {
      std::fprintf(stderr,
                   "usage: tuning [--size=128] [--trials=64] [--per-round=16] [--seeds=3] "
                   "[--models=XGB,random] [--workload=product]\n");
      std::exit(2);
    }
  }
  return options;
}

tir::IRModule product(int n) {
  const te::Tensor A = te::placeholder({n, n}, "A"), B = te::placeholder({n, n}, "B");
  const te::IterVar k = te::reduce_axis({0, n}, "k");
  const te::Tensor C = te::compute(
      {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  return {{{"main", te::create_prim_func({A, B, C})}}};
}

tir::IRModule conv2d() {
  const te::Tensor X = te::placeholder({1, 64, 56, 56}, "X");
  const te::Tensor W = te::placeholder({64, 64, 3, 3}, "W");
  const te::Tensor Y = topi::conv2d_nchw(X, W, {.padding = {1, 1, 1, 1}});
  return {{{"main", te::create_prim_func({X, W, Y})}}};
}

double timed_again(const tir::IRModule& mod, const Target& target) {
  std::vector<runtime::NDArray> arrays;
  for (const tir::BufferParam& array : mod.functions.at("main").buffers) {
    runtime::NDArray::Shape shape;
    for (const Expr& extent : array.declared->shape) shape.push_back(*tir::constant_int(extent));
    arrays.push_back(runtime::NDArray::random(shape, Float(32)));
  }
  const runtime::Module lib = build(mod, target);
  return lib["main"]
      .time_evaluator(cpu(0), {.number = 1, .repeat = 5, .min_repeat_ms = 100})
      .evaluate(std::vector<runtime::Argument>(arrays.begin(), arrays.end()))
      .median;
}

struct Row {
  double best = 0, again = 0, correlation = 0;
  int trials_to_95 = 0, failed = 0;
};

Row row(const Options& options, const tir::IRModule& mod, std::uint64_t seed,
        std::shared_ptr<tune::CostModel> model) {
  const Target target("llvm --num-cores=1");
  const tune::Database database =
      tune::tune_tir({.mod = mod,
                      .target = target,
                      .max_trials_global = options.trials,
                      .num_trials_per_iter = options.per_round,
                      .seed = seed,
                      .measure = {.min_repeat_ms = 50},
                      .cost_model = std::move(model),
                      .log = [](tune::LogLevel, const std::string&) {}});
  Row result;
  const std::vector<tune::Record> records = database.records(mod, target);
  result.best = database.best(mod, target).value().measurement.median();
  std::vector<double> predicted, speeds;
  for (std::size_t n = 0; n < records.size(); ++n) {
    if (!records[n].measurement.is_valid()) {
      ++result.failed;
      continue;
    }
    const double seconds = records[n].measurement.median();
    if (result.trials_to_95 == 0 && result.best >= 0.95 * seconds)
      result.trials_to_95 = static_cast<int>(n + 1);
    if (n < static_cast<std::size_t>(options.per_round)) continue;
    predicted.push_back(records[n].predicted.value_or(0));
    speeds.push_back(1 / seconds);
  }
  result.correlation = tune::rank_correlation(predicted, speeds);
  result.again = timed_again(tune::apply_best(mod, database, target).value().mod(), target);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  runtime::set_num_threads(1);
  const tir::IRModule mod = options.workload == "conv2d" ? conv2d() : product(options.size);
  const double flops = tune::estimate_flops(mod);
  std::printf(
      "model,seed,gflops,share_of_peak,again_over_database,trials_to_95,correlation,failed\n");
  Progress progress({.what = "searches"});
  for (const std::string name : {"XGB", "random"}) {
    if (options.models.find(name) == std::string::npos) continue;
    if (name == "XGB" && !tune::has_boosted_trees()) continue;
    for (int seed = 0; seed < options.seeds; ++seed) {
      progress.add();
      const auto own = static_cast<std::uint64_t>(seed);
      const Row found = row(options, mod, own,
                            name == "XGB" ? std::shared_ptr(tune::boosted_trees({.seed = own}))
                                          : std::shared_ptr(tune::random_model(own)));
      const double gflops = flops / found.best / 1e9;
      progress.hide();
      std::printf("%s,%d,%.1f,%.2f,%.2f,%d,%.2f,%d\n", name.c_str(), seed, gflops,
                  gflops / multiply_add_peak(1), found.again / found.best, found.trials_to_95,
                  found.correlation, found.failed);
      std::fflush(stdout);
    }
  }
  return 0;
}
