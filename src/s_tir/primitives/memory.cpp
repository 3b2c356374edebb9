#include <algorithm>

#include "s_tir/instances.h"
#include "s_tir/order_checks.h"
#include "s_tir/primitives/buffers.h"
#include "s_tir/primitives/loops.h"
#include "tenon/arith/block_access.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/opaque_blocks.h"
#include "tenon/tir/print.h"

namespace tenon::s_tir {

using namespace tir;
using arith::AccessKind;

Buffer in_scope(const Buffer& buffer, const std::string& name, StorageScope scope) {
  return decl_buffer(buffer->shape, buffer->dtype,
                     {.name = name, .scope = std::string(to_string(scope))});
}

std::vector<BufferRegion> with_buffer(std::vector<BufferRegion> regions, const Buffer& old,
                                      const Buffer& with) {
  for (BufferRegion& region : regions)
    if (region.buffer.same_as(old)) region.buffer = with;
  return regions;
}

Stmt map_bindings(const Stmt& s, FunctionRef<Expr(const Expr&)> map) {
  const BlockRealize* realize = s.as<BlockRealize>();
  if (!realize) return s;
  std::vector<Expr> values;
  for (const Expr& value : realize->values) values.push_back(map(value));
  const Expr predicate = map(realize->predicate);
  bool is_same = predicate.same_as(realize->predicate);
  for (std::size_t n = 0; n < values.size(); ++n)
    is_same = is_same && values[n].same_as(realize->values[n]);
  return is_same ? s : make_stmt(BlockRealize{std::move(values), predicate, realize->block});
}

static Stmt map_exprs(const Stmt& s, ExprMap f) {
  return map_children(s, f, [&](const Stmt& child) { return map_exprs(child, f); });
}

Block with_mapped_parts(Block block, ExprMap value, ExprMap index) {
  block.body = map_exprs(block.body, value);
  if (block.init) block.init = map_exprs(*block.init, value);
  const auto map_region = [&](BufferRegion& region) {
    for (Range& range : region.region)
      range = arith::range_by_ends(Range::from_min_extent(index(range.min), index(range.extent)));
  };
  std::ranges::for_each(block.reads, map_region);
  std::ranges::for_each(block.writes, map_region);
  for (MatchBuffer& match : block.match_buffers) map_region(match.source);
  return block;
}

std::vector<Buffer> declared_buffers(const Block& block) {
  std::vector<Buffer> result = block.alloc_buffers;
  for (const MatchBuffer& match : block.match_buffers) result.push_back(match.buffer);
  return result;
}

bool is_excluded_by_signature(const Block& block, const Buffer& buffer) {
  if (block.iters.empty()) return false;
  for (const auto* regions : {&block.reads, &block.writes}) {
    const auto loads = [&](const Load& load) { return load.buffer.same_as(buffer); };
    for (const BufferRegion& region : *regions)
      if (region.buffer.same_as(buffer) || std::ranges::any_of(region.region, [&](const Range& r) {
            return any_node(r.min, loads) || any_node(r.extent, loads);
          }))
        return false;
  }
  const auto declares = [&](const Block& b) { return has_same(declared_buffers(b), buffer); };
  const auto is_declared = [&](const BlockRealize& inner) { return declares(*inner.block); };
  return !declares(block) && !any_node(block.body, is_declared) &&
         !(block.init && any_node(*block.init, is_declared));
}

Stmt with_buffer(const Stmt& s, const Buffer& old, const Buffer& with, Replaced replaced) {
  const BlockRealize* own = s.as<BlockRealize>();
  if (own && is_excluded_by_signature(*own->block, old)) return s;
  const bool is_kept = own && replaced == Replaced::Accesses;
  const bool is_read = replaced != Replaced::Writes;
  const auto read = [&](const Expr& e) {
    const auto load = [&](const auto& indices) { return make_load(with, indices); };
    return is_read ? replace_loads(e, old, load) : e;
  };
  const auto expr = [&](const Expr& e) { return is_kept ? e : read(e); };
  const auto stmt = [&](const Stmt& child) {
    return map_bindings(with_buffer(child, old, with, replaced), read);
  };
  const Stmt result = map_children(s, expr, stmt);
  if (const Store* store = result.as<Store>(); store && store->buffer.same_as(old))
    return make_store(with, store->value, store->indices);
  if (!own) return result;
  Block block = *result.as<BlockRealize>()->block;
  if (is_read) block.reads = with_buffer(std::move(block.reads), old, with);
  block.writes = with_buffer(std::move(block.writes), old, with);
  bool is_changed =
      !result.same_as(s) || mentions(own->block->reads, old) || mentions(own->block->writes, old);
  for (MatchBuffer& match : block.match_buffers)
    if (match.source.buffer.same_as(old)) {
      match.source.buffer = with;
      is_changed = true;
    }
  for (Buffer& allocated : block.alloc_buffers)
    if (allocated.same_as(old)) {
      allocated = with;
      is_changed = true;
    }
  return is_changed ? make_block(own->values, own->predicate, std::move(block)) : s;
}

/// Returns which occurrences of the buffer are replaced if the accesses of block `n` move to a
/// copy. A buffer that a later step can remove must not stay in the indices of regions.
static Replaced replaced_by_copy(const Program& program, int n, const Buffer& buffer) {
  return allocated_by(program, buffer, n) ? Replaced::Everything : Replaced::Accesses;
}

void require_element_accesses(const Caller& caller, const Stmt& body, const Buffer& buffer) {
  const auto require = [&](bool holds, const std::string& access) {
    if (!holds)
      refuse(caller, access + "; the step changes accesses to `" + buffer->name +
                         "` by single elements only");
  };
  const auto require_scalar = [&](const Buffer& of, const std::vector<Expr>& indices) {
    if (of.same_as(buffer) && !indices.empty())
      require(indices.back().dtype().is_scalar(),
              "`" + print_expr(make_load(of, indices)) + "` is a vector of elements");
  };
  require(!uses_var(body, buffer->data), "the address of `" + buffer->name + "` is taken");
  walk(
      body, [&](const Load& load) { require_scalar(load.buffer, load.indices); },
      [&](const Store& store) { require_scalar(store.buffer, store.indices); },
      [&](const BlockRealize& realize) {
        for (const MatchBuffer& match : realize.block->match_buffers)
          require(!match.source.buffer.same_as(buffer), "block `" + realize.block->name +
                                                            "` matches a part of `" + buffer->name +
                                                            "` with `" + match.buffer->name + "`");
      });
}

void require_replaceable_iterators(const Caller& caller, const Program& program, int n) {
  for (const IterVar& iter : program.block(n).iters)
    if (sizes_use(program.block(n), iter.var()))
      refuse(caller, "the shape, strides or offset of a buffer that " + describe(program, n) +
                         " declares use iterator `" + iter.name() +
                         "`; declare the buffer in a block inside");
}

void require_outer_buffers(const Caller& caller, const Program& program, int n) {
  for (const Buffer& own : declared_buffers(program.block(n)))
    refuse(caller, describe(program, n) + " declares buffer `" + own->name +
                       "`, which exists only inside of it; access the memory by a buffer from "
                       "outside of the block");
}

const Buffer& buffer_at(const Caller& caller, const Program& program, int n, AccessKind kind,
                        int index) {
  const bool is_read = kind == AccessKind::Read;
  const auto& regions = is_read ? program.block(n).reads : program.block(n).writes;
  const int count = static_cast<int>(regions.size());
  if (index < 0 || index >= count)
    refuse(caller, describe(program, n) + (is_read ? " reads " : " writes ") +
                       std::to_string(count) + (count == 1 ? " region" : " regions") + "; " +
                       std::to_string(index) + " is not the number of one (the first is 0)");
  return regions[static_cast<std::size_t>(index)].buffer;
}

namespace {

/// The position of a copy in the body of a loop or block.
struct Place {
  /// The block or loop.
  int at;
  /// The index of the part that the copy precedes.
  std::size_t position;
};

/// Returns the position after the writer, in the innermost loop or block that contains both the
/// writer and a reader.
Place behind_writer(const Program& program, int scope, int writer,
                    const std::vector<int>& readers) {
  if (readers.empty()) return {scope, parts_of(program.block(scope).body).size()};
  int common = program.common(writer, readers.front());
  for (const int reader : readers) common = std::max(common, program.common(writer, reader));
  int at = common;
  while (!program.is_loop(at) && !program.is_block(at)) at = *program.parent(at);
  const std::optional<std::size_t> part = part_of(program, at, writer);
  return {at, part ? *part + 1 : parts_of(body_of(program, at)).size()};
}

/// Returns the region that a block accesses in one iteration of the loops outside `top`. The region
/// is exact and respects the predicate if the indices are digits of the loops. Otherwise it is a
/// hull.
std::vector<Range> touched(const Program& program, int block, int top, const BufferRegion& region) {
  const std::vector<LoopDomain> domains = domains_of(program, program.loops_below(block, top));
  const arith::IntervalMap relaxed = relaxed_below(program, block, top);
  const BlockRealize& realize = program.realize(block);
  const VarMap bindings = bindings_of(realize);
  std::vector<Expr> begins;
  for (const Range& range : region.region) begins.push_back(substitute(range.min, bindings));
  // The variable of a let below `top` is not loop-invariant, so the indices have no map.
  const auto map = branches_below(program, block, top)
                       ? find_iter_map(begins, domains, realize.predicate)
                       : std::nullopt;
  std::vector<Range> result;
  for (std::size_t d = 0; d < region.region.size(); ++d) {
    const Expr& size = region.buffer->shape[d];
    const Range whole = Range::from_extent(size);
    const Expr extent = substitute(region.region[d].extent, bindings);
    const arith::Interval low = arith::values_of(begins[d], relaxed);
    const arith::Interval high = arith::values_of(begins[d] + extent - 1, relaxed);
    // A bound that contains a load is only known without a predicate, which could protect the load.
    const auto is_known = [&](const std::optional<Expr>& e) {
      return e && (is_true(realize.predicate) || !contains<Load>(*e));
    };
    if (!is_known(low.min()) || !is_known(high.max())) {
      result.push_back(whole);
      continue;
    }
    Expr begin = arith::simplify(*low.min());
    Expr length = arith::simplify(*high.max() - begin + 1);
    const auto is_shorter = [&](const Expr& other) {
      const auto a = constant_int(length), b = constant_int(other);
      return a && b && *b < *a;
    };
    if (map && is_one(extent) && !map->values[d].digits.empty()) {
      const DigitSum& value = map->values[d];
      const Digit& digit = value.digits.front();
      const Expr steps = make_int(length.dtype(), std::abs(digit.scale) * (digit.extent - 1));
      if (digit.extent != kUnknownExtent && is_shorter(steps + 1)) {
        length = arith::simplify(steps + 1);
        const Expr first = arith::simplify(digit.scale < 0 ? value.base - steps : value.base);
        if (!arith::can_prove_equal(first, begin)) begin = first;
      }
    }
    if (is_zero(begin) && is_shorter(size)) length = size;
    result.push_back(Range::from_min_extent(begin, length));
  }
  return result;
}

/// Returns the condition under which a copy includes the element at the given indices.
using Included = std::function<Expr(const std::vector<Expr>& element, const arith::Facts& facts)>;

/// Makes the loop nest that copies the region: for ax0, ax1: to[v0, v1] = from[v0, v1].
Stmt copy_nest(
    const std::vector<Range>& region, const Buffer& from, const Buffer& to, const std::string& name,
    arith::Facts facts, const BlockId& id,
    const Included& included = [](const auto&, const auto&) { return make_true(); }) {
  std::vector<LoopDomain> loops;
  std::vector<Expr> values, indices;
  std::vector<IterVar> iters;
  Expr predicate = make_true();
  for (std::size_t d = 0; d < region.size(); ++d) {
    const DataType type = region[d].extent.dtype();
    const Var loop("ax" + std::to_string(d), type);
    loops.push_back({loop, make_int(type, 0), region[d].extent});
    facts.bind(loop, Range::from_extent(region[d].extent));
    const Expr size = from->shape[d];
    values.push_back(cast(size.dtype(), region[d].min + loop));
    iters.emplace_back(Range::from_extent(size), Var("v" + std::to_string(d), size.dtype()),
                       IterKind::DataParallel);
    indices.push_back(iters.back().var());
  }
  for (std::size_t d = 0; d < region.size(); ++d) {
    const Expr& size = from->shape[d];
    const Expr end = region[d].min + region[d].extent;
    if (!arith::can_prove(end <= size, facts)) predicate = both(predicate, values[d] < size);
    if (!arith::can_prove(region[d].min >= 0, facts)) predicate = both(predicate, values[d] >= 0);
  }
  predicate = both(predicate, included(values, facts));
  Block block{.iters = iters,
              .reads = {{from, element_at(indices)}},
              .writes = {{to, element_at(indices)}},
              .name = name,
              .init = std::nullopt,
              .body = make_store(to, make_load(from, indices), indices),
              .id = id};
  return in_loops(loops, make_block(values, predicate, std::move(block)));
}

/// Returns a box that contains all the boxes of the buffer.
std::vector<Range> hull_of(const std::vector<std::vector<Range>>& boxes, const Buffer& buffer,
                           const arith::Facts& facts) {
  if (boxes.size() == 1) return boxes.front();
  std::vector<Range> result = whole_region(buffer->shape);
  for (std::size_t d = 0; d < result.size(); ++d) {
    std::vector<arith::Interval> sides;
    for (const std::vector<Range>& box : boxes)
      sides.push_back(arith::Interval::from_range(box[d]));
    result[d] = arith::hull(sides, facts).to_range(result[d], facts);
  }
  return result;
}

/// Extends the first region of each accessed buffer, unless a declared region already covers the
/// access.
bool extend(std::vector<BufferRegion>& declared, const std::vector<BufferRegion>& accessed,
            const arith::Facts& facts) {
  bool is_changed = false;
  for (const BufferRegion& access : accessed) {
    const auto is_own = [&](const BufferRegion& region) {
      return region.buffer.same_as(access.buffer);
    };
    const auto covers_access = [&](const BufferRegion& region) {
      bool is_covered = is_own(region);
      for (std::size_t d = 0; is_covered && d < region.region.size(); ++d) {
        const auto& [min, extent] = access.region[d];
        is_covered = covers(region.region[d], min, min + extent, access.buffer->shape[d], facts);
      }
      return is_covered;
    };
    const auto first = std::ranges::find_if(declared, is_own);
    if (first == declared.end() || std::ranges::any_of(declared, covers_access)) continue;
    first->region = hull_of({first->region, access.region}, access.buffer, facts);
    is_changed = true;
  }
  return is_changed;
}

/// Returns a box that contains all elements of the buffer that a block writes in one iteration of
/// the loops outside `top`.
std::vector<Range> written_hull(const Program& program, int n, int top, const Buffer& buffer) {
  std::vector<std::vector<Range>> boxes;
  for (const BufferRegion& write : program.block(n).writes)
    if (write.buffer.same_as(buffer)) boxes.push_back(touched(program, n, top, write));
  return hull_of(boxes, buffer, facts_at(program, top));
}

}  // namespace

PrimFunc with_covering_regions(const PrimFunc& func) {
  std::optional<Program> program(func);
  // Processes inner blocks first, because outer blocks must cover the regions of inner ones.
  for (int n = program->size(); n-- > 1;) {
    if (!program->is_block(n)) continue;
    const arith::BlockAccess found = arith::find_block_access(program->block(n));
    const arith::Facts facts = facts_at(*program, n);
    bool is_changed = false;
    const Stmt next = with_changed_block(program->stmt(n), [&](Block& block) {
      is_changed = extend(block.reads, found.reads, facts);
      is_changed = extend(block.writes, found.writes, facts) || is_changed;
    });
    if (is_changed) program.emplace(program->with(n, next));
  }
  return program->func();
}

namespace {

/// Inserts the copy, and applies `rewrite_part` to each other part of the body.
PrimFunc insert_copy(const Program& program, int scope, const Place& place, const Stmt& copy,
                     const Buffer& allocated, StmtMap rewrite_part) {
  std::vector<Stmt> parts = parts_of(body_of(program, place.at));
  for (Stmt& part : parts) part = rewrite_part(part);
  parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(place.position), copy);
  const Stmt body = make_seq(std::move(parts));
  const Stmt changed =
      program.is_loop(place.at)
          ? in_loops(program, {place.at}, body)
          : with_changed_block(program.stmt(place.at), [&](Block& block) { block.body = body; });
  return with_allocations(Program(program.with(place.at, changed)), scope, {allocated});
}

/// Throws if the loops or conditions of `copy` read memory that `before` or `copy` writes. `before`
/// contains block `n`.
void require_unchanged_control(const Caller& caller, const Program& program, int n,
                               const Stmt& before, const Stmt& copy) {
  std::vector<Buffer> written;
  walk(
      make_seq({before, copy}), [&](const Store& store) { written.push_back(store.buffer); },
      [&](const BlockRealize& realize) {
        for (const BufferRegion& region : realize.block->writes) written.push_back(region.buffer);
      });
  const auto require = [&](const Expr& control) {
    walk(control, [&](const Load& load) {
      if (has_same(written, load.buffer))
        refuse(caller, "the instances of " + describe(program, n) + " depend on `" +
                           load.buffer->name +
                           "`, which changes before the copy evaluates the same conditions");
    });
  };
  walk(
      copy,
      [&](const For& loop) {
        require(loop.min);
        require(loop.extent);
      },
      [&](const BlockRealize& realize) {
        require(realize.predicate);
        for (const Expr& value : realize.values) require(value);
      });
}

int scope_of(const Caller& caller, const Program& program, int n) {
  const std::optional<int> scope = program.scope(n);
  if (!scope) refuse(caller, describe(program, n) + " is the root of the function");
  if (program.is_in_init(n))
    refuse(caller, describe(program, n) + " is in the init of " + describe(program, *scope) +
                       "; cache what that block writes");
  if (const std::optional<std::string> alias = find_alias(program, n))
    refuse(caller, describe(program, n) + " shares memory with another buffer: " + *alias);
  return *scope;
}

/// Returns a statement that performs the reads (or writes) of a buffer by one instance of the
/// block.
Stmt accesses_as_stmt(const Program& program, int n, const Buffer& buffer, AccessKind kind) {
  std::vector<Stmt> result;
  for (const arith::Access& access : accesses_of(program, n)) {
    if (access.kind != kind || !access.buffer.same_as(buffer)) continue;
    result.push_back(in_context_of(
        access, access.is_write() ? make_store(buffer, make_const(buffer->dtype, 0), access.indices)
                                  : make_stmt(Evaluate{make_load(buffer, access.indices)})));
  }
  return make_seq(std::move(result));
}

/// Returns the node of the sequence that is the body of a loop or block. Returns the loop or block
/// itself if its body is not a sequence.
int top_of(const Program& program, int at) {
  for (int n = at + 1; n < program.size() && program.is_below(n, at); ++n)
    if (program.parent(n) == at && program.stmt(n).as<Seq>() && !program.is_in_init(n)) return n;
  return at;
}

/// Returns a phrase that describes a write to the buffer between the copy and the reader, which the
/// copy would miss. The reader is in part number `part` of the body of `place.at`. Returns nullopt
/// if there is provably no such write.
std::optional<std::string> written_behind(const Program& program, const Place& place, int reader,
                                          std::size_t part, const Buffer& buffer) {
  return find_passing_conflict(program, reader, top_of(program, place.at),
                               {.own = accesses_as_stmt(program, reader, buffer, AccessKind::Read),
                                .keeps_control = true,
                                .compared = Compared::ReadsWithWrites,
                                .over = parts_in(program, place.at, place.position, part)});
}

/// Returns the elements of a buffer that a copy directly inside the block may read: a box that
/// contains all the regions that the block declares.
std::vector<Range> readable(const Program& program, int around, const Buffer& buffer) {
  std::vector<std::vector<Range>> boxes;
  for (const BufferRegion& read : program.block(around).reads)
    if (read.buffer.same_as(buffer)) boxes.push_back(read.region);
  return boxes.empty() ? whole_region(buffer->shape)
                       : hull_of(boxes, buffer, facts_at(program, around));
}

}  // namespace

