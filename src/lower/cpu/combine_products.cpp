// Combines consecutive multiply-adds of adjacent elements into one dot-product operation, inside
// the pragma dot_products. Runs for host code only, after `lower`.
//
//   S[0] = S[0] + broadcast(cast(int32, A[k]), 16)*cast(int32x16, B[ramp(b, 4, 16)])
//   ... the same with A[k + 1] and B[ramp(b + 1, 4, 16)], k + 2 and b + 2, k + 3 and b + 3
// becomes
//   S[0] = dp4a(A[k], ..., A[k + 3] sixteen times, B[ramp(b, 1, 64)], S[0])
//
// A dot product combines four int8 or uint8 products that accumulate in 32 bits, in any order
// because those additions wrap. It also combines two bfloat16 products that accumulate in float32,
// in the processor's order, which the pragma permits.
//
// The pass has no effect if code generation does not support dp4a (PassOptions::has_dp4a).
#include "lower/passes.h"

#include <algorithm>
#include <map>
#include <optional>

#include "lower/loops/accumulation.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

// ---- recognition of multiply-adds ---------------------------------------------------------------

// Multiply-adds of low-precision numbers in loops:
//
//   C[r] = C[r] + broadcast(int32(A[k]))*int32x16(B[ramp(4*j + k, 4, 16)])    // r: ramp(0, 1, 16)

/// One factor of a product: a broadcast scalar, or a strided vector.
struct Factor {
  tir::Buffer buffer;
  /// The index of the first element; `stride` is nullopt for a broadcast scalar.
  tir::Expr base;
  std::optional<std::int64_t> stride;
};

/// The statement `target = target + a*b`.
struct Sum {
  tir::Store target;
  Factor a, b;

  DataType type() const { return target.value.dtype(); }
  /// The number of adjacent factors that fill one accumulator lane.
  int neighbours() const { return type().bits / a.buffer->dtype.bits; }
};

bool is_byte(DataType t) { return t.is_integral() && t.bits == 8; }

bool can_be_multiplied(DataType a, DataType b, DataType sum) {
  if (!a.is_scalar() || !b.is_scalar() || sum.bits != 32) return false;
  if (sum.is_float()) return a == BFloat(16) && b == BFloat(16);
  return sum.is_integral() && is_byte(a) && is_byte(b);
}

std::optional<Factor> factor_of(const Expr& e) {
  const Broadcast* repeated = e.as<Broadcast>();
  const Cast* wide = (repeated ? repeated->value : e).as<Cast>();
  if (!wide) return std::nullopt;
  Expr narrow = wide->value;
  if (const Broadcast* inner = narrow.as<Broadcast>(); inner && !repeated) {
    repeated = inner;
    narrow = inner->value;
  }
  const Load* load = narrow.as<Load>();
  if (!load || load->indices.size() != 1 || !load->buffer->dtype.is_scalar()) return std::nullopt;
  const Expr& index = load->indices[0];
  if (repeated) {
    if (!index.dtype().is_scalar()) return std::nullopt;
    return Factor{load->buffer, index, std::nullopt};
  }
  const Ramp* ramp = index.as<Ramp>();
  const std::optional<std::int64_t> stride = ramp ? constant_int(ramp->stride) : std::nullopt;
  if (!stride) return std::nullopt;
  return Factor{load->buffer, ramp->base, stride};
}

/// Returns a load of the stored element.
Expr self_of(const Store& store) { return make_load(store.buffer, store.indices); }

