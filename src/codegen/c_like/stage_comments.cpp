#include "codegen/c_like/stage_comments.h"

#include <algorithm>

#include "tenon/codegen/c_names.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stage_lines.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

namespace {

constexpr std::int64_t kWritten = 2;

}  // namespace

StageComments::StageComments(const PrimFunc& func) {
  for (const StageLine& each : stage_lines(func.attrs)) {
    const std::string text = comment_text(each.str());
    const auto [stage, is_new] = stages_.emplace(each.buffer, static_cast<int>(lines_.size()));
    if (is_new) {
      lines_.push_back(text);
    } else if (std::string& line = lines_[static_cast<std::size_t>(stage->second)];
               line.find(text) == std::string::npos) {
      line += " or " + text;
    }
  }
}

std::set<int> StageComments::stored_by(const Stmt& s) {
  if (const auto found = known_.find(&s.node()); found != known_.end()) return found->second.second;
  if (is_stack_low()) return with_deep_stack([&] { return stored_by(s); });
  std::set<int> stored;
  const auto add = [&](const std::string& buffer) {
    if (const auto found = stages_.find(buffer); found != stages_.end())
      stored.insert(found->second);
  };
  if (const Store* n = s.as<Store>()) add(n->buffer->stage_name());
  if (const Evaluate* n = s.as<Evaluate>())
    walk(n->value, [&](const Call& call) {
      // A call, such as a tensor intrinsic or a copy, may write the buffer through the address.
      if (call.is(Intrin::tvm_access_ptr) && call.args[1].as<VarNode>() &&
          (constant_int(call.args[4]).value_or(kWritten) & kWritten) != 0)
        add(Var::of(call.args[1]).name());
    });
  for_each_child(
      s, [](const Expr&) {}, [&](const Stmt& child) { stored.merge(stored_by(child)); });
  known_.emplace(&s.node(), std::pair(s, stored));
  return stored;
}

}  // namespace tenon::codegen