NewBlock cache_read(const Program& program, int n, int index, StorageScope scope_kind,
                    SourceLocation where) {
  const Caller caller{"cache_read", where};
  const int scope = scope_of(caller, program, n);
  const Buffer& buffer = buffer_at(caller, program, n, AccessKind::Read, index);
  require_matched_scope(caller, program, buffer, scope_kind);
  std::vector<int> writers = writers_below(program, scope, buffer);
  // The init of an outer block is not the writer to copy after, because the buffer is complete only
  // after the update.
  std::erase_if(
      writers, [&](int writer) { return !program.is_block(writer) || program.is_in_init(writer); });
  if (writers.size() > 1 && mentions(program.block(n).writes, buffer))
    refuse(caller, describe(program, n) + " updates `" + buffer->name + "`, which block `" +
                       program.block(writers.front() == n ? writers[1] : writers.front()).name +
                       "` writes as well: it cannot read a copy");
  const std::string name = buffer->name + "_" + std::string(to_string(scope_kind));
  const Buffer cache = in_scope(buffer, name, scope_kind);
  Place place{scope, 0};
  const std::vector<Range> declared = readable(program, scope, buffer);
  std::vector<Range> region = declared;
  std::optional<int> last;
  for (const int writer : writers)
    if (writer <= n) last = writer;
  if (last) {
    const std::vector<int> readers =
        writers.size() == 1 ? consumers(program, *last) : std::vector<int>{n};
    place = behind_writer(program, scope, *last, readers);
    if (writers.size() == 1) region = written_hull(program, *last, place.at, buffer);
  }
  // Redirects the readers that follow the copy, unless the buffer may be written between the copy
  // and the reader.
  std::vector<Stmt> redirected;
  for (const int reader : program.child_blocks(place.at)) {
    const Block& block = program.block(reader);
    if (!mentions(block.reads, buffer) || mentions(block.writes, buffer)) continue;
    // A reader without a part is in the init of the block around the copy, which precedes the copy.
    const std::optional<std::size_t> part = part_of(program, place.at, reader);
    if (!part || *part < place.position) continue;
    const auto conflict = written_behind(program, place, reader, *part, buffer);
    if (conflict && reader == n)
      refuse(caller,
             describe(program, n) + " would read a copy of what is written later: it " + *conflict);
    if (!conflict) redirected.push_back(program.stmt(reader));
  }
  const std::function<Stmt(const Stmt&)> replace = [&](const Stmt& s) -> Stmt {
    if (s.as<BlockRealize>())
      return has_same(redirected, s)
                 ? with_buffer(s, buffer, cache, replaced_by_copy(program, n, buffer))
                 : s;
    return map_statements(s, replace);
  };
  const auto cached = [&]() -> NewBlock {
    const BlockId id;
    const Stmt copy = copy_nest(region, buffer, cache, name, facts_at(program, place.at), id);
    return {insert_copy(program, scope, place, copy, cache, replace), id};
  };
  const auto is_filled = [&](const NewBlock& result) {
    const Program after(result.func);
    const std::optional<int> copy = after.find_block(result.block);
    for (const int reader : consumers(after, *copy))
      if (!covers_reads(after, *copy, reader, cache)) return false;
    return true;
  };
  NewBlock result = cached();
  if (!is_filled(result)) {
    // If the copy does not fill the cache, the copy is made again with the declared region, clipped
    // to the buffer. A copy leaves elements unset if the reader needs elements that the last writer
    // does not write, or if the declared region exceeds the buffer.
    for (std::size_t d = 0; d < region.size(); ++d) {
      const Expr begin = max(declared[d].min, 0),
                 end = min(declared[d].min + declared[d].extent, buffer->shape[d]);
      region[d] = arith::simplify(Range::from_min_extent(begin, end - begin));
    }
    result = cached();
  }
  const Program after(result.func);
  require_independent_around(caller, after, *after.find_block(result.block));
  return result;
}

