#include <algorithm>
#include <set>

#include "s_tir/primitives/buffers.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/primitives.h"
#include "tenon/s_tir/script.h"
#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

// ---- comparison with a description --------------------------------------------------------------

// Comparison of a computation with the description of a tensor intrinsic.

std::string first_line(const Stmt& s) {
  std::string text = print_script(s);
  text.erase(0, text.find_first_not_of(' '));
  return text.substr(0, text.find('\n'));
}

/// Matches the description with the computation, statement by statement. Finds the region of the
/// computation that each parameter represents. The element (i...) of the parameter is the element
/// min + (0..., i...) of the region's buffer. The region has the size of the parameter.
class DescriptionMatcher {
 public:
  DescriptionMatcher(const Caller& caller, const PrimFunc& description, const arith::Facts& facts)
      : caller_(caller), description_(description), facts_(facts) {
    found_.resize(description.buffers.size());
  }

  void stmt(const Stmt& d, const Stmt& t) {
    const std::size_t outside = at_.size();
    at_.emplace_back(d, t);
    if (d.node().value.index() != t.node().value.index()) differ("they are of different kinds");
    if (const For* loop = d.as<For>())
      loops(*loop, *t.as<For>());
    else if (const Store* store = d.as<Store>())
      need(access(store->buffer, store->indices, t.as<Store>()->buffer, t.as<Store>()->indices) &&
               same(store->value, t.as<Store>()->value),
           "the values differ");
    else if (const BlockRealize* block = d.as<BlockRealize>())
      blocks(*block, *t.as<BlockRealize>());
    else
      parts(d, t);
    at_.resize(outside, {d, t});
  }

  std::vector<BufferRegion> result() const {
    std::vector<BufferRegion> all;
    for (std::size_t n = 0; n < found_.size(); ++n) {
      if (!found_[n])
        refuse(caller_, "the description never uses its parameter " +
                            in_backticks(description_.buffers[n].buffer->name));
      all.push_back(*found_[n]);
    }
    return all;
  }

 private:
  [[noreturn]] void differ(const std::string& why) const {
    refuse(caller_, "`" + first_line(at_.back().second) + "` differs from the description, `" +
                        first_line(at_.back().first) + "`: " + why);
  }

  void define(const Var& d, const Var& t) {
    need(d.dtype() == t.dtype(),
         in_backticks(t.name()) + " is of type " + t.dtype().str() + ", not " + d.dtype().str());
    set(names_, d, t);
    inner_.push_back(t);
  }

  void need(bool holds, const std::string& why) const {
    if (!holds) differ(why);
  }

  void loops(const For& d, const For& t) {
    const LoopTraits &traits = traits_of(d), &other = traits_of(t);
    need(d.kind == t.kind && traits.thread == other.thread &&
             traits.annotations == other.annotations,
         "the loops are of different kinds");
    need(same(d.min, t.min) && same(d.extent, t.extent), "the loops have different ranges");
    define(d.var, t.var);
    stmt(d.body, t.body);
  }

  void blocks(const BlockRealize& d, const BlockRealize& t) {
    const Block &own = *d.block, &other = *t.block;
    need(own.iters.size() == other.iters.size(),
         "the block has " + std::to_string(other.iters.size()) + " iterators, not " +
             std::to_string(own.iters.size()));
    for (std::size_t n = 0; n < own.iters.size(); ++n) {
      const IterVar &iter = own.iters[n], &at = other.iters[n];
      const std::string both = "iterators `" + at.name() + "` and `" + iter.name() + "` ";
      need(iter.kind() == at.kind(), both + "are of different kinds");
      need(iter.dom() && at.dom() && same(iter.dom()->min, at.dom()->min) &&
               same(iter.dom()->extent, at.dom()->extent),
           both + "have different domains");
      need(same(d.values[n], t.values[n]), both + "have different values");
    }
    need(same(d.predicate, t.predicate), "the predicates differ");
    for (std::size_t n = 0; n < own.iters.size(); ++n)
      define(own.iters[n].var(), other.iters[n].var());
    need(own.alloc_buffers.empty() && other.alloc_buffers.empty() && own.match_buffers.empty() &&
             other.match_buffers.empty(),
         "blocks with buffers of their own are not compared");
    need(own.init.has_value() == other.init.has_value(), "one block has an init");
    if (own.init) stmt(*own.init, *other.init);
    stmt(own.body, other.body);
  }

