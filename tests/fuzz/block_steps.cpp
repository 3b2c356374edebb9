#include "tests/fuzz/block_steps.h"

#include <algorithm>

#include "tenon/s_tir/analysis.h"
#include "tenon/s_tir/script.h"

namespace tenon::fuzz {

using s_tir::BlockRV;
using s_tir::LoopRV;
using s_tir::Schedule;

namespace {

tir::PrimFunc only_function(const char* text) {
  return s_tir::parse_script(text).functions.begin()->second;
}

/// Copies of 2 by 4 elements, rows in lanes.
const char* const kCopy = R"(
@T.prim_func
def main(A: T.Buffer[(2, 4), "float32"], B: T.Buffer[(2, 4), "float32"]) -> None:
    for i, j in T.grid(2, 4):
        with T.block("copy"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
)";
const char* const kCopyInLanes = R"(
@T.prim_func
def main(A: T.Buffer[(2, 4), "float32"], B: T.Buffer[(2, 4), "float32"]) -> None:
    for i in T.serial(2):
        for j in T.vectorized(4):
            with T.block("lanes"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
)";
/// Products of tiles, the reduction outermost.
const char* const kProduct = R"(
@T.prim_func
def main(A: T.Buffer[(2, 4), "float32"], B: T.Buffer[(4, 4), "float32"], C: T.Buffer[(2, 4), "float32"]) -> None:
    for i, j, k in T.grid(2, 4, 4):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";
const char* const kProductInLanes = R"(
@T.prim_func
def main(A: T.Buffer[(2, 4), "float32"], B: T.Buffer[(4, 4), "float32"], C: T.Buffer[(2, 4), "float32"]) -> None:
    for k, i in T.grid(4, 2):
        for j in T.vectorized(4):
            with T.block("lanes"):
                vk = T.axis.opaque(4, k)
                vi = T.axis.opaque(2, i)
                vj = T.axis.opaque(4, j)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

}  // namespace

void register_block_intrinsics() {
  if (s_tir::find_tensor_intrin("copy_2x4")) return;
  s_tir::register_tensor_intrin("copy_2x4", only_function(kCopy), only_function(kCopyInLanes));
  s_tir::register_tensor_intrin("product_2x4x4", only_function(kProduct),
                                only_function(kProductInLanes));
}

void BlockSteps::try_one(bool is_kept) {
  // What is drawn must not depend on what is kept.
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
  const int kind = random.between(0, 34);
  if (kind <= 5) return memory(random, block, kind);
  if (kind >= 31) return layout(random, block, names, kind);
  const std::vector<LoopRV> loops = sch_.get_loops(block);
  if (loops.empty()) return "none";
  if (kind <= 14) return loop_step(random, loops, kind);
  if (kind <= 20) return place(random, block, names, kind);
  if (kind <= 26) return reduction(random, block, loops, kind);
  return sample(random, block, loops, kind);
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
  const std::vector<LoopRV> targets = sch_.get_loops(sch_.get_block(random.pick(names)));
  if (targets.empty()) return "none";
  if (kind <= 17) {
    sch_.compute_at(block, random.pick(targets), options);
    return "compute_at";
  }
  sch_.reverse_compute_at(block, random.pick(targets), options);
  return "reverse_compute_at";
}

std::string BlockSteps::memory(Random& random, BlockRV block, int kind) {
  const char* const scopes[] = {"global", "local", "shared"};
  // What threads share is for their own tests: here, all of them share everything.
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
  switch (kind) {
    case 6:
    case 7:
      if (random.one_in(3))
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
    default: {
      if (!has_threads_) return "none";
      const char* const tags[] = {"blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y",
                                  "vthread.x"};
      const std::string tag = tags[random.between(0, 4)];
      // Loops in each other that are bound to one thread index are accepted, as in the reference,
      // and are no program that can be run.
      if (s_tir::print_script(sch_.mod()).find(tag) != std::string::npos) return "none";
      sch_.bind(loop, tag);
      return "bind";
    }
  }
}

std::string BlockSteps::reduction(Random& random, BlockRV block, const std::vector<LoopRV>& loops,
                                  int kind) {
  const LoopRV loop = random.pick(loops);
  switch (kind) {
    case 21:
    case 22:
      sch_.decompose_reduction(block, loop);
      return "decompose_reduction";
    case 23:
      sch_.rfactor(loop, random.between(-1, 2));
      return "rfactor";
    case 24:
      sch_.blockize(loop);
      return "blockize";
    case 25:
      return merge();
    default:
      return tensorize(random, block, loops);
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

/// Tiles of a size that an intrinsic has, where the loops are as they were at first.
std::string BlockSteps::tensorize(Random& random, BlockRV block, const std::vector<LoopRV>& loops) {
  const bool is_product = loops.size() > 2;
  const std::vector<int> sizes = is_product ? std::vector<int>{2, 4, 4} : std::vector<int>{2, 4};
  if (loops.size() < sizes.size()) return "none";
  const std::vector<LoopRV> own(loops.end() - static_cast<std::ptrdiff_t>(sizes.size()),
                                loops.end());
  std::vector<LoopRV> outer, inner;
  for (std::size_t n = 0; n < own.size(); ++n) {
    const auto parts = sch_.split(own[n], {std::nullopt, sizes[n]});
    outer.push_back(parts[0]);
    inner.push_back(parts[1]);
  }
  outer.insert(outer.end(), inner.begin(), inner.end());
  sch_.reorder(outer);
  if (is_product && random.one_in(2)) sch_.decompose_reduction(block, outer[2]);
  const char* const intrin = is_product ? "product_2x4x4" : "copy_2x4";
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
    case 27: {
      const int n = random.between(2, 3);
      sch_.split(loop, sch_.sample_perfect_tile(loop, {.n = n, .max_innermost_factor = 8}));
      return "sample_perfect_tile";
    }
    case 28: {
      const auto factor = sch_.sample_categorical({1, 2, 3}, {0.5, 0.25, 0.25});
      sch_.split(loop, {std::nullopt, factor});
      return "sample_categorical";
    }
    case 29:
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
    case 31:
      sch_.storage_align(block, {.buffer_index = 0,
                                 .axis = random.between(-2, 1),
                                 .factor = random.between(1, 8),
                                 .offset = random.between(0, 3)});
      return "storage_align";
    case 32:
    case 33:
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

/// Of a buffer that the function allocates: callers know nothing of its layout.
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
