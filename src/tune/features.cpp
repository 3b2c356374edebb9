#include "tune/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tenon/lower/pipeline.h"
#include "tenon/tir/evaluate.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::tune {

namespace {

using namespace tir;

constexpr std::size_t kOperations = 8, kLoopFacts = 13, kBuffers = 5, kBufferFacts = 10,
                      kIntensities = 10, kOutput = 2;
/// Of a store's facts about loops, the one that says how often it runs.
constexpr std::size_t kIterations = 11;
constexpr double kLineBytes = 64;

/// A loop around a store, or threads that it runs on.
struct Loop {
  Var var;
  ForKind kind;
  double extent;
};

/// All accesses of one array in a store's statement.
struct Access {
  Buffer buffer;
  std::vector<std::vector<Expr>> places;
  bool is_read = false, is_written = false;
};

enum Operation { kAdd, kMul, kDivide, kExtremum, kCompare, kLogic, kInteger, kCall };

float amount(double x) { return static_cast<float>(std::log2(1 + std::abs(x))); }

void count_operations(const Expr& e, std::array<double, kOperations>& counts) {
  if (e.as<Load>()) return;
  const auto operation = [&]() -> std::optional<Operation> {
    if (e.as<Call>()) return kCall;
    if (e.as<Not>() || e.as<Select>()) return kLogic;
    const Binary* binary = e.as<Binary>();
    if (!binary) return std::nullopt;
    const bool is_float = binary->a.dtype().is_floating();
    switch (binary->op) {
      case BinaryOp::Add:
      case BinaryOp::Sub:
        return is_float ? kAdd : kInteger;
      case BinaryOp::Mul:
        return is_float ? kMul : kInteger;
      case BinaryOp::Min:
      case BinaryOp::Max:
        return kExtremum;
      case BinaryOp::And:
      case BinaryOp::Or:
        return kLogic;
      case BinaryOp::Div:
      case BinaryOp::TruncDiv:
      case BinaryOp::TruncMod:
      case BinaryOp::FloorDiv:
      case BinaryOp::FloorMod:
        return is_float ? kDivide : kInteger;
      default:
        return kCompare;
    }
  }();
  if (operation) ++counts[static_cast<std::size_t>(*operation)];
  for_each_child(e, [&](const Expr& child) { count_operations(child, counts); });
}

/// The value of an index with the loops from `first` inwards at their last iteration, the others at
/// their first. What it reads from memory counts as 0.
std::int64_t value_at(const Expr& index, const std::vector<Loop>& loops, std::size_t first) {
  const Expr without_loads =
      rewrite(index, [](const Load&, const Expr& self) -> std::optional<Expr> {
        return make_const(self.dtype(), 0);
      });
  return evaluate_int(without_loads, [&](const Var& var) -> std::int64_t {
    for (std::size_t n = 0; n < loops.size(); ++n)
      if (loops[n].var.same_as(var))
        return n < first ? 0 : static_cast<std::int64_t>(loops[n].extent) - 1;
    return 0;
  });
}

/// Elements that all places of an access touch while the loops from `first` inwards run: the volume
/// of the box, and the extent of its last dimension. Exact where indices grow with their loops.
struct Box {
  double elements = 1, last = 1;
};
Box touched(const Access& access, const std::vector<Loop>& loops, std::size_t first) {
  Box box;
  const std::size_t rank = access.places.front().size();
  for (std::size_t d = 0; d < rank; ++d) {
    std::int64_t low = INT64_MAX, high = INT64_MIN;
    for (const std::vector<Expr>& place : access.places) {
      const std::int64_t a = value_at(place[d], loops, loops.size());
      const std::int64_t b = value_at(place[d], loops, first);
      low = std::min({low, a, b});
      high = std::max({high, a, b});
    }
    box.last = static_cast<double>(high - low) + 1;
    box.elements *= box.last;
  }
  return box;
}

/// How far apart in the array two iterations of the innermost loop that matters are, in elements;
/// 0: no loop does.
double stride(const Access& access, const std::vector<Loop>& loops) {
  const std::vector<Expr>& place = access.places.front();
  for (std::size_t n = loops.size(); n-- > 0;) {
    if (loops[n].extent < 2) continue;
    double distance = 0, row = 1;
    for (std::size_t d = place.size(); d-- > 0;) {
      const auto span = static_cast<double>(value_at(place[d], {loops[n]}, 0) -
                                            value_at(place[d], {loops[n]}, 1));
      distance += span / (loops[n].extent - 1) * row;
      row *= static_cast<double>(constant_int(access.buffer->shape[d]).value_or(1));
    }
    if (distance != 0) return std::abs(distance);
  }
  return 0;
}

class Reader {
 public:
  Features result;

