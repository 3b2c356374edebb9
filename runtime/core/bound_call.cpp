#include "tenon/runtime/bound_call.h"

#include "runtime/arrays/argument_check.h"
#include "runtime/core/function_state.h"

namespace tenon::runtime {

struct BoundCall::State {
  State(const BoundFunction& bound, std::span<const Argument> args, std::vector<NDArray> arrays)
      : function(bound.function),
        arrays(std::move(arrays)),
        args(function.check(args, bound.where)) {}

  Function function;
  std::vector<NDArray> arrays;
  /// Refers to the tensors of `arrays`.
  CheckedArguments args;
};

BoundCall::BoundCall(const BoundFunction& function, std::span<const Argument> args,
                     std::vector<NDArray> arrays)
    : state_(std::make_shared<const State>(function, args, std::move(arrays))) {}

void BoundCall::operator()(SourceLocation where) const {
  state_->function.state_->run(state_->args, where);
}

}  // namespace tenon::runtime
