// Passes for loops that a user marked to be unrolled or vectorized.
#include "lower/passes.h"

#include <limits>
#include <string_view>
#include <unordered_set>

#include "lower/loops/lanes.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

// ---- trip counts --------------------------------------------------------------------------------

// Trip counts of loops that a user marked to be vectorized or unrolled, which must be constant. A
// loop becomes a plain loop instead if its extent depends on enclosing loops, as in a producer
// whose size varies with the attach point. Any other symbolic extent is a user error.

namespace {

/// The variables that enclosing statements define.
using EnclosingVars = std::unordered_set<const ExprNode*>;

/// Returns the extent if it is a constant that fits int. Otherwise returns nullopt if the extent
/// uses an enclosing variable, and throws LowerError ("vectorize of loop `i`: ...") if it does not.
std::optional<int> constant_extent(const For& loop, std::string_view primitive,
                                   const EnclosingVars& enclosing) {
  std::optional<std::int64_t> extent = constant_int(loop.extent);
  if (!extent) extent = constant_int(arith::simplify(loop.extent));
  if (extent && *extent <= std::numeric_limits<int>::max())
    return static_cast<int>(std::max<std::int64_t>(*extent, 0));
  if (uses_var(loop.extent, [&](const Expr& var) { return enclosing.contains(&var.node()); }))
    return std::nullopt;
  throw LowerError(std::string(primitive) + " of loop `" + loop.var.name() +
                   "`: it needs a constant number of iterations, " + "but has " +
                   print_expr(loop.extent) + "; split it by a constant and " +
                   std::string(primitive) + " the inner part");
}

}  // namespace

// ---- unroll_loops -------------------------------------------------------------------------------

// Unrolls loops that are marked unrolled, and small serial loops if a pragma or an option requests
// it.
//
//   for (i, 0, 2) "unroll" { B[i] = A[i] }        becomes        B[0] = A[0]  B[1] = A[1]
//
// A serial loop of constant extent is unrolled automatically if it contains at most auto_max_depth
// unrolled loops and no other loop. In addition, its trip count times the stores and calls of its
// body must be at most auto_max_step, or its extent at most auto_max_extent. The pragmas
// "auto_unroll_max_step" and "unroll_explicit" set options for their body and are removed. If
// explicit_unroll is off, loops are only marked, and the back end unrolls them. Throws LowerError
// for a marked loop of symbolic extent, and beyond unroll.max_statements
// copies.

namespace {

/// The size of the statement being visited, which is an element of a sequence.
struct Size {
  /// The number of stores and evaluations. The iterations of an unrolled loop count separately.
  std::int64_t steps = 0;
  int unrolled_loops = 0;
  int other_loops = 0;
};

class Unroller {
 public:
  explicit Unroller(const PassOptions::Unroll& options) : options_(options) {}

  Stmt stmt(const Stmt& s) {
    if (const For* loop = s.as<For>()) return this->loop(*loop);
    if (const Seq* seq = s.as<Seq>()) return this->seq(*seq);
    if (const Attr* attr = s.as<Attr>()) return this->attr(*attr, s);
    if (s.as<Store>() || s.as<Evaluate>()) ++size_.steps;
    return children(s);
  }

 private:
  Stmt children(const Stmt& s) {
    return map_statements(s, [&](const Stmt& c) { return stmt(c); });
  }

  Stmt seq(const Seq& seq) {
    std::vector<Stmt> stmts;
    Size sum = size_;
    for (const Stmt& s : seq.stmts) {
      size_ = {};
      stmts.push_back(stmt(s));
      sum = {sum.steps + size_.steps, std::max(sum.unrolled_loops, size_.unrolled_loops),
             std::max(sum.other_loops, size_.other_loops)};
    }
    size_ = sum;
    return make_seq(std::move(stmts));
  }