/// Returns nullopt unless `s` is a multiply-add of vectors whose types an instruction supports and
/// whose store does not change its own factors or indices.
std::optional<Sum> sum_of(const Stmt& s) {
  const Store* store = s.as<Store>();
  const Binary* sum = store ? as_binary(store->value, BinaryOp::Add) : nullptr;
  if (!sum || !store->value.dtype().is_vector()) return std::nullopt;
  for (const auto& [self, term] : {std::pair(sum->a, sum->b), std::pair(sum->b, sum->a)}) {
    const Load* load = self.as<Load>();
    const Binary* product = as_binary(term, BinaryOp::Mul);
    if (!load || !product || !load->buffer.same_as(store->buffer)) continue;
    if (!structural_equal(self, self_of(*store))) continue;
    const std::optional<Factor> a = factor_of(product->a), b = factor_of(product->b);
    if (!a || !b || (!a->stride && !b->stride)) continue;
    if (reads(term, store->buffer->data) || reads(store->indices[0], store->buffer->data)) continue;
    if (can_be_multiplied(a->buffer->dtype, b->buffer->dtype, store->value.dtype()))
      return Sum{*store, *a, *b};
  }
  return std::nullopt;
}

/// Returns the vector of all factors that one dot-product operation combines. The factors of an
/// accumulator lane are adjacent.
Expr neighbours_of(const Factor& factor, const Sum& sum) {
  const int neighbours = sum.neighbours(), lanes = sum.type().lanes;
  const Expr one = make_int(factor.base.dtype(), 1);
  if (factor.stride)
    return make_load(factor.buffer, {make_ramp(factor.base, one, lanes * neighbours)});
  const Expr few = make_load(factor.buffer, {make_ramp(factor.base, one, neighbours)});
  std::vector<Expr> picks;
  for (int n = 0; n < lanes * neighbours; ++n) picks.push_back(make_int(Int(32), n % neighbours));
  return make_shuffle({few}, std::move(picks));
}

// ---- signed bytes -------------------------------------------------------------------------------

/// The correction of signed dot products. The instructions multiply an unsigned byte by a signed
/// one, so `a + 128` replaces `a`. Each sum then exceeds its result by 128 times the sum of its `b`
/// factors. This excess is the same for all rows of a tile. A separate loop computes it once, and
/// it is subtracted from all rows after the loop of the sums.
class Excess {
 public:
  /// Records a product and its sum.
  void note(const Sum& sum) {
    Member& member = members_[place_of(sum)];
    if (member.factors.empty()) order_.push_back(sum);
    for (const Expr& operand : {neighbours_of(sum.b, sum), sum.target.indices[0]})
      operands_.push_back(operand);
    member.factors += print_expr(neighbours_of(sum.b, sum)) + ";";
    targets_.insert(&sum.target.buffer->data.node());
    products_ += sum.neighbours();
  }

  /// Whether the loop only adds to the sums, at loop-invariant positions, and only reads the
  /// factors. Otherwise the correction after the loop would be wrong.
  bool has_only_sums(const For& loop) const {
    const arith::WrittenMemory memory(loop.body);
    const auto is_stable = [&](const Expr& e) { return memory.is_stable(e); };
    int accesses = 0;
    bool fine = std::ranges::all_of(operands_, is_stable);
    const auto note_access = [&](const Buffer& buffer) {
      if (targets_.contains(&buffer->data.node())) ++accesses;
    };
    const auto is_in_target = [&](const Var& var) {
      return std::ranges::any_of(
          order_, [&](const Sum& sum) { return uses_var(self_of(sum.target), var); });
    };
    walk(
        loop.body, [&](const Load& n) { note_access(n.buffer); },
        [&](const Let& n) { fine = fine && !is_in_target(n.var) && is_stable(n.value); },
        [&](const Store& n) { note_access(n.buffer); },
        // A callee that receives a pointer may write through it.
        [&](const Evaluate& n) {
          fine = fine && !uses_var(n.value,
                                   [&](const Expr& var) { return targets_.contains(&var.node()); });
        });
    return fine && accesses == 2 * products_ && !is_in_target(loop.var);
  }

  /// Groups sums that have equal `b` factors. They have the same excess, which is computed once.
  /// Precondition: all products have been recorded.
  void share() {
    std::map<std::string, int> groups;
    for (const Sum& sum : order_) {
      Member& member = members_[place_of(sum)];
      const auto [found, is_first] =
          groups.emplace(member.factors, static_cast<int>(groups.size()));
      member.group = found->second;
      member.is_first = is_first;
    }
    if (order_.empty()) return;
    lanes_ = order_.front().type().lanes;
    buffer_ = decl_buffer({Expr(static_cast<int>(groups.size()) * lanes_)},
                          order_.front().type().element(), {.name = "excess", .scope = "local"});
    count_ = static_cast<int>(groups.size());
  }