namespace {

/// Returns the condition under which the block writes the element `at` of the buffer in one
/// iteration of the loops outside `top`. Nullopt if it cannot be expressed.
std::optional<Expr> writes_element(const Program& program, int n, int top, const Buffer& buffer,
                                   const std::vector<Expr>& at, const arith::Facts& facts) {
  Block block = program.block(n);
  const Store* store = block.body.as<Store>();
  if (!store || !store->buffer.same_as(buffer)) return std::nullopt;
  const std::optional<int> reduced = outermost_reduction_loop(program, n);
  if (reduced && (*reduced <= top || !block.init)) return std::nullopt;
  const Store* begun_by = block.init ? block.init->as<Store>() : store;
  // The init must write the same elements as the body.
  if (!begun_by || !begun_by->buffer.same_as(buffer) ||
      !structural_equal(begun_by->indices, store->indices))
    return std::nullopt;
  const std::optional<InstanceSet> instances = instances_of(program, n, top);
  if (!instances) return std::nullopt;
  const InstanceSet begun = beginnings(*instances, block);
  std::erase_if(block.iters, [](const IterVar& iter) { return iter.kind() == IterKind::Reduce; });
  const std::optional<VarMap> values = iterators_at(block, store->indices, at, facts);
  if (!values) return std::nullopt;
  Expr result = make_true();
  const auto require = [&](const Expr& part) {
    const Expr own = arith::simplify(part, facts);
    if (!arith::can_prove(own, facts)) result = both(result, own);
  };
  for (std::size_t d = 0; d < at.size(); ++d)
    require(substitute(store->indices[d], *values) == at[d]);
  for (const Expr& part : begun) require(substitute(part, *values));
  return result;
}

}  // namespace