  void stmt(const Stmt& s) {
    if (const For* loop = s.as<For>())
      return inside({loop->var, loop->kind, extent_of(loop->extent)}, loop->body);
    if (const Attr* attr = s.as<Attr>(); attr && is_thread(attr->kind)) {
      const IterVar& axis = std::get<IterVar>(attr->subject);
      return inside({axis.var(), ForKind::ThreadBinding, extent_of(attr->value)}, attr->body);
    }
    if (const Attr* attr = s.as<Attr>(); attr && attr->key == "auto_unroll_max_step") {
      const double before =
          std::exchange(unroll_, static_cast<double>(constant_int(attr->value).value_or(0)));
      stmt(attr->body);
      unroll_ = before;
      return;
    }
    if (const If* choice = s.as<If>()) {
      ++guards_;
      stmt(choice->then_case);
      --guards_;
      if (choice->else_case) stmt(*choice->else_case);
      return;
    }
    if (const Store* store = s.as<Store>()) row(*store);
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { stmt(child); });
  }

 private:
  static double extent_of(const Expr& extent) {
    return static_cast<double>(constant_int(extent).value_or(1));
  }
  static bool is_thread(AttrKind kind) {
    return kind == AttrKind::ThreadExtent || kind == AttrKind::VirtualThread;
  }

  void inside(const Loop& loop, const Stmt& body) {
    loops_.push_back(loop);
    stmt(body);
    loops_.pop_back();
  }

  double iterations_from(std::size_t first) const {
    double product = 1;
    for (std::size_t n = first; n < loops_.size(); ++n) product *= loops_[n].extent;
    return product;
  }

  std::vector<Access> accesses(const Store& store) const {
    std::vector<Access> all;
    const auto add = [&](const Buffer& buffer, const std::vector<Expr>& place, bool is_write) {
      auto own = std::find_if(all.begin(), all.end(), [&](const Access& access) {
        return access.buffer.get() == buffer.get();
      });
      if (own == all.end()) own = all.insert(all.end(), Access{.buffer = buffer, .places = {}});
      own->places.push_back(place);
      (is_write ? own->is_written : own->is_read) = true;
    };
    add(store.buffer, store.indices, true);
    walk(store.value, [&](const Load& load) { add(load.buffer, load.indices, false); });
    return all;
  }

  static double bytes(const Access& access, const Box& box) {
    return box.elements * access.buffer->dtype.bytes();
  }

  void add_loops(std::vector<float>& row) const {
    double vectors = 1, unrolled = 1, parallel = 1, threads = 1;
    for (const Loop& loop : loops_) {
      if (loop.kind == ForKind::Vectorized) vectors *= loop.extent;
      if (loop.kind == ForKind::Unrolled) unrolled *= loop.extent;
      if (loop.kind == ForKind::Parallel) parallel *= loop.extent;
      if (loop.kind == ForKind::ThreadBinding) threads *= loop.extent;
    }
    const auto extent_from_inside = [&](std::size_t n) {
      return n < loops_.size() ? loops_[loops_.size() - 1 - n].extent : 1;
    };
    for (const double fact : {vectors, unrolled, parallel, threads, unroll_, guards_,
                              static_cast<double>(loops_.size()), extent_from_inside(0),
                              extent_from_inside(1), extent_from_inside(2), extent_from_inside(3),
                              iterations_from(0), loops_.empty() ? 1 : loops_.front().extent})
      row.push_back(amount(fact));
  }

