#include "tutorials/common/tuning.h"

#include <tenon/driver/target.h>
#include <tenon/inspect/loop_page.h>
#include <tenon/tooling/multiply_add_peak.h>

#include <boost/program_options.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "tenon/tir/expr.h"

using namespace tenon;
namespace po = boost::program_options;

Target TuningArguments::target() const {
  if (!device.empty()) return Target(device);
  return Target("llvm --num-cores=" + std::to_string(threads));
}

tune::TuneOptions TuningArguments::options() const {
  return {.mod = {},
          .target = target(),
          .max_trials_global = trials,
          .num_trials_per_iter = 64,
          .work_dir = work_dir,
          .seed = seed,
          .fleet = ranks};
}

TuningArguments parse_tuning_arguments(int argc, char** argv, TuningArguments defaults) {
  TuningArguments own = defaults;
  own.ranks = tune::join_ranks(argc, argv);
  po::options_description known("Options");
  known.add_options()("help", "print this help")  //
      ("size", po::value(&own.size)->default_value(own.size), "size of the matrices")(
          "trials", po::value(&own.trials)->default_value(own.trials), "candidates to measure")(
          "threads", po::value(&own.threads)->default_value(own.threads), "threads of a candidate")(
          "target", po::value(&own.device), "device target: opencl, or cuda -arch=sm_80")(
          "work-dir", po::value(&own.work_dir),
          "folder of the database; an existing one is resumed")(
          "seed", po::value(&own.seed)->default_value(own.seed), "seed of the random choices")(
          "report", po::value(&own.report), "write an HTML page about the database")(
          "page", po::value(&own.page),
          "write an HTML page with loops and machine code, before and after")(
          "save", po::value(&own.save), "write the best schedule as a C++ program");
  try {
    po::variables_map values;
    po::store(po::command_line_parser(argc, argv).options(known).run(), values);
    po::notify(values);
    if (values.contains("help")) {
      std::cout << known;
      std::exit(0);
    }
    if (own.size < 1 || own.trials < 1 || own.threads < 1)
      throw po::error("sizes, trials and threads are positive");
  } catch (const po::error& error) {
    std::cerr << error.what() << "\n" << known;
    std::exit(2);
  }
  runtime::set_num_threads(own.threads);
  return own;
}

void write_page(const std::vector<TunedProgram>& programs, const TuningArguments& arguments) {
  if (arguments.page.empty()) return;
  std::vector<LoopView> views;
  for (const TunedProgram& program : programs) {
    const std::string prefix = programs.size() > 1 ? program.name + ", " : "";
    views.push_back(view_loops(program.before, arguments.target(), {.name = prefix + "before"}));
    views.push_back(view_loops(program.best, arguments.target(), {.name = prefix + "best"}));
  }
  std::ofstream(arguments.page) << loop_page("tuned", views);
}

int show_best(const tir::IRModule& mod, const tune::Database& database,
              const TuningArguments& arguments) {
  const std::optional<tune::Record> record = database.best(mod, arguments.target());
  const std::optional<s_tir::Schedule> sch = tune::apply_best(mod, database, arguments.target());
  if (!sch) {
    std::cerr << "no candidate could be measured\n";
    return 1;
  }
  std::cout << sch->trace() << '\n';
  const runtime::Module lib = build(sch->mod(), arguments.target());
  const Device device = device_of(arguments.target());
  std::vector<runtime::NDArray> arrays;
  for (const runtime::NDArray& array : random_arrays(mod)) arrays.push_back(array.copy_to(device));
  const runtime::Timing timing =
      lib[lib.entry_name()]
          .time_evaluator(device, {.number = 10, .repeat = 5, .min_repeat_ms = 100})
          .evaluate(std::vector<runtime::Argument>(arrays.begin(), arrays.end()));
  const double gflops = tune::estimate_flops(mod) / timing.median / 1e9;
  std::printf("Time cost of MyModule after tuning: %.3f ms\n", timing.median * 1e3);
  if (device == cpu(0))
    std::printf("%.1f GFLOPS on %d thread(s), %.0f%% of the peak measured here", gflops,
                arguments.threads, 100 * gflops / multiply_add_peak(arguments.threads));
  else
    std::printf("%.1f GFLOPS on %s", gflops, device.str().c_str());
  std::printf("; the database has %.3f ms\n\n", record->measurement.median() * 1e3);
  std::fflush(stdout);
  if (!arguments.report.empty()) std::ofstream(arguments.report) << tune::report(database);
  write_page({{.name = "tuned", .before = mod, .best = sch->mod()}}, arguments);
  if (!arguments.save.empty())
    std::ofstream(arguments.save) << tune::program_text(mod, record->trace, arguments.target());
  return 0;
}