  Stmt attr(const Attr& attr, const Stmt& self) {
    if (const IterVar* axis = std::get_if<IterVar>(&attr.subject);
        axis && attr.kind != AttrKind::Pragma)
      enclosing_.insert(&axis->var().node());
    const bool is_explicit = is_pragma(attr, PragmaKey::UnrollExplicit);
    if (!is_explicit && !is_pragma(attr, PragmaKey::AutoUnrollMaxStep)) return children(self);
    const std::optional<std::int64_t> value = constant_int(attr.value);
    if (!value)
      throw LowerError("pragma \"" + attr.key + "\": its value must be a constant integer");
    const PassOptions::Unroll outer = options_;
    if (is_explicit)
      options_.explicit_unroll = *value != 0;
    else
      options_.auto_max_step =
          static_cast<int>(std::min<std::int64_t>(*value, options_.max_statements));
    const Stmt body = stmt(attr.body);
    options_ = outer;
    return body;
  }

  Stmt loop(const For& loop) {
    enclosing_.insert(&loop.var.node());
    const Stmt body = stmt(loop.body);
    enclosing_.erase(&loop.var.node());
    const std::optional<std::int64_t> extent = extent_of(loop);
    if (!extent || !is_to_unroll(loop, *extent)) {
      ++size_.other_loops;
      const ForKind kind = loop.kind == ForKind::Unrolled ? ForKind::Serial : loop.kind;
      return make_stmt(For{loop.var, loop.min, loop.extent, kind, body});
    }
    size_.steps = std::min(size_.steps, kManySteps) * std::min(*extent, kManySteps);
    ++size_.unrolled_loops;
    if (!options_.explicit_unroll)
      return make_stmt(For{loop.var, loop.min, loop.extent, ForKind::Unrolled, body});
    return copies(loop, *extent, body);
  }

  std::optional<std::int64_t> extent_of(const For& loop) const {
    if (loop.kind == ForKind::Unrolled) return constant_extent(loop, "unroll", enclosing_);
    const std::optional<std::int64_t> extent = constant_int(loop.extent);
    return extent && *extent >= 0 ? extent : std::nullopt;
  }

  bool is_to_unroll(const For& loop, std::int64_t extent) const {
    if (loop.kind == ForKind::Unrolled) return true;
    if (loop.kind != ForKind::Serial || size_.other_loops > 0) return false;
    if (size_.unrolled_loops > options_.auto_max_depth || extent > options_.max_statements)
      return false;
    return extent * size_.steps <= options_.auto_max_step || extent <= options_.auto_max_extent;
  }

  Stmt copies(const For& loop, std::int64_t extent, const Stmt& body) {
    if (size_.steps > options_.max_statements || extent > options_.max_statements)
      throw LowerError(
          "unroll of loop `" + loop.var.name() + "`: its " + std::to_string(extent) +
          " iterations would make more than " + std::to_string(options_.max_statements) +
          " statements; split it and unroll the inner part, or raise unroll.max_statements");
    refuse_many_operators(loop, extent, body);
    std::vector<Stmt> result;
    for (std::int64_t n = 0; n < extent; ++n) {
      VarMap iteration;
      set(iteration, loop.var, loop.min + make_int(loop.var.dtype(), n));
      // The first copy keeps the variables that the body defines. Other copies define fresh
      // variables.
      result.push_back(n == 0 ? replace_vars(body, std::move(iteration))
                              : fresh_copy(body, std::move(iteration)));
    }
    return make_seq(std::move(result));
  }

  /// Throws if the unrolled loop would have too many operators. Their number determines compile
  /// time, and a few statements may be long.
  void refuse_many_operators(const For& loop, std::int64_t extent, const Stmt& body) const {
    const std::int64_t most = kOperatorsPerStatement * options_.max_statements;
    const auto each = static_cast<std::int64_t>(node_count(body));
    if (extent == 0 || each <= most / extent) return;
    throw LowerError("unroll of loop `" + loop.var.name() + "`: its " + std::to_string(extent) +
                     " iterations would make " + std::to_string(size_.steps) + " statements of " +
                     std::to_string(each * extent) + " operators in all, more than " +
                     std::to_string(most) +
                     "; split it and unroll the inner part, or raise unroll.max_statements (" +
                     std::to_string(options_.max_statements) + "), each of which allows for " +
                     std::to_string(kOperatorsPerStatement));
  }

