#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <unordered_map>

#include "tenon/support/error.h"
#include "tenon/tune/cost_model.h"
#include "tenon/tune/measure.h"
#include "tune/measure/parallel_for.h"
#include "tune/search/features.h"
#include "tune/search/structural_hash.h"
#include "tune/space/block_facts.h"

namespace tenon::tune {

namespace {

void check(int status) {
  if (status != 0) throw RuntimeError(std::string("XGBoost: ") + XGBGetLastError());
}

/// The features of a program, and the analytical estimate of its time.
struct Known {
  std::vector<float> row;
  /// The estimated cycles of the program. 1 if there is no estimate.
  double guess = 1;
};

using Matrix = std::unique_ptr<void, decltype(&XGDMatrixFree)>;
using Booster = std::unique_ptr<void, decltype(&XGBoosterFree)>;

/// Returns the features as a matrix, with one row per program.
Matrix matrix_of(const std::vector<const Known*>& programs) {
  std::vector<float> values;
  for (const Known* program : programs)
    values.insert(values.end(), program->row.begin(), program->row.end());
  DMatrixHandle handle = nullptr;
  check(XGDMatrixCreateFromMat(values.data(), programs.size(), programs.front()->row.size(),
                               std::nanf(""), &handle));
  return Matrix(handle, XGDMatrixFree);
}

Booster booster_for(const Matrix& matrix, const BoostedTreesOptions& options) {
  const DMatrixHandle matrices[] = {matrix.get()};
  BoosterHandle handle = nullptr;
  check(XGBoosterCreate(matrices, 1, &handle));
  Booster booster(handle, XGBoosterFree);
  const std::pair<const char*, std::string> parameters[] = {
      {"booster", "gbtree"},
      {"verbosity", "0"},
      {"base_score", "0"},
      {"gamma", "0.001"},
      {"min_child_weight", "0"},
      // Each tree is trained on a random half of the programs, because there are few programs and
      // their times are noisy.
      {"subsample", "0.5"},
      {"max_depth", std::to_string(options.max_depth)},
      {"eta", std::to_string(options.eta)},
      {"seed", std::to_string(options.seed % 1000000007)},
      // Training uses one thread, because with several threads the order of additions could
      // differ from run to run.
      {"nthread", "1"}};
  for (const auto& [name, value] : parameters)
    check(XGBoosterSetParam(handle, name, value.c_str()));
  return booster;
}

std::vector<float> margins_of(const Booster& booster, const Matrix& matrix) {
  constexpr int kMargin = 1, kAllTrees = 0, kNotTraining = 0;
  bst_ulong count = 0;
  const float* values = nullptr;
  check(XGBoosterPredict(booster.get(), matrix.get(), kMargin, kAllTrees, kNotTraining, &count,
                         &values));
  return {values, values + count};
}

/// Returns the logarithm of a speed, which the trees predict. Speeds below 1e-3, including those of
/// failed candidates, are treated as equal.
double logarithm(double speed) { return std::log2(std::max(speed, 1e-3)); }

/// Returns the weight of a program in training. Slow programs have smaller weights, because the
/// order of the fast ones matters most.
double weight_of(double speed) { return std::sqrt(std::max(speed, 1e-3)); }

double deviation(const std::vector<double>& predicted, const std::vector<double>& speeds) {
  double sum = 0;
  for (std::size_t n = 0; n < speeds.size(); ++n)
    sum += (predicted[n] - speeds[n]) * (predicted[n] - speeds[n]);
  return std::sqrt(sum / static_cast<double>(speeds.size()));
}

/// Returns how close the best predictions come to the best speed. For each n up to 32, computes the
/// maximum speed among the n best predictions, relative to the maximum of all speeds. Returns the
/// mean over n.
double average_peak(const std::vector<double>& predicted, const std::vector<double>& speeds) {
  constexpr std::size_t kMax = 32;
  std::vector<std::size_t> order(speeds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t n) { return predicted[n]; });
  order.resize(std::min(order.size(), kMax));
  const double all = std::ranges::max(speeds);
  double best = 0, sum = 0;
  for (const std::size_t n : order) sum += best = std::max(best, speeds[n]);
  return all > 0 ? sum / all / static_cast<double>(order.size()) : 0;
}

/// Estimates the cycles of a program. Memory accesses partly overlap with computation. The number
/// of accesses limits the traffic, because data that is loaded once and kept in a register is not
/// transferred again.
double cycles_of(const Work& work, const Traffic& traffic) {
  constexpr double kCyclesOfALine = 2, kShareThatWaits = 0.25;
  const double most = work.loads + work.broadcasts + work.gathered + work.stores;
  const double memory =
      kCyclesOfALine * (std::min(traffic.into_l1, most) + std::min(traffic.into_l2, most));
  return std::max(work.cycles, memory) + kShareThatWaits * std::min(work.cycles, memory);
}

class BoostedTrees : public CostModel {
 public:
  explicit BoostedTrees(const BoostedTreesOptions& options) : options_(options) {
    if (options_.workers <= 0) options_.workers = physical_cores();
  }

  std::string name() const override { return "XGB"; }

  std::vector<std::string> learn(const std::vector<Lesson>& lessons) override {
    std::vector<tir::IRModule> mods;
    std::vector<double> speeds;
    for (const Lesson& lesson : lessons) {
      mods.push_back(lesson.candidate);
      speeds.push_back(lesson.speed);
    }
    if (mods.empty()) return {};
    const std::vector<const Known*> programs = known(mods);
    const Matrix matrix = matrix_of(programs);
    booster_ = booster_for(matrix, options_);
    return train(matrix, programs, speeds);
  }

