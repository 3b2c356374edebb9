#include "lower/passes/combine_products.h"

#include <map>

#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/print.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Numbers that are multiplied: one for all lanes, or every so many elements one.
struct Factor {
  Buffer buffer;
  /// The first element; `stride` is nothing where there is only one.
  Expr base;
  std::optional<std::int64_t> stride;
};

/// target = target + a*b
struct Sum {
  Store target;
  Factor a, b;

  DataType type() const { return target.value.dtype(); }
  /// Factors that fill the bits of a sum.
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

/// What is stored to, as a value.
Expr self_of(const Store& store) { return make_load(store.buffer, store.indices); }

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
    if (a->buffer->data.same_as(store->buffer->data) ||
        b->buffer->data.same_as(store->buffer->data))
      continue;
    if (can_be_multiplied(a->buffer->dtype, b->buffer->dtype, store->value.dtype()))
      return Sum{*store, *a, *b};
  }
  return std::nullopt;
}

/// The factors of all sums, those of each side by side.
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

/// Instructions take an unsigned and a signed byte. With a + 128 in place of a the sums are too
/// great by 128 times those of b alone, which are the same for all rows of a tile: they are added
/// up once for the rows, beside them, and taken back behind the loop.
class Excess {
 public:
  /// Notes that the product is added to its sum.
  void note(const Sum& sum) {
    Member& member = members_[place_of(sum)];
    if (member.factors.empty()) order_.push_back(sum);
    member.factors += print_expr(neighbours_of(sum.b, sum)) + ";";
  }

  /// After all have been noted: sums of the same factors share their excess.
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

  /// Whether it is worth it: more sums than there is excess to be added up.
  bool is_shared() const { return 2 * count_ <= static_cast<int>(order_.size()) && count_ > 0; }

  /// The product added to the sum, and to the excess where the sum is the first of those that share
  /// it.
  void add(const Sum& sum, std::vector<Stmt>& result) const {
    const Member& member = members_.at(place_of(sum));
    const Expr b = neighbours_of(sum.b, sum);
    const DataType bytes = UInt(8, b.dtype().lanes);
    const Expr most = make_broadcast(make_int(UInt(8), 128), bytes.lanes);
    const auto add_to = [&](const Buffer& buffer, const std::vector<Expr>& at, const Expr& a) {
      const Expr self = make_load(buffer, at);
      result.push_back(make_store(buffer, make_call(sum.type(), Intrin::dp4a, {a, b, self}), at));
    };
    if (member.is_first) add_to(*buffer_, {place(member.group)}, most);
    const Expr a = make_call(bytes, Intrin::reinterpret, {neighbours_of(sum.a, sum)});
    add_to(sum.target.buffer, sum.target.indices, make_call(bytes, Intrin::bitwise_xor, {a, most}));
  }

  /// The loop with what comes before and behind it.
  Stmt around(const Stmt& loop) const {
    std::vector<Stmt> all;
    const DataType type = order_.front().type();
    for (int group = 0; group < count_; ++group)
      all.push_back(make_store(*buffer_, make_const(type, 0), {place(group)}));
    all.push_back(loop);
    for (const Sum& sum : order_) {
      const Expr excess = make_load(*buffer_, {place(members_.at(place_of(sum)).group)});
      all.push_back(
          make_store(sum.target.buffer, self_of(sum.target) - excess, sum.target.indices));
    }
    return make_stmt(Allocate{(*buffer_)->data, type.element(), (*buffer_)->shape, make_true(),
                              make_seq(std::move(all))});
  }

 private:
  struct Member {
    std::string factors;
    int group = 0;
    bool is_first = false;
  };

  static std::string place_of(const Sum& sum) { return print_expr(self_of(sum.target)); }
  Expr place(int group) const { return make_ramp(Expr(group * lanes_), Expr(1), lanes_); }

  std::map<std::string, Member> members_;
  /// The first product of each sum.
  std::vector<Sum> order_;
  std::optional<Buffer> buffer_;
  int lanes_ = 0, count_ = 0;
};

// ---- the pass -----------------------------------------------------------------------------------

class Combiner {
 public:
  Stmt stmt(const Stmt& s) {
    if (const Let* let = s.as<Let>(); let && let->value.dtype().is_index())
      set(lets_, let->var, substitute(let->value, lets_));
    if (const Attr* attr = s.as<Attr>(); attr && is_pragma(*attr, PragmaKey::DotProducts))
      return region(*attr);
    if (const Seq* seq = s.as<Seq>(); seq && is_inside_) return combined(*seq);
    // Of what is not done in every iteration, or more than once, the excess would be another.
    const bool is_once = s.as<Let>() || s.as<Seq>() || s.as<Attr>();
    const bool outer = std::exchange(is_once_, is_once_ && is_once);
    const Stmt result = map_statements(s, [&](const Stmt& child) { return stmt(child); });
    is_once_ = outer;
    return result;
  }

 private:
  Stmt region(const Attr& attr) {
    const bool was_inside = std::exchange(is_inside_, true);
    Attr result = attr;
    const For* loop = attr.body.as<For>();
    Excess excess;
    if (loop) {
      const bool was_once = std::exchange(is_once_, true);
      Excess* outer_noted = std::exchange(noted_, &excess);
      const Excess* outer_taken = std::exchange(taken_, nullptr);
      stmt(loop->body);
      excess.share();
      noted_ = nullptr;
      if (excess.is_shared()) taken_ = &excess;
      For whole = *loop;
      whole.body = stmt(loop->body);
      result.body = make_stmt(std::move(whole));
      noted_ = outer_noted;
      taken_ = outer_taken;
      is_once_ = was_once;
    } else {
      result.body = stmt(attr.body);
    }
    is_inside_ = was_inside;
    const Stmt all = make_stmt(std::move(result));
    return excess.is_shared() ? excess.around(all) : all;
  }

  Stmt combined(const Seq& seq) {
    std::vector<Stmt> result;
    for (std::size_t n = 0; n < seq.stmts.size();) {
      const std::optional<Sum> first = sum_of(seq.stmts[n]);
      const auto count = static_cast<std::size_t>(first ? first->neighbours() : 1);
      if (!first || n + count > seq.stmts.size() || !are_neighbours(*first, seq.stmts, n, count)) {
        result.push_back(stmt(seq.stmts[n++]));
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
    if (taken_ && is_signed && is_once_) return taken_->add(sum, result);
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

  /// Whether the factor is the one that lies so many elements behind the other.
  bool follows(const Factor& first, const Factor& next, std::size_t by) const {
    if (!next.buffer.same_as(first.buffer) || next.stride != first.stride) return false;
    const Expr distance = substitute(next.base, lets_) - substitute(first.base, lets_);
    return constant_int(arith::simplify(distance)) == static_cast<std::int64_t>(by);
  }

  bool is_inside_ = false, is_once_ = false;
  Excess* noted_ = nullptr;
  const Excess* taken_ = nullptr;
  /// What indices are made of.
  VarMap lets_;
};

}  // namespace

PrimFunc combine_products(const PrimFunc& func, const PassOptions& options) {
  if (!options.has_dp4a) return func;
  PrimFunc result = func;
  result.body = Combiner().stmt(func.body);
  return result;
}

}  // namespace tenon::lowering
