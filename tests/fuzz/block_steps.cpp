#include "tests/fuzz/block_steps.h"

#include <algorithm>

#include "tenon/s_tir/analysis.h"
#include "tests/common/block_intrinsics.h"

namespace tenon::fuzz {

using s_tir::BlockRV;
using s_tir::LoopRV;
using s_tir::Schedule;

namespace {

/// Rows, columns and, of products, the length of the sums.
const std::vector<int> kCopyTile = {2, 4}, kProductTile = {2, 4, 4};

std::string intrinsic_name(bool is_product, DataType dtype) {
  return (is_product ? "product_" : "copy_") + dtype.str();
}

}  // namespace

void register_block_intrinsics() {
  for (const DataType dtype : {Float(32), Int(32)}) {
    if (s_tir::find_tensor_intrin(intrinsic_name(true, dtype))) return;
    testing::register_tile_copy(intrinsic_name(false, dtype), kCopyTile[0], kCopyTile[1], dtype);
    testing::register_tile_product(intrinsic_name(true, dtype), kProductTile[0], kProductTile[1],
                                   kProductTile[2], dtype);
  }
}

void BlockSteps::try_one(bool is_kept) {
  // Drawn steps must not depend on which steps are kept.
  const unsigned seed = static_cast<unsigned>(random_.between(0, 1 << 30));
  if (!is_kept) return;
  const Schedule before = sch_;
  Random own(seed);
  kind_ = StageKind::Elementwise;
  try {
    const std::string name = step(own);
    if (name != "none") attempts_.push_back({name, kind_, true, name});
  } catch (const ScheduleError& error) {
    const std::string sentence = error.sentence();
    attempts_.push_back({sentence.substr(0, sentence.find(':')), kind_, false, sentence});
    sch_ = before;
  }
}

BlockSteps::Names BlockSteps::block_names() const {
  const s_tir::Program now = program();
  std::vector<std::string> names;
  for (int n = 1; n < now.size(); ++n)
    if (now.is_block(n)) names.push_back(now.block(n).name);
  return names;
}

std::string BlockSteps::step(Random& random) {
  const std::vector<std::string> names = block_names();
  const BlockRV block = sch_.get_block(random.pick(names));
  if (sch_.get(block).block->init) kind_ = StageKind::Reduction;
  const int kind = random.between(0, 47);
  if (kind <= 5) return memory(random, block, kind);
  if (kind >= 43) return reindex(random, block, kind - 43);
  if (kind >= 39) return layout(random, block, names, kind - 39);
  if (kind >= 36) return tensorize(random, names);
  const std::vector<LoopRV> loops = sch_.get_loops(block);
  if (loops.empty()) return "none";
  if (kind <= 14) return loop_step(random, loops, kind);
  if (kind <= 20) return place(random, block, names, kind);
  if (kind <= 31) return reduction(random, names, kind);
  return sample(random, block, loops, kind - 32);
}

std::string BlockSteps::place(Random& random, BlockRV block, const std::vector<std::string>& names,
                              int kind) {
  const s_tir::ComputeAtOptions options{.preserve_unit_loops = random.one_in(2),
                                        .index = random.one_in(4) ? random.between(-2, 2) : -1};
  if (kind == 20) {
    const LoopRV location = sch_.sample_compute_location(block);
    sch_.compute_at(block, location, options);
    return "sample_compute_location";
  }
  const bool is_producer = kind <= 17;
  // Mostly a loop around a consumer or a producer: the move to any other block's is refused.
  std::vector<BlockRV> near;
  if (!random.one_in(3)) near = is_producer ? sch_.get_consumers(block) : sch_.get_producers(block);
  if (near.empty()) near.push_back(sch_.get_block(random.pick(names)));
  const std::vector<LoopRV> targets = sch_.get_loops(random.pick(near));
  if (targets.empty()) return "none";
  if (is_producer) {
    sch_.compute_at(block, random.pick(targets), options);
    return "compute_at";
  }
  sch_.reverse_compute_at(block, random.pick(targets), options);
  return "reverse_compute_at";
}

std::string BlockSteps::memory(Random& random, BlockRV block, int kind) {
  const char* const scopes[] = {"global", "local", "shared"};
  // Memory that only some threads share has tests of its own: here, all threads share everything.
  const char* const scope = scopes[has_threads_ ? 0 : random.between(0, 2)];
  switch (kind) {
    case 0:
    case 1:
      sch_.cache_read(block, random.between(0, 1), scope);
      return "cache_read";
    case 2:
      sch_.cache_write(block, 0, scope);
      return "cache_write";
    case 3:
      sch_.compute_inline(block);
      return "compute_inline";
    case 4:
      sch_.reverse_compute_inline(block);
      return "reverse_compute_inline";
    default:
      sch_.set_scope(block, 0, scope);
      return "set_scope";
  }
}

std::string BlockSteps::loop_step(Random& random, const std::vector<LoopRV>& loops, int kind) {
  const LoopRV loop = random.pick(loops);
  if (kind > 10 && has_threads_ && !random.one_in(4)) return bind(random, loop);
  switch (kind) {
    case 6:
    case 7:
      // More iterations than an int32 counts, which is refused.
      if (sch_.get(loop).var.dtype() == Int(32) && random.one_in(12))
        sch_.split(loop, {std::nullopt, 1 << 30, 4});
      else if (random.one_in(3))
        sch_.split(loop, {std::nullopt, random.between(1, 4), random.between(1, 3)},
                   {.preserve_unit_iters = random.one_in(2)});
      else
        sch_.split(loop, {random.between(1, 5), std::nullopt},
                   {.preserve_unit_iters = random.one_in(2)});
      return "split";
    case 8: {
      const int first = random.between(0, std::max(0, static_cast<int>(loops.size()) - 2));
      const int count = random.between(2, 3);
      std::vector<LoopRV> some(loops.begin() + first,
                               loops.begin() + std::min<int>(first + count, loops.size()));
      sch_.fuse(some, {.preserve_unit_iters = random.one_in(2)});
      return "fuse";
    }
    case 9:
    case 10: {
      std::vector<LoopRV> some = loops;
      random.shuffle(some);
      some.erase(some.begin() + std::min<int>(random.between(2, 4), some.size()), some.end());
      sch_.reorder(some);
      return "reorder";
    }
    case 11:
      sch_.parallel(loop);
      return "parallel";
    case 12:
    case 13: {
      // Other loops are refused where the program is lowered.
      const bool is_constant = tir::constant_int(sch_.get(loop).extent).has_value();
      if (!is_constant) return "none";
      if (kind == 12) sch_.vectorize(loop);
      if (kind == 13) sch_.unroll(loop);
      return kind == 12 ? "vectorize" : "unroll";
    }
    default:
      return "none";
  }
}

/// Also loops inside of others that are bound to the same.
std::string BlockSteps::bind(Random& random, LoopRV loop) {
  const char* const tags[] = {"blockIdx.x",  "blockIdx.y",  "threadIdx.x",
                              "threadIdx.x", "threadIdx.y", "vthread.x"};
  sch_.bind(loop, tags[random.between(0, 5)]);
  return "bind";
}

/// Mostly of a block that reduces, if there is one.
std::string BlockSteps::reduction(Random& random, const Names& names, int kind) {
  if (kind >= 30) return merge();
  Names reducing;
  const s_tir::Program now = program();
  for (int n = 1; n < now.size(); ++n)
    if (now.is_block(n) && now.block(n).init) reducing.push_back(now.block(n).name);
  const bool any = reducing.empty() || random.one_in(8);
  const BlockRV block = sch_.get_block(random.pick(any ? names : reducing));
  const Loops loops = sch_.get_loops(block);
  if (loops.empty()) return "none";
  const LoopRV loop = random.pick(loops);
  switch (kind) {
    case 21:
    case 22:
    case 23:
    case 24:
      sch_.decompose_reduction(block, loop);
      return "decompose_reduction";
    case 25:
    case 26:
      sch_.blockize(loop);
      return "blockize";
    default:
      sch_.rfactor(random.one_in(4) ? loop : loops.back(), random.between(-1, 2));
      return "rfactor";
  }
}

/// The first init that is a block of its own, back into its update.
std::string BlockSteps::merge() {
  const s_tir::Program now = program();
  for (int n = 1; n < now.size(); ++n) {
    if (!now.is_block(n)) continue;
    const std::optional<int> update = s_tir::other_half(now, n);
    if (!update || *update < n) continue;
    sch_.merge_reduction(sch_.get_block(now.block(n).name),
                         sch_.get_block(now.block(*update).name));
    return "merge_reduction";
  }
  return "none";
}

namespace {

/// `C[..] = C[..] + A[..] * B[..]` or `C[..] = A[..]`; nullopt for anything else.
std::optional<bool> is_product_not_copy(const tir::Block& block) {
  const tir::Store* store = block.body.as<tir::Store>();
  if (!store) return std::nullopt;
  if (store->value.as<tir::Load>()) return false;
  const tir::Binary* sum = tir::as_binary(store->value, tir::BinaryOp::Add);
  if (sum && tir::as_binary(sum->b, tir::BinaryOp::Mul)) return true;
  return std::nullopt;
}

}  // namespace

/// Tiles of the size that the intrinsic has, of a block that looks like it, where the loops are as
/// they were at first.
std::string BlockSteps::tensorize(Random& random, const Names& names) {
  Names like;
  const s_tir::Program now = program();
  for (int n = 1; n < now.size(); ++n)
    if (now.is_block(n) && is_product_not_copy(now.block(n))) like.push_back(now.block(n).name);
  const bool any = like.empty() || random.one_in(8);
  const BlockRV block = sch_.get_block(random.pick(any ? names : like));
  const Loops loops = sch_.get_loops(block);
  const tir::BlockRealize realize = sch_.get(block);
  const bool is_product = is_product_not_copy(*realize.block).value_or(random.one_in(2));
  const std::vector<int>& sizes = is_product ? kProductTile : kCopyTile;
  if (loops.size() < sizes.size()) return "none";
  const Loops own(loops.end() - static_cast<std::ptrdiff_t>(sizes.size()), loops.end());
  Loops outer, inner;
  for (std::size_t n = 0; n < own.size(); ++n) {
    const auto parts = sch_.split(own[n], {std::nullopt, sizes[n]});
    outer.push_back(parts[0]);
    inner.push_back(parts[1]);
  }
  outer.insert(outer.end(), inner.begin(), inner.end());
  sch_.reorder(outer);
  if (is_product && random.one_in(2)) sch_.decompose_reduction(block, outer[2]);
  const std::string intrin =
      intrinsic_name(is_product, realize.block->writes.front().buffer->dtype);
  if (random.one_in(2))
    sch_.tensorize(sch_.blockize(inner[0]), intrin);
  else
    sch_.tensorize(inner[0], intrin);
  return "tensorize";
}

std::string BlockSteps::sample(Random& random, BlockRV block, const std::vector<LoopRV>& loops,
                               int kind) {
  const LoopRV loop = random.pick(loops);
  switch (kind) {
    case 0: {
      const int n = random.between(2, 3);
      sch_.split(loop, sch_.sample_perfect_tile(loop, {.n = n, .max_innermost_factor = 8}));
      return "sample_perfect_tile";
    }
    case 1: {
      const auto factor = sch_.sample_categorical({1, 2, 3}, {0.5, 0.25, 0.25});
      sch_.split(loop, {std::nullopt, factor});
      return "sample_categorical";
    }
    case 2:
      if (random.one_in(2))
        sch_.annotate(loop, "note", std::int64_t{random.between(0, 9)});
      else
        sch_.annotate(block, "note", "a \"text\"");
      return "annotate";
    default:
      if (random.one_in(2))
        sch_.unannotate(loop, "note");
      else
        sch_.unannotate(block, "note");
      return "unannotate";
  }
}

std::string BlockSteps::layout(Random& random, BlockRV block, const std::vector<std::string>& names,
                               int kind) {
  switch (kind) {
    case 0:
      sch_.storage_align(block, {.buffer_index = 0,
                                 .axis = random.between(-2, 1),
                                 .factor = random.between(1, 8),
                                 .offset = random.between(0, 3)});
      return "storage_align";
    case 1:
    case 2:
      return transform_layout(random, block);
    default: {
      const auto producers = sch_.get_producers(block);
      const auto consumers = sch_.get_consumers(sch_.get_block(random.pick(names)));
      const auto children = sch_.get_child_blocks(sch_.get_block("root"));
      for (const auto& found : {producers, consumers, children})
        if (!found.empty()) sch_.annotate(random.pick(found), "seen", true);
      return "get_producers, get_consumers, get_child_blocks";
    }
  }
}

std::string BlockSteps::reindex(Random& random, BlockRV block, int kind) {
  switch (kind) {
    case 0: {
      const std::vector<LoopRV> loops = sch_.get_loops(block);
      if (loops.empty() || random.one_in(2))
        sch_.add_unit_loop(block);
      else
        sch_.add_unit_loop(random.pick(loops));
      return "add_unit_loop";
    }
    case 1:
      sch_.reindex(block, random.between(0, 1), "read");
      return "reindex";
    case 2:
      sch_.reindex(block, 0, "write");
      return "reindex";
    default:
      return transform_block_layout(random, block);
  }
}

/// Fuses, exchanges or reverses iterators.
std::string BlockSteps::transform_block_layout(Random& random, BlockRV block) {
  const tir::Block own = *sch_.get(block).block;
  std::vector<tir::Var> vars;
  std::vector<tir::Expr> to;
  for (const tir::IterVar& iter : own.iters) {
    const auto extent = tir::constant_int(iter.dom()->extent);
    vars.emplace_back("i" + std::to_string(vars.size()));
    const bool is_fused = !to.empty() && extent && random.one_in(2) &&
                          iter.kind() == own.iters[vars.size() - 2].kind();
    if (is_fused)
      to.back() = to.back() * static_cast<int>(*extent) + vars.back();
    else if (extent && random.one_in(3))
      to.push_back(static_cast<int>(*extent) - 1 - vars.back());
    else
      to.emplace_back(vars.back());
  }
  if (vars.empty()) return "none";
  random.shuffle(to);
  sch_.transform_block_layout(block, s_tir::IndexMap(vars, to));
  return "transform_block_layout";
}

/// Transforms a buffer that the function allocates: callers do not depend on its layout.
std::string BlockSteps::transform_layout(Random& random, BlockRV block) {
  const bool is_read = random.one_in(2);
  const tir::BlockRealize realize = sch_.get(block);
  const auto& regions = is_read ? realize.block->reads : realize.block->writes;
  if (regions.empty()) return "none";
  const int index = random.between(0, static_cast<int>(regions.size()) - 1);
  const tir::Buffer& buffer = regions[static_cast<std::size_t>(index)].buffer;
  const s_tir::Program now = program();
  if (buffer->rank() != 2 || !s_tir::allocated_by(now, buffer, now.size() - 1)) return "none";
  const int factor = random.between(1, 4);
  const auto columns = tir::constant_int(buffer->shape[1]);
  const s_tir::IndexMap maps[] = {
      [](tir::Var i, tir::Var j) {
        return std::vector<tir::Expr>{j, i};
      },
      [&](tir::Var i, tir::Var j) {
        return std::vector<tir::Expr>{tir::floordiv(i, factor), j, tir::floormod(i, factor)};
      },
      [&](tir::Var i, tir::Var j) {
        return std::vector<tir::Expr>{i * static_cast<int>(columns.value_or(1)) + j};
      }};
  sch_.transform_layout(block, index, is_read ? "read" : "write", maps[random.between(0, 2)]);
  return "transform_layout";
}

}  // namespace tenon::fuzz
