#include "tenon/inspect/explain.h"

#include <algorithm>
#include <ostream>
#include <set>

#include "tenon/driver/checks.h"
#include "tenon/driver/lower.h"
#include "tenon/driver/user_line.h"
#include "tenon/lower/checks.h"
#include "tenon/support/deep_stack.h"
#include "tenon/te/freeze.h"
#include "tenon/tir/walk.h"

namespace tenon {

using namespace tir;
using Verdict = Explanation::Verdict;

namespace {

/// Returns "A, B and C".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t n = 0; n < names.size(); ++n)
    text += (n == 0 ? "" : n + 1 == names.size() ? " and " : ", ") + names[n];
  return text;
}

class Explainer {
 public:
  Explainer(const PrimFunc& func, bool instrumented) : func_(func), instrumented_(instrumented) {}

  Explanation run() {
    for (const lowering::AccessProof& proof : lowering::prove_accesses(func_)) add(proof);
    for (const lowering::LoopProof& proof : lowering::prove_loops(func_)) add(proof);
    assume_arguments_disjoint();
    assume_calls();
    return std::move(result_);
  }

 private:
  void add(const lowering::AccessProof& proof) {
    const bool is_checked = instrumented_ && !proof.allowed.empty();
    const Verdict verdict = proof.is_proved()  ? Verdict::Proved
                            : proof.is_wrong() ? Verdict::Wrong
                            : is_checked       ? Verdict::Checked
                                               : Verdict::NotProved;
    result_.accesses.push_back({.stage = lowering::stage_text(func_, proof.access.stage),
                                .tensor = proof.access.buffer->name,
                                .is_store = proof.access.is_write(),
                                .text = arith::access_text(proof.access),
                                .verdict = verdict,
                                .open = lowering::unproved_text(proof)});
  }

  void add(const lowering::LoopProof& proof) {
    const std::string kind = proof.kind == ForKind::Parallel ? "parallel " : "vectorized ";
    Explanation::Loop loop{kind + proof.var.name(), Verdict::Proved, ""};
    if (proof.conflict) {
      const auto& [first, second] = *proof.conflict;
      loop.verdict = proof.is_certain ? Verdict::Wrong : Verdict::NotProved;
      loop.conflict = lowering::stage_text(func_, first.stage) + " " + arith::access_text(first) +
                      ", " + lowering::stage_text(func_, second.stage) + " " +
                      arith::access_text(second);
    }
    result_.loops.push_back(std::move(loop));
  }

  void assume_arguments_disjoint() {
    if (!func_.attrs.noalias || func_.buffers.size() < 2) return;
    std::vector<std::string> names;
    for (const BufferParam& param : func_.buffers) names.push_back(param.declared->name);
    result_.assumed.push_back(listed(names) + " do not overlap (each call checks it)");
  }

  /// Records the assumption that called functions access only what their access pointers cover.
  void assume_calls() {
    std::set<std::string> seen;
    const auto add = [&](const std::string& name, const Call& n) {
      std::vector<std::string> tensors;
      for (const Expr& arg : n.args) {
        const Call* pointer = as_call(arg, Intrin::tvm_access_ptr);
        const VarNode* data = pointer ? pointer->args[1].as<VarNode>() : nullptr;
        if (data && std::ranges::find(tensors, data->name) == tensors.end())
          tensors.push_back(data->name);
      }
      const std::string text = tensors.empty()
                                   ? "`" + name + "` has no effect on the tensors here"
                                   : "`" + name + "` touches no more than its access pointers to " +
                                         listed(tensors) + " cover";
      if (seen.insert(text).second) result_.assumed.push_back(text);
    };
    walk(func_.body, [&](const Call& n) {
      if (const ExternCallee* callee = std::get_if<ExternCallee>(&n.callee))
        return add(callee->name, n);
      const bool is_packed = n.is(Intrin::tvm_call_packed);
      const StringImm* name = is_packed && !n.args.empty() ? n.args[0].as<StringImm>() : nullptr;
      if (name) add(name->value, n);
    });
  }

  const PrimFunc& func_;
  const bool instrumented_;
  Explanation result_;
};

}  // namespace

Explanation explain(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options, SourceLocation where) {
  return with_user_line(where, [&] {
    return with_deep_stack([&] {
      const PrimFunc func = lower_to_loops(schedule, args, options, where);
      return Explainer(func, options.instrument_bounds).run();
    });
  });
}

Explanation explain(const PrimFunc& func, const LowerOptions& options, SourceLocation where) {
  return with_user_line(where, [&] {
    return with_deep_stack([&] {
      check_function(func, func.attrs.global_symbol);
      if (func.form != Form::MultiDimensional && func.form != Form::Blocks)
        throw LowerError("explain: function `" + func.attrs.global_symbol +
                         "` has been lowered already");
      const PrimFunc loops =
          func.form == Form::Blocks
              ? lowering::run_passes(lowering::block_passes(), func, {.passes = options.passes})
              : func;
      return Explainer(loops, options.instrument_bounds).run();
    });
  });
}

namespace {

template <class T>
std::string proved_of(const std::vector<T>& list) {
  return std::to_string(std::ranges::count(list, Verdict::Proved, &T::verdict)) + " of " +
         std::to_string(list.size());
}

const char* text_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Proved:
      return "proved";
    case Verdict::Checked:
      return "checked in each run";
    case Verdict::NotProved:
      return "not proved";
    case Verdict::Wrong:
      return "wrong";
  }
  internal_error("a verdict without a text");
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Explanation& explanation) {
  out << "loads and stores: " << proved_of(explanation.accesses) << " are proved to lie inside\n";
  std::set<std::string> seen;
  for (const Explanation::Access& access : explanation.accesses) {
    if (access.verdict == Verdict::Proved) continue;
    const std::string line = std::string("  ") + text_of(access.verdict) + ": " + access.stage +
                             " " + access.text + ", " + access.open + "\n";
    if (seen.insert(line).second) out << line;
  }
  out << "loops side by side: " << proved_of(explanation.loops)
      << " are proved free of conflicts\n";
  for (const Explanation::Loop& loop : explanation.loops)
    if (loop.verdict != Verdict::Proved)
      out << "  " << text_of(loop.verdict) << ": " << loop.text << ": " << loop.conflict << "\n";
  if (!explanation.assumed.empty()) out << "assumed:\n";
  for (const std::string& text : explanation.assumed) out << "  " << text << "\n";
  return out;
}

}  // namespace tenon