NewBlock cache_write(const Program& program, int n, int index, StorageScope scope_kind,
                     SourceLocation where) {
  const Caller caller{"cache_write", where};
  const int scope = scope_of(caller, program, n);
  const Buffer& buffer = buffer_at(caller, program, n, AccessKind::Write, index);
  require_matched_scope(caller, program, buffer, scope_kind);
  const std::string name = buffer->name + "_" + std::string(to_string(scope_kind));
  const Buffer cache = in_scope(buffer, name, scope_kind);
  std::vector<int> readers = consumers(program, n);
  for (const int reader : readers_outside_blocks(program, scope, buffer))
    if (reader > n) readers.push_back(reader);
  const Place place = behind_writer(program, scope, n, readers);
  const std::vector<Range> region = written_hull(program, n, place.at, buffer);
  // If the block is an update, it still reads the previous value from the buffer, but writes the
  // new value to the cache.
  const bool is_update = !program.block(n).init && mentions(program.block(n).reads, buffer);
  if (program.block(n).init)
    for (const BufferRegion& missing : arith::find_block_access(program.block(n)).reads)
      if (missing.buffer.same_as(buffer))
        refuse(caller, describe(program, n) + " " +
                           arith::access_text(access_of(AccessKind::Read, missing)) +
                           ", which neither its init nor the same instance has provably stored "
                           "before: the cache does not have the previous values");
  if (is_update && !program.block(n).body.as<Store>())
    refuse(caller,
           describe(program, n) + " updates `" + buffer->name +
               "`, which is initialized elsewhere, in several steps, each of which needs the "
               "previous one; cache it before its reduction is decomposed");
  const auto is_seen_by = [&](const Load& load) {
    return !load.buffer.same_as(buffer) &&
           source_of(program, n + 1, load.buffer).same_as(source_of(program, n, buffer));
  };
  if (is_update && any_node(program.stmt(n), is_seen_by))
    refuse(caller, describe(program, n) + " reads the previous values of `" + buffer->name +
                       "` by a buffer that it matches, which would become a part of the cache; "
                       "read `" +
                       buffer->name + "` itself");
  if (program.block(n).init) {
    require_begun(caller, program, n);
    // The cache holds partial results until the reduction is complete, so nothing may read the
    // buffer before.
    if (const auto loop = outermost_reduction_loop(program, n))
      if (const auto conflict =
              find_passing_conflict(program, n, *program.parent(*loop),
                                    {.own = accesses_as_stmt(program, n, buffer, AccessKind::Read),
                                     .keeps_control = true,
                                     .compared = Compared::ReadsWithWrites}))
        refuse(caller,
               describe(program, n) +
                   " accumulates into elements that other statements write in between: it " +
                   *conflict);
  }
  const std::size_t own = *part_of(program, place.at, n);
  if (const auto conflict =
          find_passing_conflict(program, n, top_of(program, place.at),
                                {.passes_later = true,
                                 .own = accesses_as_stmt(program, n, buffer, AccessKind::Write),
                                 .keeps_control = true,
                                 .with_own_instances = is_update,
                                 .over = parts_in(program, place.at, own + 1, place.position)}))
    refuse(caller,
           describe(program, n) + " would write `" + buffer->name + "` too late: it " + *conflict);
  const Stmt& writer = program.stmt(n);
  const Stmt next = with_buffer(
      writer, buffer, cache, is_update ? Replaced::Writes : replaced_by_copy(program, n, buffer));
  const auto cached = [&](const Included& included) -> NewBlock {
    const BlockId id;
    const Stmt copy =
        copy_nest(region, cache, buffer, name, facts_at(program, place.at), id, included);
    require_unchanged_control(caller, program, n,
                              make_seq(parts_in(program, place.at, own, place.position)), copy);
    return {insert_copy(program, scope, place, copy, cache,
                        [&](const Stmt& s) { return replace_inside(s, writer, next); }),
            id};
  };
  const auto is_exact = [&](const NewBlock& result) {
    const Program after(result.func);
    const std::optional<int> written = after.find_block(program.block(n).id);
    const std::optional<int> copied = after.find_block(result.block);
    return written && copied &&
           covers_reads(after, *written, *copied, cache, EmptyProducer::DoesNotCount);
  };
  Expr condition = make_true();
  const auto under_condition = [&](const auto&, const auto&) { return condition; };
  NewBlock result = cached(under_condition);
  const bool is_plain = is_exact(result);
  // The copy gets the outer conditions, because elements that were not written must not be copied.
  std::vector<Expr> outer = conjuncts(program.realize(n).predicate);
  const arith::Facts facts = facts_at(program, place.at);
  for (const int loop : program.loops_of(n)) {
    const Expr runs = program.loop(loop).extent > 0;
    if (loop > place.at && !arith::can_prove(runs, facts))
      outer.push_back(arith::simplify(runs, facts));
  }
  for (const Expr& part : outer) {
    const std::vector<Var> vars = free_vars(part);
    if (std::ranges::all_of(vars, [&](const Var& var) {
          const std::optional<int> loop = program.find_loop(var);
          return !loop || *loop == place.at || !program.is_below(*loop, place.at);
        }))
      condition = both(condition, part);
  }
  if (!is_plain) result = cached(under_condition);
  if (!is_plain && !is_exact(result)) {
    bool is_known = true;
    result = cached([&](const std::vector<Expr>& element, const arith::Facts& facts) {
      const auto written = writes_element(program, n, place.at, buffer, element, facts);
      is_known = written.has_value();
      return written.value_or(make_true());
    });
    if (!is_known)
      refuse(caller, describe(program, n) + " provably writes not all elements of a box of `" +
                         buffer->name +
                         "`, and its iterators do not express which, so that others would be "
                         "copied");
  }
  const Program after(result.func);
  require_independent_around(caller, after, *after.find_block(result.block));
  return result;
}

