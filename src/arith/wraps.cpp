#include "tenon/arith/wraps.h"

#include "arith/facts_state.h"
#include "tenon/support/match.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

bool is_index_type(DataType type) { return type.is_int() && type.bits >= 32; }

/// Returns the type of the arithmetic in `e`.
DataType type_of_arithmetic(const Expr& e) {
  const Binary* n = e.as<Binary>();
  return n && is_comparison(n->op) ? n->a.dtype() : e.dtype();
}

/// Whether the call is index arithmetic, provided that its arguments are indices. A shift to the
/// left drops bits.
bool is_index_arithmetic(const Call& n) {
  for (const Intrin intrin :
       {Intrin::if_then_else, Intrin::likely, Intrin::shift_right, Intrin::bitwise_and,
        Intrin::bitwise_or, Intrin::bitwise_xor, Intrin::bitwise_not})
    if (n.is(intrin)) return true;
  return false;
}

/// Whether calls or casts in the expression produce data. Precondition: it contains no element.
bool has_call_for_data(const Expr& e) {
  if (!contains<Call>(e) && !contains<Cast>(e)) return false;
  if (const Call* n = e.as<Call>(); n && !is_index_arithmetic(*n)) return true;
  if (const Cast* n = e.as<Cast>()) {
    const DataType from = n->value.dtype();
    if (!is_index_type(from) && !from.is_bool()) return true;
  }
  bool found = false;
  for_each_child(e, [&](const Expr& child) { found = found || has_call_for_data(child); });
  return found;
}

}  // namespace

bool wraps(const Expr& e) {
  const DataType type = type_of_arithmetic(e);
  if (!type.is_bool() && !is_index_type(type)) return true;
  if (contains<Load>(e) || contains<ProducerLoad>(e) || contains<Reduce>(e)) return true;
  return has_call_for_data(e);
}

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
