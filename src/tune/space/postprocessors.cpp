#include "tenon/tune/postprocessors.h"

#include <algorithm>

#include "tenon/driver/lower.h"
#include "tenon/lower/pipeline.h"
#include "tenon/lower/split_kernels.h"
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

/// Returns the names of the blocks that have an annotation with this key, and the annotations.
std::vector<std::pair<std::string, tir::Annotation>> annotated_blocks(const Schedule& sch,
                                                                      const char* key) {
  std::vector<std::pair<std::string, tir::Annotation>> found;
  tir::walk(body_of(sch), [&](const tir::BlockRealize& realize) {
    const tir::Annotations& noted = realize.block->annotations;
    if (const auto note = noted.find(key); note != noted.end())
      found.emplace_back(realize.block->name, note->second);
  });
  return found;
}

// ---- parallelization, vectorization, unrolling  -------------------------------------------------

struct Notes {
  BlockRV root;
  std::int64_t parallel = 0, vectorize = 0, unroll = 0;
  bool is_unroll_explicit = true;
};

/// Removes the annotations from the root block and returns them.
std::optional<Notes> taken_notes(Schedule& sch) {
  const tir::Annotations noted = tir::root_block(body_of(sch)).annotations;
  constexpr const char* kKeys[] = {kParallelKey, kVectorizeKey, kUnrollExplicitKey,
                                   kUnrollImplicitKey};
  if (std::ranges::none_of(kKeys, [&](const char* key) { return noted.contains(key); }))
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

/// Returns the number of outer loops to fuse. The loops must be spatial, and each must be the only
/// statement in the previous one. No further loop is added if there are enough jobs.
std::size_t outer_loops(const Schedule& sch, const tir::BlockRealize& realize,
                        const std::vector<LoopRV>& loops, std::int64_t jobs) {
  std::size_t count = 0;
  std::int64_t extent = 1;
  for (; count < loops.size() && extent <= jobs; ++count) {
    const tir::For loop = sch.get(loops[count]);
    const bool is_below = count == 0 || is_only_statement_of(loop, sch.get(loops[count - 1]));
    if (!is_plain(loop) || !is_below || kind_of(realize, loop) != tir::IterKind::DataParallel)
      break;
    extent *= extent_of(loop);
  }
  return extent > 1 ? count : 0;
}

/// Whether consecutive iterations of the loop write adjacent elements. Every iterator that depends
/// on the loop must be used in the index of the last dimension.
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
  // Another block in the same loop has already annotated the loop.
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
  const bool is_vector = !realize.block->annotations.contains(kIntrinsicKey) &&
                         loops.size() > fused && is_plain(innermost) && extent > 1 &&
                         extent <= notes.vectorize &&
                         kind_of(realize, innermost) == tir::IterKind::DataParallel &&
                         is_over_neighbours(realize, innermost);
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
  tir::walk(body_of(sch), [&](const tir::BlockRealize& realize) {
    if (realize.block->init) names.push_back(realize.block->name);
  });
  return names;
}

void decompose(Schedule& sch, const std::string& name) {
  const BlockRV block = sch.get_block(name, function_name(sch));
  const std::vector<LoopRV> loops = sch.get_loops(block);
  const tir::BlockRealize realize = sch.get(block);
  const auto is_shared = [&](LoopRV loop) {
    return kind_of(realize, sch.get(loop)) == tir::IterKind::Reduce &&
           tir::traits_of(sch.get(loop)).thread;
  };
  if (std::ranges::any_of(loops, is_shared)) return;
  for (const LoopRV loop : loops)
    if (kind_of(realize, sch.get(loop)) != tir::IterKind::DataParallel) {
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
            // A reduction that keeps its init is correct, only slower. The candidate is therefore
            // not rejected if decompose_reduction fails.
            for (const std::string& name : reduction_names(sch))
              replaced(sch, [&](Schedule& own) { decompose(own, name); });
          }};
}

