#include "driver/constants.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "tenon/tir/make.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"

namespace tenon {

namespace {

using tir::Buffer;
using tir::Expr;
using tir::PrimFunc;
using tir::Realize;
using tir::Stmt;
using tir::Var;

/// Memory is identified by its data pointer, because several buffers may refer to the same memory.
using Memory = const tir::ExprNode*;
using MemorySet = std::set<Memory>;

Memory memory_of(const Buffer& buffer) { return &buffer->data.node(); }

/// A top-level statement outside of all loops, with the memory that it accesses.
struct Step {
  MemorySet reads, writes;
  /// The memory that is accessed through views or prefetched.
  MemorySet viewed;
  /// Whether the statement depends only on the elements that it reads, and its only effects are
  /// stores to buffers.
  bool is_closed = true;
};

Step step_of(const Stmt& s) {
  Step step;
  MemorySet own, sources;
  tir::walk(
      s, [&](const tir::Load& load) { step.reads.insert(memory_of(load.buffer)); },
      [&](const tir::Store& store) { step.writes.insert(memory_of(store.buffer)); },
      [&](const Realize& realize) { own.insert(memory_of(realize.buffer)); },
      [&](const tir::BufferView& view) {
        step.is_closed = false;
        own.insert(memory_of(view.view));
        sources.insert(memory_of(view.source));
      },
      [&](const tir::Prefetch& prefetch) { step.viewed.insert(memory_of(prefetch.buffer)); },
      [&](const tir::Call& call) {
        const tir::Intrin* intrin = std::get_if<tir::Intrin>(&call.callee);
        step.is_closed &= intrin && tir::effect_of(*intrin) == tir::Effect::Pure;
      },
      [&](const tir::While&) { step.is_closed = false; },
      [&](const tir::Assert&) { step.is_closed = false; });
  for (MemorySet* accessed : {&step.reads, &step.writes}) {
    accessed->insert(sources.begin(), sources.end());
    std::erase_if(*accessed, [&](Memory memory) { return own.contains(memory); });
  }
  step.viewed.insert(sources.begin(), sources.end());
  step.is_closed &= std::ranges::none_of(tir::free_vars(s),
                                         [](const Var& var) { return !var.dtype().is_handle(); });
  return step;
}

/// Whether the memory can become an array argument: a whole array of constant shape in global
/// memory.
bool is_plain(const Realize& realize) {
  return !realize.traits.double_buffer && !realize.traits.rolling_buffer &&
         tir::is_true(realize.condition) && realize.buffer->scope() == tir::StorageScope::Global &&
         std::ranges::all_of(realize.bounds, [](const tir::Range& range) {
           return tir::is_zero(range.min) && tir::constant_int(range.extent);
         });
}

/// Returns the strides of memory whose rows are padded.
std::vector<Expr> padded_strides(const Realize& realize) {
  std::vector<Expr> strides(realize.bounds.size(), 1);
  std::int64_t stride = 1;
  for (std::size_t n = strides.size(); n-- > 0;) {
    for (const Realize::DimAlign& align : realize.traits.align)
      if (static_cast<std::size_t>(align.dim) == n)
        stride += ((align.offset - stride) % align.factor + align.factor) % align.factor;
    strides[n] = tir::make_const(Int(32), stride);
    stride *= *tir::constant_int(realize.bounds[n].extent);
  }
  return strides;
}

class Separation {
 public:
  Separation(const PrimFunc& func, const std::vector<Var>& constants) : func_(func) {
    for (const tir::BufferParam& array : func.buffers)
      if (std::ranges::any_of(constants,
                              [&](const Var& constant) { return constant.same_as(array.param); }))
        constant_.insert(memory_of(array.buffer));
    collect(func.body);
    // A result may be bound to the same array as an input, which is then not constant.
    for (const Step& step : steps_)
      for (Memory memory : step.writes) constant_.erase(memory);
    const MemorySet inputs = constant_;
    for (const auto& [memory, realize] : realized_)
      if (is_plain(realize)) constant_.insert(memory);
    // Views of padded memory are multi-dimensional, but its replacement is not. Such memory is
    // therefore not moved.
    for (const Step& step : steps_)
      for (Memory memory : step.viewed)
        if (const auto found = realized_.find(memory);
            found != realized_.end() && !found->second.traits.align.empty())
          constant_.erase(memory);
    while (remove_one()) {
    }
    MemorySet read;
    for (const Step& step : steps_)
      if (!moves(step)) read.insert(step.reads.begin(), step.reads.end());
    for (Memory memory : in_order_)
      if (read.contains(memory) && constant_.contains(memory) && !inputs.contains(memory))
        add_shared(realized_.at(memory));
  }

