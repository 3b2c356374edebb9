// Measures tuning and the learned model: prints a line for each claim, with the bound that it is
// held to.
//
//   tuning                                   all of it
//   tuning --show=hand,default,candidates    some: hand, default, candidates, product, conv2d, models
//   tuning --show=product --trials=400 --seed=3
//   tuning --show=models --seeds=10
//
// On one thread. Whatever is compared is timed in turns, in this run, after tuning; every candidate
// was compared with the program before scheduling. The exit status is 1 where a bound is not kept.
#include <tenon/support/progress.h>
#include <tenon/tenon.h>
#include <tenon/tooling/multiply_add_peak.h>
#include <tenon/topi/schedule.h>
#include <tenon/tune/cost_model.h>
#include <tenon/tune/database.h>
#include <tenon/tune/export.h>
#include <tenon/tune/report.h>
#include <tenon/tune/task_table.h>
#include <tenon/tune/tune.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <iostream>
#include <set>

#include "tenon/tir/expr.h"
#include "tests/bench/common/medians.h"
#include "tests/bench/common/peers.h"
#include "tests/bench/common/tuned_programs.h"

using namespace tenon;
namespace po = boost::program_options;

namespace {

constexpr const char* kTarget = "llvm --num-cores=1";
constexpr int kTurns = 15;

struct Options {
  std::string show;
  int trials, per_round, seeds;
  std::uint64_t seed;
  bool is_verbose;
};

bool all_bounds_are_kept = true;

/// A figure beside its bound; `is_most`: else the least.
void show(const char* what, double figure, double bound, bool is_most) {
  const bool is_kept = is_most ? figure <= bound : figure >= bound;
  all_bounds_are_kept &= is_kept;
  std::printf("    %-58s %7.3f  %s %.2f: %s\n", what, figure, is_most ? "at most" : "at least",
              bound, is_kept ? "kept" : "NOT KEPT");
  std::fflush(stdout);
}

// ---- programs that are called -------------------------------------------------------------------

std::vector<runtime::NDArray> arrays_of(const tir::IRModule& mod) {
  std::vector<runtime::NDArray> arrays;
  for (const tir::BufferParam& array : mod.functions.at("main").buffers) {
    runtime::NDArray::Shape shape;
    for (const Expr& extent : array.declared->shape) shape.push_back(*tir::constant_int(extent));
    arrays.push_back(runtime::NDArray::random(shape, Float(32)));
  }
  return arrays;
}

/// Its parameters are A, B and the result.
std::function<void()> call_of(const runtime::Module& lib,
                              const std::vector<runtime::NDArray>& arrays) {
  const runtime::Function function = lib["main"];
  return [=] { function(arrays[0], arrays[1], arrays[2]); };
}

std::function<void()> best_call(const tir::IRModule& mod, const tune::Database& database,
                                const std::vector<runtime::NDArray>& arrays) {
  return call_of(build(tune::apply_best(mod, database, kTarget).value().mod(), Target(kTarget)),
                 arrays);
}

tune::TuneOptions options_of(const Options& options, const tir::IRModule& mod, int trials,
                             int per_round) {
  tune::TuneOptions result{
      .mod = mod,
      .target = Target(kTarget),
      .max_trials_global = options.trials > 0 ? options.trials : trials,
      .num_trials_per_iter = options.per_round > 0 ? options.per_round : per_round,
      .seed = options.seed,
      .measure = {.min_repeat_ms = 50}};
  if (!options.is_verbose) result.log = [](tune::LogLevel, const std::string&) {};
  return result;
}

double best_seconds(const tir::IRModule& mod, const tune::Database& database) {
  return database.best(mod, Target(kTarget)).value().measurement.median();
}

void show_trace(const tir::IRModule& mod, const tune::Database& database, const Options& options) {
  if (!options.is_verbose) return;
  std::cout << tune::apply_best(mod, database, kTarget).value().trace() << std::endl;
}

/// The best as the tuner times it, in a process of its own, and as a user's program does, in turns:
/// what others do on the machine now and did then is no difference between the two.
void show_again(const tir::IRModule& mod, const tune::Database& database,
                const std::function<void()>& call) {
  const tir::IRModule best = tune::apply_best(mod, database, kTarget).value().mod();
  tune::Measurer measurer(mod, Target(kTarget), {.min_repeat_ms = 50});
  std::vector<double> by_tuner, by_user;
  for (int turn = 0; turn < 9; ++turn) {
    by_tuner.push_back(measurer.run(measurer.build({best})).front().median());
    by_user.push_back(bench::medians_of({{"user", call}}, 3).at("user"));
  }
  const double tuner = runtime::Timing::of(by_tuner).median,
               user = runtime::Timing::of(by_user).median;
  show("timed by a user / by the tuner, in turns", std::max(user / tuner, tuner / user), 1.1, true);
  std::printf("    (by a user now / the database's figure: %.2f)\n",
              user / best_seconds(mod, database));
}

// ---- what is shown ------------------------------------------------------------------------------

/// The space of the course page: the loop j in two parts.
std::vector<s_tir::Schedule> hand_written(const tir::IRModule& mod) {
  std::vector<s_tir::Schedule> result;
  for (const std::int64_t inner : {1, 2, 4, 8, 16}) {
    s_tir::Schedule sch(mod);
    const s_tir::BlockRV C = sch.get_block("C");
    const auto loops = sch.get_loops(C);
    const auto factors =
        sch.sample_perfect_tile(loops[1], {.n = 2, .decision = {{128 / inner, inner}}});
    const auto parts = sch.split(loops[1], factors);
    sch.reorder({loops[0], parts[0], loops[2], parts[1]});
    sch.decompose_reduction(C, loops[2]);
    result.push_back(std::move(sch));
  }
  return result;
}

void show_hand(const Options& options) {
  const tir::IRModule mod = bench::product(128);
  tune::TuneOptions tuning = options_of(options, mod, 64, 64);
  tuning.space = tune::schedule_fn([&](s_tir::Schedule& sch) {
    const s_tir::BlockRV C = sch.get_block("C");
    const auto loops = sch.get_loops(C);
    const auto parts = sch.split(loops[1], sch.sample_perfect_tile(loops[1], {.n = 2}));
    sch.reorder({loops[0], parts[0], loops[2], parts[1]});
    sch.decompose_reduction(C, loops[2]);
  });
  const tune::Database database = tune::tune_tir(tuning);
  const auto arrays = arrays_of(mod);
  std::vector<bench::Contest> contests = {{"tuned", best_call(mod, database, arrays)}};
  for (const s_tir::Schedule& sch : hand_written(mod))
    contests.push_back(
        {std::to_string(contests.size()), call_of(build(sch.mod(), Target(kTarget)), arrays)});
  auto seconds = bench::medians_of(contests, kTurns);
  const double tuned = seconds.at("tuned");
  seconds.erase("tuned");
  double least = 1e9, most = 0;
  for (const auto& [name, own] : seconds) least = std::min(least, own), most = std::max(most, own);
  std::printf("hand-written space, 128: %zu candidates, best %.1f us of %.1f to %.1f us\n",
              database.records(mod).size(), tuned * 1e6, least * 1e6, most * 1e6);
  show("best / best of all five, timed in turns", tuned / least, 1.15, true);
  show("slowest / fastest of the five", most / least, 3, false);
}

void show_default(const Options& options) {
  const tir::IRModule mod = bench::product(128);
  const tune::Database database = tune::tune_tir(options_of(options, mod, 64, 64));
  show_trace(mod, database, options);
  const std::function<void()> call = best_call(mod, database, arrays_of(mod));
  const double peak = multiply_add_peak(1);
  const double seconds = bench::medians_of({{"tuned", call}}, kTurns).at("tuned");
  const double gflops = tune::estimate_flops(mod) / seconds / 1e9;
  const double again = std::max(peak, multiply_add_peak(1));
  std::printf("default space, 128, %zu trials: %.1f GFLOPS, peak %.1f\n",
              database.records(mod).size(), gflops, again);
  show("share of the peak measured in this run", gflops / again, 0.75, false);
  show_again(mod, database, call);
}

void show_contest(const char* what, const tir::IRModule& mod, const tune::Database& database,
                  const std::vector<bench::Contest>& contests) {
  const double peak = multiply_add_peak(1);
  const auto seconds = bench::medians_of(contests, kTurns);
  const double flops = tune::estimate_flops(mod);
  std::printf("%s, %zu trials: peak %.1f GFLOPS; ", what, database.records(mod).size(), peak);
  for (const bench::Contest& contest : contests)
    std::printf(" %s %.1f", contest.name.c_str(), flops / seconds.at(contest.name) / 1e9);
  std::printf("\n");
  const double tuned = seconds.at("tuned");
  // The peer is topi for products, and oneDNN for convolutions.
  const char* const peer = std::string(what).starts_with("conv2d") ? "oneDNN" : "topi";
  if (seconds.contains(peer))
    show((std::string("speed beside ") + peer).c_str(), seconds.at(peer) / tuned,
         std::string(peer) == "topi" ? 0.95 : 0.9, false);
  show_again(mod, database, contests.front().run);
}

runtime::Module with_topi(const std::vector<te::Tensor>& arguments) {
  const te::Schedule s = te::create_schedule(arguments.back());
  const Target target(kTarget);
  topi::schedule(s, {arguments.back()}, target.facts());
  return build(s, {arguments.begin(), arguments.end()}, target);
}

void show_product(const Options& options, int size) {
  const tir::IRModule mod = bench::product(size);
  const tune::Database database = tune::tune_tir(options_of(options, mod, 200, 64));
  show_trace(mod, database, options);
  const auto arrays = arrays_of(mod);
  std::vector<bench::Contest> contests = {
      {"tuned", best_call(mod, database, arrays)},
      {"topi", call_of(with_topi(bench::product_tensors(size)), arrays)}};
  for (const bench::Contest& peer : bench::peers_of({.m = size,
                                    .n = size,
                                    .k = size,
                                    .a = arrays[0].data<float>(),
                                    .b = arrays[1].data<float>(),
                                    .c = arrays[2].data<float>()},
                                                    1))
    contests.push_back({peer.name, peer.run});
  show_contest(("product of " + std::to_string(size)).c_str(), mod, database, contests);
}

void show_convolution(const Options& options) {
  const bench::Convolution shape{
      .batch = 1, .in = 64, .height = 56, .width = 56, .out = 64, .kernel = 3, .padding = 1};
  const tir::IRModule mod = bench::convolution(shape);
  const tune::Database database = tune::tune_tir(options_of(options, mod, 200, 64));
  show_trace(mod, database, options);
  const auto arrays = arrays_of(mod);
  std::vector<bench::Contest> contests = {
      {"tuned", best_call(mod, database, arrays)},
      {"topi", call_of(with_topi(bench::convolution_tensors(shape)), arrays)}};
  const auto bias = runtime::NDArray::zeros({shape.out}, Float(32));
  for (const bench::Contest& peer :
       bench::peers_of(1, &bench::Operators::convolution, shape, arrays[0].data<float>(),
                       arrays[1].data<float>(), bias.data<float>(), arrays[2].data<float>()))
    contests.push_back({peer.name, [=] { (void)bias, peer.run(); }});
  show_contest("conv2d 1x64x56x56 to 64, 3x3", mod, database, contests);
}

/// Compares the candidates of one round only: later rounds depend on the measured times.
void show_candidates(const Options& options) {
  const tir::IRModule mod = bench::product(64);
  std::set<std::vector<std::string>> seen;
  for (const int workers : {1, 2, 4}) {
    tune::TuneOptions tuning = options_of(options, mod, 32, 32);
    tuning.search.workers = tuning.measure.build_workers = workers;
    tuning.measure = {.build_workers = workers, .repeat = 1, .min_repeat_ms = 0};
    std::vector<std::string> traces;
    const tune::Database database = tune::tune_tir(tuning);
    for (const tune::Record& record : database.records(mod)) traces.push_back(record.trace.text());
    seen.insert(traces);
  }
  std::printf("one seed, with 1, 2 and 4 workers, %zu candidates\n", seen.begin()->size());
  show("different lists of candidates", static_cast<double>(seen.size()), 1, true);
}

// ---- models -------------------------------------------------------------------------------------

struct Search {  // In the order measured.
  std::vector<double> seconds;
  std::vector<tir::IRModule> candidates;
  /// Kendall's tau of predictions for candidates that the model had not seen and their measured
  /// times.
  double correlation = 0;

