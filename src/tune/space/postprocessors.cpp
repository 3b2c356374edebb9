#include "tenon/tune/postprocessors.h"

#include <algorithm>

#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tune/search/mutate.h"
#include "tune/search/tried.h"
#include "tune/space/block_facts.h"
#include "tune/space/tiles.h"

namespace tenon::tune {

namespace {

using s_tir::BlockRV;
using s_tir::LoopRV;
using s_tir::Schedule;

/// Tries an optional step. Returns false, and leaves the schedule unchanged, if it is refused.
template <class Step>
bool replaced(Schedule& sch, const Step& step) {
  std::optional<Schedule> done = tried(sch, step);
  if (done) sch = std::move(*done);
  return done.has_value();
}

// ---- parallelization, vectorization, unrolling  -------------------------------------------------

struct Notes {
  BlockRV root;
  std::int64_t parallel = 0, vectorize = 0, unroll = 0;
  bool is_unroll_explicit = true;
};

const tir::Annotations& root_notes(const Schedule& sch) {
  return tir::root_block(sch.mod().functions.begin()->second.body).annotations;
}

/// Removes the annotations from the root and returns them.
std::optional<Notes> taken_notes(Schedule& sch) {
  const tir::Annotations noted = root_notes(sch);
  constexpr const char* kKeys[] = {kParallelKey, kVectorizeKey, kUnrollExplicitKey,
                                   kUnrollImplicitKey};
  if (std::none_of(std::begin(kKeys), std::end(kKeys),
                   [&](const char* key) { return noted.contains(key); }))
    return std::nullopt;
  Notes notes{sch.get_block("root", function_name(sch))};
  const auto take = [&](const char* key, std::int64_t& value) {
    const auto entry = noted.find(key);
    if (entry == noted.end()) return false;
    value = tir::annotation_int(entry->second).value_or(0);
    sch.unannotate(notes.root, key);
    return true;
  };
  take(kParallelKey, notes.parallel);
  take(kVectorizeKey, notes.vectorize);
  if (!take(kUnrollExplicitKey, notes.unroll) && take(kUnrollImplicitKey, notes.unroll))
    notes.is_unroll_explicit = false;
  return notes;
}

bool is_plain(const tir::For& loop) {
  return loop.kind == tir::ForKind::Serial && tir::traits_of(loop).annotations.empty();
}

bool is_only_statement_of(const tir::For& inner, const tir::For& outer) {
  const tir::For* body = outer.body.as<tir::For>();
  return body && body->var.same_as(inner.var);
}

/// Returns the number of outer loops to fuse. It ends at a loop that is not spatial, or that is not
/// the only statement of the previous loop, or when there are enough jobs.
std::size_t outer_loops(const Schedule& sch, const tir::BlockRealize& realize,
                        const std::vector<LoopRV>& loops, std::int64_t jobs) {
  std::size_t count = 0;
  std::int64_t extent = 1;
  for (; count < loops.size() && extent <= jobs; ++count) {
    const tir::For loop = sch.get(loops[count]);
    const bool is_below = count == 0 || is_only_statement_of(loop, sch.get(loops[count - 1]));
    if (!is_plain(loop) || !is_below || class_of(realize, loop) != LoopClass::Spatial) break;
    extent *= extent_of(loop);
  }
  return extent > 1 ? count : 0;
}

/// Whether consecutive iterations write adjacent elements: every iterator that depends on the loop
/// is used in the index of the last dimension.
bool is_over_neighbours(const tir::BlockRealize& realize, const tir::For& loop) {
  if (realize.block->writes.empty() || realize.block->writes.front().region.empty()) return false;
  const tir::Expr& last = realize.block->writes.front().region.back().min;
  for (std::size_t n = 0; n < realize.values.size(); ++n)
    if (tir::uses_var(realize.values[n], loop.var) &&
        !tir::uses_var(last, realize.block->iters[n].var()))
      return false;
  return true;
}

void annotate_unrolling(Schedule& sch, LoopRV loop, const Notes& notes) {
  if (notes.unroll <= 0) return;
  const tir::Annotations& noted = tir::traits_of(sch.get(loop)).annotations;
  // Another block in the same loop has already annotated it.
  if (noted.contains("pragma_auto_unroll_max_step")) return;
  sch.annotate(loop, "pragma_auto_unroll_max_step", notes.unroll);
  sch.annotate(loop, "pragma_unroll_explicit", std::int64_t{notes.is_unroll_explicit});
}

void rewrite_block(Schedule& sch, BlockRV block, const Notes& notes) {
  const std::vector<LoopRV> loops = sch.get_loops(block);
  if (loops.empty()) return;
  const tir::BlockRealize realize = sch.get(block);
  LoopRV outermost = loops.front();
  std::size_t fused = notes.parallel > 0 ? outer_loops(sch, realize, loops, notes.parallel) : 0;
  if (fused > 0) {
    const bool is_parallel = replaced(sch, [&](Schedule& own) {
      outermost = own.fuse({loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(fused)});
      own.parallel(outermost);
    });
    if (!is_parallel) {
      fused = 0;
      outermost = loops.front();
    }
  }
  const tir::For innermost = sch.get(loops.size() > fused ? loops.back() : outermost);
  const std::int64_t extent = extent_of(innermost);
  const bool is_vector =
      !realize.block->annotations.contains(kIntrinsicKey) && loops.size() > fused &&
      is_plain(innermost) && extent > 1 && extent <= notes.vectorize &&
      class_of(realize, innermost) == LoopClass::Spatial && is_over_neighbours(realize, innermost);
  if (is_vector)
    replaced(sch, [&](Schedule& own) {
      const LoopRV lanes = own.fuse({loops.back()});
      own.vectorize(lanes);
      if (loops.size() == 1) outermost = lanes;
    });
  annotate_unrolling(sch, outermost, notes);
}

// ---- reductions ---------------------------------------------------------------------------------

std::vector<std::string> reduction_names(const Schedule& sch) {
  std::vector<std::string> names;
  tir::walk(sch.mod().functions.begin()->second.body, [&](const tir::BlockRealize& realize) {
    if (realize.block->init) names.push_back(realize.block->name);
  });
  return names;
}

void decompose(Schedule& sch, const std::string& name) {
  const BlockRV block = sch.get_block(name, function_name(sch));
  const std::vector<LoopRV> loops = sch.get_loops(block);
  const tir::BlockRealize realize = sch.get(block);
  const auto is_shared = [&](LoopRV loop) {
    return class_of(realize, sch.get(loop)) == LoopClass::Reduction &&
           tir::traits_of(sch.get(loop)).thread;
  };
  if (std::any_of(loops.begin(), loops.end(), is_shared)) return;
  for (const LoopRV loop : loops)
    if (class_of(realize, sch.get(loop)) != LoopClass::Spatial) {
      sch.decompose_reduction(block, loop);
      return;
    }
}

}  // namespace

Postprocessor disallow_dynamic_loops() {
  return {"disallow_dynamic_loops", [](Schedule& sch, const Target&) {
            for (const auto& [name, func] : sch.mod().functions)
              tir::walk(func.body, [&](const tir::For& loop) {
                if (!tir::constant_int(loop.extent))
                  throw ScheduleError("loop `" + loop.var.name() + "` of function `" + name +
                                      "` has no constant extent");
              });
          }};
}

Postprocessor rewrite_parallel_vectorize_unroll() {
  return {"rewrite_parallel_vectorize_unroll", [](Schedule& sch, const Target&) {
            const std::optional<Notes> notes = taken_notes(sch);
            if (!notes) return;
            for (const BlockRV block : sch.get_child_blocks(notes->root))
              rewrite_block(sch, block, *notes);
          }};
}

Postprocessor rewrite_reduction_blocks() {
  return {"rewrite_reduction_blocks", [](Schedule& sch, const Target&) {
            // A reduction that keeps its init is correct but slower, so a refusal does not reject
            // the candidate.
            for (const std::string& name : reduction_names(sch))
              replaced(sch, [&](Schedule& own) { decompose(own, name); });
          }};
}

Postprocessor rewrite_intrinsics() {
  return {
      "rewrite_intrinsics", [](Schedule& sch, const Target&) {
        std::vector<std::pair<std::string, std::string>> wanted;
        tir::walk(sch.mod().functions.begin()->second.body, [&](const tir::BlockRealize& realize) {
          const auto note = realize.block->annotations.find(kIntrinsicKey);
          if (note == realize.block->annotations.end()) return;
          wanted.emplace_back(realize.block->name, tir::annotation_text(note->second).value_or(""));
        });
        // If a separate block initializes the sums, it has the annotation too. It is not
        // tensorized, so one success is sufficient.
        bool is_called = wanted.empty();
        for (const auto& note : wanted) {
          const BlockRV block = sch.get_block(note.first, function_name(sch));
          sch.unannotate(block, kIntrinsicKey);
          is_called |=
              replaced(sch, [&](Schedule& own) { compute_by_intrinsic(own, block, note.second); });
        }
        if (!is_called)
          throw ScheduleError("intrinsic `" + wanted.front().second +
                              "` matches none of the blocks annotated with it");
      }};
}

std::vector<Postprocessor> default_postprocessors(const Target& target) {
  if (target.facts().is_gpu())
    return {disallow_dynamic_loops(),   rewrite_cooperative_fetches(),
            rewrite_unbound_blocks(),   rewrite_parallel_vectorize_unroll(),
            rewrite_reduction_blocks(), verify_device_program()};
  return {disallow_dynamic_loops(), rewrite_parallel_vectorize_unroll(), rewrite_reduction_blocks(),
          rewrite_intrinsics()};
}

}  // namespace tenon::tune
