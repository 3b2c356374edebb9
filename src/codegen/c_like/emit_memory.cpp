#include "codegen/c_like/function_emitter.h"
#include "tenon/support/error.h"
#include "tenon/support/float16.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

Text CFunctionEmitter::pointer(const Expr& data, DataType element) {
  const std::string type = memory_type(module_.dialect(), element);
  if (data.as<VarNode>()) {
    const CVariable& variable = find(data);
    if (variable.pointee == type || variable.pointee == "const " + type) return {variable.name};
    return {"((" + variable.space + type + "*)" + variable.name + ")"};
  }
  const std::string space = is_kernel() ? std::string(module_.dialect().device->of_global) : "";
  return {"((" + space + type + "*)" + expr(data).within(Level::Unary) + ")"};
}

std::pair<Text, Text> CFunctionEmitter::place_of(const Buffer& buffer, const Expr& position,
                                                 const Lane& lane) {
  const int group = buffer->dtype.lanes;
  const Text base = pointer(buffer->data, buffer->dtype);
  Text at = index(position, scaled(lane, group, false));
  if (group > 1) {
    const Text first = infix(at, "*", {std::to_string(group)}, Level::Product);
    const Lane within = scaled(lane, group, true);
    at = within.number == 0 ? first : infix(first, "+", within.text, Level::Sum);
  }
  return {base, at};
}

Text CFunctionEmitter::element(const Buffer& buffer, const Expr& position, const Lane& lane) {
  const auto [base, at] = place_of(buffer, position, lane);
  return {base.text + "[" + at.text + "]"};
}

void CFunctionEmitter::put(const Buffer& buffer, const Expr& position, const Lane& lane,
                           const Text& value) {
  const DataType t = buffer->dtype.element();
  if (!is_loaded_by_function(t)) {
    const Text target = element(buffer, position, lane);
    return out_.add(target.text + " = " + in_memory(value, t).text + ";");
  }
  const auto [base, at] = place_of(buffer, position, lane);
  out_.add(call("vstore_half", {value, at, base}).text + ";");
}

/// Stores a value. A constant of a 16-bit float type is emitted as its bit pattern.
void CFunctionEmitter::put(const Buffer& buffer, const Expr& position, const Lane& lane,
                           const Expr& value) {
  const Broadcast* same = value.as<Broadcast>();
  const FloatImm* constant = (same ? same->value : value).as<FloatImm>();
  const DataType t = buffer->dtype.element();
  if (!constant || t.bits != 16 || module_.dialect().half != HalfType::Bits)
    return put(buffer, position, lane, expr(value, lane));
  const unsigned bits =
      t.is_bfloat() ? BFloat16(constant->value).bits : Float16(constant->value).bits;
  out_.add(element(buffer, position, lane).text + " = " + std::to_string(bits) + ";");
}

Text CFunctionEmitter::load(const Load& n, const Lane& lane) {
  const DataType t = n.buffer->dtype.element();
  const Expr position = flat_index(n.buffer, n.indices);
  if (is_loaded_by_function(t)) {
    const auto [base, at] = place_of(n.buffer, position, lane);
    return call("vload_half", {at, base});
  }
  Text value = element(n.buffer, position, lane);
  if (is_opaque(n.buffer)) {
    const DataType in_memory = t.is_bool()                       ? UInt(8)
                               : t.is_floating() && t.bits == 16 ? UInt(16)
                                                                 : t;
    value = call(module_.use_helper(Helper::Opaque, in_memory), {value});
  }
  if (is_native_half(t)) return value;
  if (t.is_bool()) return {value.text + " != 0", Level::Equality};
  if (t.is_floating() && t.bits == 16)
    return call(module_.use_helper(Helper::ValueOfBits, t), {value});
  return value;
}

Text CFunctionEmitter::in_memory(const Text& value, DataType t) {
  if (!t.is_floating() || t.bits != 16 || is_native_half(t)) return value;
  return call(module_.use_helper(Helper::BitsOfValue, t), {value});
}

// ---- lanes ----

namespace {

/// Whether the expression contains shuffles, which select lanes by number.
bool picks_lanes(const Expr& e) { return contains<Shuffle>(e); }

/// Whether the lanes of the position provably address distinct elements.
bool names_different_elements(const Expr& position) {
  if (position.dtype().is_scalar()) return true;
  const Ramp* ramp = position.as<Ramp>();
  const auto stride = ramp ? constant_int(ramp->stride) : std::nullopt;
  return stride && *stride != 0;
}

}  // namespace

