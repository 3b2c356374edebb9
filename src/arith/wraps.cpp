#include "tenon/arith/wraps.h"

#include "arith/facts_state.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

bool wraps_by_walk(const Expr& e, const Facts::State& state) {
  if (wraps(e)) return true;
  return (e.node().contents.variables & state.data) != 0 && uses_var(e, [&](const Expr& var) {
           const Facts::State::OfVar* known = state.find(var);
           return known && known->is_data;
         });
}

bool wraps(const Expr& e, const Facts& facts) { return wraps(e, facts.state()); }

void bind_data(const Var& var, Facts& facts) { facts.state().add_data(var); }

}  // namespace tenon::arith