  /// Whether the correction is worthwhile: there are at least twice as many sums as excesses.
  bool is_shared() const { return 2 * count_ <= static_cast<int>(order_.size()) && count_ > 0; }

  /// Returns the statement that adds the biased product to its sum.
  Stmt added(const Sum& sum) const {
    const Expr b = neighbours_of(sum.b, sum), most = most_of(b);
    const Expr a = make_call(most.dtype(), Intrin::reinterpret, {neighbours_of(sum.a, sum)});
    return add_to(sum.target.buffer, sum.target.indices,
                  make_call(most.dtype(), Intrin::bitwise_xor, {a, most}), b);
  }

  /// Returns the statement that adds 128 times the factor to the excess; nullopt if another sum of
  /// the group already adds it.
  std::optional<Stmt> added_to_excess(const Sum& sum) const {
    const Member& member = members_.at(place_of(sum));
    if (!member.is_first) return std::nullopt;
    const Expr b = neighbours_of(sum.b, sum);
    return add_to(*buffer_, {place(member.group)}, most_of(b), b);
  }

  const Buffer& buffer() const { return *buffer_; }

  /// Returns the initialization of the excesses, which precedes the loop that computes them.
  std::vector<Stmt> begun() const {
    std::vector<Stmt> all;
    for (int group = 0; group < count_; ++group)
      all.push_back(make_store(*buffer_, make_const(order_.front().type(), 0), {place(group)}));
    return all;
  }

  /// Returns the subtraction of the excesses, which follows the loop of the sums.
  std::vector<Stmt> taken_back() const {
    std::vector<Stmt> all;
    for (const Sum& sum : order_) {
      const Expr excess = make_load(*buffer_, {place(members_.at(place_of(sum)).group)});
      all.push_back(
          make_store(sum.target.buffer, self_of(sum.target) - excess, sum.target.indices));
    }
    return all;
  }

 private:
  struct Member {
    std::string factors;
    int group = 0;
    bool is_first = false;
  };

  static Expr most_of(const Expr& b) {
    return make_broadcast(make_int(UInt(8), 128), b.dtype().lanes);
  }
  static Stmt add_to(const Buffer& buffer, const std::vector<Expr>& at, const Expr& a,
                     const Expr& b) {
    const Expr self = make_load(buffer, at);
    return make_store(buffer, make_call(self.dtype(), Intrin::dp4a, {a, b, self}), at);
  }
  static std::string place_of(const Sum& sum) { return print_expr(self_of(sum.target)); }
  Expr place(int group) const { return make_ramp(Expr(group * lanes_), Expr(1), lanes_); }

  std::map<std::string, Member> members_;
  /// For each sum, its first product.
  std::vector<Sum> order_;
  /// The `b` factors of the products and the indices of the sums.
  std::vector<Expr> operands_;
  /// The data pointers of the sums' memory.
  std::unordered_set<const ExprNode*> targets_;
  std::optional<Buffer> buffer_;
  int products_ = 0, lanes_ = 0, count_ = 0;
};

/// Removes pure lets whose variables are unused.
Stmt without_idle_lets(const Stmt& s) {
  const Stmt result = map_statements(s, [](const Stmt& child) { return without_idle_lets(child); });
  const Let* let = result.as<Let>();
  const bool is_idle =
      let && effect_of(let->value) == Effect::Pure && !uses_var(let->body, let->var);
  return is_idle ? let->body : result;
}

// ---- the pass -----------------------------------------------------------------------------------

class Combiner {
 public:
  explicit Combiner(const Stmt& body) : lets_(body) {}

  Stmt whole(const Stmt& s) { return placed(stmt(s)); }