  /// The number of operators allowed per statement. The default max_statements thus allows about a
  /// million operators, which take seconds to lower and minutes to compile in LLVM.
  static constexpr std::int64_t kOperatorsPerStatement = 16;
  static constexpr std::int64_t kManySteps = std::int64_t{1} << 31;

  PassOptions::Unroll options_;
  Size size_;
  EnclosingVars enclosing_;
};

}  // namespace

PrimFunc unroll_loops(const PrimFunc& func, const PassOptions& options) {
  return with_body(func, Unroller(options.unroll).stmt(func.body));
}

// ---- vectorize_loops ----------------------------------------------------------------------------

// Vectorizes marked loops: the loop variable becomes a ramp.
//
//   for (i, 0, 8) "vectorized" { B[((o*8) + i)] = (A[i] + 1f32) }
//   B[ramp((o*8), 1, 8)] = (A[ramp(0, 1, 8)] + broadcast(1f32, 8))
//
// The method is Halide's (Ragan-Kelley et al., PLDI 2013). Statements that cannot be vectorized,
// such as a branch that differs between lanes or a call of a C function, become a serial loop `i.s`
// around the smallest enclosing statement. An if_then_else becomes a select that does not fault,
// because its lanes evaluate only the chosen arm (guard_choices). In vectorize_loops_as_text, an
// if_then_else that differs between lanes becomes serial as well, as in TVM 0.9 text.
//
// options.disable_vectorize makes the loops serial. Of nested vectorized loops, only the innermost
// is vectorized; the others become serial. Throws LowerError for a loop of symbolic extent.

namespace {

/// The maximum number of lanes that a vector type holds.
constexpr int kMaxLanes = 1 << 14;

class Vectorizer {
 public:
  Vectorizer(bool enabled, LaneOptions::Choice choice) : enabled_(enabled), choice_(choice) {}

  Stmt stmt(const Stmt& s) {
    if (const For* loop = s.as<For>()) return this->loop(*loop);
    if (const Attr* attr = s.as<Attr>(); attr && std::holds_alternative<IterVar>(attr->subject))
      enclosing_.insert(&std::get<IterVar>(attr->subject).var().node());
    return map_statements(s, [&](const Stmt& c) { return stmt(c); });
  }

 private:
  Stmt loop(const For& loop) {
    const int outer_count = vectorized_inside_;
    vectorized_inside_ = 0;
    enclosing_.insert(&loop.var.node());
    const Stmt body = stmt(loop.body);
    enclosing_.erase(&loop.var.node());
    const bool has_inner = vectorized_inside_ > 0;
    vectorized_inside_ = outer_count + vectorized_inside_;
    if (loop.kind != ForKind::Vectorized)
      return make_stmt(For{loop.var, loop.min, loop.extent, loop.kind, body});
    ++vectorized_inside_;
    const Stmt serial = make_stmt(For{loop.var, loop.min, loop.extent, ForKind::Serial, body});
    if (!enabled_ || has_inner) return serial;
    const std::optional<int> extent = constant_extent(loop, "vectorize", enclosing_);
    if (!extent || *extent > kMaxLanes) return serial;
    if (*extent == 0) return make_nop();
    if (*extent == 1) return substitute(body, {{&loop.var.node(), loop.min}});
    const LaneOptions options{.choice = choice_, .may_serialize = true};
    return *in_lanes(body, {loop.var, loop.min, *extent}, options);
  }

  bool enabled_;
  LaneOptions::Choice choice_;
  int vectorized_inside_ = 0;
  EnclosingVars enclosing_;
};

}  // namespace

PrimFunc vectorize_loops(const PrimFunc& func, const PassOptions& options) {
  return with_body(
      func, Vectorizer(!options.disable_vectorize, LaneOptions::Choice::Select).stmt(func.body));
}

PrimFunc vectorize_loops_as_text(const PrimFunc& func, const PassOptions& options) {
  return with_body(
      func, Vectorizer(!options.disable_vectorize, LaneOptions::Choice::Serial).stmt(func.body));
}

}  // namespace tenon::lowering
