#include "s_tir/order_checks.h"

#include <algorithm>

namespace tenon::s_tir {

using namespace tir;

namespace {

bool feeds_reduction(const Program& program, int block, int loop) {
  const BlockRealize& realize = program.realize(block);
  for (std::size_t n = 0; n < realize.values.size(); ++n)
    if (realize.block->iters[n].kind() == IterKind::Reduce &&
        uses_var(realize.values[n], program.loop(loop).var))
      return true;
  return false;
}

}  // namespace

std::optional<std::string> sums_twice(const Program& program, int block) {
  const Classified classified = classify(program, block);
  if (!classified.block_class) return std::nullopt;
  const bool is_whole = *classified.block_class == BlockClass::Reduction;
  if (!is_whole && *classified.block_class != BlockClass::ReductionUpdate) return std::nullopt;
  const std::vector<int> repeating = repeating_loops(program, block);
  if (repeating.empty()) return std::nullopt;
  std::optional<int> top;
  if (is_whole) {
    for (const int loop : program.loops_of(block))
      if (!top && feeds_reduction(program, block, loop)) top = loop - 1;
    if (!top) return std::nullopt;
  } else {
    top = program.common(*other_half(program, block), block);
  }
  for (const int loop : repeating)
    if (loop > *top)
      return "loop `" + program.loop(loop).var.name() + "` would run instances of block `" +
             program.block(block).name + "` again and add them again";
  return std::nullopt;
}

void require_free_order(const Program& program, int block, const Caller& caller,
                        const std::string& step) {
  const Classified classified = classify(program, block);
  if (!classified.block_class)
    refuse(caller, step + ": block `" + program.block(block).name +
                       "` is neither complete nor a reduction: " + classified.reason);
  for (const IterVar& iter : program.block(block).iters)
    if (iter.kind() == IterKind::DataParallel && !tells_writes_apart(program.block(block), iter))
      refuse(caller, step + ": spatial iterator `" + iter.name() + "` of block `" +
                         program.block(block).name +
                         "` does not tell apart the elements that the block writes, so that its "
                         "instances depend on their order; declare it as a reduction if it is one");
}

std::optional<std::string> reads_other_iterations(const Program& program, int loop) {
  const std::vector<int> blocks = program.child_blocks(loop);
  for (const int consumer : blocks)
    for (const int producer : producers(program, consumer)) {
      if (std::find(blocks.begin(), blocks.end(), producer) == blocks.end()) continue;
      for (const Buffer& buffer : buffers_of(program.block(producer).writes))
        if (mentions(program.block(consumer).reads, buffer) &&
            !covers_reads(program, producer, consumer, buffer))
          return "block `" + program.block(consumer).name + "` may read elements of `" +
                 buffer->name + "` that block `" + program.block(producer).name +
                 "` writes in another iteration";
    }
  return std::nullopt;
}

}  // namespace tenon::s_tir
