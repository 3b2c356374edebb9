#include <algorithm>
#include <set>

#include "s_tir/primitives/match_description.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/s_tir/script.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

/// Returns the part of the program that a parameter of the intrinsic represents: a box of its size.
BufferRegion box_of(const MatchedBuffer& match, const Buffer& param) {
  BufferRegion box{match.target, {}};
  const std::size_t leading = match.base.size() - param->shape.size();
  for (std::size_t n = 0; n < match.base.size(); ++n) {
    const DataType type = match.base[n].dtype();
    const std::int64_t size = n < leading ? 1 : constant_int(param->shape[n - leading]).value();
    box.region.push_back(Range::from_min_extent(match.base[n], make_int(type, size)));
  }
  return box;
}

void require_inside(const Caller& caller, const BufferRegion& box, const arith::Facts& facts) {
  for (std::size_t n = 0; n < box.region.size(); ++n) {
    const Range& range = box.region[n];
    const bool is_inside =
        arith::can_prove(range.min >= 0, facts) &&
        arith::can_prove(range.min + range.extent <= box.buffer->shape[n], facts);
    if (!is_inside)
      refuse(caller, "dimension " + std::to_string(n) + " of " + in_backticks(box.buffer->name) +
                         ": the intrinsic takes " + print_script(range.extent) + " elements from " +
                         print_script(range.min) + " on, which is not provably inside the buffer");
  }
}

/// Throws unless written buffers are disjoint from all others: the intrinsic may read and write in
/// any order.
void require_apart(const Caller& caller, const std::vector<MatchedBuffer>& matches,
                   const Stmt& description, const PrimFunc& func) {
  std::set<const BufferNode*> written;
  walk(description, [&](const Store& store) { written.insert(store.buffer.get()); });
  for (std::size_t n = 0; n < matches.size(); ++n)
    for (std::size_t m = 0; m < matches.size(); ++m) {
      if (n == m || !matches[n].target.same_as(matches[m].target)) continue;
      if (written.contains(func.buffers[n].buffer.get()))
        refuse(caller, "buffers `" + func.buffers[n].buffer->name + "` and `" +
                           func.buffers[m].buffer->name + "` of the intrinsic are both " +
                           in_backticks(matches[n].target->name) + ", and the first is written");
    }
}

/// Returns a parameter of the implementation as a new buffer for this use; its variables are bound
/// to the matched region. If the declaration lacks strides and offset and the implementation only
/// accesses elements, it takes those of the region.
Buffer own_buffer(const Buffer& param, const Stmt& body, VarMap& replaced) {
  BufferNode node = *param.get();
  const bool is_by_element = !uses_var(body, param->data);
  const auto own = [&](Expr& e) {
    if (!e.as<VarNode>()) return;
    const Var old = Var::of(e);
    const auto known = replaced.find(&old.node());
    const Expr made = known == replaced.end() ? Expr(old.fresh()) : known->second;
    set(replaced, old, made);
    e = made;
  };
  if (is_by_element && node.strides.empty())
    for (std::size_t n = 0; n < node.shape.size(); ++n)
      node.strides.push_back(Var("s" + std::to_string(n), node.shape[n].dtype()));
  else
    for (Expr& stride : node.strides) own(stride);
  if (is_by_element && !node.elem_offset.as<VarNode>()) {
    node.elem_offset = Var(node.name + "_elem_offset", node.elem_offset.dtype());
    node.data_alignment = std::max(1, node.dtype.bytes());
  } else {
    own(node.elem_offset);
  }
  node.data = node.data.fresh();
  return make_buffer(std::move(node));
}

/// Returns the regions, with those of matched buffers replaced by the boxes of the intrinsic.
std::vector<BufferRegion> as_boxes(const std::vector<BufferRegion>& regions,
                                   const std::vector<BufferRegion>& boxes) {
  std::vector<BufferRegion> result;
  for (const BufferRegion& region : regions) {
    const std::size_t before = result.size();
    for (const BufferRegion& box : boxes)
      if (box.buffer.same_as(region.buffer)) result.push_back(box);
    if (result.size() == before) result.push_back(region);
  }
  return result;
}

PrimFunc tensorize_block(const Caller& caller, const Program& program, int n,
                         const TensorIntrin& intrin) {
  const BlockRealize& realize = program.realize(n);
  Block block = *realize.block;
  if (!block.alloc_buffers.empty() || !block.match_buffers.empty())
    refuse(caller, describe(program, n) + " has buffers of its own");
  arith::Facts facts;
  for (std::optional<int> at = n; at; at = program.scope(*at))
    bind_iters(facts, program.block(*at));
  const PrimFunc& description = intrin.description;
  const std::vector<MatchedBuffer> matches =
      match_description(caller, description, block.body, facts);
  require_apart(caller, matches, description.body, description);
  const Block& body = root_block(intrin.implementation.body);
  VarMap replaced;
  std::vector<std::pair<Buffer, Buffer>> buffers;
  std::vector<BufferRegion> boxes;
  std::vector<MatchBuffer> matched = {};
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const Buffer& param = intrin.implementation.buffers[i].buffer;
    boxes.push_back(box_of(matches[i], param));
    require_inside(caller, boxes.back(), facts);
    buffers.emplace_back(param, own_buffer(param, body.body, replaced));
    matched.push_back({buffers.back().second, boxes.back()});
  }
  Block inside{.iters = {},
               .reads = {},
               .writes = {},
               .name = "",
               .init = std::nullopt,
               .body = body.body,
               .alloc_buffers = body.alloc_buffers,
               .match_buffers = body.match_buffers};
  const Stmt copy = fresh_copy(make_block({}, std::move(inside)), std::move(replaced), buffers);
  const Block& own = *copy.as<BlockRealize>()->block;
  block.reads = as_boxes(block.reads, boxes);
  block.writes = as_boxes(block.writes, boxes);
  block.alloc_buffers = own.alloc_buffers;
  block.match_buffers = std::move(matched);
  block.match_buffers.insert(block.match_buffers.end(), own.match_buffers.begin(),
                             own.match_buffers.end());
  block.body = own.body;
  return program.with(n, make_block(realize.values, realize.predicate, std::move(block)));
}

}  // namespace

Renamed tensorize(const Program& program, int block_or_loop, const TensorIntrin& intrin,
                  SourceLocation where) {
  const Caller caller{"tensorize", where};
  const bool is_block = program.is_block(block_or_loop);
  if (is_block && !program.scope(block_or_loop))
    refuse(caller, describe(program, block_or_loop) + " is the root of the function");
  const NewBlock outer = [&] {
    try {
      return is_block ? NewBlock{program.func(), program.key_of(block_or_loop)}
                      : blockize(program, block_or_loop, where);
    } catch (const ScheduleError& error) {
      refuse(caller, std::string(error.sentence()));
    }
  }();
  const Program outside(outer.func);
  Renamed result{tensorize_block(caller, outside, *outside.find_block(outer.block), intrin)};
  for (const int inner : program.child_blocks(block_or_loop))
    result.renamed.emplace_back(program.key_of(inner), outer.block);
  return result;
}

}  // namespace tenon::s_tir
