#include "tenon/tune/cost_model.h"

#include "tenon/s_tir/random.h"

namespace tenon::tune {

namespace {

class RandomModel : public CostModel {
 public:
  explicit RandomModel(std::uint64_t seed) : random_(seed) {}

  std::string name() const override { return "random"; }
  std::vector<std::string> learn(const std::vector<Lesson>&) override { return {}; }
  std::vector<double> predict(const std::vector<tir::IRModule>& candidates) override {
    std::vector<double> result;
    for (std::size_t n = 0; n < candidates.size(); ++n) result.push_back(random_.unit());
    return result;
  }

 private:
  s_tir::Random random_;
};

}  // namespace

std::unique_ptr<CostModel> random_model(std::uint64_t seed) {
  return std::make_unique<RandomModel>(seed);
}

}  // namespace tenon::tune
