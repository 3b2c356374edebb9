#include <algorithm>

#include "s_tir/instances.h"
#include "s_tir/order_checks.h"
#include "s_tir/primitives/buffers.h"
#include "s_tir/primitives/loops.h"
#include "tenon/arith/block_access.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/tir/print.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

std::vector<std::int64_t> constant_shape(const Caller& caller, const std::string& what,
                                         const std::vector<Expr>& shape) {
  std::vector<std::int64_t> result;
  for (const Expr& size : shape) {
    const auto number = constant_int(size);
    if (!number)
      refuse(caller,
             "the shape of " + what + " is not constant, so no map is provably a bijection");
    if (size.dtype() != Int(32))
      refuse(caller, "indices of " + what + " are of type " + size.dtype().str() + ", not int32");
    result.push_back(*number);
  }
  return result;
}

/// Returns the shape of a buffer or block after the map is applied. Throws unless the map is a
/// bijection between the two shapes. `what` describes the buffer or block in messages.
std::vector<Expr> mapped_shape(const Caller& caller, const std::string& what,
                               const std::vector<Expr>& before, const IndexMap& map) {
  const std::vector<std::int64_t> shape = constant_shape(caller, what, before);
  if (map.from().size() != shape.size())
    refuse(caller, "the index map takes " + std::to_string(map.from().size()) + " indices, and " +
                       what + " has " + std::to_string(shape.size()) + " dimensions");
  const auto fail = [&](const std::string& why) {
    refuse(caller, "the index map " + map.text() + " is not a bijection of " + what + ": " + why);
  };
  std::vector<LoopDomain> domains;
  arith::IntervalMap relaxed;
  std::int64_t elements = 1, places = 1;
  for (std::size_t n = 0; n < shape.size(); ++n) {
    const Expr zero = 0, size = make_int(Int(32), shape[n]);
    domains.push_back({map.from()[n], zero, size});
    relaxed.set(map.from()[n], arith::Interval::of(zero, make_int(Int(32), shape[n] - 1)));
    elements *= shape[n];
  }
  const auto digits = find_iter_map(map.to(), domains, make_true());
  if (!digits) fail("its indices are not digits of the buffer's indices, each used once");
  const std::vector<std::int64_t> told = told_apart(*digits);
  std::int64_t all_told = 1;
  for (std::size_t n = 0; n < told.size(); ++n)
    if (std::holds_alternative<Var>(digits->marks[n].source)) all_told *= told[n];
  if (all_told != elements) fail("it puts several elements in one place");
  std::vector<Expr> result;
  for (const Expr& index : map.to()) {
    const arith::Interval values = arith::values_of(index, relaxed);
    const auto least = values.min() ? constant_int(arith::simplify(*values.min())) : std::nullopt;
    const auto most = values.max() ? constant_int(arith::simplify(*values.max())) : std::nullopt;
    if (!least || !most || *least != 0) fail("an index does not begin at 0");
    result.push_back(make_int(Int(32), *most + 1));
    places *= *most + 1;
  }
  if (places != elements)
    fail("it leaves positions unused: " + std::to_string(places) + " positions for " +
         std::to_string(elements) + " elements");
  return result;
}

/// Replaces all accesses of one buffer by accesses of another at the mapped indices.
class Relayout {
 public:
  Relayout(Buffer old, Buffer with, const IndexMap& map)
      : old_(std::move(old)), with_(std::move(with)), map_(map) {}

  Expr expr(const Expr& e) const {
    return replace_loads(e, old_, [&](const auto& at) { return make_load(with_, mapped(at)); });
  }

  Stmt stmt(const Stmt& s) {
    const For* loop = s.as<For>();
    const BlockRealize* here = s.as<BlockRealize>();
    if (here && is_excluded_by_signature(*here->block, old_))
      return map_bindings(s, [&](const Expr& e) { return expr(e); });
    if (here) {
      bind_domains(facts_, around_);
      bind_iters(facts_, *here->block);
    }
    if (loop) around_.push_back({loop->var, loop->min, loop->extent});
    const Stmt result = rewritten(s);
    if (loop) around_.pop_back();
    return result;
  }

