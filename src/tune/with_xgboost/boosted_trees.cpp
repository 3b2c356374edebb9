#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <unordered_map>

#include "tenon/support/error.h"
#include "tenon/tune/cost_model.h"
#include "tenon/tune/measure.h"
#include "tune/features.h"
#include "tune/parallel_for.h"
#include "tune/structural_hash.h"

namespace tenon::tune {

namespace {

void check(int status) {
  if (status != 0) throw RuntimeError(std::string("XGBoost: ") + XGBGetLastError());
}

/// The rows of several programs, one below the other.
class Matrix {
 public:
  explicit Matrix(const std::vector<const Features*>& programs) {
    std::vector<float> values;
    for (std::size_t n = 0; n < programs.size(); ++n)
      for (const std::vector<float>& row : *programs[n]) {
        values.insert(values.end(), row.begin(), row.end());
        program_of_row_.push_back(n);
      }
    check(XGDMatrixCreateFromMat(values.data(), program_of_row_.size(), feature_count(),
                                 std::nanf(""), &handle_));
  }
  ~Matrix() { XGDMatrixFree(handle_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  DMatrixHandle get() const { return handle_; }
  const std::vector<std::size_t>& program_of_row() const { return program_of_row_; }

 private:
  DMatrixHandle handle_ = nullptr;
  std::vector<std::size_t> program_of_row_;
};

class Booster {
 public:
  Booster(const Matrix& matrix, const BoostedTreesOptions& options) {
    const DMatrixHandle matrices[] = {matrix.get()};
    check(XGBoosterCreate(matrices, 1, &handle_));
    const std::pair<const char*, std::string> parameters[] = {
        {"booster", "gbtree"},
        {"verbosity", "0"},
        {"base_score", "0"},
        {"gamma", "0.001"},
        {"min_child_weight", "0"},
        {"max_depth", std::to_string(options.max_depth)},
        {"eta", std::to_string(options.eta)},
        {"seed", std::to_string(options.seed % 1000000007)},
        // Sums of several threads may differ from run to run.
        {"nthread", "1"}};
    for (const auto& [name, value] : parameters)
      check(XGBoosterSetParam(handle_, name, value.c_str()));
  }
  ~Booster() { XGBoosterFree(handle_); }
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;

  void step(const Matrix& matrix, std::vector<float>& gradients, std::vector<float>& curvatures) {
    check(XGBoosterBoostOneIter(handle_, matrix.get(), gradients.data(), curvatures.data(),
                                gradients.size()));
  }
  std::vector<float> predict(const Matrix& matrix) const {
    constexpr int kMargin = 1, kAllTrees = 0, kNotTraining = 0;
    bst_ulong count = 0;
    const float* values = nullptr;
    check(
        XGBoosterPredict(handle_, matrix.get(), kMargin, kAllTrees, kNotTraining, &count, &values));
    return {values, values + count};
  }

 private:
  BoosterHandle handle_ = nullptr;
};

/// A program's prediction is the sum over its stores.
std::vector<double> summed(const Matrix& matrix, const std::vector<float>& rows,
                           std::size_t programs) {
  std::vector<double> result(programs, 0);
  for (std::size_t n = 0; n < rows.size(); ++n)
    result[matrix.program_of_row()[n]] += static_cast<double>(rows[n]);
  return result;
}

/// Slow programs are not worth much: what matters is the order of the fast ones.
double weight_of(double speed) { return std::max(speed, 1e-3); }

double deviation(const std::vector<double>& predicted, const std::vector<double>& speeds) {
  double sum = 0;
  for (std::size_t n = 0; n < speeds.size(); ++n)
    sum += (predicted[n] - speeds[n]) * (predicted[n] - speeds[n]);
  return std::sqrt(sum / static_cast<double>(speeds.size()));
}

/// The best speed among the n likeliest, as a share of the best of all, on average over n up to 32.
double average_peak(const std::vector<double>& predicted, const std::vector<double>& speeds) {
  constexpr std::size_t kMost = 32;
  std::vector<std::size_t> order(speeds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return predicted[a] > predicted[b]; });
  order.resize(std::min(order.size(), kMost));
  const double all = *std::max_element(speeds.begin(), speeds.end());
  double best = 0, sum = 0;
  for (const std::size_t n : order) sum += best = std::max(best, speeds[n]);
  return all > 0 ? sum / all / static_cast<double>(order.size()) : 0;
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
    const Matrix matrix(features(mods));
    if (matrix.program_of_row().empty()) return {};
    booster_ = std::make_unique<Booster>(matrix, options_);
    return train(matrix, speeds);
  }