// ---- reindex ------------------------------------------------------------------------------------

namespace {

/// Returns the indices at which a block accesses a buffer. Throws unless all accesses have the same
/// indices and these are determined by the block's iterators.
std::vector<Expr> only_indices(const Caller& caller, const Program& program, int n,
                               const Buffer& buffer) {
  const Block& own = program.block(n);
  const std::string what = describe(program, n) + " accesses `" + buffer->name + "` ";
  std::optional<std::vector<Expr>> found;
  bool is_single = true;
  const auto add = [&](const Buffer& other, const std::vector<Expr>& indices) {
    if (!other.same_as(buffer)) return;
    is_single = is_single && (!found || structural_equal(*found, indices));
    found = indices;
  };
  const Stmt all = own.init ? make_seq({*own.init, own.body}) : own.body;
  require_element_accesses(caller, program.stmt(n), buffer);
  walk(
      all, [&](const Load& load) { add(load.buffer, load.indices); },
      [&](const Store& store) { add(store.buffer, store.indices); });
  if (!found || !is_single)
    refuse(caller, what + (is_single ? "at no" : "at more than one") +
                       " list of indices, but an element of the new buffer represents one list");
  // Variables of loops inside the block, and of lets around it, are not defined at the copy.
  std::vector<Var> defined = free_vars(program.block(*program.scope(n)).body);
  for (const IterVar& iter : own.iters) defined.push_back(iter.var());
  for (const Expr& index : *found) {
    const bool is_determined = effect_of(index) == Effect::Pure &&
                               std::ranges::all_of(free_vars(index), [&](const Var& var) {
                                 return has_same(defined, var);
                               });
    if (!is_determined)
      refuse(caller, what + "at " + print_expr(index) + ", which its iterators do not determine");
  }
  return *std::move(found);
}

/// Redirects the block's accesses to `from`, which all have the same indices, to `to`.
Block redirected(Block block, const Buffer& from, const Buffer& to,
                 const std::vector<Expr>& indices) {
  const std::vector<Range> element = element_at(indices);
  const auto load = [&](const auto&) { return make_load(to, indices); };
  const auto redirect_regions = [&](Block& b) {
    bool is_changed = false;
    for (std::vector<BufferRegion>* regions : {&b.reads, &b.writes})
      for (BufferRegion& region : *regions) {
        if (region.buffer.same_as(from)) {
          region = {to, element};
          is_changed = true;
        }
        for (Range& range : region.region)
          range = Range::from_min_extent(replace_loads(range.min, from, load),
                                         replace_loads(range.extent, from, load));
      }
    return is_changed;
  };
  const auto stmt = [&](const Stmt& s) {
    return rewrite(
        s,
        [&](const Load& load, const Expr&) -> std::optional<Expr> {
          if (!load.buffer.same_as(from)) return std::nullopt;
          return make_load(to, indices);
        },
        [&](const Store& store, const Stmt&) -> std::optional<Stmt> {
          if (!store.buffer.same_as(from)) return std::nullopt;
          return make_store(to, store.value, indices);
        },
        [&](const BlockRealize& inner, const Stmt&) -> std::optional<Stmt> {
          Block next = *inner.block;
          if (!redirect_regions(next)) return std::nullopt;
          return make_block(inner.values, inner.predicate, std::move(next));
        });
  };
  block.body = stmt(block.body);
  if (block.init) block.init = stmt(*block.init);
  redirect_regions(block);
  return block;
}

}  // namespace