 private:
  Stmt rewritten(const Stmt& s) {
    Stmt result = map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& c) { return stmt(c); });
    if (const Store* store = result.as<Store>(); store && store->buffer.same_as(old_))
      return make_store(with_, store->value, mapped(store->indices));
    const BlockRealize* realize = result.as<BlockRealize>();
    if (!realize) return result;
    Block block = *realize->block;
    if (!mentions(block.reads, old_) && !mentions(block.writes, old_) &&
        !has_same(block.alloc_buffers, old_))
      return result;
    for (std::vector<BufferRegion>* regions : {&block.reads, &block.writes})
      for (BufferRegion& region : *regions)
        if (region.buffer.same_as(old_)) region = mapped(region);
    for (Buffer& own : block.alloc_buffers)
      if (own.same_as(old_)) own = with_;
    return make_block(realize->values, realize->predicate, std::move(block));
  }

  std::vector<Expr> mapped(const std::vector<Expr>& indices) const {
    VarMap values;
    for (std::size_t n = 0; n < indices.size(); ++n)
      set_converted(values, map_.from()[n], indices[n]);
    std::vector<Expr> result;
    for (const Expr& to : map_.to())
      result.push_back(arith::simplify(substitute(to, values), facts_));
    return result;
  }

  /// Returns a box that contains the mapped elements of the region.
  BufferRegion mapped(const BufferRegion& region) const {
    BufferRegion result{with_, {}};
    const bool is_point =
        std::ranges::all_of(region.region, [](const Range& range) { return is_one(range.extent); });
    std::vector<Expr> begins;
    arith::IntervalMap relaxed;
    for (std::size_t n = 0; n < region.region.size(); ++n) {
      const Range& range = region.region[n];
      begins.push_back(range.min);
      const DataType type = map_.from()[n].dtype();
      relaxed.set(map_.from()[n], arith::Interval::from_range(Range::from_min_extent(
                                      cast(type, range.min), cast(type, range.extent))));
    }
    if (is_point) return {with_, element_at(mapped(begins))};
    for (std::size_t n = 0; n < map_.to().size(); ++n) {
      const Expr& size = with_->shape[n];
      const Range whole = Range::from_extent(size);
      const Range box = arith::values_of(map_.to()[n], relaxed, facts_).to_range(whole, facts_);
      const bool is_inside = arith::can_prove(box.min >= 0, facts_) &&
                             arith::can_prove(box.min + box.extent <= size, facts_);
      result.region.push_back(
          arith::range_by_ends(is_inside ? arith::simplify(box, facts_) : whole));
    }
    return result;
  }

  Buffer old_, with_;
  const IndexMap& map_;
  arith::Facts facts_;
  /// The loops around the current statement.
  std::vector<LoopDomain> around_;
};

}  // namespace

PrimFunc transform_layout(const Program& program, int n, int index, arith::AccessKind kind,
                          const IndexMap& map, SourceLocation where) {
  const Caller caller{"transform_layout", where};
  const Buffer buffer = buffer_at(caller, program, n, kind, index);
  PrimFunc func = program.func();
  const auto param = std::ranges::find_if(
      func.buffers, [&](const auto& own) { return own.buffer.same_as(buffer); });
  if (param == func.buffers.end() && !allocated_by(program, buffer, n))
    refuse(caller, in_backticks(buffer->name) +
                       " is a matched buffer; transform the layout of what it is matched with");
  if (!buffer->strides.empty() || !buffer->axis_separators.empty())
    refuse(caller, in_backticks(buffer->name) + " has explicit strides or physical dimensions");
  require_element_accesses(caller, func.body, buffer);
  for (int other = 0; other < program.size(); ++other)
    if (program.is_block(other) && mentions(program.block(other).writes, buffer) &&
        program.block(other).annotations.contains("buffer_dim_align"))
      refuse(caller, describe(program, other) +
                         " aligns dimensions of what it writes; transform the layout first");
  BufferNode node = *buffer.get();
  node.shape = mapped_shape(caller, in_backticks(buffer->name), buffer->shape, map);
  node.data = node.data.fresh();
  const Buffer with = make_buffer(std::move(node));
  func.body = Relayout(buffer, with, map).stmt(func.body);
  if (param != func.buffers.end()) param->declared = param->buffer = with;
  return func;
}

// ---- iterators ----------------------------------------------------------------------------------