  std::vector<PrimFunc> functions() const {
    if (shared_.empty()) return {func_};
    PrimFunc rest = func_, prepared = func_;
    prepared.attrs.global_symbol += "_constants";
    prepared.body = with_shared(*part(func_.body, true));
    rest.body = with_shared(*part(func_.body, false));
    for (PrimFunc* one : {&rest, &prepared}) keep_used_parameters(*one, one == &prepared);
    return {rest, prepared};
  }

 private:
  /// Collects the statements and allocations outside of all loops.
  void collect(const Stmt& s) {
    if (const tir::Seq* seq = s.as<tir::Seq>()) {
      for (const Stmt& child : seq->stmts) collect(child);
    } else if (const Realize* realize = s.as<Realize>()) {
      if (realized_.emplace(memory_of(realize->buffer), *realize).second)
        in_order_.push_back(memory_of(realize->buffer));
      collect(realize->body);
    } else {
      steps_.push_back(step_of(s));
    }
  }

  /// Whether the step moves to the function that computes the constants.
  bool moves(const Step& step) const {
    const auto is_constant = [&](Memory memory) { return constant_.contains(memory); };
    return step.is_closed && !step.writes.empty() && std::ranges::all_of(step.reads, is_constant) &&
           std::ranges::all_of(step.writes, is_constant);
  }

  /// Finds memory that cannot move: either a step that stays writes it, or a step that stays reads
  /// it before a later write. Removes the first such memory from `constant_`. Returns whether there
  /// was any.
  bool remove_one() {
    MemorySet read;
    for (const Step& step : steps_) {
      const bool is_moved = moves(step);
      for (Memory memory : step.writes)
        if ((!is_moved || read.contains(memory)) && constant_.erase(memory) > 0) return true;
      if (!is_moved) read.insert(step.reads.begin(), step.reads.end());
    }
    return false;
  }

  void add_shared(const Realize& realize) {
    std::vector<Expr> shape;
    for (const tir::Range& range : realize.bounds) shape.push_back(range.extent);
    if (!realize.traits.align.empty()) shape = {shape.front() * padded_strides(realize).front()};
    const Buffer array =
        tir::decl_buffer(shape, realize.buffer->dtype, {.name = realize.buffer->name});
    replaced_.emplace(memory_of(realize.buffer), array);
    shared_.push_back({Var(array->name, Handle()), array, array});
  }

  /// Returns the statements that move or, if `moved` is false, the statements that stay. Nullopt if
  /// there are no such statements.
  std::optional<Stmt> part(const Stmt& s, bool moved) const {
    if (const tir::Seq* seq = s.as<tir::Seq>()) {
      std::vector<Stmt> kept;
      for (const Stmt& child : seq->stmts)
        if (const std::optional<Stmt> own = part(child, moved)) kept.push_back(*own);
      return kept.empty() ? std::nullopt : std::optional(tir::make_seq(kept));
    }
    if (const Realize* realize = s.as<Realize>()) {
      const std::optional<Stmt> body = part(realize->body, moved);
      const Memory memory = memory_of(realize->buffer);
      if (!body || replaced_.contains(memory) || constant_.contains(memory) != moved) return body;
      Realize copy = *realize;
      copy.body = *body;
      return tir::make_stmt(copy);
    }
    return moves(step_of(s)) == moved ? std::optional(s) : std::nullopt;
  }

