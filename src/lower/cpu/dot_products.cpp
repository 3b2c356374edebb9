#include "lower/cpu/dot_products.h"

#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

namespace {

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

}  // namespace

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

}  // namespace tenon::lowering