  std::vector<double> predict(const std::vector<tir::IRModule>& candidates) override {
    if (candidates.empty()) return {};
    const std::vector<const Known*> programs = known(candidates);
    const std::vector<float> margins = booster_ ? margins_of(booster_, matrix_of(programs))
                                                : std::vector<float>(candidates.size(), 0);
    return speeds_of(programs, margins);
  }

 private:
  /// Trains the model. Returns one line for the log per 25 rounds.
  std::vector<std::string> train(const Matrix& matrix, const std::vector<const Known*>& programs,
                                 const std::vector<double>& speeds) {
    constexpr int kLogged = 25;
    // The trees predict the error of the analytical estimate. Its mean is stored in `offset_`.
    std::vector<double> wrong, weights;
    for (std::size_t n = 0; n < speeds.size(); ++n) {
      wrong.push_back(logarithm(speeds[n]) + std::log2(programs[n]->guess));
      weights.push_back(weight_of(speeds[n]));
    }
    offset_ = std::inner_product(wrong.begin(), wrong.end(), weights.begin(), 0.0) /
              std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<float> own(programs.size(), 0), gradients(own), curvatures(own);
    std::vector<std::string> lines;
    for (int round = 0; round < options_.rounds; ++round) {
      for (std::size_t n = 0; n < own.size(); ++n) {
        gradients[n] =
            static_cast<float>((static_cast<double>(own[n]) + offset_ - wrong[n]) * weights[n]);
        curvatures[n] = static_cast<float>(weights[n]);
      }
      check(XGBoosterBoostOneIter(booster_.get(), matrix.get(), gradients.data(), curvatures.data(),
                                  gradients.size()));
      own = margins_of(booster_, matrix);
      if (round % kLogged == 0) lines.push_back(line(round, speeds_of(programs, own), speeds));
    }
    return lines;
  }

  std::vector<double> speeds_of(const std::vector<const Known*>& programs,
                                const std::vector<float>& margins) const {
    std::vector<double> result;
    for (std::size_t n = 0; n < programs.size(); ++n)
      result.push_back(std::exp2(static_cast<double>(margins[n]) + offset_) / programs[n]->guess);
    return result;
  }

  std::string line(int round, const std::vector<double>& predicted,
                   const std::vector<double>& speeds) const {
    std::vector<double> own, real;
    for (std::size_t n = 0; n < speeds.size(); ++n) {
      own.push_back(logarithm(predicted[n]));
      real.push_back(logarithm(speeds[n]));
    }
    const double of_logarithms = deviation(own, real);
    char text[160];
    std::snprintf(text, sizeof text,
                  "%s iter %3d: tr-p-rmse: %.6f\ttr-a-peak@32: %.6f\ttr-rmse: %.6f\ttr-rmse: %.6f",
                  name().c_str(), round, deviation(predicted, speeds),
                  average_peak(predicted, speeds), of_logarithms, of_logarithms);
    return text;
  }

  /// Returns the features of each program. Features are memoized, because measured programs recur
  /// in every round.
  std::vector<const Known*> known(const std::vector<tir::IRModule>& mods) {
    std::vector<std::uint64_t> hashes(mods.size());
    std::vector<Known> made(mods.size());
    parallel_for(mods.size(), options_.workers, [&](std::size_t n) {
      hashes[n] = structural_hash(mods[n]);
      if (!known_.contains(hashes[n])) made[n] = look_at(mods[n]);
    });
    std::vector<const Known*> result;
    for (std::size_t n = 0; n < mods.size(); ++n)
      result.push_back(&known_.try_emplace(hashes[n], std::move(made[n])).first->second);
    return result;
  }

  Known look_at(const tir::IRModule& mod) const {
    Known result;
    const tir::IRModule loops = loops_of(mod);
    const Features stores = features_of(loops);
    const tir::TargetFacts& target = options_.target.facts();
    if (target.kind == tir::TargetKind::Llvm || target.kind == tir::TargetKind::C) {
      const Work work = work_of(loops, target);
      const Traffic traffic = traffic_of(loops, target.caches);
      std::vector<double> amounts = work.amounts();
      amounts.insert(amounts.end(), {traffic.into_l1, traffic.into_l2});
      for (const double amount : amounts)
        result.row.push_back(static_cast<float>(std::log2(1 + amount)));
      result.guess = std::max(cycles_of(work, traffic), 1.0);
    }
    // Uses the features of the store that is executed most often, because it usually dominates the
    // time.
    std::vector<float> row(feature_count(), 0);
    const auto busiest = std::ranges::max_element(stores, {}, iterations_of);
    if (busiest != stores.end()) row = *busiest;
    result.row.insert(result.row.end(), row.begin(), row.end());
    return result;
  }

  BoostedTreesOptions options_;
  /// Never iterated, because the order is unspecified.
  std::unordered_map<std::uint64_t, Known> known_;
  Booster booster_{nullptr, XGBoosterFree};
  /// The mean logarithm of the ratio between relative speed (1 is the best) and 1 / estimated
  /// cycles.
  double offset_ = 0;
};

}  // namespace

bool has_boosted_trees() { return true; }

std::unique_ptr<CostModel> boosted_trees(const BoostedTreesOptions& options) {
  return std::make_unique<BoostedTrees>(options);
}

}  // namespace tenon::tune
