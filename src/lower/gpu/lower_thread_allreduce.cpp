// Lowers reductions across threads to steps that devices support.
//
//   reduce_temp0[0] = tvm_thread_allreduce(1, value, condition, threadIdx.x)       of 6 threads
//   =>  red0[t] = if_then_else(condition, value, identity)
//       if (t < 3) red1[t] = red0[2*t] + red0[2*t + 1]
//       if (t < 2) red2[t] = if_then_else(2*t + 1 < 3, red1[2*t] + red1[2*t + 1], red1[2*t])
//       if (t < 1) red3[t] = red2[0] + red2[1]
//       reduce_temp0[0] = red3[0]
//
// A later pass inserts the barriers. Values are combined in thread order, with the last axis of the
// call innermost. A reducer that is not commutative, such as the first of equal maxima, therefore
// gives the result of a serial loop. If warps can exchange values (PassOptions::warp_size),
// adjacent threads of a warp do so, and warps combine their totals through shared memory.
//
// Throws LowerError if the number of threads is not constant.
#include "lower/passes.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <tuple>

#include "lower/rewriting.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// A thread axis of the block.
struct Axis {
  Var var;
  int dim;
  Expr extent;
};

/// Several thread axes fused into one index; the last axis is innermost.
struct Line {
  Expr index = Expr(0);
  std::int64_t extent = 1;
};

std::vector<Expr> combine(const CommReducerNode& reducer, const std::vector<Expr>& left,
                          const std::vector<Expr>& right) {
  VarMap map;
  for (std::size_t k = 0; k < left.size(); ++k)
    set(map, reducer.lhs[k], left[k]), set(map, reducer.rhs[k], right[k]);
  return mapped(reducer.result, [&](const Expr& e) { return substitute(e, map); });
}

class KernelReductions {
 public:
  explicit KernelReductions(int warp_size) : warp_size_(warp_size) {}

  /// Rewrites a kernel. Precondition: the thread axes are outermost.
  Stmt kernel(const Stmt& s) {
    if (const IterVar* axis = launched_axis(s)) {
      if (axis->thread()->is_thread())
        axes_.push_back({axis->var(), axis->thread()->dim.value_or(0), s.as<Attr>()->value});
      return map_statements(s, [&](const Stmt& body) { return kernel(body); });
    }
    std::ranges::sort(axes_, [](const Axis& a, const Axis& b) { return a.dim > b.dim; });
    Stmt body = stmt(s);
    for (const Buffer& buffer : memory_ | std::views::reverse) body = allocated(buffer, body);
    return body;
  }

