#include <algorithm>

#include "s_tir/order_checks.h"
#include "s_tir/primitives/loops.h"
#include "tenon/s_tir/primitives.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

/// Whether every use of the buffer stands below the loop, in memory that exists once per iteration.
/// `thread`: what the loop's iterations become, if threads; a block program has one buffer for all
/// of them unless its scope says otherwise.
bool is_private(const Program& program, const Buffer& buffer, int loop,
                const std::optional<ThreadTag>& thread) {
  if (!allocated_by(program, buffer, loop)) return false;
  const StorageScope scope = buffer.scope();
  const bool is_shared = scope == StorageScope::Global || scope == StorageScope::Shared ||
                         scope == StorageScope::SharedDyn;
  const bool is_block_private = thread && thread->is_block() && scope != StorageScope::Global;
  if (is_shared && thread && !is_block_private) return false;
  for (int n = 1; n < program.size(); ++n) {
    if (!program.is_block(n) || program.is_below(n, loop) || program.is_below(loop, n)) continue;
    const Block& block = program.block(n);
    if (mentions(block.reads, buffer) || mentions(block.writes, buffer)) return false;
  }
  return true;
}

/// Whether iterations of the loop run instances again that others run as well. Not known means no.
bool repeats_instances(const Program& program, int loop, int block) {
  if (!has_affine_bindings(program, block)) return false;
  const std::vector<int> repeating = repeating_loops(program, block);
  return std::find(repeating.begin(), repeating.end(), loop) != repeating.end();
}

/// Iterations of the loop write different elements, or memory of their own.
void require_own_writes(const Caller& caller, const Program& program, int loop, int n,
                        BlockClass block_class, const std::optional<ThreadTag>& thread) {
  const Block& block = program.block(n);
  const BlockRealize& realize = program.realize(n);
  const std::vector<Buffer> written = buffers_of(block.writes);
  if (std::all_of(written.begin(), written.end(),
                  [&](const Buffer& buffer) { return is_private(program, buffer, loop, thread); }))
    return;
  bool reduces = false;
  for (std::size_t i = 0; i < block.iters.size(); ++i) {
    if (!uses_var(realize.values[i], program.loop(loop).var)) continue;
    reduces = reduces || block.iters[i].kind() == IterKind::Reduce;
    if (block.iters[i].kind() == IterKind::DataParallel &&
        !tells_writes_apart(block, block.iters[i]))
      refuse(caller, describe(program, loop) + ": spatial iterator `" + block.iters[i].name() +
                         "` of block `" + block.name +
                         "` does not tell apart the elements that the block writes: its "
                         "iterations would race");
  }
  // Several that compute an element do no harm, several that add to it do.
  const bool adds =
      block_class == BlockClass::Reduction || block_class == BlockClass::ReductionUpdate;
  if (adds && !reduces && repeats_instances(program, loop, n))
    refuse(caller, describe(program, loop) + " runs instances of block `" + block.name +
                       "` more than once, which would add to the same elements at the same time");
}

/// The iterations of the loop may run at the same time. As `threadIdx`, those of a reduction may as
/// well: the threads reduce together.
void require_independent(const Caller& caller, const Program& program, int loop,
                         const std::optional<ThreadTag>& thread) {
  const bool threads = thread && thread->is_thread();
  const For& own = program.loop(loop);
  for (const int n : program.child_blocks(loop)) {
    const Classified classified = classify(program, n);
    const Block& block = program.block(n);
    if (!classified.block_class)
      refuse(caller, describe(program, loop) + ": block `" + block.name +
                         "` is neither complete nor a reduction: " + classified.reason);
    const BlockRealize& realize = program.realize(n);
    for (std::size_t i = 0; i < block.iters.size(); ++i) {
      if (!uses_var(realize.values[i], own.var)) continue;
      const IterKind kind = block.iters[i].kind();
      if (kind == IterKind::DataParallel || (threads && kind == IterKind::Reduce)) continue;
      refuse(caller, describe(program, loop) + " runs over the reduction iterator `" +
                         block.iters[i].name() + "` of block `" + block.name +
                         "`; rfactor it first" +
                         (caller.primitive == "bind" ? ", or bind it to threadIdx" : ""));
    }
    if (!is_one(own.extent))
      require_own_writes(caller, program, loop, n, *classified.block_class, thread);
  }
  if (is_one(own.extent)) return;
  if (const auto reason = reads_other_iterations(program, loop))
    refuse(caller, describe(program, loop) + ": " + *reason);
}

PrimFunc with_kind(const Program& program, int n, ForKind kind, std::optional<ThreadTag> thread) {
  For loop = program.loop(n);
  LoopTraits traits = traits_of(loop);
  traits.thread = thread;
  loop.kind = kind;
  return program.with(n, make_stmt(with_traits(std::move(loop), std::move(traits))));
}

}  // namespace

void require_independent_around(const Caller& caller, const Program& after, int block) {
  for (const int loop : after.loops_of(block)) {
    const ForKind kind = after.loop(loop).kind;
    if (kind == ForKind::Serial || kind == ForKind::Unrolled) continue;
    require_independent(caller, after, loop, traits_of(after.loop(loop)).thread);
  }
}

PrimFunc parallel(const Program& program, int loop, SourceLocation where) {
  require_independent({"parallel", where}, program, loop, std::nullopt);
  return with_kind(program, loop, ForKind::Parallel, std::nullopt);
}

PrimFunc vectorize(const Program& program, int loop, SourceLocation where) {
  require_independent({"vectorize", where}, program, loop, std::nullopt);
  return with_kind(program, loop, ForKind::Vectorized, std::nullopt);
}

PrimFunc unroll(const Program& program, int loop, SourceLocation) {
  return with_kind(program, loop, ForKind::Unrolled, std::nullopt);
}

PrimFunc bind(const Program& program, int loop, const ThreadTag& thread, SourceLocation where) {
  require_independent({"bind", where}, program, loop, thread);
  return with_kind(program, loop, ForKind::ThreadBinding, thread);
}

}  // namespace tenon::s_tir