  /// Matches any other statement: its expressions and inner statements must match.
  void parts(const Stmt& d, const Stmt& t) {
    need(d.as<Seq>() || d.as<If>() || d.as<Evaluate>(), "such statements are not compared");
    const auto parts_of = [](const Stmt& s) {
      std::pair<std::vector<Expr>, std::vector<Stmt>> parts;
      for_each_child(
          s, [&](const Expr& e) { parts.first.push_back(e); },
          [&](const Stmt& inner) { parts.second.push_back(inner); });
      return parts;
    };
    const auto [exprs, stmts] = parts_of(d);
    const auto [other_exprs, other_stmts] = parts_of(t);
    need(exprs.size() == other_exprs.size() && stmts.size() == other_stmts.size(),
         "they have different numbers of parts");
    for (std::size_t n = 0; n < exprs.size(); ++n)
      need(same(exprs[n], other_exprs[n]), "the expressions differ");
    for (std::size_t n = 0; n < stmts.size(); ++n) stmt(stmts[n], other_stmts[n]);
  }

  bool same(const Expr& d, const Expr& t) {
    if (d.dtype() != t.dtype()) return false;
    if (const Load* load = d.as<Load>()) {
      const Load* other = t.as<Load>();
      return other && access(load->buffer, load->indices, other->buffer, other->indices);
    }
    if (d.as<VarNode>()) return substitute(d, names_).same_as(t);
    if (equal_but_for_children(d, t) &&
        std::ranges::equal(children_of(d), children_of(t),
                           [&](const Expr& own, const Expr& other) { return same(own, other); }))
      return true;
    const bool is_number = d.dtype().is_index() && d.dtype().lanes == 1;
    return is_number && effect_of(d) == Effect::Pure && effect_of(t) == Effect::Pure &&
           arith::can_prove_equal(substitute(d, names_), t, facts_);
  }

  /// Matches the access `d[indices]` of a parameter with the access `t[at]` of the computation.
  /// Throws if they do not match.
  bool access(const Buffer& d, const std::vector<Expr>& indices, const Buffer& t,
              const std::vector<Expr>& at) {
    const std::string own = in_backticks(d->name), other = in_backticks(t->name);
    const auto param = std::ranges::find_if(description_.buffers,
                                            [&](const auto& p) { return p.buffer.same_as(d); });
    need(param != description_.buffers.end(),
         "buffer " + own + " is not a parameter of the description");
    need(d->dtype == t->dtype,
         other + " has elements of type " + t->dtype.str() + ", not " + d->dtype.str());
    need(d.scope() == t.scope(), other + " is in scope \"" + std::string(to_string(t.scope())) +
                                     "\", not \"" + std::string(to_string(d.scope())) + "\"");
    need(at.size() >= indices.size(), other + " has fewer dimensions than " + own);
    BufferRegion match{t, {}};
    const std::size_t leading = at.size() - indices.size();
    for (std::size_t n = 0; n < at.size(); ++n) {
      const Expr index =
          n < leading ? make_int(at[n].dtype(), 0) : substitute(indices[n - leading], names_);
      need(index.dtype() == at[n].dtype(), "the indices are of different types");
      const Expr begin = arith::simplify(at[n] - index, facts_);
      for (const Var& var : inner_)
        need(!uses_var(begin, var),
             "index " + std::to_string(n) + " of " + other + " does not run as that of " + own);
      const std::int64_t size = n < leading ? 1 : constant_int(d->shape[n - leading]).value();
      match.region.push_back(Range::from_min_extent(begin, make_int(begin.dtype(), size)));
    }
    auto& known = found_[static_cast<std::size_t>(param - description_.buffers.begin())];
    if (!known) known = match;
    need(known->buffer.same_as(t),
         own + " stands for " + in_backticks(known->buffer->name) + " and " + other);
    for (std::size_t n = 0; n < at.size(); ++n)
      need(arith::can_prove_equal(known->region[n].min, match.region[n].min, facts_),
           own + " stands for different regions of " + other);
    return true;
  }