  std::vector<double> predict(const std::vector<tir::IRModule>& candidates) override {
    if (!booster_ || candidates.empty()) return std::vector<double>(candidates.size(), 0);
    const Matrix matrix(features(candidates));
    if (matrix.program_of_row().empty()) return std::vector<double>(candidates.size(), 0);
    return summed(matrix, booster_->predict(matrix), candidates.size());
  }

 private:
  /// Lines for the log: one for every 25 rounds.
  std::vector<std::string> train(const Matrix& matrix, const std::vector<double>& speeds) {
    constexpr int kLogged = 25, kPatience = 50;
    const std::size_t rows = matrix.program_of_row().size();
    std::vector<float> gradients(rows), curvatures(rows);
    std::vector<float> own(rows, 0);
    std::vector<std::string> lines;
    double least = 1e30;
    int since = 0;
    for (int round = 0; round < options_.rounds && since < kPatience; ++round) {
      const std::vector<double> before = summed(matrix, own, speeds.size());
      for (std::size_t n = 0; n < rows; ++n) {
        const std::size_t program = matrix.program_of_row()[n];
        const double weight = weight_of(speeds[program]);
        gradients[n] = static_cast<float>((before[program] - speeds[program]) * weight);
        curvatures[n] = static_cast<float>(weight);
      }
      booster_->step(matrix, gradients, curvatures);
      own = booster_->predict(matrix);
      const std::vector<double> predicted = summed(matrix, own, speeds.size());
      const double now = deviation(predicted, speeds);
      since = now < least ? 0 : since + 1;
      least = std::min(least, now);
      if (round % kLogged == 0) lines.push_back(line(matrix, round, own, predicted, speeds));
    }
    return lines;
  }

  std::string line(const Matrix& matrix, int round, const std::vector<float>& own,
                   const std::vector<double>& predicted, const std::vector<double>& speeds) const {
    double squares = 0;
    for (std::size_t n = 0; n < own.size(); ++n) {
      const double off = static_cast<double>(own[n]) - speeds[matrix.program_of_row()[n]];
      squares += off * off;
    }
    const double of_rows = std::sqrt(squares / static_cast<double>(own.size()));
    char text[160];
    std::snprintf(text, sizeof text,
                  "%s iter %3d: tr-p-rmse: %.6f\ttr-a-peak@32: %.6f\ttr-rmse: %.6f\ttr-rmse: %.6f",
                  name().c_str(), round, deviation(predicted, speeds),
                  average_peak(predicted, speeds), of_rows, of_rows);
    return text;
  }

  /// Of each program; kept, as the measured ones come again in every round.
  std::vector<const Features*> features(const std::vector<tir::IRModule>& mods) {
    std::vector<std::uint64_t> hashes(mods.size());
    std::vector<Features> made(mods.size());
    parallel_for(mods.size(), options_.workers, [&](std::size_t n) {
      hashes[n] = structural_hash(mods[n]);
      if (!known_.contains(hashes[n])) made[n] = features_of(mods[n]);
    });
    std::vector<const Features*> result;
    for (std::size_t n = 0; n < mods.size(); ++n)
      result.push_back(&known_.try_emplace(hashes[n], std::move(made[n])).first->second);
    return result;
  }

  BoostedTreesOptions options_;
  /// Looked up only.
  std::unordered_map<std::uint64_t, Features> known_;
  std::unique_ptr<Booster> booster_;
};

}  // namespace

bool has_boosted_trees() { return true; }

std::unique_ptr<CostModel> boosted_trees(const BoostedTreesOptions& options) {
  return std::make_unique<BoostedTrees>(options);
}

}  // namespace tenon::tune
