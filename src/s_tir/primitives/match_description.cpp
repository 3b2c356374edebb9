#include "s_tir/primitives/match_description.h"

#include <algorithm>

#include "tenon/arith/simplify.h"
#include "tenon/s_tir/script.h"
#include "tenon/tir/compare.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

std::string first_line(const Stmt& s) {
  std::string text = print_script(s);
  text.erase(0, text.find_first_not_of(' '));
  return text.substr(0, text.find('\n'));
}

/// Walks the description and the computation in parallel.
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

  std::vector<MatchedBuffer> result() const {
    std::vector<MatchedBuffer> all;
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

  /// Matches an access of a parameter with one of the computation: returns true or refuses.
  bool access(const Buffer& d, const std::vector<Expr>& indices, const Buffer& t,
              const std::vector<Expr>& at) {
    const std::string own = in_backticks(d->name), other = in_backticks(t->name);
    const auto param = std::ranges::find_if(description_.buffers,
                                            [&](const auto& p) { return p.buffer.same_as(d); });
    need(param != description_.buffers.end(),
         "buffer " + own + " is no parameter of the description");
    need(d->dtype == t->dtype,
         other + " has elements of type " + t->dtype.str() + ", not " + d->dtype.str());
    need(d.scope() == t.scope(), other + " is in scope \"" + std::string(to_string(t.scope())) +
                                     "\", not \"" + std::string(to_string(d.scope())) + "\"");
    need(at.size() >= indices.size(), other + " has fewer dimensions than " + own);
    MatchedBuffer match{t, {}};
    const std::size_t leading = at.size() - indices.size();
    for (std::size_t n = 0; n < at.size(); ++n) {
      const Expr index =
          n < leading ? make_int(at[n].dtype(), 0) : substitute(indices[n - leading], names_);
      need(index.dtype() == at[n].dtype(), "the indices are of different types");
      match.base.push_back(arith::simplify(at[n] - index, facts_));
      for (const Var& var : inner_)
        need(!uses_var(match.base.back(), var),
             "index " + std::to_string(n) + " of " + other + " does not run as that of " + own);
    }
    auto& known = found_[static_cast<std::size_t>(param - description_.buffers.begin())];
    if (!known) known = match;
    need(known->target.same_as(t),
         own + " stands for " + in_backticks(known->target->name) + " and " + other);
    for (std::size_t n = 0; n < at.size(); ++n)
      need(arith::can_prove_equal(known->base[n], match.base[n], facts_),
           own + " stands for different regions of " + other);
    return true;
  }

  const Caller& caller_;
  const PrimFunc& description_;
  const arith::Facts& facts_;
  VarMap names_;
  std::vector<Var> inner_;
  std::vector<std::optional<MatchedBuffer>> found_;
  /// The enclosing statements of the description and of the computation.
  std::vector<std::pair<Stmt, Stmt>> at_;
};

}  // namespace

std::vector<MatchedBuffer> match_description(const Caller& caller, const PrimFunc& description,
                                             const Stmt& computation, const arith::Facts& facts) {
  const Block& root = root_block(description.body);
  if (!root.alloc_buffers.empty() || !root.match_buffers.empty())
    refuse(caller, "the description has buffers in addition to its parameters");
  DescriptionMatcher matcher(caller, description, facts);
  matcher.stmt(root.body, computation);
  return matcher.result();
}

}  // namespace tenon::s_tir
