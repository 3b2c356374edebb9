#include <algorithm>
#include <set>

#include "s_tir/order_checks.h"
#include "s_tir/primitives/loops.h"
#include "tenon/s_tir/primitives.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

/// Throws if a block inside the loop allocates memory that the threads of `thread` share.
void require_memory_of_threads(const Caller& caller, const Program& program, int loop,
                               const std::optional<ThreadTag>& thread) {
  const std::optional<Buffer> shared = buffer_of_all_threads(program, loop, thread);
  if (!shared) return;
  const char* const own = thread->is_block() ? "\"shared\" or \"local\"" : "\"local\"";
  refuse(caller, describe(program, loop) + " allocates `" + (*shared)->name + "` of scope \"" +
                     std::string(to_string(shared->scope())) +
                     "\" in each iteration, but all threads of `" + thread->str() +
                     "` share this memory; use the scope " + own);
}

/// Throws unless the iterations of the loop may run concurrently. A loop that is bound to
/// `threadIdx` may be a reduction loop, because its threads reduce cooperatively.
void require_independent(const Caller& caller, const Program& program, int loop,
                         const std::optional<ThreadTag>& thread) {
  const bool threads = thread && thread->is_thread();
  const For& own = program.loop(loop);
  for (const int n : program.child_blocks(loop)) {
    const Block& block = program.block(n);
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
  }
  if (is_one(own.extent)) return;
  require_memory_of_threads(caller, program, loop, thread);
  const std::vector<int> blocks = program.child_blocks(loop);
  const auto is_reduced_by = [&](int n, const Buffer& buffer) {
    return threads && feeds_reduction(program, n, loop) &&
           mentions(program.block(n).writes, buffer) && is_commutative_reduction(program, n);
  };
  const auto is_exempt = [&](int n, const Buffer& buffer) {
    if (has_own_memory(program, buffer, loop, thread)) return true;
    if (thread && is_written_alike(program, buffer, loop)) return true;
    // A reader that does not depend on the loop runs in every iteration. In the last iteration it
    // reads the complete sum.
    return program.is_block(n) && !mentions(program.block(n).writes, buffer) &&
           !depends_on(program, n, loop) &&
           std::ranges::any_of(blocks, [&](int other) { return is_reduced_by(other, buffer); });
  };
  // Threads that reduce cooperatively also run the init cooperatively, so the init does not
  // conflict with the updates.
  const auto is_unordered = [&](int n, const Buffer& buffer, bool) {
    return is_reduced_by(n, buffer);
  };
  for (const int n : blocks)
    if (threads && program.block(n).init && feeds_reduction(program, n, loop)) {
      require_begun(caller, program, n);
      require_init_passes(caller, program, n, loop);
    }
  if (const auto conflict = conflict_between_iterations(program, loop, is_exempt, is_unordered))
    refuse(caller, describe(program, loop) + ": its iterations would race: one " + *conflict +
                       " in another, which may be the same element");
}

PrimFunc with_kind(const Program& program, int n, ForKind kind, std::optional<ThreadTag> thread) {
  For loop = program.loop(n);
  LoopTraits traits = traits_of(loop);
  traits.thread = thread;
  loop.kind = kind;
  return program.with(n, make_stmt(with_traits(std::move(loop), std::move(traits))));
}

}  // namespace

void require_memory_of_threads_around(const Caller& caller, const Program& after, int n) {
  for (std::optional<int> scope = after.scope(n); scope; scope = after.scope(*scope))
    for (const int loop : after.loops_of(*scope))
      require_memory_of_threads(caller, after, loop, traits_of(after.loop(loop)).thread);
}

void require_independent_around(const Caller& caller, const Program& after, int n) {
  std::set<int> loops;
  const auto add_around = [&](int node) {
    const std::vector<int> around = after.loops_of(node);
    loops.insert(around.begin(), around.end());
  };
  add_around(n);
  for (int inner = n; after.is_loop(inner); ++inner) loops.insert(inner);
  // Includes the loops around producers: a value that is read outside such a loop is not private to
  // its iterations.
  if (after.is_block(n))
    for (const int producer : producers(after, n)) add_around(producer);
  for (const int loop : loops) {
    const ForKind kind = after.loop(loop).kind;
    if (kind == ForKind::Serial || kind == ForKind::Unrolled) continue;
    require_independent(caller, after, loop, traits_of(after.loop(loop)).thread);
  }
  require_memory_of_threads_around(caller, after, n);
}

NewLoops add_unit_loop(const Program& program, int n, SourceLocation where) {
  if (!program.scope(n))
    refuse({"add_unit_loop", where},
           describe(program, n) + " is the root of the function, which is in no loop");
  const Var unit("u");
  return {program.with(n, make_stmt(For{unit, 0, 1, ForKind::Serial, program.stmt(n)})), {unit}};
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
