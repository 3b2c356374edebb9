#include "tune/search/work.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "tenon/lower/pipeline.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::tune {

namespace {

using namespace tir;

// Typical throughputs per cycle, and latencies in cycles, of current processors.
constexpr double kOperationsPerCycle = 2, kReadsPerCycle = 2, kStoresPerCycle = 1,
                 kIndicesPerCycle = 4, kSumLatency = 4, kMemoryLatency = 9, kCallCycles = 20;
/// Most processors split wider operations into halves, or combine two units for one.
constexpr int kWholeBits = 256;
/// Code generators unroll innermost loops of at most this number of iterations.
constexpr double kUnrolledLater = 16;

/// A computed value: its live range, from the first store that uses it to the last, and its number
/// of uses.
struct Known {
  Expr value;
  std::size_t first, last, uses = 1;
};

/// The work of one iteration of a loop, excluding its inner loops.
struct Piece {
  /// Total number of iterations.
  double times = 1;
  Work work = {};
  /// Computed values, by hash.
  std::unordered_multimap<std::size_t, Known> known = {};
  /// Number of stores so far, including the current one.
  std::size_t stores = 0;
  /// The lengths of the dependence chains of sums, by element.
  std::unordered_map<std::size_t, double> chains = {}, memory_chains = {};
};

class Counter {
 public:
  explicit Counter(const VectorRegisters& registers) : registers_(registers) {}

  void add(const PrimFunc& func) {
    walk(func.body, [&](const Store& store) { stored_.insert(&store.buffer->data.node()); });
    pieces_.emplace_back();
    stmt(func.body);
    close();
  }

  Work total;

 private:
  std::size_t depth() const { return pieces_.size() - 1; }
  Piece& here() { return pieces_.back(); }

  void stmt(const Stmt& s) {
    if (const For* loop = s.as<For>()) return inside(*loop);
    if (const Store* one = s.as<Store>()) return store(*one);
    if (const Let* let = s.as<Let>()) {
      depths_[&let->var.node()] = depth_of(let->value);
      value(let->value);
      return stmt(let->body);
    }
    if (const Allocate* memory = s.as<Allocate>()) {
      keep_in_registers(*memory);
      return stmt(memory->body);
    }
    if (s.as<If>()) here().work.guards += 1;
    for_each_child(
        s, [&](const Expr& e) { value(e); }, [&](const Stmt& child) { stmt(child); });
  }

  void inside(const For& loop) {
    const auto extent = static_cast<double>(constant_int(loop.extent).value_or(1));
    bool is_innermost = true;
    walk(loop.body, [&](const For&) { is_innermost = false; });
    const double times = here().times * extent;
    pieces_.push_back({.times = times});
    if (!is_innermost || extent > kUnrolledLater) here().work.iterations = 1;
    depths_[&loop.var.node()] = depth();
    stmt(loop.body);
    close();
  }

  /// Treats memory that fits into all registers together as registers: code generators promote such
  /// accumulators.
  void keep_in_registers(const Allocate& memory) {
    if (registers_.bits == 0) return;
    double bits = memory.dtype.bits * memory.dtype.lanes;
    for (const Expr& extent : memory.extents) {
      const auto constant = constant_int(extent);
      if (!constant) return;
      bits *= static_cast<double>(*constant);
    }
    if (bits > static_cast<double>(registers_.bits) * registers_.count) return;
    in_registers_.insert(&memory.data.node());
    total.sums = std::max(total.sums, std::ceil(bits / registers_.bits));
  }

  double registers_for(DataType type) const {
    if (registers_.bits == 0 || type.lanes == 1) return type.lanes;
    return std::ceil(static_cast<double>(type.bits) * type.lanes / registers_.bits);
  }