  const Caller& caller_;
  const PrimFunc& description_;
  const arith::Facts& facts_;
  VarMap names_;
  std::vector<Var> inner_;
  std::vector<std::optional<BufferRegion>> found_;
  /// The enclosing statements of the description and of the computation.
  std::vector<std::pair<Stmt, Stmt>> at_;
};

/// Returns, for each parameter of the description, the region of the computation that it
/// represents. Throws an error that shows the first pair of statements that differ. The regions do
/// not use variables that the computation defines.
std::vector<BufferRegion> match_description(const Caller& caller, const PrimFunc& description,
                                            const Stmt& computation, const arith::Facts& facts) {
  const Block& root = root_block(description.body);
  if (!root.alloc_buffers.empty() || !root.match_buffers.empty())
    refuse(caller, "the description has buffers in addition to its parameters");
  DescriptionMatcher matcher(caller, description, facts);
  matcher.stmt(root.body, computation);
  return matcher.result();
}

// ---- the primitive ------------------------------------------------------------------------------

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

/// Throws if the region of a written buffer may overlap another region, because the intrinsic may
/// read and write in any order.
void require_apart(const Caller& caller, const Program& program, int block,
                   const std::vector<BufferRegion>& boxes, const PrimFunc& func) {
  std::set<const BufferNode*> written;
  walk(func.body, [&](const Store& store) { written.insert(store.buffer.get()); });
  for (std::size_t n = 0; n < boxes.size(); ++n)
    for (std::size_t m = 0; m < boxes.size(); ++m) {
      const Buffer memory = source_of(program, block, boxes[n].buffer);
      if (n == m || !memory.same_as(source_of(program, block, boxes[m].buffer))) continue;
      if (written.contains(func.buffers[n].buffer.get()))
        refuse(caller, "buffers `" + func.buffers[n].buffer->name + "` and `" +
                           func.buffers[m].buffer->name + "` of the intrinsic are both " +
                           in_backticks(memory->name) + ", and the first is written");
    }
}

/// Returns a new buffer for this use of a parameter of the implementation. Its variables are bound
/// to the matched region. If the parameter declares no strides and offset, and the implementation
/// only accesses elements, the buffer gets the strides and offset of the region.
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

/// Returns the regions. A region of a buffer that occurs in `boxes` is replaced by the boxes of
/// this buffer.
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
                         const TensorIntrin& intrin, const BlockId& id) {
  const BlockRealize& realize = program.realize(n);
  Block block = *realize.block;
  block.id = id;
  require_outer_buffers(caller, program, n);
  arith::Facts facts;
  for (std::optional<int> at = n; at; at = program.scope(*at))
    bind_iters(facts, program.block(*at));
  const std::vector<BufferRegion> boxes =
      match_description(caller, intrin.description, block.body, facts);
  require_apart(caller, program, n, boxes, intrin.description);
  const Block& body = root_block(intrin.implementation.body);
  VarMap replaced;
  std::vector<std::pair<Buffer, Buffer>> buffers;
  std::vector<MatchBuffer> matched = {};
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Buffer& param = intrin.implementation.buffers[i].buffer;
    require_inside(caller, boxes[i], facts);
    buffers.emplace_back(param, own_buffer(param, body.body, replaced));
    matched.push_back({buffers.back().second, boxes[i]});
  }
  Block inside = plain_block("", body.body);
  inside.alloc_buffers = body.alloc_buffers;
  inside.match_buffers = body.match_buffers;
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

PrimFunc tensorize(const Program& program, int block_or_loop, const TensorIntrin& intrin,
                   SourceLocation where) {
  const Caller caller{"tensorize", where};
  const bool is_block = program.is_block(block_or_loop);
  if (is_block && !program.scope(block_or_loop))
    refuse(caller, describe(program, block_or_loop) + " is the root of the function");
  const NewBlock outer = [&] {
    try {
      return is_block ? NewBlock{program.func(), program.block(block_or_loop).id}
                      : blockize(program, block_or_loop, where);
    } catch (const ScheduleError& error) {
      refuse(caller, std::string(error.sentence()));
    }
  }();
  const Program outside(outer.func);
  // If a loop is tensorized, the handle of its block now refers to the new block.
  const int own = is_block ? block_or_loop : program.child_blocks(block_or_loop).front();
  return tensorize_block(caller, outside, *outside.find_block(outer.block), intrin,
                         program.block(own).id);
}

}  // namespace tenon::s_tir
