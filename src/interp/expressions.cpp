// The interpreter (class Machine): evaluation of expressions, and memory accesses.
#include <algorithm>
#include <array>
#include <bit>

#include "interp/machine.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/literal_text.h"
#include "tenon/tir/print.h"

namespace tenon::interp {

namespace {

std::string index_text(std::span<const std::int64_t> indices) {
  std::string text;
  for (std::int64_t i : indices) text += (text.empty() ? "" : ", ") + std::to_string(i);
  return "[" + text + "]";
}

template <class F>
Value lanewise(int lanes, F f) {
  if (lanes == 1) return f(std::size_t{0});
  std::vector<Scalar> result;
  result.reserve(static_cast<std::size_t>(lanes));
  for (std::size_t n = 0; n < static_cast<std::size_t>(lanes); ++n) result.push_back(f(n));
  return Value(std::move(result));
}

Scalar lane_of(const Value& v, std::size_t lane) { return v[v.size() == 1 ? 0 : lane]; }

}  // namespace

std::vector<std::int64_t> Machine::eval_ints(const std::vector<Expr>& list, Thread& t) {
  std::vector<std::int64_t> values;
  for (const Expr& e : list) values.push_back(eval_int(e, t));
  return values;
}

Value Machine::eval_in(const Expr& e, std::vector<bool> lanes, Thread& t) {
  lanes_.swap(lanes);
  Value value = eval(e, t);
  lanes_.swap(lanes);
  return value;
}

/// Evaluates all lanes of `e` if any lane is enabled. Used for operands whose lanes do not
/// correspond to the lanes of the mask.
Value Machine::eval_unmasked(const Expr& e, Thread& t) {
  if (std::ranges::find(lanes_, true) != lanes_.end()) return eval_in(e, {}, t);
  return lanewise(e.dtype().lanes, [](std::size_t) { return integer(0); });
}

std::vector<bool> Machine::lanes_where(const Value& condition, bool wanted) const {
  std::vector<bool> result(condition.size());
  for (std::size_t l = 0; l < result.size(); ++l)
    result[l] = (lanes_.empty() || lanes_[l]) && (condition[l].i != 0) == wanted;
  return result;
}

/// Returns the lanes of one shuffle operand that the evaluated lanes of the result select. `picks`
/// numbers the lanes of all operands together; the lanes of this operand start at `begin`. An empty
/// result means all lanes.
std::vector<bool> Machine::lanes_picked(const std::vector<std::int64_t>& picks, std::size_t begin,
                                        int lanes) const {
  if (lanes_.empty()) return {};
  std::vector<bool> result(static_cast<std::size_t>(lanes));
  for (std::size_t l = 0; l < picks.size(); ++l) {
    const std::int64_t lane = picks[l] - static_cast<std::int64_t>(begin);
    if (lanes_[l] && lane >= 0 && lane < lanes) result[static_cast<std::size_t>(lane)] = true;
  }
  return result;
}

/// Returns the vector `condition ? if_true : if_false`. Each side is evaluated in its selected
/// lanes only.
Value Machine::choose_lanes(const Value& condition, const Expr& if_true, const Expr& if_false,
                            Thread& t) {
  const Value a = eval_in(if_true, lanes_where(condition, true), t);
  const Value b = eval_in(if_false, lanes_where(condition, false), t);
  return lanewise(static_cast<int>(condition.size()),
                  [&](std::size_t l) { return condition[l].i != 0 ? a[l] : b[l]; });
}

Value Machine::choose(const Expr& condition, const Expr& if_true, const Expr& if_false, Thread& t) {
  const Value c = eval(condition, t);
  if (c.size() > 1) return choose_lanes(c, if_true, if_false, t);
  return eval(c[0].i != 0 ? if_true : if_false, t);
}

Value Machine::eval(const Expr& e, Thread& t) {
  if (is_stack_low()) return with_deep_stack([&] { return eval(e, t); });
  const DataType type = e.dtype();
  if (!lanes_.empty() && static_cast<std::size_t>(type.lanes) != lanes_.size())
    return eval_unmasked(e, t);
  return match(
      e.node().value, [&](const IntImm& n) { return Value(integer(n.value)); },
      [&](const FloatImm& n) { return Value(floating(n.value)); },
      [&](const StringImm&) -> Value {
        throw RuntimeError("the interpreter does not support strings as values");
      },
      [&](const VarNode& n) {
        if (auto found = t.values.find(&e.node()); found != t.values.end()) return found->second;
        if (n.pointer) return Value(integer(address_of_pointer(e, t)));
        throw RuntimeError("variable `" + n.name + "` has no value");
      },
      [&](const Cast& n) {
        const Value v = eval(n.value, t);
        return lanewise(type.lanes, [&](std::size_t l) {
          return convert(v[l], n.value.dtype(), type.element());
        });
      },
      [&](const Binary& n) { return binary(e, n, t); },
      [&](const Not& n) {
        const Value v = eval(n.a, t);
        return lanewise(type.lanes, [&](std::size_t l) { return integer(v[l].i == 0); });
      },
      [&](const Select& n) { return choose(n.condition, n.if_true, n.if_false, t); },
      [&](const Ramp& n) {
        const std::int64_t base = eval_int(n.base, t), stride = eval_int(n.stride, t);
        return lanewise(n.lanes, [&](std::size_t l) {
          const Scalar step = apply(BinaryOp::Mul, integer(stride),
                                    integer(static_cast<std::int64_t>(l)), type.element());
          return apply(BinaryOp::Add, integer(base), step, type.element());
        });
      },
      [&](const Broadcast& n) {
        const Value v = eval(n.value, t);
        return lanewise(n.lanes, [&](std::size_t) { return v[0]; });
      },
      [&](const Shuffle& n) {
        const std::vector<std::int64_t> picks = eval_ints(n.indices, t);
        std::vector<Scalar> pool, picked;
        for (const Expr& vector : n.vectors) {
          const Value v =
              eval_in(vector, lanes_picked(picks, pool.size(), vector.dtype().lanes), t);
          for (std::size_t l = 0; l < v.size(); ++l) pool.push_back(v[l]);
        }
        for (const std::int64_t lane : picks) {
          if (lane < 0 || static_cast<std::size_t>(lane) >= pool.size())
            throw RuntimeError("a shuffle picks lane " + std::to_string(lane) + " of " +
                               std::to_string(pool.size()));
          picked.push_back(pool[static_cast<std::size_t>(lane)]);
        }
        return Value(std::move(picked));
      },
      [&](const LetExpr& n) {
        t.values.insert_or_assign(&n.var.node(), eval(n.value, t));
        return eval(n.body, t);
      },
      [&](const Call& n) { return call(e, n, t); }, [&](const Load& n) { return load(n, t); },
      [&](const ProducerLoad& n) -> Value {
        internal_error("the interpreter met a read of tensor `" + n.producer->name() + "`");
      },
      [&](const Reduce&) -> Value { internal_error("the interpreter met a reduction"); });
}

Value Machine::binary(const Expr& e, const Binary& n, Thread& t) {
  const Value a = eval(n.a, t);
  // If the left operand of a logical operator decides the result, the right one is not evaluated.
  if (n.op == BinaryOp::And && a.size() == 1 && a[0].i == 0) return a;
  if (n.op == BinaryOp::Or && a.size() == 1 && a[0].i != 0) return a;
  const int lanes = e.dtype().lanes;
  if (n.op == BinaryOp::And && lanes > 1) return choose_lanes(a, n.b, make_false(lanes), t);
  if (n.op == BinaryOp::Or && lanes > 1) return choose_lanes(a, make_true(lanes), n.b, t);
  const Value b = eval(n.b, t);
  const DataType element = n.a.dtype().element();
  return lanewise(lanes, [&](std::size_t l) {
    if (!lanes_.empty() && !lanes_[l]) return integer(0);
    return apply(n.op, a[l], b[l], element);
  });
}

Value Machine::call(const Expr& e, const Call& n, Thread& t) {
  if (const auto* callee = std::get_if<ExternCallee>(&n.callee))
    return extern_call(e, *callee, n.args, t);
  const Intrin intrin = std::get<Intrin>(n.callee);
  switch (intrin) {
    case Intrin::likely:
      return eval(n.args[0], t);
    case Intrin::if_then_else:
      return choose(n.args[0], n.args[1], n.args[2], t);
    case Intrin::prefetch:
    case Intrin::type_annotation:
    case Intrin::tvm_storage_sync:
      return integer(0);
    case Intrin::tvm_access_ptr: {
      const std::int64_t base = address_of_pointer(n.args[1], t);
      return integer(base + eval_int(n.args[2], t) * n.args[0].dtype().bytes());
    }
    case Intrin::address_of: {
      const Load* target = n.args[0].as<Load>();
      internal_check(target != nullptr, "address_of of something that is no load");
      const std::vector<std::int64_t> indices = eval_ints(target->indices, t);
      return integer(
          reinterpret_cast<std::intptr_t>(locate(target->buffer, indices, t, false).address));
    }
    case Intrin::handle_add_byte_offset:
      return integer(eval_int(n.args[0], t) + eval_int(n.args[1], t));
    case Intrin::tvm_warp_shuffle:
    case Intrin::tvm_warp_shuffle_up:
    case Intrin::tvm_warp_shuffle_down:
      return shuffle(intrin, n, t);
    case Intrin::tvm_warp_activemask:
      return integer(0xffffffff);
    case Intrin::ptx_cp_async:
      begin_copy(n, t);
      return integer(0);
    case Intrin::ptx_commit_group:
      t.groups_of_copies.push_back(std::move(t.copies));
      t.copies.clear();
      return integer(0);
    case Intrin::ptx_wait_group:
      end_copies(static_cast<std::size_t>(eval_int(n.args[0], t)), t);
      return integer(0);
    case Intrin::dp4a:
      return sums_of_products(n, t);
    case Intrin::tvm_call_packed:
      packed_call(n, t);
    default:
      break;
  }
  if (n.args.empty()) throw RuntimeError("the interpreter cannot evaluate " + print_expr(e));
  std::vector<Value> values;
  for (const Expr& arg : n.args) values.push_back(eval(arg, t));
  const DataType element = n.args[0].dtype().element();
  return lanewise(e.dtype().lanes, [&](std::size_t l) {
    std::vector<Scalar> args;
    for (const Value& v : values) args.push_back(lane_of(v, l));
    return apply(intrin, args, element, e.dtype().element());
  });
}

Value Machine::extern_call(const Expr& e, const ExternCallee& callee, const std::vector<Expr>& args,
                           Thread& t) {
  if (!options_.call_extern)
    throw RuntimeError("the interpreter has no implementation of the extern function `" +
                       callee.name + "`");
  std::vector<HostValue> values;
  for (const Expr& arg : args) {
    if (arg.as<StringImm>()) {
      values.emplace_back(std::int64_t{0});
      continue;
    }
    const Scalar v = eval(arg, t)[0];
    if (arg.dtype().is_floating()) {
      values.emplace_back(v.d);
    } else {
      values.emplace_back(v.i);
    }
  }
  const double result = options_.call_extern(callee.name, values);
  return e.dtype().is_floating() ? floating(result) : integer(static_cast<std::int64_t>(result));
}

/// Computes sums of products (dp4a): each lane of `c` plus the products of the elements packed in
/// `a` and `b`.
Value Machine::sums_of_products(const Call& n, Thread& t) {
  const Value a = eval(n.args[0], t), b = eval(n.args[1], t), sums = eval(n.args[2], t);
  const DataType type = n.args[2].dtype().element(), factor = n.args[0].dtype().element();
  const auto neighbours = static_cast<std::size_t>(type.bits / factor.bits);
  const auto number = [&](Scalar x) {
    if (factor != UInt(16)) return x;
    return floating(std::bit_cast<float>(static_cast<std::uint32_t>(x.i) << 16));
  };
  return lanewise(n.args[2].dtype().lanes, [&](std::size_t l) {
    Scalar sum = sums[l];
    for (std::size_t k = l * neighbours; k < (l + 1) * neighbours; ++k)
      sum = apply(BinaryOp::Add, sum, apply(BinaryOp::Mul, number(a[k]), number(b[k]), type), type);
    return sum;
  });
}

/// Evaluates a warp shuffle with the arguments (mask, value, lane or distance, width, warp size).
/// Returns the value that the source lane computes. If the source lane is not among the `width`
/// lanes that exchange values, returns the thread's own value.
Value Machine::shuffle(Intrin intrin, const Call& n, Thread& t) {
  const std::int64_t by = eval_int(n.args[2], t), width = eval_int(n.args[3], t);
  const std::int64_t own = t.position, lane = own % width;
  const std::int64_t from = intrin == Intrin::tvm_warp_shuffle      ? by % width
                            : intrin == Intrin::tvm_warp_shuffle_up ? lane - by
                                                                    : lane + by;
  if (from < 0 || from >= width) return eval(n.args[1], t);
  for (Thread& thread : threads_)
    if (thread.position == own - lane + from) return eval(n.args[1], thread);
  return eval(n.args[1], t);
}

// ---- memory -------------------------------------------------------------------------------------

template <class F>
void Machine::for_each_lane(const std::vector<Expr>& indices, Thread& t, F f) {
  std::vector<std::int64_t> at = eval_ints(indices, t);
  const int lanes = indices.empty() ? 1 : indices.back().dtype().lanes;
  if (lanes == 1) return f(std::size_t{0}, std::span<const std::int64_t>(at));
  const Value last = eval(indices.back(), t);
  for (std::size_t l = 0; l < static_cast<std::size_t>(lanes); ++l) {
    at.back() = last[l].i;
    f(l, std::span<const std::int64_t>(at));
  }
}

Value Machine::load(const Load& n, Thread& t) {
  const DataType element = n.buffer->dtype.element();
  const int width = n.buffer->dtype.lanes;
  std::vector<Scalar> lanes;
  std::vector<std::int64_t> offsets;
  for_each_lane(n.indices, t, [&](std::size_t, std::span<const std::int64_t> at) {
    if (!lanes_.empty()) {
      // An element of vector type covers several lanes of the mask.
      const auto first = lanes_.begin() + static_cast<std::ptrdiff_t>(lanes.size());
      if (std::find(first, first + width, true) == first + width) {
        lanes.resize(lanes.size() + static_cast<std::size_t>(width), integer(0));
        return;
      }
    }
    const Place place = locate(n.buffer, at, t, false, &n);
    offsets.push_back(place.offset);
    for (int w = 0; w < width; ++w)
      lanes.push_back(read_element(place.address + w * element.bytes(), element));
  });
  if (options_.on_warp_access)
    note_warp_access(&n, n.buffer, false, t, offsets, n.buffer->dtype.bytes());
  if (lanes.size() == 1) return lanes.front();
  return Value(std::move(lanes));
}

namespace {

/// Returns a number that identifies the hardware thread, regardless of how the loops over threads
/// are nested.
std::int64_t place_in_block(const Thread& t) {
  std::int64_t place = 0;
  for (const auto& [tag, value] : t.coordinates)
    if (tag.is_thread()) place += value << (20 * tag.dim.value_or(0));
  return place;
}

/// Returns a number that identifies the block of a launch. Only blockIdx.x may have 2^31 - 1
/// blocks.
std::int64_t place_of_block(const Thread& t) {
  static constexpr std::array<int, 3> kShifts = {0, 31, 47};
  std::int64_t place = 0;
  for (const auto& [tag, value] : t.coordinates)
    if (tag.is_block()) place += value << kShifts[static_cast<std::size_t>(tag.dim.value_or(0))];
  return place;
}

}  // namespace

void Machine::store(const Store& n, const Value& value, Thread& t) {
  const auto width = static_cast<std::size_t>(n.buffer->dtype.lanes);
  std::vector<Scalar> elements(width);
  std::size_t lane = 0;
  std::vector<std::int64_t> offsets;
  for_each_lane(n.indices, t, [&](std::size_t, std::span<const std::int64_t> at) {
    for (Scalar& element : elements) element = value[lane++];
    if (!lanes_.empty() && !lanes_[lane - 1]) return;
    const Place place = locate(n.buffer, at, t, true);
    offsets.push_back(place.offset);
    write(place, elements, n.buffer, at, t);
  });
  if (options_.on_warp_access)
    note_warp_access(&n, n.buffer, true, t, offsets, n.buffer->dtype.bytes());
}

void Machine::write(const Place& place, std::span<const Scalar> elements, const Buffer& buffer,
                    std::span<const std::int64_t> indices, Thread& t) {
  const DataType element = buffer->dtype.element();
  const std::size_t bytes = elements.size() * static_cast<std::size_t>(element.bytes());
  const bool checks = options_.check_races && place.is_shared;
  const std::vector<std::byte> before(place.address, place.address + (checks ? bytes : 0));
  std::byte* at = place.address;
  for (const Scalar& value : elements) {
    write_element(at, value, element);
    at += element.bytes();
  }
  if (!place.memory) return;
  const bool changes = !std::equal(before.begin(), before.end(), place.address);
  note_write(place, static_cast<std::int64_t>(bytes), changes, t,
             [&] { return buffer->name + index_text(indices); });
}

void Machine::check_order(const Thread& t, ElementName name, bool is_write,
                          FunctionRef<bool(const User&)> note) const {
  const char* const verb = is_write ? " is written by one " : " is read by one ";
  if (!note(User{false, place_in_block(t), barriers_}))
    throw RuntimeError("a race: " + name() + verb +
                       "thread and used by another, with no barrier between");
  if (!note(User{true, place_of_block(t), launches_}))
    throw RuntimeError("a race: " + name() + verb +
                       "block and used by another of the same launch, which nothing orders");
}

void Machine::out_of_bounds(const Buffer& buffer, std::span<const std::int64_t> indices,
                            bool is_write) {
  throw RuntimeError(std::string(is_write ? "a write" : "a read") + " outside buffer `" +
                     buffer->name + "`: " + buffer->name + index_text(indices));
}

Machine::Place Machine::locate(const Buffer& buffer, std::span<const std::int64_t> indices,
                               Thread& t, bool is_write, const Load* load) {
  const int bytes = buffer->dtype.bytes();
  std::shared_ptr<Storage> storage;
  std::int64_t element = 0;
  if (auto found = regions_.find(buffer.get()); found != regions_.end()) {
    storage = found->second.storage;
    const Layout& layout = found->second.of(t);
    if (options_.on_access)
      options_.on_access({buffer.get(), indices, is_write, load, found->second.number,
                          storage->copy_of(t), layout.mins, layout.extents});
    internal_check(indices.size() == layout.mins.size(),
                   "an index of the wrong rank in the interpreter");
    element = layout.base;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const std::int64_t at = indices[d] - layout.mins[d];
      if (at < 0 || at >= layout.extents[d]) out_of_bounds(buffer, indices, is_write);
      element += at * layout.strides[d];
    }
  } else {
    if (options_.on_access) options_.on_access({buffer.get(), indices, is_write, load});
    for (std::size_t d = 0; d < indices.size(); ++d)
      element = (d == 0 ? 0 : element * eval_int(buffer->shape[d], t)) + indices[d];
    auto own = storages_.find(&buffer->data.node());
    if (own == storages_.end()) {
      const std::int64_t raw = eval_int(buffer->data, t) + element * bytes;
      return {nullptr, reinterpret_cast<std::byte*>(raw), 0, false};
    }
    storage = own->second;
  }
  Memory& memory = *storage->of(t);
  const std::int64_t offset = element * bytes;
  if (offset < 0 || offset + bytes > memory.bytes()) out_of_bounds(buffer, indices, is_write);
  const Place place{&memory, memory.data() + offset, offset, storage->is_shared};
  if (!is_write) note_read(place, bytes, t, [&] { return buffer->name + index_text(indices); });
  return place;
}