  double least() const { return *std::min_element(seconds.begin(), seconds.end()); }
  /// One more than the number of trials if the limit is not reached.
  int trials_to(double limit) const {
    const auto at =
        std::find_if(seconds.begin(), seconds.end(), [&](double own) { return own <= limit; });
    return static_cast<int>(at - seconds.begin()) + 1;
  }
};

Search searched(const Options& options, const tir::IRModule& mod, std::uint64_t seed,
                std::shared_ptr<tune::CostModel> model) {
  tune::TuneOptions tuning = options_of(options, mod, 64, 16);
  tuning.seed = seed;
  tuning.cost_model = std::move(model);
  const tune::Database database = tune::tune_tir(tuning);
  Search result;
  std::vector<double> predicted, speeds;
  for (int n = 0; const tune::Record& record : database.records(mod)) {
    const bool is_unseen = n++ >= tuning.num_trials_per_iter;
    if (!record.measurement.is_valid()) continue;
    result.seconds.push_back(record.measurement.median());
    s_tir::Schedule sch(mod);
    sch.apply_trace(record.trace);
    result.candidates.push_back(sch.mod());
    if (!is_unseen) continue;
    predicted.push_back(record.predicted.value_or(0));
    speeds.push_back(1 / result.seconds.back());
  }
  result.correlation = tune::rank_correlation(predicted, speeds);
  return result;
}

/// How a model that has learnt of every other candidate orders the rest. The candidates are of a
/// search that it had no part in: they are spread over the space.
double held_out_correlation(const Search& search, std::uint64_t seed) {
  std::vector<tune::Lesson> lessons;
  std::vector<tir::IRModule> unseen;
  std::vector<double> speeds;
  for (std::size_t n = 0; n < search.candidates.size(); ++n) {
    const double speed = search.least() / search.seconds[n];
    if (n % 2 == 0) {
      lessons.push_back({search.candidates[n], speed});
    } else {
      unseen.push_back(search.candidates[n]);
      speeds.push_back(speed);
    }
  }
  const auto model = tune::boosted_trees({.seed = seed});
  model->learn(lessons);
  return tune::rank_correlation(model->predict(unseen), speeds);
}

void show_models(const Options& options) {
  if (!tune::has_boosted_trees()) {
    std::printf("models: this build has no XGBoost\n");
    return;
  }
  const tir::IRModule mod = bench::product(128);
  double correlation = 0, of_chosen = 0, trials = 0, trials_of_random = 0;
  std::printf(
      "models, product of 128: seed, best of XGB and random in us, rank correlation on held-out\n"
      "candidates and on those that it chose, trials of both until within 5%% of the better one\n");
  Progress progress({.what = "searches"});
  for (int n = 0; n < options.seeds; ++n) {
    const auto seed = static_cast<std::uint64_t>(n);
    progress.add();
    const Search learned = searched(options, mod, seed, tune::boosted_trees({.seed = seed}));
    progress.add();
    const Search random = searched(options, mod, seed, tune::random_model(seed));
    const double limit = std::min(learned.least(), random.least()) / 0.95;
    const double held_out = held_out_correlation(random, seed);
    progress.hide();
    std::printf("    %2d  %6.1f %6.1f  %5.2f %5.2f  %3d %3d\n", n, learned.least() * 1e6,
                random.least() * 1e6, held_out, learned.correlation, learned.trials_to(limit),
                random.trials_to(limit));
    std::fflush(stdout);
    correlation += held_out / options.seeds;
    of_chosen += learned.correlation / options.seeds;
    trials += double(learned.trials_to(limit)) / options.seeds;
    trials_of_random += double(random.trials_to(limit)) / options.seeds;
  }
  show("mean rank correlation on held-out candidates", correlation, 0.6, false);
  std::printf("    (on those that it chose, which are much alike: %.2f)\n", of_chosen);
  std::printf("    mean trials: %.1f and %.1f\n", trials, trials_of_random);
  show("trials with the model / with the random one", trials / trials_of_random, 1, true);
}

Options parse(int argc, char** argv) {
  Options options{};
  po::options_description known("Options");
  known.add_options()("help", "this text")(
      "show",
      po::value(&options.show)->default_value("hand,default,candidates,product,conv2d,models"),
      "what is shown")("trials", po::value(&options.trials)->default_value(0),
                       "candidates to measure; 0: as many as each part is held to")(
      "per-round", po::value(&options.per_round)->default_value(0), "of them at a time")(
      "seeds", po::value(&options.seeds)->default_value(10), "of the models' searches")(
      "seed", po::value(&options.seed)->default_value(0), "of the other parts")(
      "verbose", po::bool_switch(&options.is_verbose), "the log and the best traces");
  try {
    po::variables_map values;
    po::store(po::command_line_parser(argc, argv).options(known).run(), values);
    po::notify(values);
    if (!values.contains("help")) return options;
    std::cout << known;
    std::exit(0);
  } catch (const po::error& error) {
    std::cerr << error.what() << "\n" << known;
    std::exit(2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  runtime::set_num_threads(1);
  bench::prepare_for_peers(1);
  const auto is_asked = [&](const std::string& part) {
    return ("," + options.show + ",").find("," + part + ",") != std::string::npos;
  };
  if (is_asked("hand")) show_hand(options);
  if (is_asked("default")) show_default(options);
  if (is_asked("candidates")) show_candidates(options);
  if (is_asked("product")) show_product(options, 1024);
  if (is_asked("conv2d")) show_convolution(options);
  if (is_asked("models")) show_models(options);
  return all_bounds_are_kept ? 0 : 1;
}
