// Reorders accumulations into registers so that statements with common operands are adjacent, if
// more operands would otherwise be live at once than there are registers. For host code; never
// printed.
//
//   sums[0] += broadcast(A[0])*B[0]; sums[0] += broadcast(A[1])*B[8]; ...   // all of A, half of B,
//   sums[8] += broadcast(A[0])*B[4]; sums[8] += broadcast(A[1])*B[12]; ...  // then the other half
// becomes
//   sums[0] += broadcast(A[0])*B[0]; sums[8] += broadcast(A[0])*B[4]; ...
//
// Code generators load a repeated operand once and keep it. Between distant uses it is spilled and
// reloaded, which costs more than a second load. The order comes from a list scheduler that tracks
// register pressure (Goodman and Hsu, "Code scheduling and register allocation in large basic
// blocks", 1988). Additions to the same sum keep their order, so results are bit-identical.
#include "lower/passes.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "lower/cpu/register_model.h"
#include "lower/rewriting.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// A statement that accumulates into an element of local memory.
struct Addition {
  Stmt stmt;
  std::size_t sum;
  /// The operands, as indices into the values of the run.
  std::vector<std::size_t> reads;
};

/// Consecutive accumulations. Only those into the same sum depend on each other.
struct Run {
  std::vector<Addition> additions;
  /// The number of registers of each sum and of each operand.
  std::vector<int> sums, values;
};

/// Collects consecutive accumulations.
class RunReader {
 public:
  explicit RunReader(int vector_bits) : vector_bits_(vector_bits) {}

  bool add(const Stmt& s) {
    const Store* store = s.as<Store>();
    if (!store || memory_scope(store->buffer->data) != StorageScope::Local) return false;
    const Ramp* place = store->indices[0].as<Ramp>();
    if (!constant_int(place ? place->base : store->indices[0])) return false;
    if (effect_of(store->value) == Effect::UpdateState) return false;
    std::vector<Expr> reads;
    bool is_sum = false, reads_local = false;
    walk(store->value, [&](const Load& load) {
      const bool is_own = load.buffer->data.same_as(store->buffer->data) &&
                          structural_equal(load.indices[0], store->indices[0]);
      is_sum = is_sum || is_own;
      reads_local =
          reads_local || (!is_own && memory_scope(load.buffer->data) == StorageScope::Local);
      if (!is_own) reads.push_back(make_load(load.buffer, load.indices));
    });
    if (!is_sum || reads_local) return false;
    const int registers = registers_for(store->value.dtype(), vector_bits_);
    Addition addition{
        s, number_of(make_load(store->buffer, store->indices), registers, run.sums), {}};
    for (const Expr& read : reads)
      // A scalar occupies a register as well.
      addition.reads.push_back(
          number_of(read, registers_for(read.dtype(), vector_bits_), run.values));
    std::sort(addition.reads.begin(), addition.reads.end());
    addition.reads.erase(std::unique(addition.reads.begin(), addition.reads.end()),
                         addition.reads.end());
    run.additions.push_back(std::move(addition));
    return true;
  }

  Run run;

 private:
  std::size_t number_of(const Expr& load, int registers, std::vector<int>& sizes) {
    const auto [begin, end] = numbers_.equal_range(load.node().hash);
    for (auto known = begin; known != end; ++known)
      if (structural_equal(known->second.first, load)) return known->second.second;
    numbers_.emplace(load.node().hash, std::pair(load, sizes.size()));
    sizes.push_back(registers);
    return sizes.size() - 1;
  }

  int vector_bits_;
  /// The numbers of sums and of operands, by the hash of their load. A load is either a sum or an
  /// operand.
  std::unordered_multimap<std::size_t, std::pair<Expr, std::size_t>> numbers_;
};

