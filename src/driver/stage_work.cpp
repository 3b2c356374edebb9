#include "driver/stage_work.h"

#include <algorithm>

#include "driver/guarded_iterations.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::driver {

using namespace tir;

namespace {

/// The maximum number of guarded statements whose iterations are enumerated. The guards of further
/// ones are assumed to hold.
constexpr int kMaxGuardsTried = 64;

double bytes_of(DataType type) { return type.element().bytes() * static_cast<double>(type.lanes); }

/// Returns the number of operations on values that a call counts as.
double operations_of(const Call& call) {
  if (const Intrin* intrin = std::get_if<Intrin>(&call.callee)) {
    switch (*intrin) {
      case Intrin::if_then_else:
      case Intrin::likely:
      case Intrin::reinterpret:
        return 0;
      case Intrin::fma:
        return 2;
      case Intrin::dp4a:
        return 2 * call.args[0].dtype().lanes;
      default:
        return 1;
    }
  }
  return 1;
}

/// The work of evaluating a value once.
class ValueWork {
 public:
  explicit ValueWork(const Expr& value) { of(value); }

  double operations = 0, bytes_read = 0;
  /// False if the value calls a C function, whose work is unknown.
  bool is_known = true;

 private:
  void of(const Expr& e) {
    if (is_stack_low()) return with_deep_stack([&] { of(e); });
    const double lanes = e.dtype().lanes;
    if (e.as<Load>()) {
      bytes_read += bytes_of(e.dtype());
      return;  // Index computations do not count.
    }
    if (e.as<Binary>()) operations += lanes;
    if (const Call* n = e.as<Call>()) {
      operations += operations_of(*n) * lanes;
      is_known &= std::holds_alternative<Intrin>(n->callee);
    }
    for_each_child(e, [&](const Expr& child) { of(child); });
  }
};

class Counter {
 public:
  explicit Counter(const PrimFunc& func) : stored_(func), work_(stored_.stages().size()) {
    for (auto& each : work_) each.emplace();
    is_stored_.resize(work_.size());
    stmt(func.body);
  }

  std::vector<std::optional<StageWork>> result() {
    for (std::size_t n = 0; n < work_.size(); ++n)
      if (!is_stored_[n]) work_[n].reset();
    return std::move(work_);
  }

 private:
  void stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
    if (const Store* n = s.as<Store>()) return store(*n);
    if (const Evaluate* n = s.as<Evaluate>()) {
      for (const std::string& name : written_by_calls(*n)) forget(name);
      return;
    }
    if (const For* n = s.as<For>()) return loop(*n);
    if (const While* n = s.as<While>()) {
      ++unknown_;
      stmt(n->body);
      --unknown_;
      return;
    }
    if (const If* n = s.as<If>()) {
      guards_.push_back(n->condition);
      stmt(n->then_case);
      guards_.pop_back();
      if (!n->else_case) return;
      guards_.push_back(make_not(n->condition));
      stmt(*n->else_case);
      guards_.pop_back();
      return;
    }
    if (const Let* n = s.as<Let>()) return let(*n);
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { stmt(child); });
  }

  void loop(const For& n) {
    const auto begin = constant_int(n.min), extent = constant_int(n.extent);
    const bool is_known = begin && extent;
    if (is_known) loops_.push_back({n.var, *begin, *extent});
    unknown_ += is_known ? 0 : 1;
    stmt(n.body);
    unknown_ -= is_known ? 0 : 1;
    if (is_known) loops_.pop_back();
  }

  /// Attributes a value shared by several stores to the last of them. Index computations do not
  /// count.
  void let(const Let& n) {
    values_.push_back({n.var, n.value});
    const std::vector<int>& stages = stored_.of(n.body);
    if (!stages.empty() && (n.value.dtype().is_floating() || contains<Load>(n.value)))
      add(stages.back(), ValueWork(n.value), iterations());
    stmt(n.body);
    values_.pop_back();
  }

  void store(const Store& n) {
    const std::optional<int> stage = stored_.stage_of(n.buffer->stage_name());
    if (!stage) return;
    const auto index = static_cast<std::size_t>(*stage);
    is_stored_[index] = true;
    const std::optional<double> times = iterations();
    add(*stage, ValueWork(n.value), times);
    if (!times || !work_[index]) return;
    work_[index]->bytes_written += *times * bytes_of(n.value.dtype());
    if (n.buffer->stage_name() == stored_.stages()[index].buffer)
      work_[index]->stores += *times * n.value.dtype().lanes;
  }

  void add(int stage, const ValueWork& once, std::optional<double> times) {
    std::optional<StageWork>& work = work_[static_cast<std::size_t>(stage)];
    if (!times || !once.is_known) work.reset();
    if (!work) return;
    work->operations += *times * once.operations;
    work->bytes_read += *times * once.bytes_read;
  }

  void forget(const std::string& buffer) {
    if (const auto stage = stored_.stage_of(buffer))
      work_[static_cast<std::size_t>(*stage)].reset();
  }

  /// Returns how often the current place executes; nullopt if that is unknown.
  std::optional<double> iterations() {
    if (unknown_ > 0) return std::nullopt;
    if (!guards_.empty() && guards_tried_ < kMaxGuardsTried) {
      ++guards_tried_;
      if (const auto counted = guarded_iterations(loops_, guards_, values_)) return counted;
    }
    double times = 1;
    for (const CountedLoop& loop : loops_)
      times *= static_cast<double>(std::max<std::int64_t>(loop.extent, 0));
    return times;
  }

  StoredStages stored_;
  std::vector<std::optional<StageWork>> work_;
  std::vector<bool> is_stored_;
  std::vector<CountedLoop> loops_;
  std::vector<Expr> guards_;
  std::vector<NamedValue> values_;
  /// The number of enclosing loops with unknown trip counts.
  int unknown_ = 0;
  int guards_tried_ = 0;
};

}  // namespace

std::vector<std::optional<StageWork>> stage_work(const PrimFunc& func) {
  return Counter(func).result();
}

}  // namespace tenon::driver