NewBlock reindex(const Program& program, int n, int index, AccessKind kind, SourceLocation where) {
  const Caller caller{"reindex", where};
  const int scope = scope_of(caller, program, n);
  const BlockRealize& realize = program.realize(n);
  const Block& block = *realize.block;
  const bool is_read = kind == AccessKind::Read;
  const Buffer buffer = buffer_at(caller, program, n, kind, index);
  require_own_domains(caller, program, n, scope);
  // The new buffer does not contain the values that `buffer` had before, so the block must not read
  // them.
  const Stmt& first = block.init ? *block.init : block.body;
  const auto is_own = [&](const Load& load) { return load.buffer.same_as(buffer); };
  if (is_read ? mentions(block.writes, buffer) : any_node(first, is_own))
    refuse(caller, describe(program, n) + " reads and writes `" + buffer->name +
                       "`, so it needs more than a copy");
  if (!is_read) require_no_conflict_between_instances(caller, program, n);
  const std::vector<Expr> indices = only_indices(caller, program, n, buffer);
  if (!is_read && !stores_region(program, n, first, {buffer, element_at(indices)}))
    refuse(caller, describe(program, n) + " may leave an element of `" + buffer->name +
                       "` as it is, which the copy would overwrite");
  const auto determines_element = [&](const IterVar& iter) {
    return std::ranges::any_of(indices,
                               [&](const Expr& index) { return uses_var(index, iter.var()); });
  };
  // The copy has one iterator for each iterator of the block. An iterator that does not determine
  // the element gets extent 1.
  std::vector<LoopDomain> loops;
  std::vector<IterVar> iters;
  std::vector<Expr> values, shape, at, copied_at;
  VarMap of_block, of_loops;
  arith::Facts facts = facts_at(program, scope);
  // Variables of enclosing blocks. They have the same value in all instances of the block.
  const std::vector<Var> outside = free_vars(program.block(scope).body);
  for (const IterVar& iter : block.iters) {
    const DataType type = iter.var().dtype();
    const bool is_used = determines_element(iter);
    const Expr zero = make_int(type, 0), one = make_int(type, 1);
    const Expr extent = is_used ? iter.dom()->extent : one;
    const std::string number = std::to_string(iters.size());
    const Expr& value = realize.values[iters.size()];
    const std::vector<Var> vars = free_vars(value);
    const bool is_fixed =
        is_used && !vars.empty() && !contains<Load>(value) &&
        std::ranges::all_of(vars, [&](const Var& var) { return has_same(outside, var); });
    const Var loop("ax" + number, type);
    iters.emplace_back(Range::from_min_extent(zero, extent), Var("v" + number, type),
                       IterKind::DataParallel);
    set(of_block, iter.var(), fold(BinaryOp::Add, iters.back().var(), iter.dom()->min));
    if (is_fixed) {
      values.push_back(arith::simplify(cast(type, value) - iter.dom()->min, facts));
      set(of_loops, iter.var(), cast(type, value));
    } else {
      loops.push_back({loop, zero, extent});
      values.emplace_back(loop);
      facts.bind(loop, Range::from_min_extent(zero, extent));
      set(of_loops, iter.var(), fold(BinaryOp::Add, loop, iter.dom()->min));
    }
    if (!is_used) continue;
    shape.push_back(extent);
    at.push_back(fold(BinaryOp::Sub, iter.var(), iter.dom()->min));
    copied_at.emplace_back(iters.back().var());
  }
  const Buffer cache = decl_buffer(shape, buffer->dtype, {.name = buffer->name + "_reindex"});
  std::vector<Expr> elements;
  Expr predicate = make_true();
  const auto require = [&](const Expr& part) {
    const Expr own_part = arith::simplify(part, facts);
    if (!arith::can_prove(own_part, facts)) predicate = both(predicate, own_part);
  };
  std::vector<Range> allowed = whole_region(buffer->shape);
  if (is_read) allowed = readable(program, scope, buffer);
  for (std::size_t d = 0; d < indices.size(); ++d) {
    elements.push_back(substitute(indices[d], of_block));
    const Expr element = substitute(indices[d], of_loops);
    require(element >= max(allowed[d].min, 0));
    require(element < min(allowed[d].min + allowed[d].extent, buffer->shape[d]));
  }
  if (!is_read) {
    auto instances = instances_of(program, n, scope);
    if (instances && block.init) instances = beginnings(*instances, block);
    arith::Facts iters_of_block = facts_at(program, scope);
    bind_iters(iters_of_block, block);
    const auto is_of_element = [&](const Expr& part) {
      return arith::can_prove(part, iters_of_block) ||
             std::ranges::none_of(block.iters, [&](const IterVar& iter) {
               return !determines_element(iter) && uses_var(part, iter.var());
             });
    };
    if (!instances || !std::ranges::all_of(*instances, is_of_element))
      refuse(caller, "the set of executed instances of " + describe(program, n) +
                         " cannot be expressed in the iterators that determine the element, so "
                         "that elements which it does not write might be copied");
    for (const Expr& part : *instances) require(substitute(part, of_loops));
    if (block.init) require_begun(caller, program, n);
  }
  const Buffer &from = is_read ? buffer : cache, &to = is_read ? cache : buffer;
  const std::vector<Expr>&read = is_read ? elements : copied_at,
        &written = is_read ? copied_at : elements;
  Block copying{.iters = iters,
                .reads = {{from, element_at(read)}},
                .writes = {{to, element_at(written)}},
                .name = cache->name,
                .init = std::nullopt,
                .body = make_store(to, make_load(from, read), written)};
  const BlockId id = copying.id;
  const Stmt copy = in_loops(loops, make_block(values, predicate, std::move(copying)));
  // The copy is placed next to the child of the scope that contains the block.
  const std::size_t part = *part_of(program, scope, n);
  const Place place{scope, is_read ? part : part + 1};
  if (!is_read)
    require_unchanged_control(caller, program, n, parts_of(body_of(program, scope))[part], copy);
  if (const auto conflict =
          find_passing_conflict(program, n, top_of(program, scope),
                                {.passes_later = !is_read,
                                 .own = accesses_as_stmt(program, n, buffer, kind),
                                 .keeps_control = true,
                                 .compared = is_read ? Compared::ReadsWithWrites : Compared::All}))
    refuse(caller, describe(program, n) + " would " + (is_read ? "read" : "write") + " `" +
                       buffer->name + "` too " + (is_read ? "early" : "late") + ": it " +
                       *conflict);
  const Stmt& old = program.stmt(n);
  const Stmt next =
      make_block(realize.values, realize.predicate, redirected(block, buffer, cache, at));
  PrimFunc func = insert_copy(program, scope, place, copy, cache,
                              [&](const Stmt& s) { return replace_inside(s, old, next); });
  const Program after(func);
  require_independent_around(caller, after, *after.find_block(id));
  require_independent_around(caller, after, *after.find_block(program.block(n).id));
  return {std::move(func), id};
}

