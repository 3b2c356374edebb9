// Scans: operations whose steps read earlier steps.
#include <algorithm>

#include "te/operations/declare.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

namespace {

/// Checks that the update reads only earlier steps of the state. Reads through other stages are not
/// checked here.
void check_steps(const std::string& what, const Tensor& update, const std::vector<Tensor>& states,
                 const SourceLocation& where) {
  if (!update.op().as<Compute>()) return;
  const Var time = update.op().axis().front().var();
  auto check_read = [&](const tir::ProducerLoad& read) {
    const Tensor tensor = Tensor::of(read);
    const bool is_state =
        std::ranges::any_of(states, [&](const Tensor& s) { return s.same_as(tensor); });
    if (!is_state) return;
    const auto ahead = tir::constant_int(
        arith::simplify(tir::cast(Int(64), read.indices.front()) - tir::cast(Int(64), time)));
    if (ahead && *ahead >= 0)
      throw TypeError(what + ": update `" + update.name() + "` reads state `" + tensor.name() +
                          "` at step " + tir::print_expr(read.indices.front()) +
                          ", which is not computed yet; steps up to " + tir::print_expr(time - 1) +
                          " are",
                      where);
  };
  for (const Expr& body : update.op().body()) tir::walk(body, check_read);
}

void check_states_are_read(const std::string& what, const std::vector<Tensor>& updates,
                           const std::vector<Tensor>& states, const SourceLocation& where) {
  const std::vector<Operation> read = post_dfs_order({updates.begin(), updates.end()});
  for (std::size_t k = 0; k < states.size(); ++k) {
    for (std::size_t m = 0; m < k; ++m)
      if (states[k].same_as(states[m]))
        throw TypeError(what + ": state `" + states[k].name() + "` is given twice", where);
    const auto is_state = [&](const Operation& op) { return op.same_as(states[k].op()); };
    if (std::ranges::none_of(read, is_state))
      throw TypeError(what + ": no update reads state `" + states[k].name() +
                          "`; one that needs no earlier step is a compute",
                      where);
    check_steps(what, updates[k], states, where);
  }
}

void check_state(const std::string& what, std::size_t k, const Tensor& init, const Tensor& update,
                 const Tensor& state, const Expr& begin, const Expr& end,
                 const SourceLocation& where) {
  const std::string of_state = what + ": state " + std::to_string(k);
  if (init.dtype() != state.dtype() || update.dtype() != state.dtype())
    throw TypeError(of_state + " is " + state.dtype().str() + ", its init is " +
                        init.dtype().str() + " and its update " + update.dtype().str(),
                    where);
  if (!state.op().as<Placeholder>())
    throw TypeError(of_state + ", `" + state.name() + "`, must be a placeholder", where);
  if (init.ndim() == 0 || init.ndim() != state.ndim() || update.ndim() != state.ndim())
    throw TypeError(
        of_state + ", its init and its update must have the same number of dimensions, time first",
        where);
  if (!arith::can_prove_equal(init.shape()[0], begin))
    throw TypeError(of_state + ": the init covers " + tir::print_expr(init.shape()[0]) +
                        " steps, that of state 0 covers " + tir::print_expr(begin),
                    where);
  if (!arith::can_prove_equal(state.shape()[0], end))
    throw TypeError(of_state + " has " + tir::print_expr(state.shape()[0]) + " steps, the update " +
                        tir::print_expr(end) + "; they must be equal",
                    where);
  for (std::size_t n = 1; n < state.shape().size(); ++n)
    if (!arith::can_prove_equal(state.shape()[n], init.shape()[n]) ||
        !arith::can_prove_equal(state.shape()[n], update.shape()[n]))
      throw TypeError(of_state + ": dimension " + std::to_string(n) +
                          " must be the same in the state (" + tir::print_expr(state.shape()[n]) +
                          "), its init (" + tir::print_expr(init.shape()[n]) +
                          ") and its update (" + tir::print_expr(update.shape()[n]) + ")",
                      where);
}

std::vector<IterVar> spatial_axes(const std::string& name, const std::vector<Tensor>& states) {
  std::vector<IterVar> axes;
  for (std::size_t k = 0; k < states.size(); ++k) {
    const std::vector<Expr>& shape = states[k].shape();
    for (std::size_t n = 1; n < shape.size(); ++n)
      axes.push_back(axis_over(shape[n],
                               name + ".out" + std::to_string(k) + ".i" + std::to_string(n),
                               IterKind::Opaque));
  }
  return axes;
}

}  // namespace

std::vector<Tensor> scan(std::vector<Tensor> init, std::vector<Tensor> update,
                         std::vector<Tensor> state, std::vector<Tensor> inputs, Name name,
                         SourceLocation where) {
  const std::string what = "scan `" + name + "`";
  if (init.empty() || init.size() != update.size() || init.size() != state.size())
    throw TypeError(what + ": init, update and state must be lists of the same length, got " +
                        std::to_string(init.size()) + ", " + std::to_string(update.size()) +
                        " and " + std::to_string(state.size()),
                    where);
  if (init.front().ndim() == 0 || update.front().ndim() == 0)
    throw TypeError(what + ": init and update must have time as their first dimension", where);
  const Expr begin = init.front().shape()[0], end = update.front().shape()[0];
  const Expr steps = arith::simplify(end - begin);
  if (const std::optional<std::int64_t> count = tir::constant_int(steps); count && *count < 0)
    throw TypeError(what + ": the init covers " + tir::print_expr(begin) +
                        " steps, but all steps are only " + tir::print_expr(end),
                    where);
  IterVar time(Range::from_min_extent(begin, steps), Var(name + ".idx", begin.dtype()),
               IterKind::Ordered);
  for (std::size_t k = 0; k < init.size(); ++k)
    check_state(what, k, init[k], update[k], state[k], begin, end, where);
  check_states_are_read(what, update, state, where);
  std::vector<IterVar> axes = spatial_axes(name, state);
  Scan kind{std::move(time),  std::move(init),   std::move(update),
            std::move(state), std::move(inputs), std::move(axes)};
  return outputs_of(make_operation(std::move(name), declared_tag(""), std::move(kind), where));
}

Tensor scan(const Tensor& init, const Tensor& update, const Tensor& state,
            std::vector<Tensor> inputs, Name name, SourceLocation where) {
  return scan(std::vector{init}, std::vector{update}, std::vector{state}, std::move(inputs),
              std::move(name), where)
      .front();
}

}  // namespace tenon::te