CFunctionEmitter::LaneOrder CFunctionEmitter::order_of(const Expr& value) {
  if (picks_lanes(value)) return LaneOrder::OneByOne;
  return effect_of(value) == Effect::UpdateState ? LaneOrder::Ascending : LaneOrder::Any;
}

void CFunctionEmitter::for_lanes(int lanes, LaneOrder order,
                                 const std::function<void(const Lane&)>& statement) {
  if (order == LaneOrder::OneByOne) {
    for (int lane = 0; lane < lanes; ++lane) statement(Lane::at(lane));
    return;
  }
  names_.open();
  const std::string lane = names_.take("lane");
  const std::string type = type_of(Int(32));
  const bool in_any_order = order == LaneOrder::Any && !is_kernel();
  if (in_any_order) module_.use_lanes();
  block((in_any_order ? "LANES for (" : "for (") + type + " " + lane + " = 0; " + lane + " < " +
            std::to_string(lanes) + "; ++" + lane + ")",
        [&] { statement(Lane::variable(lane)); });
  names_.close();
}

void CFunctionEmitter::keep_lanes(const std::string& name, const Expr& value) {
  const DataType t = value.dtype();
  out_.add(type_of(t.element()) + " " + name + "[" + std::to_string(t.lanes) + "];");
  for_lanes(t.lanes, order_of(value), [&](const Lane& lane) {
    const Text text = expr(value, lane);
    out_.add(name + "[" + lane.text.text + "] = " + text.text + ";");
  });
}

/// Whether storing the first lanes may change elements that `read` loads for later lanes.
bool CFunctionEmitter::may_change(const Expr& read, const Buffer& stored,
                                  const Expr& position) const {
  const CVariable& target = find(stored->data);
  // With a shuffle, several lanes may use the same element.
  const bool is_one_each = names_different_elements(position) && !picks_lanes(read);
  bool changes = false;
  walk(
      read,
      [&](const Load& n) {
        const CVariable& source = find(n.buffer->data);
        if (source.name != target.name) {
          changes |= !noalias_ && !source.is_local && !target.is_local;
          return;
        }
        // In this case, each lane only reads the element that the lane itself stores.
        const bool is_same = n.buffer->dtype == stored->dtype && is_one_each &&
                             structural_equal(flat_index(n.buffer, n.indices), position);
        changes |= !is_same;
      },
      [&](const Call& n) {
        const Intrin* intrin = std::get_if<Intrin>(&n.callee);
        changes |= !intrin || effect_of(*intrin) != Effect::Pure;
      });
  return changes;
}

void CFunctionEmitter::store_lanes(const Store& n, const Expr& position) {
  if (stored_lanes_.empty() && store_vector(n, position)) return;
  const DataType t = n.value.dtype();
  LaneOrder order = std::max(order_of(n.value), order_of(position));
  // If several lanes store to one element, the last lane's value must remain.
  if (!names_different_elements(position)) order = std::max(order, LaneOrder::Ascending);
  const bool moves = may_change(position, n.buffer, position);
  if (!moves && !may_change(n.value, n.buffer, position))
    return for_lanes(t.lanes, order, [&](const Lane& lane) {
      where_stored(lane, [&] { put(n.buffer, position, lane, n.value); });
    });
  // Computes all lanes before the first is stored.
  block("", [&] {
    const std::string values = names_.take("values");
    keep_lanes(values, n.value);
    Expr at = position;
    if (moves) {
      const Var positions("positions", position.dtype());
      const std::string name = names_.take("positions");
      keep_lanes(name, position);
      define(positions, {.name = name, .is_lanes = true, .is_index = true});
      at = positions;
    }
    for_lanes(t.lanes, order, [&](const Lane& lane) {
      where_stored(lane, [&] { put(n.buffer, at, lane, {values + "[" + lane.text.text + "]"}); });
    });
  });
}

/// Emits the statement. Inside a per-lane branch, only lanes that take the branch execute it.
void CFunctionEmitter::where_stored(const Lane& lane, const std::function<void()>& statement) {
  if (stored_lanes_.empty()) return statement();
  block("if (" + stored_lanes_ + "[" + lane.text.text + "])", statement);
}

}  // namespace tenon::codegen
