#include "tenon/tir/walk.h"
#include "tenon/tune/rules.h"
#include "tune/search/tried.h"
#include "tune/space/block_facts.h"

namespace tenon::tune {

namespace {

using s_tir::BlockRV;
using s_tir::Schedule;

/// Whether the expression contains calls (exponentials, the choice in a padding), which should not
/// be duplicated by inlining.
bool has_calls(const tir::Expr& value) {
  bool result = false;
  tir::walk(value, [&](const tir::Call&) { result = true; });
  return result;
}

}  // namespace

ScheduleRule inline_constants() {
  return {"inline_constants", [](const Schedule& sch, BlockRV block, const Target&) {
            if (is_root(sch, block)) return std::vector{sch};
            const tir::BlockRealize realize = sch.get(block);
            const tir::Store* store = realize.block->body.as<tir::Store>();
            const bool is_constant = store && realize.block->iters.empty() &&
                                     realize.block->reads.empty() && !realize.block->init;
            if (!is_constant) return std::vector{sch};
            return std::vector{
                tried(sch, [&](Schedule& own) { own.compute_inline(block); }).value_or(sch)};
          }};
}

ScheduleRule auto_inline(const AutoInlineOptions& options) {
  return {"auto_inline", [options](const Schedule& sch, BlockRV block, const Target&) {
            if (is_root(sch, block)) return std::vector{sch};
            const tir::BlockRealize realize = sch.get(block);
            if (!is_elementwise(*realize.block)) return std::vector{sch};
            const tir::Store& store = *realize.block->body.as<tir::Store>();
            if (!has_calls(store.value))
              if (auto done = tried(sch, [&](Schedule& own) { own.compute_inline(block); }))
                return std::vector{*done};
            if (options.into_producer)
              if (auto done = tried(sch, [&](Schedule& own) { own.reverse_compute_inline(block); }))
                return std::vector{*done};
            return std::vector{sch};
          }};
}

}  // namespace tenon::tune
