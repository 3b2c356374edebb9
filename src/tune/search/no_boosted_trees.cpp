#include "tenon/support/error.h"
#include "tenon/tune/cost_model.h"

namespace tenon::tune {

bool has_boosted_trees() { return false; }

std::unique_ptr<CostModel> boosted_trees(const BoostedTreesOptions&) {
  throw RuntimeError(
      "this build has no XGBoost: install libxgboost-dev, and configure again; random_model works "
      "without");
}

}  // namespace tenon::tune
