// Cost models: estimates of the speed of candidates before they are measured.
//
// A model learns from measurements and ranks candidates. Only the order of its scores is
// meaningful: larger is faster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tenon/driver/target.h"
#include "tenon/tir/function.h"

namespace tenon::tune {

/// A measured candidate. `speed` is the best time of its task so far divided by its own time,
/// between 0 (it failed) and 1 (it is the best).
struct Lesson {
  tir::IRModule candidate;
  double speed;
};

/// A model that scores candidates; larger is faster.
class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Returns the name: "random", "XGB".
  virtual std::string name() const = 0;
  /// Trains from scratch on all measurements so far, of all tasks. Returns lines for the log.
  virtual std::vector<std::string> learn(const std::vector<Lesson>& lessons) = 0;
  virtual std::vector<double> predict(const std::vector<tir::IRModule>& candidates) = 0;
};

/// Returns a model with random scores, the baseline for real models. The same seed gives the same
/// scores.
std::unique_ptr<CostModel> random_model(std::uint64_t seed = 0);

/// Options of boosted_trees.
struct BoostedTreesOptions {
  Target target = Target("llvm");
  std::uint64_t seed = 0;
  int max_depth = 3;
  double eta = 0.1;
  int rounds = 100;
  /// Threads that extract features; 0: one per physical core.
  int workers = 0;
};
/// Whether this build includes XGBoost.
bool has_boosted_trees();
/// Returns a model of gradient-boosted regression trees (Chen and Guestrin, KDD 2016) on features
/// of the lowered program. For CPUs, the model starts from an estimate of the time, which is
/// derived from the instructions of a candidate, and learns the error of this estimate. It can
/// therefore rank candidates before the first measurement. RuntimeError without XGBoost.
std::unique_ptr<CostModel> boosted_trees(const BoostedTreesOptions& options = {});

}  // namespace tenon::tune