namespace {

int require_allocated(const Caller& caller, const Program& program, int n, const Buffer& buffer) {
  const std::optional<int> block = allocated_by(program, buffer, n);
  if (!block)
    refuse(caller, "buffer `" + buffer->name + "`, which " + describe(program, n) +
                       " writes, is allocated by no block: it is a parameter of the function or a "
                       "matched buffer; cache_write makes a buffer whose memory can be chosen");
  return *block;
}

}  // namespace

PrimFunc set_scope(const Program& program, int n, int index, StorageScope scope_kind,
                   SourceLocation where) {
  const Caller caller{"set_scope", where};
  const Buffer buffer = buffer_at(caller, program, n, AccessKind::Write, index);
  const int block = require_allocated(caller, program, n, buffer);
  if (buffer.scope() == scope_kind) return program.func();
  require_matched_scope(caller, program, buffer, scope_kind);
  const Buffer next =
      in_scope(buffer, buffer->name + "_" + std::string(to_string(scope_kind)), scope_kind);
  const Stmt changed = with_buffer(program.stmt(block), buffer, next, Replaced::Everything);
  if (uses_var(changed, buffer->data))
    refuse(caller, "the address of `" + buffer->name +
                       "` is taken; cache_write makes a buffer whose memory can be chosen");
  PrimFunc func = program.with(block, changed);
  require_memory_of_threads_around(caller, Program(func), n);
  return func;
}