namespace {

/// Returns the loops around a block. Throws unless no other statement shares these loops, each
/// iterator is bound to a loop of its own, and the loops run the block's whole domain.
std::vector<int> require_own_loops(const Caller& caller, const Program& program, int n) {
  const BlockRealize& realize = program.realize(n);
  const std::vector<int> loops = program.loops_of(n);
  require_own_domains(caller, program, n, *program.scope(n));
  for (std::size_t i = 0; i < loops.size(); ++i) {
    require_plain_loop(caller, program, loops[i]);
    const int inside = i + 1 < loops.size() ? loops[i + 1] : n;
    if (!program.loop(loops[i]).body.same_as(program.stmt(inside)))
      refuse(caller, describe(program, loops[i]) + " contains other statements than " +
                         describe(program, n) + ", whose loops would be replaced");
  }
  for (const int loop : loops) {
    const auto is_value = [&](const Expr& value) { return value.same_as(program.loop(loop).var); };
    if (!is_one(program.loop(loop).extent) && std::ranges::count_if(realize.values, is_value) != 1)
      refuse(caller, describe(program, loop) + " is not the value of one iterator of " +
                         describe(program, n));
  }
  const auto instances = instances_of(program, n, *program.scope(n));
  if (!instances || !contains_instances(*instances, {}, *realize.block, {}))
    refuse(caller, describe(program, n) + " does not provably run its whole domain");
  return loops;
}

/// Returns the kind of a new iterator. Throws if it depends on both spatial and reduction
/// iterators.
IterKind kind_of(const Caller& caller, const Block& block, const IndexMap& map, std::size_t n) {
  std::optional<IterKind> kind;
  for (std::size_t i = 0; i < block.iters.size(); ++i) {
    const IterVar& iter = block.iters[i];
    if (is_one(iter.dom()->extent) || !uses_var(map.to()[n], map.from()[i])) continue;
    if (kind && *kind != iter.kind())
      refuse(caller, "`" + print_expr(map.to()[n]) + "` of the index map " + map.text() +
                         " uses spatial and reduction iterators of block `" + block.name + "`");
    kind = iter.kind();
  }
  return kind.value_or(IterKind::DataParallel);
}

}  // namespace

PrimFunc transform_block_layout(const Program& program, int n, const IndexMap& map,
                                SourceLocation where) {
  const Caller caller{"transform_block_layout", where};
  if (!program.scope(n)) refuse(caller, describe(program, n) + " is the root of the function");
  const Block& block = program.block(n);
  const std::vector<int> loops = require_own_loops(caller, program, n);
  require_replaceable_iterators(caller, program, n);
  require_free_order(program, n, caller, "in other loops");
  if (block.init) require_begun(caller, program, n);
  // An index of the map counts from 0. The old iterator is its minimum plus the index.
  std::vector<Expr> shape;
  for (const IterVar& iter : block.iters) shape.push_back(iter.dom()->extent);
  const std::vector<Expr> extents = mapped_shape(caller, describe(program, n), shape, map);
  std::vector<IterVar> iters;
  std::vector<LoopDomain> new_loops;
  std::vector<Expr> values, indices;
  arith::Facts facts;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const Range range = Range::from_min_extent(Expr(0), extents[i]);
    const IterVar iter(range, Var("bv" + std::to_string(i)), kind_of(caller, block, map, i));
    facts.bind(iter.var(), range);
    new_loops.push_back({Var("ax" + std::to_string(i)), Expr(0), extents[i]});
    values.emplace_back(new_loops.back().var);
    indices.emplace_back(iter.var());
    iters.push_back(iter);
  }
  std::vector<LoopDomain> from;
  for (std::size_t i = 0; i < block.iters.size(); ++i)
    from.push_back({map.from()[i], Expr(0), shape[i]});
  const std::vector<std::optional<Expr>> inverse =
      invert(*find_iter_map(map.to(), from, make_true()), indices);
  VarMap of_iter;
  for (std::size_t i = 0; i < block.iters.size(); ++i)
    set(of_iter, block.iters[i].var(),
        arith::simplify(inverse[i].value_or(Expr(0)) + block.iters[i].dom()->min, facts));
  const std::function<Expr(const Expr&)> expr = [&](const Expr& e) -> Expr {
    const Expr result = substitute(e, of_iter);
    if (result.same_as(e) || !e.dtype().is_index()) return map_children(e, expr);
    return arith::simplify(result, facts);
  };
  Block next = with_mapped_parts(block, expr, expr);
  next.iters = std::move(iters);
  const Stmt nest =
      in_loops(new_loops, make_block(std::move(values), make_true(), std::move(next)));
  return program.with(loops.empty() ? n : loops.front(), nest);
}

}  // namespace tenon::s_tir