  void store(const Store& s) {
    total.statements += 1;
    here().stores += 1;
    value(s.value);
    value(s.indices[0]);
    const bool is_register = in_registers_.contains(&s.buffer->data.node());
    bool is_sum = false;
    walk(s.value, [&](const Load& load) {
      is_sum = is_sum || (load.buffer->data.same_as(s.buffer->data) &&
                          structural_equal(load.indices[0], s.indices[0]));
    });
    if (is_sum) {
      // If iterations use different elements, the first sum of an iteration does not depend on
      // another.
      const bool is_the_same = depth_of(s.indices[0]) < depth();
      auto& chains = is_register ? here().chains : here().memory_chains;
      const std::size_t element =
          s.indices[0].node().hash ^ std::hash<const void*>()(&s.buffer->data.node());
      chains.try_emplace(element, is_the_same ? 0 : -1).first->second += 1;
    }
    if (!is_register) access(s.value.dtype(), s.indices[0], here().work, true);
  }

  void access(DataType type, const Expr& index, Work& work, bool is_store) const {
    const Ramp* ramp = index.as<Ramp>();
    const bool is_vector = type.lanes > 1;
    // The elements of a buffer may be vectors themselves.
    if (is_vector && ((ramp && is_one(ramp->stride)) || !index.dtype().is_vector()))
      (is_store ? work.stores : work.loads) += registers_for(type);
    else if (is_vector)
      work.gathered += type.lanes;
    else
      (is_store ? work.stores : work.broadcasts) += 1;
  }

  void value(const Expr& e) {
    if (const Load* load = e.as<Load>()) {
      value(load->indices[0]);
      if (in_registers_.contains(&load->buffer->data.node())) return;
      Piece& piece = pieces_[depth_of(e)];
      if (is_new(e, piece)) access(e.dtype(), load->indices[0], piece.work, false);
      return;
    }
    if (e.as<Binary>() || e.as<Select>() || e.as<Cast>() || e.as<Call>()) {
      Piece& piece = pieces_[depth_of(e)];
      if (e.dtype().is_floating() || e.dtype().is_vector())
        (e.as<Call>() ? piece.work.calls : piece.work.operations) +=
            is_fused(e) ? 0 : registers_for(e.dtype());
      else if (!is_step(e) && is_new(e, piece))
        piece.work.indices += 1;
    }
    for_each_child(e, [&](const Expr& child) { value(child); });
  }

  /// Whether the sum belongs to a multiply-add, which is counted with the product.
  static bool is_fused(const Expr& e) {
    const auto is = [](const Expr& of, BinaryOp op) {
      const Binary* binary = of.as<Binary>();
      return binary && binary->op == op;
    };
    return is(e, BinaryOp::Add) && e.dtype().is_floating() &&
           (is(e.as<Binary>()->a, BinaryOp::Mul) || is(e.as<Binary>()->b, BinaryOp::Mul));
  }

  /// Whether the expression is a sum or a multiple, which changes by a constant per iteration of a
  /// loop.
  static bool is_step(const Expr& e) {
    const Binary* binary = e.as<Binary>();
    return binary && (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub ||
                      (binary->op == BinaryOp::Mul && constant_int(binary->b)));
  }

  /// Records that the piece computes the value. Returns whether it is new.
  static bool is_new(const Expr& e, Piece& piece) {
    const auto [begin, end] = piece.known.equal_range(e.node().hash);
    const auto known = std::find_if(
        begin, end, [&](const auto& entry) { return structural_equal(entry.second.value, e); });
    if (known == end) {
      piece.known.emplace(e.node().hash, Known{e, piece.stores, piece.stores});
      return true;
    }
    known->second.last = piece.stores;
    known->second.uses += 1;
    return false;
  }