Machine::Place Machine::locate(const Call& address, std::int64_t element, Thread& t,
                               bool is_write) {
  internal_check(address.is(Intrin::tvm_access_ptr), "an address that is not a tvm_access_ptr");
  const std::string& name = Var::of(address.args[1]).name();
  const auto own = storages_.find(&address.args[1].node());
  if (own == storages_.end()) throw RuntimeError("pointer `" + name + "` has no memory here");
  Storage& storage = *own->second;
  Memory& memory = *storage.of(t);
  const int bytes = address.args[0].dtype().element().bytes();
  const std::int64_t first = eval_int(address.args[2], t) * address.args[0].dtype().lanes;
  const std::int64_t offset = (first + element) * bytes;
  const std::string accessed = name + "[" + std::to_string(first + element) + "]";
  if (offset < 0 || offset + bytes > memory.bytes())
    throw RuntimeError(std::string(is_write ? "a write" : "a read") + " outside of memory `" +
                       name + "`: " + accessed);
  const Place place{&memory, memory.data() + offset, offset, storage.is_shared};
  if (!is_write) note_read(place, bytes, t, [&] { return accessed; });
  return place;
}

void Machine::note_read(const Place& place, std::int64_t bytes, const Thread& t, ElementName name) {
  if (options_.check_uninitialized && !place.memory->is_written(place.offset, bytes))
    throw RuntimeError("a read of an element never written: " + name());
  if (!options_.check_races || !place.is_shared) return;
  check_order(t, name, false,
              [&](const User& user) { return place.memory->note_read(place.offset, bytes, user); });
}

void Machine::note_write(const Place& place, std::int64_t bytes, bool changes, const Thread& t,
                         ElementName name) {
  place.memory->mark_written(place.offset, bytes);
  if (!options_.check_races || !place.is_shared) return;
  check_order(t, name, true, [&](const User& user) {
    return place.memory->note_write(place.offset, bytes, user, changes);
  });
}

std::int64_t Machine::address_of_pointer(const Expr& data, Thread& t) {
  if (auto found = storages_.find(&data.node()); found != storages_.end())
    return reinterpret_cast<std::intptr_t>(found->second->of(t)->data());
  auto value = t.values.find(&data.node());
  if (value == t.values.end())
    throw RuntimeError("pointer `" + Var::of(data).name() + "` has no memory here");
  return value->second.integer();
}

}  // namespace tenon::interp