/// Tracks the live registers from statement to statement.
class Registers {
 public:
  explicit Registers(const Run& run) : run_(run), uses_(run.values.size(), 0) {
    for (const Addition& addition : run.additions)
      for (const std::size_t value : addition.reads) ++uses_[value];
    is_live_.resize(uses_.size(), false);
    for (const int registers : run.sums) live_ += registers;
    most_ = live_;
  }

  /// Returns the change in register pressure that the statement causes.
  int change(const Addition& addition) const {
    int result = 0;
    for (const std::size_t value : addition.reads) {
      if (!is_live_[value]) result += run_.values[value];
      if (uses_[value] == 1) result -= run_.values[value];
    }
    return result;
  }

  void run(const Addition& addition) {
    for (const std::size_t value : addition.reads) {
      if (!is_live_[value]) live_ += run_.values[value];
      is_live_[value] = true;
    }
    most_ = std::max(most_, live_);
    for (const std::size_t value : addition.reads)
      if (--uses_[value] == 0) live_ -= run_.values[value];
  }

  int most() const { return most_; }

 private:
  const Run& run_;
  /// The remaining uses of each operand.
  std::vector<int> uses_;
  std::vector<bool> is_live_;
  int live_ = 0, most_ = 0;
};

/// Returns a schedule that greedily picks the statement with the fewest live registers; ties keep
/// the original order.
std::vector<std::size_t> ordered(const Run& run) {
  std::vector<std::vector<std::size_t>> of_sum(run.sums.size());
  for (std::size_t n = run.additions.size(); n-- > 0;) of_sum[run.additions[n].sum].push_back(n);
  Registers registers(run);
  std::vector<std::size_t> order;
  while (order.size() < run.additions.size()) {
    std::vector<std::size_t>* best = nullptr;
    int least = 0;
    for (std::vector<std::size_t>& left : of_sum) {
      if (left.empty()) continue;
      const int change = registers.change(run.additions[left.back()]);
      if (best && (change > least || (change == least && left.back() > best->back()))) continue;
      best = &left;
      least = change;
    }
    registers.run(run.additions[best->back()]);
    order.push_back(best->back());
    best->pop_back();
  }
  return order;
}

int most_registers(const Run& run, const std::vector<std::size_t>& order) {
  Registers registers(run);
  for (const std::size_t n : order) registers.run(run.additions[n]);
  return registers.most();
}

class Orderer {
 public:
  explicit Orderer(const VectorRegisters& registers) : registers_(registers) {}

  Stmt stmt(const Stmt& s) const {
    const Seq* seq = s.as<Seq>();
    if (!seq) return map_statements(s, [&](const Stmt& child) { return stmt(child); });
    std::vector<Stmt> parts;
    for (std::size_t n = 0; n < seq->stmts.size();) {
      RunReader reader(registers_.bits);
      std::size_t end = n;
      while (end < seq->stmts.size() && reader.add(seq->stmts[end])) ++end;
      if (end == n) {
        parts.push_back(stmt(seq->stmts[n++]));
        continue;
      }
      for (const std::size_t k : order_of(reader.run))
        parts.push_back(reader.run.additions[k].stmt);
      n = end;
    }
    return make_seq(std::move(parts));
  }

 private:
  /// Returns the given order if it fits the registers or if rescheduling does not improve it.
  std::vector<std::size_t> order_of(const Run& run) const {
    std::vector<std::size_t> given(run.additions.size());
    for (std::size_t n = 0; n < given.size(); ++n) given[n] = n;
    const int most = most_registers(run, given);
    if (most <= registers_.count) return given;
    const std::vector<std::size_t> better = ordered(run);
    return most_registers(run, better) < most ? better : given;
  }

  VectorRegisters registers_;
};

}  // namespace

PrimFunc schedule_accumulations(const PrimFunc& func, const PassOptions& options) {
  if (options.vector_registers->count == 0) return func;
  PrimFunc result = func;
  result.body = Orderer(*options.vector_registers).stmt(func.body);
  return result;
}

}  // namespace tenon::lowering
