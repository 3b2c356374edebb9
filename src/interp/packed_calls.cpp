// The interpreter's implementation of runtime functions that generated code calls.
#include "interp/machine.h"
#include "tenon/support/element_differs.h"
#include "tenon/support/index_outside.h"
#include "tenon/tir/literal_text.h"

namespace tenon::interp {

/// Executes the supported packed functions: the reports of a wrong element and of an index out of
/// bounds.
void Machine::packed_call(const Call& n, Thread& t) {
  const StringImm* name = n.args.empty() ? nullptr : n.args[0].as<StringImm>();
  if (name && name->value == kIndexOutside && n.args.size() == 6) {
    const StringImm* what = n.args[1].as<StringImm>();
    throw RuntimeError(index_outside(what ? what->value : "", {.dimension = eval_int(n.args[2], t),
                                                               .index = eval_int(n.args[3], t),
                                                               .min = eval_int(n.args[4], t),
                                                               .extent = eval_int(n.args[5], t)}));
  }
  if (!name || name->value != kElementDiffers || n.args.size() < 4)
    throw RuntimeError("the interpreter has no packed function " +
                       (name ? quoted(name->value) : "of no name"));
  auto value = [&](const Expr& e) -> ElementValue {
    const Scalar v = eval(e, t)[0];
    return e.dtype().is_floating() ? ElementValue(v.d) : ElementValue(v.i);
  };
  std::vector<std::int64_t> index;
  for (std::size_t k = 4; k < n.args.size(); ++k) index.push_back(eval_int(n.args[k], t));
  const StringImm* what = n.args[1].as<StringImm>();
  throw RuntimeError(
      element_differs(what ? what->value : "", value(n.args[2]), value(n.args[3]), index));
}

}  // namespace tenon::interp
