#include "tenon/inspect/explain.h"

#include <algorithm>
#include <ostream>
#include <set>

#include "tenon/driver/checks.h"
#include "tenon/driver/lower.h"
#include "tenon/driver/user_line.h"
#include "tenon/lower/checks.h"
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

Explanation::Access explained(const PrimFunc& func, const lowering::AccessProof& proof,
                              bool instrumented) {
  const bool is_checked = instrumented && !proof.allowed.empty();
  const Verdict verdict = proof.is_proved()  ? Verdict::Proved
                          : proof.is_wrong() ? Verdict::Wrong
                          : is_checked       ? Verdict::Checked
                                             : Verdict::NotProved;
  return {.stage = lowering::stage_text(func, proof.access.stage),
          .tensor = proof.access.buffer->name,
          .is_store = proof.access.is_write(),
          .text = arith::access_text(proof.access),
          .verdict = verdict,
          .open = lowering::unproved_text(proof)};
}

Explanation::Loop explained(const PrimFunc& func, const lowering::LoopProof& proof) {
  const std::string kind = proof.kind == ForKind::Parallel ? "parallel " : "vectorized ";
  Explanation::Loop loop{kind + proof.var.name(), Verdict::Proved, ""};
  if (proof.conflict) {
    const auto& [first, second] = *proof.conflict;
    loop.verdict = proof.is_certain ? Verdict::Wrong : Verdict::NotProved;
    loop.conflict = lowering::stage_text(func, first.stage) + " " + arith::access_text(first) +
                    ", " + lowering::stage_text(func, second.stage) + " " +
                    arith::access_text(second);
  }
  return loop;
}

/// Returns the assumption that the called function accesses only what its access pointers cover.
std::string assumption_about(const std::string& name, const Call& n) {
  std::vector<std::string> tensors;
  for (const Expr& arg : n.args) {
    const Call* pointer = as_call(arg, Intrin::tvm_access_ptr);
    const VarNode* data = pointer ? pointer->args[1].as<VarNode>() : nullptr;
    if (data && std::ranges::find(tensors, data->name) == tensors.end())
      tensors.push_back(data->name);
  }
  if (tensors.empty()) return "`" + name + "` has no effect on the tensors here";
  return "`" + name + "` touches no more than its access pointers to " + listed(tensors) + " cover";
}

std::vector<std::string> assumptions_of(const PrimFunc& func) {
  std::vector<std::string> assumed;
  if (func.attrs.noalias && func.buffers.size() >= 2) {
    std::vector<std::string> names;
    for (const BufferParam& param : func.buffers) names.push_back(param.declared->name);
    assumed.push_back(listed(names) + " do not overlap (each call checks it)");
  }
  walk(func.body, [&](const Call& n) {
    const ExternCallee* callee = std::get_if<ExternCallee>(&n.callee);
    const bool is_packed = n.is(Intrin::tvm_call_packed) && !n.args.empty();
    const StringImm* packed = is_packed ? n.args[0].as<StringImm>() : nullptr;
    if (!callee && !packed) return;
    const std::string text = assumption_about(callee ? callee->name : packed->value, n);
    if (std::ranges::find(assumed, text) == assumed.end()) assumed.push_back(text);
  });
  return assumed;
}

Explanation explained(const PrimFunc& func, bool instrumented) {
  Explanation result;
  for (const lowering::AccessProof& proof : lowering::prove_accesses(func))
    result.accesses.push_back(explained(func, proof, instrumented));
  for (const lowering::LoopProof& proof : lowering::prove_loops(func))
    result.loops.push_back(explained(func, proof));
  result.assumed = assumptions_of(func);
  return result;
}

}  // namespace

Explanation explain(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options, SourceLocation where) {
  return run_steps(where, [&] {
    return explained(lower_to_loops(schedule, args, options, where), options.instrument_bounds);
  });
}

Explanation explain(const PrimFunc& func, const LowerOptions& options, SourceLocation where) {
  return run_steps(where, [&] {
    check_function(func, func.attrs.global_symbol);
    if (!is_unlowered(func))
      throw LowerError("explain: function `" + func.attrs.global_symbol +
                       "` has been lowered already");
    const PrimFunc loops =
        func.form == Form::Blocks
            ? lowering::run_passes(lowering::block_passes(), func, {.passes = options.passes})
            : func;
    return explained(loops, options.instrument_bounds);
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