 private:
  Stmt stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { return stmt(s); });
    if (const Attr* n = s.as<Attr>(); n && n->kind == AttrKind::ReduceScope) {
      const CommReducer outer = std::exchange(reducer_, std::get<CommReducer>(n->subject));
      Stmt body = stmt(n->body);
      reducer_ = outer;
      return body;
    }
    if (const Evaluate* n = s.as<Evaluate>())
      if (const Call* call = as_call(n->value, Intrin::tvm_thread_allreduce)) return reduce(*call);
    return map_statements(s, [&](const Stmt& child) { return stmt(child); });
  }

  // ---- one reduction ----

  /// The values of a reduction, the destination elements and the participating threads.
  struct Reduction {
    std::vector<Expr> values;
    std::vector<const Load*> places;
    Line reduced, groups;
    /// Whether the threads of a group have consecutive numbers, in the order of the reduction.
    bool is_contiguous;
  };

  Stmt reduce(const Call& call) {
    internal_check(reducer_ != nullptr, "a thread reduction outside of its reducer's scope");
    const auto count = static_cast<std::size_t>(*constant_int(call.args[0]));
    Reduction r{};
    const Expr& condition = call.args[count + 1];
    for (std::size_t k = 0; k < count; ++k) {
      const Expr& value = call.args[1 + k];
      r.values.push_back(
          is_true(condition) ? value : if_then_else(condition, value, reducer_->identity[k]));
      r.places.push_back(call.args[2 + count + k].as<Load>());
      internal_check(r.places.back() != nullptr, "a thread reduction without a place");
    }
    std::vector<Axis> reduced;
    for (std::size_t a = 2 + 2 * count; a < call.args.size(); ++a) {
      // This axis has a single thread.
      if (is_zero(call.args[a])) continue;
      const auto axis = std::ranges::find_if(
          axes_, [&](const Axis& known) { return known.var.same_as(call.args[a]); });
      internal_check(axis != axes_.end(), "a reduction across threads that are not of the block");
      reduced.push_back(*axis);
    }
    std::vector<Axis> others;
    for (const Axis& axis : axes_)
      if (std::ranges::none_of(reduced, [&](const Axis& other) { return other.dim == axis.dim; }))
        others.push_back(axis);
    r.reduced = line(reduced);
    r.groups = line(others);
    r.is_contiguous = is_contiguous(reduced);
    if (warp_size_ > 0 && fits_warps(r)) return by_warps(r);
    return by_tree(r);
  }

  static Line line(const std::vector<Axis>& axes) {
    Line result;
    for (const Axis& axis : axes) {
      const std::optional<std::int64_t> extent = constant_int(axis.extent);
      if (!extent)
        throw LowerError(
            "a reduction across threads needs a constant number of threads, but the extent of `" +
            axis.var.name() +
            "` is known only when the function is called; split its axis by a "
            "constant factor and bind the inner part");
      if (*extent == 1) continue;
      const Expr own = cast(Int(32), axis.var);
      result.index = result.extent == 1 ? own : result.index * make_int(Int(32), *extent) + own;
      result.extent *= *extent;
    }
    return result;
  }

  /// Whether the reduced axes are the innermost thread dimensions, in order: x, or x and y, or all
  /// three. Axes of extent 1 are ignored.
  bool is_contiguous(const std::vector<Axis>& reduced) const {
    std::vector<int> wanted;
    for (const Axis& axis : reduced)
      if (!is_one(axis.extent)) wanted.push_back(axis.dim);
    std::vector<int> innermost;
    for (const Axis& axis : axes_)
      if (!is_one(axis.extent)) innermost.push_back(axis.dim);
    return wanted.size() <= innermost.size() &&
           std::equal(wanted.begin(), wanted.end(),
                      innermost.end() - static_cast<std::ptrdiff_t>(wanted.size()));
  }

  // ---- in shared memory ----

  Stmt by_tree(const Reduction& r) {
    std::vector<Stmt> steps;
    std::int64_t size = r.reduced.extent;
    std::vector<Buffer> level = this->level(r, size, 0);
    steps.push_back(stores(level, position(size, r, r.reduced.index), r.values));
    for (int number = 1; size > 1; ++number) {
      const std::int64_t next_size = (size + 1) / 2;
      const std::vector<Buffer> next = this->level(r, next_size, number);
      const Expr first = r.reduced.index * 2;
      const std::vector<Expr> left = loads(level, position(size, r, first), r),
                              right = loads(level, position(size, r, first + 1), r);
      std::vector<Expr> both = combine(*reducer_, left, right);
      if (size % 2 != 0)
        for (std::size_t k = 0; k < both.size(); ++k)
          both[k] = if_then_else(first + 1 < make_int(Int(32), size), both[k], left[k]);
      Stmt step = stores(next, position(next_size, r, r.reduced.index), both);
      if (next_size < r.reduced.extent)
        step = make_stmt(If{r.reduced.index < make_int(Int(32), next_size), step, std::nullopt});
      steps.push_back(std::move(step));
      level = next;
      size = next_size;
    }
    steps.push_back(results(r, loads(level, position(size, r, Expr(0)), r)));
    return make_seq(std::move(steps));
  }

  /// Returns memory for `size` values of each thread group in one step of a reduction. Memory of an
  /// earlier reduction is reused if it fits.
  std::vector<Buffer> level(const Reduction& r, std::int64_t size, int number) {
    std::vector<Buffer> result;
    for (std::size_t k = 0; k < r.values.size(); ++k) {
      const DataType type = stored_type(r.values[k].dtype());
      const auto key =
          std::tuple(k, number, r.groups.extent * size, static_cast<int>(type.code), type.bits);
      auto found = levels_.find(key);
      if (found == levels_.end()) {
        found = levels_
                    .emplace(key, decl_buffer(
                                      {make_int(Int(32), r.groups.extent * size)}, type,
                                      {.name = "red_buf" + std::to_string(k), .scope = "shared"}))
                    .first;
        memory_.push_back(found->second);
      }
      result.push_back(found->second);
    }
    return result;
  }

  /// Returns the position of an element of the thread's group in memory with `size` elements for
  /// each group.
  static Expr position(std::int64_t size, const Reduction& r, const Expr& index) {
    if (r.groups.extent == 1) return index;
    return r.groups.index * make_int(Int(32), size) + index;
  }

  /// Returns the values of the reduction that the buffers hold at an index.
  static std::vector<Expr> loads(const std::vector<Buffer>& buffers, const Expr& at,
                                 const Reduction& r) {
    std::vector<Expr> values;
    for (std::size_t k = 0; k < buffers.size(); ++k)
      values.push_back(cast(r.values[k].dtype(), make_load(buffers[k], {at})));
    return values;
  }

  static Stmt store(const Buffer& buffer, const Expr& at, const Expr& value) {
    return make_store(buffer, cast(buffer->dtype, value), {at});
  }

  static Stmt stores(const std::vector<Buffer>& buffers, const Expr& at,
                     const std::vector<Expr>& values) {
    std::vector<Stmt> list;
    for (std::size_t k = 0; k < values.size(); ++k)
      list.push_back(store(buffers[k], at, values[k]));
    return make_seq(std::move(list));
  }

  static Stmt results(const Reduction& r, const std::vector<Expr>& totals) {
    std::vector<Stmt> list;
    for (std::size_t k = 0; k < totals.size(); ++k)
      list.push_back(store(r.places[k]->buffer, r.places[k]->indices[0], totals[k]));
    return make_seq(std::move(list));
  }

  // ---- in warps ----

  bool fits_warps(const Reduction& r) const {
    const std::int64_t extent = r.reduced.extent;
    if (!r.is_contiguous || extent < 2) return false;
    if (std::ranges::any_of(r.values, [](const Expr& e) { return e.dtype().lanes != 1; }))
      return false;
    const bool is_part = extent <= warp_size_ && warp_size_ % extent == 0;
    const bool are_whole = extent % warp_size_ == 0 && extent <= warp_size_ * warp_size_;
    return is_part || are_whole;
  }

  Stmt by_warps(const Reduction& r) {
    const auto own = variables(r, "red"), other = variables(r, "other");
    std::vector<Stmt> steps = {stores(own, Expr(0), r.values)};
    const std::int64_t width = std::min<std::int64_t>(r.reduced.extent, warp_size_);
    in_one_warp(r, own, other, width, steps);
    if (r.reduced.extent > warp_size_) {
      // Each warp reduces the totals of all warps, which are in shared memory.
      const std::int64_t warps = r.reduced.extent / warp_size_;
      const Expr lane = floormod(r.reduced.index, make_int(Int(32), warp_size_));
      const Expr warp = floordiv(r.reduced.index, make_int(Int(32), warp_size_));
      const std::vector<Buffer> level = this->level(r, warps, 0);
      const Stmt share = stores(level, position(warps, r, warp), loads(own, Expr(0), r));
      steps.push_back(make_stmt(If{lane == 0, share, std::nullopt}));
      std::vector<Expr> parts = loads(level, position(warps, r, lane), r);
      for (std::size_t k = 0; k < own.size(); ++k)
        parts[k] = if_then_else(lane < make_int(Int(32), warps), parts[k], reducer_->identity[k]);
      steps.push_back(stores(own, Expr(0), parts));
      std::int64_t lanes = 1;
      while (lanes < warps) lanes *= 2;
      in_one_warp(r, own, other, lanes, steps);
    }
    const std::vector<Expr> totals = mapped(loads(own, Expr(0), r), [&](const Expr& total) {
      return exchanged(Intrin::tvm_warp_shuffle, total, 0, width);
    });
    steps.push_back(stores(other, Expr(0), totals));
    steps.push_back(results(r, loads(other, Expr(0), r)));
    Stmt body = make_seq(std::move(steps));
    for (const auto& list : {own, other})
      for (const Buffer& buffer : list) body = allocated(buffer, body);
    return body;
  }

  /// Reduces within a warp. Afterwards, the first of every `width` lanes holds the total of the
  /// `width` lanes, combined in lane order.
  void in_one_warp(const Reduction& r, const std::vector<Buffer>& own,
                   const std::vector<Buffer>& other, std::int64_t width,
                   std::vector<Stmt>& steps) const {
    for (std::int64_t distance = 1; distance < width; distance *= 2) {
      const std::vector<Expr> left = loads(own, Expr(0), r), right = loads(other, Expr(0), r);
      const std::vector<Expr> shifted = mapped(left, [&](const Expr& e) {
        return exchanged(Intrin::tvm_warp_shuffle_down, e, distance, width);
      });
      steps.push_back(stores(other, Expr(0), shifted));
      steps.push_back(store_all(own, combine(*reducer_, left, right)));
    }
  }

  /// Stores all values. Every value is computed before the first one is stored.
  static Stmt store_all(const std::vector<Buffer>& buffers, const std::vector<Expr>& values) {
    std::vector<Var> vars;
    std::vector<Stmt> list;
    for (std::size_t k = 0; k < values.size(); ++k) {
      vars.emplace_back("total" + std::to_string(k), values[k].dtype());
      list.push_back(store(buffers[k], Expr(0), vars.back()));
    }
    if (values.size() == 1) return store(buffers[0], Expr(0), values[0]);
    Stmt result = make_seq(std::move(list));
    for (std::size_t k = values.size(); k-- > 0;)
      result = make_stmt(Let{vars[k], values[k], result});
    return result;
  }

  static std::vector<Buffer> variables(const Reduction& r, const std::string& name) {
    std::vector<Buffer> list;
    for (std::size_t k = 0; k < r.values.size(); ++k)
      list.push_back(decl_buffer({Expr(1)}, stored_type(r.values[k].dtype()),
                                 {.name = name + std::to_string(k), .scope = "local"}));
    return list;
  }

  /// Returns a call with the arguments (mask, value, lane or distance, width, warp size).
  Expr exchanged(Intrin intrin, const Expr& value, std::int64_t by, std::int64_t width) const {
    // If all warps are full, all their threads are active.
    const bool are_full = line(axes_).extent % warp_size_ == 0;
    const Expr mask = are_full ? make_int(UInt(32), 0xffffffff)
                               : make_call(UInt(32), Intrin::tvm_warp_activemask, {});
    return make_call(value.dtype(), intrin,
                     {mask, value, make_int(Int(32), by), make_int(Int(32), width),
                      make_int(Int(32), warp_size_)});
  }

  int warp_size_;
  /// The thread axes of the block, x last.
  std::vector<Axis> axes_;
  CommReducer reducer_;
  std::map<std::tuple<std::size_t, int, std::int64_t, int, int>, Buffer> levels_;
  std::vector<Buffer> memory_;
};

Stmt lowered(const Stmt& s, int warp_size) {
  if (launched_axis(s)) return KernelReductions(warp_size).kernel(s);
  return map_statements(s, [&](const Stmt& child) { return lowered(child, warp_size); });
}

}  // namespace

PrimFunc lower_thread_allreduce(const PrimFunc& func, const PassOptions& options) {
  return with_body(func, lowered(func.body, options.warp_size));
}

}  // namespace tenon::lowering