  void add_accesses(std::vector<float>& row, std::vector<Access> all) const {
    const double iterations = iterations_from(0);
    std::stable_sort(all.begin(), all.end(), [&](const Access& a, const Access& b) {
      return bytes(a, touched(a, loops_, 0)) > bytes(b, touched(b, loops_, 0));
    });
    for (std::size_t n = 0; n < kBuffers; ++n) {
      if (n >= all.size()) {
        row.insert(row.end(), kBufferFacts, 0);
        continue;
      }
      const Access& access = all[n];
      const Box box = touched(access, loops_, 0);
      const double step = stride(access, loops_), size = access.buffer->dtype.bytes();
      const double moved = iterations * static_cast<double>(access.places.size()) * size;
      // The innermost loop that touches nothing new, and what is touched between two visits.
      double again = 1, between = 0;
      for (std::size_t depth = loops_.size(); depth-- > 0;) {
        const double inside = bytes(access, touched(access, loops_, depth + 1));
        if (loops_[depth].extent < 2 || bytes(access, touched(access, loops_, depth)) > inside)
          continue;
        again = loops_[depth].extent;
        for (const Access& other : all) between += bytes(other, touched(other, loops_, depth + 1));
        break;
      }
      const double rows = box.elements / box.last;
      const double lines = rows * std::ceil(box.last * size / kLineBytes);
      for (const double fact : {moved, bytes(access, box), lines, moved / bytes(access, box), step,
                                again, between, again > 1 ? moved / again : moved})
        row.push_back(amount(fact));
      row.push_back(access.is_read ? 1 : 0);
      row.push_back(access.is_written ? 1 : 0);
    }
  }

  /// Operations for each byte touched, at so many depths between all loops and none.
  void add_intensity(std::vector<float>& row, const std::vector<Access>& all,
                     double operations) const {
    for (std::size_t n = 0; n < kIntensities; ++n) {
      const std::size_t first = loops_.size() * n / kIntensities;
      double touched_bytes = 0;
      for (const Access& access : all)
        touched_bytes += bytes(access, touched(access, loops_, first));
      row.push_back(amount(operations * iterations_from(first) / std::max(touched_bytes, 1.0)));
    }
  }

  void row(const Store& store) {
    std::vector<float> row;
    std::array<double, kOperations> counts{};
    count_operations(store.value, counts);
    double operations = 0;
    for (const double count : counts) {
      row.push_back(amount(count * iterations_from(0)));
      operations += count;
    }
    add_loops(row);
    const std::vector<Access> all = accesses(store);
    add_accesses(row, all);
    add_intensity(row, all, operations);
    double elements = 1;
    for (const Expr& extent : store.buffer->shape)
      elements *= static_cast<double>(constant_int(extent).value_or(1));
    row.push_back(amount(elements * store.buffer->dtype.bytes()));
    row.push_back(amount(elements));
    internal_check(row.size() == feature_count(), "a row of features of another length");
    result.push_back(std::move(row));
  }

  std::vector<Loop> loops_;
  double unroll_ = 0, guards_ = 0;
};

}  // namespace

std::size_t feature_count() {
  return kOperations + kLoopFacts + kBuffers * kBufferFacts + kIntensities + kOutput;
}

float iterations_of(const std::vector<float>& row) { return row[kOperations + kIterations]; }

Features features_of(const IRModule& candidate) {
  Reader reader;
  for (const auto& [name, func] : candidate.functions)
    reader.stmt(
        lowering::run_passes(lowering::block_passes(), func, {.passes = {.verify = false}}).body);
  return reader.result;
}

}  // namespace tenon::tune