PrimFunc storage_align(const Program& program, int n, int index, int axis, int factor, int offset,
                       SourceLocation where) {
  const Caller caller{"storage_align", where};
  const Buffer& buffer = buffer_at(caller, program, n, AccessKind::Write, index);
  require_allocated(caller, program, n, buffer);
  const int rank = buffer->rank();
  if (axis < -rank || axis >= rank)
    refuse(caller, "buffer `" + buffer->name + "` has " + std::to_string(rank) +
                       " dimensions, got axis " + std::to_string(axis));
  if (factor <= 0) refuse(caller, "the factor is " + std::to_string(factor) + ", not 1 or more");
  if (axis < 0) axis += rank;
  if (uses_var(program.func().body, buffer->data))
    refuse(caller, "the address of `" + buffer->name +
                       "` is taken, whose receiver does not know the alignment");
  walk(program.func().body, [&](const BlockRealize& other) {
    for (const MatchBuffer& match : other.block->match_buffers) {
      const std::vector<Expr>& shape = match.buffer->shape;
      const bool is_compact = match.buffer->strides.empty();
      const std::vector<Expr> strides = is_compact ? compact_strides(shape) : match.buffer->strides;
      const std::size_t dropped = buffer->shape.size() - strides.size();
      for (std::size_t d = dropped; d <= static_cast<std::size_t>(axis); ++d)
        if (match.source.buffer.same_as(buffer) && constant_int(strides[d - dropped]) &&
            !(is_compact && is_one(shape[d - dropped])))
          refuse(caller, "block `" + other.block->name + "` declares a constant stride of `" +
                             match.buffer->name + "`, a part of `" + buffer->name +
                             "`, which the alignment would change");
    }
  });
  const BlockRealize& realize = program.realize(n);
  Block block = *realize.block;
  std::vector<Annotation> list;
  if (const auto own = block.annotations.find("buffer_dim_align"); own != block.annotations.end())
    if (const auto* known = std::get_if<std::vector<Annotation>>(&own->second.value)) list = *known;
  const auto number = [](int value) { return Annotation{Expr(value)}; };
  Annotation entry{
      std::vector<Annotation>{number(index), number(axis), number(factor), number(offset)}};
  const auto same = std::ranges::find_if(list, [&](const Annotation& other) {
    const auto* parts = std::get_if<std::vector<Annotation>>(&other.value);
    return parts && parts->size() == 4 && annotation_int((*parts)[0]) == index &&
           annotation_int((*parts)[1]) == axis;
  });
  if (same != list.end())
    *same = std::move(entry);
  else
    list.push_back(std::move(entry));
  block.annotations.insert_or_assign("buffer_dim_align", Annotation{std::move(list)});
  return program.with(n, make_block(realize.values, realize.predicate, std::move(block)));
}

}  // namespace tenon::s_tir
