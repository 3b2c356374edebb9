// bounds [COUNT [FIRST SEED]]: how much of the memory of stages is touched, and how often their
// elements are computed, in random programs of affine indices: with the bounds of TVM 0.9 text, and
// with exact ones; and how much memory TVM's rules give (tests/common/reference_bounds.h). Prints
// the first programs whose exact memory is still larger than the greatest box that is read of it.
// (It is never smaller: the interpreter checks every access.)
#include <tenon/tenon.h>

#include <algorithm>
#include <iomanip>
#include <iostream>

#include "tenon/inspect/bounds_report.h"
#include "tenon/support/progress.h"
#include "tenon/te/freeze.h"
#include "tenon/te/operation_kind.h"
#include "tests/common/reference_bounds.h"
#include "tests/fuzz/affine_program.h"

using namespace tenon;

namespace {

/// Statistics of one share over all stages: the number of stages, and how many of them have exactly
/// 1.
struct Column {
  int stages = 0, exact = 0;
  double sum = 0, worst = 1;
  unsigned seed_of_worst = 0;

  void add(double value, bool is_worse, unsigned seed) {
    ++stages;
    exact += value == 1;
    sum += value;
    if (!is_worse) return;
    worst = value;
    seed_of_worst = seed;
  }

  void print(const char* name) const {
    std::cout << std::left << std::setw(36) << name << std::right << std::setw(8) << stages
              << std::setw(8) << exact << std::fixed << std::setprecision(3) << std::setw(10)
              << (stages > 0 ? sum / stages : 1) << std::setw(10) << worst;
    if (worst != 1) std::cout << "  (seed " << seed_of_worst << ")";
    std::cout << "\n";
  }
};

/// The memory that TVM's rules give the stages, beside what is touched of it with the bounds that
/// are known from its texts, whose loops are the same.
struct ReferenceColumn {
  Column used;
  int same = 0, smaller = 0, larger = 0, not_told = 0;

  void add(const te::Schedule& schedule, const te::BoundsReport& known, unsigned seed) {
    const te::StageGraph graph = te::freeze(schedule);
    const auto ranges = testing::reference_bounds(graph);
    auto row = known.rows.begin();
    for (te::StageId id : graph.ids()) {
      if (graph.stage(id).op.as<te::Placeholder>()) continue;
      const te::BoundsReport::Counts& counts = *(row++)->counts;
      const auto extents = ranges ? testing::greatest_extents(graph, id, *ranges) : std::nullopt;
      if (!extents) {
        ++not_told;
        continue;
      }
      const te::BoundsReport::Counts here{
          .touched = counts.touched, .allocated = *extents, .evaluations = 0, .points = 0};
      used.add(here.used(), here.used() < used.worst, seed);
      const double ratio = here.used() / counts.used();
      ++(ratio == 1 ? same : ratio < 1 ? larger : smaller);
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::stoi(argv[1]) : 1000;
  const unsigned first = argc > 2 ? static_cast<unsigned>(std::stoul(argv[2])) : 0;
  constexpr int kShown = 3;
  Column known_used, known_computed, used, computed;
  ReferenceColumn reference;
  int left_out = 0, shown = 0;
  Progress progress({.what = "programs", .total = count});
  for (unsigned seed = first; seed < first + static_cast<unsigned>(count); ++seed) {
    progress.add();
    const fuzz::AffineProgram program = fuzz::affine_program(seed);
    const auto report_of = [&](bool exact) {
      return te::bounds_report(program.schedule, {.most_steps = 1'000'000, .exact = exact});
    };
    const te::BoundsReport known = report_of(false), exact = report_of(true);
    if (!known.not_counted.empty() || !exact.not_counted.empty()) {
      ++left_out;
      continue;
    }
    for (const te::BoundsReport::Row& row : known.rows) {
      known_used.add(row.counts->used(), row.counts->used() < known_used.worst, seed);
      known_computed.add(row.counts->computed(), row.counts->computed() > known_computed.worst,
                         seed);
    }
    reference.add(program.schedule, known, seed);
    bool is_loose = false;
    for (const te::BoundsReport::Row& row : exact.rows) {
      is_loose = is_loose || row.counts->used() != 1;
      used.add(row.counts->used(), row.counts->used() < used.worst, seed);
      computed.add(row.counts->computed(), row.counts->computed() > computed.worst, seed);
    }
    if (count == 1 || (is_loose && shown++ < kShown)) {
      progress.hide();
      std::cout << "seed " << seed << "\n" << program.text << exact << "\n";
    }
  }
  progress.hide();
  std::cout << count << " programs, " << left_out << " of them too long to run\n"
            << std::left << std::setw(36) << "" << std::right << std::setw(8) << "stages"
            << std::setw(8) << "at 1" << std::setw(10) << "mean" << std::setw(10) << "worst"
            << "\n";
  reference.used.print("touched / allocated, TVM's rules");
  known_used.print("touched / allocated");
  used.print("touched / allocated, exact");
  known_computed.print("evaluations / points");
  computed.print("evaluations / points, exact");
  std::cout << "TVM's rules give as much memory as the default bounds to " << reference.same
            << " stages, less to " << reference.smaller << ", more to " << reference.larger;
  if (reference.not_told > 0) std::cout << "; " << reference.not_told << " were not counted";
  std::cout << "\n";
  return 0;
}
