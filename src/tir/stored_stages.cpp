#include "tenon/tir/stored_stages.h"

#include <algorithm>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::tir {

namespace {

constexpr std::int64_t kWritten = 2;

/// Appends stages without duplicates; the later occurrence is kept.
void append(std::vector<int>& stages, const std::vector<int>& later) {
  std::erase_if(stages, [&](int stage) { return std::ranges::find(later, stage) != later.end(); });
  stages.insert(stages.end(), later.begin(), later.end());
}

}  // namespace

std::vector<std::string> written_by_calls(const Evaluate& n) {
  std::vector<std::string> names;
  walk(n.value, [&](const Call& call) {
    if (call.is(Intrin::tvm_access_ptr) && call.args[1].as<VarNode>() &&
        (constant_int(call.args[4]).value_or(kWritten) & kWritten) != 0)
      names.push_back(Var::of(call.args[1]).name());
  });
  return names;
}

StoredStages::StoredStages(const PrimFunc& func) {
  std::unordered_map<std::string, int> by_line;
  for (const StageLine& each : stage_lines(func.attrs)) {
    if (const auto known = by_buffer_.find(each.buffer); known != by_buffer_.end()) {
      StageLine& stage = stages_[static_cast<std::size_t>(known->second)];
      if (stage.line != each.line) stage.line += " or " + each.line;
      stage.stores.reset();
      stage.is_scheduled |= each.is_scheduled;
      by_line.emplace(each.str(), known->second);
      continue;
    }
    const auto [stage, is_new] = by_line.emplace(each.str(), static_cast<int>(stages_.size()));
    if (is_new) stages_.push_back(each);
    stages_[static_cast<std::size_t>(stage->second)].is_scheduled |= each.is_scheduled;
    by_buffer_.emplace(each.buffer, stage->second);
  }
  if (!stages_.empty()) return;
  const auto add = [&](const std::string& name) {
    if (by_buffer_.emplace(name, static_cast<int>(stages_.size())).second)
      stages_.push_back({.buffer = name, .name = name, .line = ""});
  };
  walk(
      func.body, [&](const Store& n) { add(n.buffer->stage_name()); },
      [&](const Evaluate& n) {
        for (const std::string& name : written_by_calls(n)) add(name);
      });
}

std::optional<int> StoredStages::stage_of(const std::string& buffer) const {
  const auto found = by_buffer_.find(buffer);
  return found == by_buffer_.end() ? std::nullopt : std::optional(found->second);
}

const std::vector<int>& StoredStages::of(const Stmt& s) {
  if (const auto found = known_.find(&s.node()); found != known_.end()) return found->second;
  if (is_stack_low()) return *with_deep_stack([&] { return &of(s); });
  std::vector<int> stages;
  const auto add = [&](const std::string& buffer) {
    if (const auto stage = stage_of(buffer)) append(stages, {*stage});
  };
  if (const Store* n = s.as<Store>()) add(n->buffer->stage_name());
  if (const Evaluate* n = s.as<Evaluate>())
    for (const std::string& name : written_by_calls(*n)) add(name);
  for_each_child(
      s, [](const Expr&) {}, [&](const Stmt& child) { append(stages, of(child)); });
  return known_.emplace(&s.node(), std::move(stages)).first->second;
}

}  // namespace tenon::tir
