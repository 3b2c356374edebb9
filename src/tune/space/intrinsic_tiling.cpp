#include <algorithm>

#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/tir/ops.h"
#include "tenon/tune/rules.h"
#include "tune/search/mutate.h"
#include "tune/search/tried.h"
#include "tune/space/block_facts.h"
#include "tune/space/tiles.h"

namespace tenon::tune {

namespace {

using s_tir::BlockRV;
using s_tir::LoopRV;
using s_tir::Schedule;

/// A loop of an intrinsic's description.
struct IntrinsicLoop {
  std::int64_t extent;
  LoopClass kind;
};

std::vector<IntrinsicLoop> loops_of(const tir::PrimFunc& description) {
  std::vector<const tir::For*> loops;
  const tir::Stmt* inside = &tir::root_block(description.body).body;
  while (const tir::For* loop = inside->as<tir::For>()) {
    loops.push_back(loop);
    inside = &loop->body;
  }
  std::vector<IntrinsicLoop> result;
  if (const tir::BlockRealize* realize = inside->as<tir::BlockRealize>())
    for (const tir::For* loop : loops)
      result.push_back({extent_of(*loop), class_of(*realize, *loop)});
  return result;
}

/// Enumerates mappings of the intrinsic's loops to loops of the block of the same kind, innermost
/// first. Calls `f` with each mapping until it returns true.
class Choices {
 public:
  Choices(const std::vector<IntrinsicLoop>& wanted, const std::vector<IntrinsicLoop>& present)
      : wanted_(wanted), present_(present), chosen_(wanted.size()) {}

  template <class F>
  bool any(const F& f, std::size_t left) {
    if (left == 0) return f(chosen_);
    const IntrinsicLoop& wanted = wanted_[left - 1];
    for (std::size_t n = present_.size(); n-- > 0;) {
      const bool is_taken = std::find(chosen_.begin() + static_cast<std::ptrdiff_t>(left),
                                      chosen_.end(), n) != chosen_.end();
      if (is_taken || present_[n].kind != wanted.kind || present_[n].extent % wanted.extent != 0)
        continue;
      chosen_[left - 1] = n;
      if (any(f, left - 1)) return true;
    }
    return false;
  }

 private:
  const std::vector<IntrinsicLoop>&wanted_, &present_;
  std::vector<std::size_t> chosen_;
};

/// Returns a new block around tiles of the intrinsic's size.
BlockRV blockized(Schedule& sch, BlockRV block, const std::vector<IntrinsicLoop>& wanted,
                  const std::vector<std::size_t>& chosen) {
  std::vector<LoopRV> outer = sch.get_loops(block), inner;
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    const auto parts = sch.split(outer[chosen[n]], {std::nullopt, wanted[n].extent});
    outer[chosen[n]] = parts[0];
    inner.push_back(parts[1]);
  }
  std::vector<LoopRV> order = outer;
  order.insert(order.end(), inner.begin(), inner.end());
  sch.reorder(order);
  return sch.blockize(inner.front());
}

}  // namespace

ScheduleRule tiling_with_intrinsic(const std::string& intrinsic,
                                   const IntrinsicTilingOptions& options) {
  return {"tiling_with_intrinsic", [=](const Schedule& sch, BlockRV block, const Target&) {
            std::vector<Schedule> designs = {sch};
            const auto intrin = s_tir::find_tensor_intrin(intrinsic);
            if (!intrin || is_root(sch, block) || !is_trivially_bound(sch, block)) return designs;
            const std::vector<IntrinsicLoop> wanted = loops_of(intrin->description);
            std::vector<IntrinsicLoop> present;
            Schedule look = sch;
            const tir::BlockRealize realize = look.get(block);
            for (const LoopRV loop : look.get_loops(block))
              present.push_back({extent_of(look.get(loop)), class_of(realize, look.get(loop))});
            if (wanted.empty()) return designs;
            const auto is_found = [&](const std::vector<std::size_t>& chosen) {
              auto design = tried(sch, [&](Schedule& own) {
                const BlockRV tile = blockized(own, block, wanted, chosen);
                Schedule trial = own;
                compute_by_intrinsic(trial, tile, intrinsic);
                own.annotate(tile, kIntrinsicKey, intrinsic);
                own = tiled(own, tile, options.structure, options.max_innermost_factor).sch;
              });
              if (design) designs.push_back(std::move(*design));
              return design.has_value();
            };
            Choices(wanted, present).any(is_found, wanted.size());
            return designs;
          }};
}

}  // namespace tenon::tune
