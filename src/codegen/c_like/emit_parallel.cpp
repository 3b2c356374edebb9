// Multithreaded loops: the body becomes a separate function, which receives the captured variables
// in a struct.
#include "codegen/c_like/function_emitter.h"
#include "tenon/codegen/statements.h"

namespace tenon::codegen {

using namespace tir;

std::string CFunctionEmitter::declaration(const std::string& type,
                                          const CVariable& variable) const {
  if (variable.pointee.empty()) return type + " " + variable.name;
  const bool is_alone = noalias_ || variable.is_local || variable.is_restrict;
  return variable.space + variable.pointee + "* " +
         (is_alone ? std::string(module_.dialect().restrict_word) + " " : "") + variable.name;
}

/// Defines in `inner` the variables of this function that the body uses. Calls `add` for each one
/// that is not a constant, with its name in this function, its definition in `inner` and its type.
void CFunctionEmitter::capture(
    const Stmt& body, CFunctionEmitter& inner,
    FunctionRef<void(const std::string&, const CVariable&, const std::string&)> add) {
  std::unordered_map<std::string, std::string> taken;
  for (const Var& var : used_variables(body)) {
    const auto found = variables_.find(&var.node());
    if (found == variables_.end()) continue;
    CVariable variable = found->second;
    const auto [own, is_new] = taken.emplace(variable.name, variable.name);
    if (is_new && variable.name != "0") {
      own->second = inner.names().take(variable.name);
      CVariable param = variable;
      param.name = own->second;
      if (variable.is_lanes) param.pointee = "const " + type_of(var.dtype());
      add(variable.name, param, type_of(var.dtype()));
    }
    variable.name = own->second;
    inner.define(var, variable);
  }
}

std::string CFunctionEmitter::take_callee_name(const std::string& what) {
  std::string name;
  do {
    name = module_.names().take(name_ + "_" + what);
  } while (names_.is_taken(name));
  names_.reserve(name);
  return name;
}

std::pair<std::string, std::string> CFunctionEmitter::outline(
    const Stmt& body, const std::string& what, Params own_params,
    const std::function<void(CFunctionEmitter&, const Params&)>& content) {
  const std::string function = take_callee_name(what);
  CFunctionEmitter inner(module_, used_as_data_, function, noalias_);
  inner.comments_ = comments_;
  inner.sizes_ = sizes_;
  inner.out_.set_mark(out_.mark());
  const std::string closure_param = inner.names().take("closure"),
                    outer = inner.names().take("outer");
  std::string params = "void* " + closure_param;
  for (auto& [type, name] : own_params) {
    name = inner.names().take(name);
    params += ", " + type + " " + name;
  }
  std::string fields, values, locals;
  capture(body, inner,
          [&](const std::string& value, const CVariable& own, const std::string& type) {
            const bool is_pointer = !own.pointee.empty();
            fields += "  " + (is_pointer ? own.pointee + "*" : type) + " " + own.name + ";\n";
            values += (values.empty() ? "" : ", ") + value;
            locals += (is_pointer ? "  " : "  const ") + declaration(type, own) + " = " + outer +
                      "->" + own.name + ";\n";
          });
  content(inner, own_params);
  const std::string structure = "struct " + function + "_closure";
  std::string text;
  if (!fields.empty()) text += structure + " {\n" + fields + "};\n\n";
  inner.out_.add("return 0;");
  std::string whole = inner.function("static int32_t " + function + "(" + params + ")");
  const std::string opening = fields.empty() ? "  (void)" + closure_param + ";\n"
                                             : "  const " + structure + "* const " + outer + " = " +
                                                   closure_param + ";\n" + locals;
  whole.insert(whole.find("{\n") + 2, opening);
  module_.add_function(text + whole);
  if (fields.empty()) return {function, "NULL"};
  const std::string closure = names_.take(what + "_closure");
  out_.add(structure + " " + closure + " = {" + values + "};");
  return {function, "&" + closure};
}

void CFunctionEmitter::parallel_loop(const For& n) {
  module_.use_runtime();
  const auto [body, closure] =
      outline(n.body, n.var.name() + "_body", {{"int64_t", "begin"}, {"int64_t", "end"}},
              [&](CFunctionEmitter& inner, const Params& params) {
                inner.stack_ = stack_temporaries(n.body);
                const std::string type = type_of(n.var.dtype());
                inner.serial_loop(n.var, cast_to(type, {params[0].second}),
                                  cast_to(type, {params[1].second}), n.body);
              });
  const Text first = index(n.min), extent = index(n.extent);
  const Text last =
      is_zero(n.min) ? extent : infix(cast_to("int64_t", first), "+", extent, Level::Sum);
  check_status("parallel_for(" + body + ", " + closure + ", " + first.text + ", " + last.text +
               ")");
}

void CFunctionEmitter::parallel_region(const Stmt& body) {
  module_.use_runtime();
  const auto [region, closure] =
      outline(body, "region", {{"int32_t", "task"}, {"int32_t", "num_tasks"}},
              [&](CFunctionEmitter& inner, const Params& params) {
                inner.task_.emplace();
                inner.define(inner.task_->id, {.name = params[0].second, .is_index = true});
                inner.define(inner.task_->count, {.name = params[1].second, .is_index = true});
                inner.stack_ = stack_temporaries(body);
                inner.stmt(body);
              });
  check_status("parallel_launch(" + region + ", " + closure + ")");
}

}  // namespace tenon::codegen