  /// Replaces the accesses to intermediate buffers that became parameters.
  Stmt with_shared(const Stmt& s) const {
    const auto replaced = [&](const Buffer& buffer) -> const Buffer* {
      const auto found = replaced_.find(memory_of(buffer));
      return found == replaced_.end() ? nullptr : &found->second;
    };
    // Returns the indices of an element in the array that replaces the memory.
    const auto replaced_indices = [&](const Buffer& buffer, const std::vector<Expr>& indices) {
      const Realize& realize = realized_.at(memory_of(buffer));
      if (realize.traits.align.empty()) return indices;
      const std::vector<Expr> strides = padded_strides(realize);
      Expr flat = indices.back();
      for (std::size_t n = 0; n + 1 < strides.size(); ++n) flat = flat + indices[n] * strides[n];
      return std::vector{flat};
    };
    return tir::rewrite(
        s,
        [&](const tir::Load& load, const Expr&) -> std::optional<Expr> {
          const Buffer* to = replaced(load.buffer);
          if (!to) return std::nullopt;
          return tir::make_load(*to, replaced_indices(load.buffer, load.indices));
        },
        [&](const tir::Store& store, const Stmt&) -> std::optional<Stmt> {
          const Buffer* to = replaced(store.buffer);
          if (!to) return std::nullopt;
          return tir::make_store(*to, store.value, replaced_indices(store.buffer, store.indices));
        },
        [&](const tir::BufferView& view, const Stmt&) -> std::optional<Stmt> {
          const Buffer* to = replaced(view.source);
          if (!to) return std::nullopt;
          return tir::make_stmt(tir::BufferView{view.view, *to, view.region, view.body});
        },
        [&](const tir::Prefetch& prefetch, const Stmt&) -> std::optional<Stmt> {
          const Buffer* to = replaced(prefetch.buffer);
          if (!to) return std::nullopt;
          return tir::make_stmt(tir::Prefetch{*to, prefetch.region});
        });
  }

  /// Removes the parameters of constants that the function does not read. If the function computes
  /// the constants, removes all other parameters too. Adds the shared arrays.
  void keep_used_parameters(PrimFunc& func, bool is_of_constants) const {
    MemorySet used;
    for (const Step& step : steps_)
      if (moves(step) == is_of_constants) used.insert(step.reads.begin(), step.reads.end());
    std::vector<Var> params;
    for (const Var& param : func.params) {
      const tir::BufferParam* array = func.buffer_of(param);
      const bool is_constant = array && constant_.contains(memory_of(array->buffer));
      if (is_constant ? used.contains(memory_of(array->buffer)) : !is_of_constants)
        params.push_back(param);
    }
    std::erase_if(func.buffers, [&](const tir::BufferParam& array) {
      return std::ranges::none_of(params,
                                  [&](const Var& param) { return param.same_as(array.param); });
    });
    for (const tir::BufferParam& array : shared_) {
      params.push_back(array.param);
      func.buffers.push_back(array);
    }
    func.params = params;
  }

  const PrimFunc& func_;
  std::vector<Step> steps_;
  std::unordered_map<Memory, Realize> realized_;
  /// The keys of `realized_` in program order, which determines the order of the new parameters.
  std::vector<Memory> in_order_;
  /// The memory whose elements depend only on constants.
  MemorySet constant_;
  /// The new parameters of both functions. Each replaces an intermediate buffer. The parameter is
  /// one-dimensional if the memory is padded.
  std::vector<tir::BufferParam> shared_;
  /// Maps memory to the array that replaces it.
  std::unordered_map<Memory, Buffer> replaced_;
};

}  // namespace

std::vector<PrimFunc> separate_constants(const PrimFunc& func, const std::vector<Var>& constants) {
  if (constants.empty()) return {func};
  return Separation(func, constants).functions();
}

}  // namespace tenon
