// Cost models: how fast a candidate will be, guessed before it is measured.
//
// A model learns from what was measured and orders what was not. Its numbers mean nothing but their
// order: larger is faster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tenon/driver/target.h"
#include "tenon/tir/function.h"

namespace tenon::tune {

/// A candidate that was measured. `speed`: the best time so far of its task divided by its own,
/// from 0 (it failed) to 1 (it is the best).
struct Lesson {
  tir::IRModule candidate;
  double speed;
};

/// What guesses how fast candidates are; more is faster.
class CostModel {
 public:
  virtual ~CostModel() = default;
  /// "random", "XGB"
  virtual std::string name() const = 0;
  /// All that was measured so far, of all tasks: it begins anew. Gives lines for the log.
  virtual std::vector<std::string> learn(const std::vector<Lesson>& lessons) = 0;
  virtual std::vector<double> predict(const std::vector<tir::IRModule>& candidates) = 0;
};

/// Guesses at random: the control that a real model must beat. The same seed guesses the same.
std::unique_ptr<CostModel> random_model(std::uint64_t seed = 0);

/// What the candidates are for; how many trees, how deep, and how much each counts.
struct BoostedTreesOptions {
  Target target = Target("llvm");
  std::uint64_t seed = 0;
  int max_depth = 3;
  double eta = 0.1;
  int rounds = 100;
  /// Threads that extract features; 0: physical cores.
  int workers = 0;
};
/// Whether this build of Tenon has XGBoost.
bool has_boosted_trees();
/// Gradient-boosted regression trees (Chen and Guestrin, KDD 2016) on features of the lowered
/// program. For processors they begin with a guess of the time, from the instructions that a
/// candidate becomes, and learn by how much it is wrong; so they order candidates before anything
/// was measured. RuntimeError where this build has no XGBoost.
std::unique_ptr<CostModel> boosted_trees(const BoostedTreesOptions& options = {});

}  // namespace tenon::tune
