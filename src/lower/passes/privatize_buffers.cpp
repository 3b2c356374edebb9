#include "lower/passes/privatize_buffers.h"

#include "lower/accumulation.h"
#include "lower/vector_body.h"
#include "tenon/arith/index_terms.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Larger memory would not be registers, and would cost the stack too much.
constexpr std::int64_t kMostBytes = 1024;
/// Statements that are followed, iteration by iteration, to see what they fill.
constexpr int kMostSteps = 1024;

bool mentions(const Stmt& s, const Var& data) {
  bool found = uses_var(s, data);
  walk(
      s, [&](const Store& store) { found = found || store.buffer->data.same_as(data); },
      [&](const Load& load) { found = found || load.buffer->data.same_as(data); });
  return found;
}

bool mentions(const Expr& e, const Var& data) { return uses_var(e, data) || reads(e, data); }

/// Follows a statement from its beginning until it has stored every element of the memory, or
/// loads one that it has not stored.
class Filling {
 public:
  Filling(const Var& data, std::int64_t elements)
      : data_(data), is_stored_(static_cast<std::size_t>(elements), false), missing_(elements) {}

  bool comes_first_in(const Stmt& s) { return follow(s) && missing_ == 0; }

 private:
  /// False where it goes no further.
  bool follow(const Stmt& s) {
    if (missing_ == 0) return true;
    if (++steps_ > kMostSteps) return false;
    if (const Seq* seq = s.as<Seq>())
      return std::all_of(seq->stmts.begin(), seq->stmts.end(),
                         [&](const Stmt& part) { return follow(part); });
    if (const Let* let = s.as<Let>()) {
      if (!loads_stored(let->value)) return false;
      set(values_, let->var, substitute_folding(let->value, values_));
      return follow(let->body);
    }
    if (const Store* store = s.as<Store>()) return follow(*store);
    if (!mentions(s, data_)) return true;
    if (const Attr* attr = s.as<Attr>()) return follow(attr->body);
    if (const Allocate* inner = s.as<Allocate>()) return follow(inner->body);
    const For* loop = s.as<For>();
    const auto begin = loop ? constant_int(loop->min) : std::nullopt;
    const auto extent = loop ? constant_int(loop->extent) : std::nullopt;
    if (!begin || !extent || loop->kind != ForKind::Serial) return false;
    for (std::int64_t n = 0; n < *extent && missing_ > 0; ++n) {
      set(values_, loop->var, make_int(loop->var.dtype(), *begin + n));
      if (!follow(loop->body)) return false;
    }
    return true;
  }

  bool follow(const Store& store) {
    if (!loads_stored(store.value) || !loads_stored(store.indices[0])) return false;
    if (!store.buffer->data.same_as(data_)) return true;
    return for_each_element(store.indices[0], [&](std::size_t element) {
      if (!is_stored_[element]) --missing_;
      is_stored_[element] = true;
      return true;
    });
  }

  bool loads_stored(const Expr& e) {
    bool fine = true;
    walk(e, [&](const Load& load) {
      if (!load.buffer->data.same_as(data_)) return;
      fine = fine && for_each_element(load.indices[0],
                                      [&](std::size_t element) { return is_stored_[element]; });
    });
    return fine;
  }

  template <class F>
  bool for_each_element(const Expr& index, F&& f) {
    const Expr now = substitute_folding(index, values_);
    const Ramp* ramp = now.as<Ramp>();
    const auto first = constant_int(ramp ? ramp->base : now);
    const auto stride = ramp ? constant_int(ramp->stride) : std::optional<std::int64_t>(0);
    if (!first || !stride) return false;
    for (int lane = 0; lane < (ramp ? ramp->lanes : 1); ++lane) {
      const std::int64_t element = *first + lane * *stride;
      if (element < 0 || element >= static_cast<std::int64_t>(is_stored_.size())) return false;
      if (!f(static_cast<std::size_t>(element))) return false;
    }
    return true;
  }

  const Var& data_;
  std::vector<bool> is_stored_;
  std::int64_t missing_;
  int steps_ = 0;
  /// Loop variables in the iteration that is followed, and lets.
  VarMap values_;
};

std::optional<std::int64_t> elements_of(const Allocate& memory) {
  std::int64_t elements = 1;
  for (const Expr& extent : memory.extents) {
    const auto number = constant_int(extent);
    if (!number || *number < 1 || *number > kMostBytes) return std::nullopt;
    elements *= *number;
    if (elements * memory.dtype.bytes() > kMostBytes) return std::nullopt;
  }
  return elements;
}

/// Whether it is only loaded from and stored to, as elements of its own type.
bool has_plain_uses(const Allocate& memory) {
  bool plain = !uses_var(memory.body, memory.data);
  const auto check = [&](const Buffer& buffer, const std::vector<Expr>& indices) {
    if (!buffer->data.same_as(memory.data)) return;
    plain = plain && buffer->dtype == memory.dtype && indices.size() == 1;
  };
  walk(
      memory.body, [&](const Store& store) { check(store.buffer, store.indices); },
      [&](const Load& load) { check(load.buffer, load.indices); });
  return plain;
}

class Privatizer {
 public:
  /// Memory that is allocated inside first.
  Stmt stmt(const Stmt& s) const {
    const Stmt inside = map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return stmt(child); });
    const Allocate* memory = inside.as<Allocate>();
    if (!memory || memory->double_buffer || !is_true(memory->condition)) return inside;
    const std::optional<std::int64_t> elements = elements_of(*memory);
    if (!elements || !has_plain_uses(*memory)) return inside;
    const Stmt* loop = innermost_filler(*memory, *elements);
    return loop ? moved(memory->body, *loop, *memory) : inside;
  }

 private:
  /// The innermost loop that is around all uses and fills the memory in each iteration.
  static const Stmt* innermost_filler(const Allocate& memory, std::int64_t elements) {
    const Stmt* best = nullptr;
    for (const Stmt* at = &memory.body; at != nullptr;) {
      const Stmt* next = nullptr;
      if (const For* loop = at->as<For>()) {
        if (loop->kind != ForKind::Serial && loop->kind != ForKind::Parallel) break;
        if (Filling(memory.data, elements).comes_first_in(loop->body)) best = at;
        next = &loop->body;
      } else if (const Let* let = at->as<Let>()) {
        if (mentions(let->value, memory.data)) break;
        next = &let->body;
      } else if (const Attr* attr = at->as<Attr>()) {
        next = &attr->body;
      } else if (const Allocate* other = at->as<Allocate>()) {
        next = &other->body;
      } else if (const Seq* seq = at->as<Seq>()) {
        for (const Stmt& part : seq->stmts) {
          if (!mentions(part, memory.data)) continue;
          if (next) return best;
          next = &part;
        }
      }
      at = next;
    }
    return best;
  }

  /// The memory allocated in the loop instead of around the statement.
  static Stmt moved(const Stmt& s, const Stmt& loop, const Allocate& memory) {
    if (s.same_as(loop)) {
      For next = *loop.as<For>();
      Allocate own = memory;
      own.body = next.body;
      next.body = make_stmt(std::move(own));
      return make_stmt(std::move(next));
    }
    return map_children(
        s, [](const Expr& e) { return e; },
        [&](const Stmt& child) { return moved(child, loop, memory); });
  }
};

}  // namespace

PrimFunc privatize_buffers(const PrimFunc& func, const PassOptions&) {
  if (!func.attrs.noalias || renames_memory(func.body)) return func;
  PrimFunc result = func;
  result.body = Privatizer().stmt(func.body);
  return result;
}

}  // namespace tenon::lowering