 private:
  Stmt stmt(const Stmt& s) {
    if (const Let* let = s.as<Let>(); let && let->value.dtype().is_index()) lets_.define(*let);
    if (const Attr* attr = s.as<Attr>(); attr && is_pragma(*attr, PragmaKey::DotProducts))
      return region(*attr);
    if (const Seq* seq = s.as<Seq>(); seq && is_inside_) return combined(*seq);
    if (only_excess_ && (s.as<Store>() || s.as<Evaluate>())) return make_nop();
    // In a conditional or repeated statement, a product would contribute differently to the excess.
    const bool is_once = s.as<Let>() || s.as<Seq>() || s.as<Attr>();
    const bool outer = std::exchange(is_once_, is_once_ && is_once);
    std::vector<Waiting> left = std::exchange(waiting_, {});
    const Stmt result = map_statements(s, [&](const Stmt& child) {
      const Stmt made = stmt(child);
      if (waiting_.empty()) return made;
      const Stmt behind = placed(made, &s);
      left.insert(left.end(), waiting_.begin(), waiting_.end());
      waiting_.clear();
      return behind;
    });
    waiting_ = std::move(left);
    is_once_ = outer;
    return result;
  }

  /// An excess that is not placed yet, and the statement that computes it.
  using Waiting = std::pair<Buffer, Stmt>;

  /// Whether the excess can be computed before `s`: it is invariant in `s`, and `s` provably runs.
  static bool may_leave(const Waiting& excess, const Stmt& s) {
    const Stmt& sums = excess.second;
    // Whether the excess depends on the variable or on the memory that it points to.
    const auto uses = [&](const Var& var) {
      return uses_var(sums, var) ||
             any_node(sums, [&](const Load& load) { return load.buffer->data.same_as(var); });
    };
    if (const For* loop = s.as<For>())
      if (loop->kind == ForKind::Parallel || constant_int(loop->extent).value_or(0) < 1 ||
          uses(loop->var))
        return false;
    if (const Let* let = s.as<Let>(); let && uses(let->var)) return false;
    if (const Allocate* memory = s.as<Allocate>(); memory && uses(memory->data)) return false;
    if (!s.as<For>() && !s.as<Let>() && !s.as<Allocate>() && !s.as<Seq>() && !s.as<Attr>())
      return false;
    return !any_node(
        s, [&](const Store& store) { return uses(store.buffer->data); },
        // A callee that receives a pointer may write through it.
        [&](const Evaluate& n) {
          return uses_var(n.value, [&](const Expr& var) { return uses(Var::of(var)); });
        });
  }

  /// Emits the pending excesses before `s`. If `around` is given, an excess that can be hoisted out
  /// of `around` remains pending.
  Stmt placed(Stmt s, const Stmt* around = nullptr) {
    std::vector<Waiting> left;
    for (const Waiting& excess : waiting_) {
      if (around && may_leave(excess, *around)) {
        left.push_back(excess);
        continue;
      }
      s = allocated(excess.first, make_seq({excess.second, s}));
    }
    waiting_ = std::move(left);
    return s;
  }