Postprocessor rewrite_intrinsics() {
  return {"rewrite_intrinsics", [](Schedule& sch, const Target&) {
            const auto wanted = annotated_blocks(sch, kIntrinsicKey);
            const auto intrinsic = [](const tir::Annotation& note) {
              return tir::annotation_text(note).value_or("");
            };
            // A separate init block of a reduction has the annotation too, but cannot be
            // tensorized. One tensorized block is therefore sufficient.
            bool is_called = wanted.empty();
            for (const auto& note : wanted) {
              const BlockRV block = sch.get_block(note.first, function_name(sch));
              sch.unannotate(block, kIntrinsicKey);
              is_called |= replaced(sch, [&](Schedule& own) {
                compute_by_intrinsic(own, block, intrinsic(note.second));
              });
            }
            if (!is_called)
              throw ScheduleError("intrinsic `" + intrinsic(wanted.front().second) +
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

// ---- devices ------------------------------------------------------------------------------------

// Postprocessors for GPU targets.

namespace {

std::optional<tir::ThreadTag> thread_of(const Schedule& sch, LoopRV loop) {
  return tir::traits_of(sch.get(loop)).thread;
}

/// Returns the extent of the enclosing loop that is bound to threadIdx.x; 1 if there is no such
/// loop.
std::int64_t threads_around(const Schedule& sch, const std::vector<LoopRV>& loops) {
  for (const LoopRV loop : loops)
    if (const auto thread = thread_of(sch, loop); thread && thread->str() == "threadIdx.x")
      return extent_of(sch.get(loop));
  return 1;
}

/// Distributes the loop of a copy over all threads of a block. If `length` divides the extent, each
/// thread copies vectors of `length` elements.
void share(Schedule& sch, BlockRV copy, std::int64_t length) {
  sch.unannotate(copy, kCooperativeFetchKey);
  const std::vector<LoopRV> loops = sch.get_loops(copy);
  const std::int64_t threads = threads_around(sch, loops),
                     elements = extent_of(sch.get(loops.back()));
  if (length > 1 && elements % length == 0) {
    const auto parts = sch.split(loops.back(), {std::nullopt, threads, length});
    sch.bind(parts[1], "threadIdx.x");
    sch.vectorize(parts[2]);
  } else {
    sch.bind(sch.split(loops.back(), {std::nullopt, threads})[1], "threadIdx.x");
  }
}

/// Binds the spatial loops of a nest that are not bound yet: to thread blocks, and to threads if
/// the nest does not use threads.
void bind_nest(Schedule& sch, BlockRV block, std::int64_t most_threads) {
  const std::vector<LoopRV> loops = sch.get_loops(block);
  bool has_blocks = false, has_threads = false;
  for (const LoopRV loop : loops)
    if (const auto thread = thread_of(sch, loop))
      (thread->is_block() ? has_blocks : has_threads) = true;
  if (has_blocks) return;
  const tir::BlockRealize realize = sch.get(block);
  std::vector<LoopRV> spatial;
  for (const LoopRV loop : loops) {
    if (thread_of(sch, loop) || kind_of(realize, sch.get(loop)) != tir::IterKind::DataParallel)
      break;
    spatial.push_back(loop);
  }
  if (spatial.empty()) {
    if (has_threads) return;
    throw ScheduleError("block `" + realize.block->name +
                        "` has no loop of independent elements that could be bound to threads");
  }
  const LoopRV fused = sch.fuse(spatial);
  if (has_threads) return sch.bind(fused, "blockIdx.x");
  const std::int64_t threads = std::min(most_threads, extent_of(sch.get(fused)));
  const auto parts = sch.split(fused, {std::nullopt, threads});
  sch.bind(parts[0], "blockIdx.x");
  sch.bind(parts[1], "threadIdx.x");
}

}  // namespace

Postprocessor rewrite_cooperative_fetches() {
  return {"rewrite_cooperative_fetches", [](Schedule& sch, const Target&) {
            for (const auto& [name, note] : annotated_blocks(sch, kCooperativeFetchKey))
              share(sch, sch.get_block(name, function_name(sch)),
                    tir::annotation_int(note).value_or(1));
          }};
}

Postprocessor rewrite_unbound_blocks() {
  return {"rewrite_unbound_blocks", [](Schedule& sch, const Target& target) {
            constexpr std::int64_t kUsual = 256;
            const std::int64_t threads =
                std::min<std::int64_t>(kUsual, target.facts().max_threads_per_block);
            const BlockRV root = sch.get_block("root", function_name(sch));
            for (const BlockRV block : sch.get_child_blocks(root)) bind_nest(sch, block, threads);
          }};
}

Postprocessor verify_device_program() {
  return {"verify_device_program", [](Schedule& sch, const Target& target) {
            try {
              for (const auto& [name, func] : sch.mod().functions)
                for (const auto& [lowered_name, lowered] : lower(func).functions)
                  lowering::split_kernels(lowering::run_passes(lowering::device_passes(), lowered),
                                          target.facts());
            } catch (const LowerError& error) {
              throw ScheduleError(error.sentence());
            }
          }};
}

}  // namespace tenon::tune