  /// Estimates spills. A loaded value is live from its first use to its last. If there are not
  /// enough registers, the value whose last use is furthest is stored on the stack and reloaded for
  /// each further use (Belady).
  void add_spills(const Piece& piece, Work& own) const {
    if (registers_.count == 0) return;
    std::vector<const Known*> kept;
    for (const auto& [hash, known] : piece.known)
      if (known.last > known.first && known.value.as<Load>()) kept.push_back(&known);
    std::sort(kept.begin(), kept.end(), [](const Known* a, const Known* b) {
      return std::pair(a->first, a->last) < std::pair(b->first, b->last);
    });
    constexpr double kOthers = 2;
    const double free = registers_.count - kOthers - static_cast<double>(piece.chains.size());
    const auto room = static_cast<std::size_t>(std::max(free, 1.0));
    // An accumulator without a register is stored and loaded for each addition.
    if (free < 1) {
      own.spills += 1 - free;
      own.stores += 1 - free;
      own.loads += 1 - free;
    }
    std::multimap<std::size_t, const Known*> live;
    for (const Known* known : kept) {
      live.erase(live.begin(), live.upper_bound(known->first));
      live.emplace(known->last, known);
      if (live.size() <= room) continue;
      const auto furthest = std::prev(live.end());
      const double registers = registers_for(furthest->second->value.dtype());
      own.spills += registers;
      own.stores += registers;
      own.loads += registers * static_cast<double>(furthest->second->uses - 1);
      live.erase(furthest);
    }
  }

  /// Returns the depth of the innermost loop in which the value changes.
  std::size_t depth_of(const Expr& e) const {
    const auto own = depths_.find(&e.node());
    std::size_t result = own == depths_.end() ? 0 : own->second;
    if (const Load* load = e.as<Load>(); load && stored_.contains(&load->buffer->data.node()))
      return depth();
    for_each_child(e, [&](const Expr& child) { result = std::max(result, depth_of(child)); });
    return result;
  }

  void close() {
    const Piece piece = std::move(pieces_.back());
    pieces_.pop_back();
    const auto longest = [](const auto& chains) {
      double most = 0;
      for (const auto& [element, length] : chains) most = std::max(most, length);
      return most;
    };
    Work own = piece.work;
    add_spills(piece, own);
    const double waits = longest(piece.chains), memory_waits = longest(piece.memory_chains);
    // The units work in parallel, so the slowest one determines the time.
    const double parts = registers_.bits > kWholeBits ? 2 : 1;
    const double cycles =
        std::max({parts * own.operations / kOperationsPerCycle,
                  (parts * own.loads + own.broadcasts + own.gathered) / kReadsPerCycle,
                  parts * own.stores / kStoresPerCycle, own.indices / kIndicesPerCycle,
                  waits * kSumLatency, memory_waits * kMemoryLatency}) +
        own.calls * kCallCycles + own.iterations + own.guards;
    for (const auto& [sum, once] : {std::pair(&total.operations, own.operations),
                                    {&total.loads, own.loads},
                                    {&total.broadcasts, own.broadcasts},
                                    {&total.gathered, own.gathered},
                                    {&total.stores, own.stores},
                                    {&total.calls, own.calls},
                                    {&total.indices, own.indices},
                                    {&total.iterations, own.iterations},
                                    {&total.guards, own.guards},
                                    {&total.spills, own.spills},
                                    {&total.waits, waits},
                                    {&total.memory_waits, memory_waits},
                                    {&total.cycles, cycles}})
      *sum += piece.times * once;
  }

  VectorRegisters registers_;
  /// The pieces of the enclosing loops, outermost first.
  std::vector<Piece> pieces_;
  /// The depths at which variables of loops and lets change.
  std::unordered_map<const ExprNode*, std::size_t> depths_;
  /// Data pointers of memory that is stored to, and of memory that is kept in registers.
  std::unordered_set<const ExprNode*> stored_, in_registers_;
};

}  // namespace

std::vector<double> Work::amounts() const {
  return {operations, loads,  broadcasts, gathered,     stores, calls,      indices, iterations,
          guards,     spills, waits,      memory_waits, cycles, statements, sums};
}

Work work_of(const IRModule& loops, const TargetFacts& target) {
  lowering::PipelineOptions options;
  options.passes.verify = false;
  options.passes.vector_registers = target.vector_registers;
  Counter counter(target.vector_registers);
  for (const auto& [name, func] : loops.functions) {
    PrimFunc body = lowering::run_pipeline(func, options);
    if (target.fast_math)
      body = lowering::run_passes(lowering::fast_math_passes(), std::move(body), options);
    counter.add(lowering::run_passes(lowering::host_passes(), std::move(body), options));
  }
  return counter.total;
}

}  // namespace tenon::tune