  Stmt region(const Attr& attr) {
    const bool was_inside = std::exchange(is_inside_, true);
    Attr result = attr;
    const For* loop = attr.body.as<For>();
    if (!loop) {
      result.body = stmt(attr.body);
      is_inside_ = was_inside;
      return make_stmt(std::move(result));
    }
    Excess excess;
    const bool was_once = std::exchange(is_once_, true);
    Excess* outer_noted = std::exchange(noted_, &excess);
    const Excess* outer_taken = std::exchange(taken_, nullptr);
    const std::vector<Waiting> outer_waiting = waiting_;
    stmt(loop->body);
    waiting_ = outer_waiting;
    excess.share();
    noted_ = nullptr;
    const bool is_shared = excess.is_shared() && excess.has_only_sums(*loop);
    if (is_shared) taken_ = &excess;
    For own = *loop;
    own.body = stmt(loop->body);
    result.body = make_stmt(own);
    std::vector<Stmt> all{make_stmt(std::move(result))};
    if (is_shared) {
      only_excess_ = true;
      own.body = without_idle_lets(stmt(loop->body));
      only_excess_ = false;
      std::vector<Stmt> sums = excess.begun();
      sums.push_back(fresh_copy(make_stmt(own), {}));
      waiting_.emplace_back(excess.buffer(), make_seq(std::move(sums)));
      Stmt back = make_seq(excess.taken_back());
      // If the loop has no iterations, the subtraction must not run either: memory does not change.
      if (constant_int(own.extent).value_or(0) < 1)
        back = make_stmt(If{own.extent > 0, std::move(back), std::nullopt});
      all.push_back(std::move(back));
    }
    noted_ = outer_noted;
    taken_ = outer_taken;
    is_once_ = was_once;
    is_inside_ = was_inside;
    return make_seq(std::move(all));
  }

  Stmt combined(const Seq& seq) {
    std::vector<Stmt> result;
    for (std::size_t n = 0; n < seq.stmts.size();) {
      const std::optional<Sum> first = sum_of(seq.stmts[n]);
      const auto count = static_cast<std::size_t>(first ? first->neighbours() : 1);
      if (!first || n + count > seq.stmts.size() || !are_neighbours(*first, seq.stmts, n, count)) {
        const Stmt other = stmt(seq.stmts[n++]);
        result.push_back(other);
        continue;
      }
      add(*first, result);
      n += count;
    }
    return make_seq(std::move(result));
  }

  void add(const Sum& sum, std::vector<Stmt>& result) {
    const bool is_signed = sum.a.buffer->dtype == Int(8) && sum.b.buffer->dtype == Int(8);
    if (noted_ && is_signed && is_once_) noted_->note(sum);
    if (taken_ && is_signed && is_once_) {
      if (!only_excess_) return result.push_back(taken_->added(sum));
      if (std::optional<Stmt> more = taken_->added_to_excess(sum)) result.push_back(*more);
      return;
    }
    if (only_excess_) return;
    const Expr value =
        make_call(sum.type(), Intrin::dp4a,
                  {neighbours_of(sum.a, sum), neighbours_of(sum.b, sum), self_of(sum.target)});
    result.push_back(make_store(sum.target.buffer, value, sum.target.indices));
  }

  bool are_neighbours(const Sum& first, const std::vector<Stmt>& stmts, std::size_t begin,
                      std::size_t count) const {
    for (const Factor* factor : {&first.a, &first.b})
      if (factor->stride.value_or(static_cast<std::int64_t>(count)) !=
          static_cast<std::int64_t>(count))
        return false;
    for (std::size_t n = 1; n < count; ++n) {
      const std::optional<Sum> next = sum_of(stmts[begin + n]);
      if (!next || !next->target.buffer.same_as(first.target.buffer) ||
          !structural_equal(self_of(next->target), self_of(first.target)))
        return false;
      if (!follows(first.a, next->a, n) || !follows(first.b, next->b, n)) return false;
    }
    return true;
  }

  /// Whether `next` starts `by` elements after `first`, with the same stride.
  bool follows(const Factor& first, const Factor& next, std::size_t by) const {
    if (!next.buffer.same_as(first.buffer) || next.stride != first.stride) return false;
    const Expr distance = lets_.flat(next.base) - lets_.flat(first.base);
    return constant_int(arith::simplify(distance)) == static_cast<std::int64_t>(by);
  }

  bool is_inside_ = false, is_once_ = false, only_excess_ = false;
  std::vector<Waiting> waiting_;
  Excess* noted_ = nullptr;
  const Excess* taken_ = nullptr;
  /// The index lets in scope.
  StableLets lets_;
};

}  // namespace

PrimFunc combine_products(const PrimFunc& func, const PassOptions& options) {
  if (!options.has_dp4a) return func;
  return with_body(func, Combiner(func.body).whole(func.body));
}

}  // namespace tenon::lowering
