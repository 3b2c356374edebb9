#include "tune/search/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "tenon/lower/pipeline.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tune/space/block_facts.h"

namespace tenon::tune {

// ---- work ---------------------------------------------------------------------------------------

namespace {

using namespace tir;

// Typical throughputs per cycle, and latencies in cycles, of current processors.
constexpr double kOperationsPerCycle = 2, kReadsPerCycle = 2, kStoresPerCycle = 1,
                 kIndicesPerCycle = 4, kSumLatency = 4, kMemoryLatency = 9, kCallCycles = 20;
/// The assumed width of vector units. Most processors split wider operations, or combine two units
/// for them.
constexpr int kWholeBits = 256;
/// Code generators unroll innermost loops with at most this number of iterations.
constexpr double kUnrolledLater = 16;

/// All numbers of a Work, in the order of the features.
constexpr double Work::*kAmounts[] = {
    &Work::operations, &Work::loads,        &Work::broadcasts, &Work::gathered,   &Work::stores,
    &Work::calls,      &Work::indices,      &Work::iterations, &Work::guards,     &Work::spills,
    &Work::waits,      &Work::memory_waits, &Work::cycles,     &Work::statements, &Work::sums};

/// A loaded or computed value: the number of its uses, and the stores that use it first and last.
struct Known {
  Expr value;
  std::size_t first, last, uses = 1;
};

/// The work of one iteration of a loop, excluding its inner loops.
struct Piece {
  /// The total number of iterations in one run of the program.
  double times = 1;
  Work work = {};
  /// The values that have been counted in this loop, by hash.
  std::unordered_multimap<std::size_t, Known> known = {};
  /// The number of stores so far, including the current one.
  std::size_t stores = 0;
  /// The length of each dependence chain of additions, by element. `memory_chains`: chains through
  /// memory instead of registers.
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
    const double extent = extent_or_one(loop.extent);
    const bool is_innermost = !any_node(loop.body, [](const For&) { return true; });
    const double times = here().times * extent;
    pieces_.push_back({.times = times});
    if (!is_innermost || extent > kUnrolledLater) here().work.iterations = 1;
    depths_[&loop.var.node()] = depth();
    stmt(loop.body);
    close();
  }

  /// Treats an allocation as registers if it fits into all vector registers together, because code
  /// generators promote such accumulators to registers.
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
    const bool is_sum = any_node(s.value, [&](const Load& load) {
      return load.buffer->data.same_as(s.buffer->data) &&
             structural_equal(load.indices[0], s.indices[0]);
    });
    if (is_sum) {
      // If iterations accumulate into different elements, each iteration starts a new dependence
      // chain. Its first addition is not counted.
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
    // A scalar index also accesses a vector if the elements of the buffer are vectors.
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

  /// Whether the sum is part of a multiply-add, which is already counted with the product.
  static bool is_fused(const Expr& e) {
    const auto is = [](const Expr& of, BinaryOp op) {
      const Binary* binary = of.as<Binary>();
      return binary && binary->op == op;
    };
    return is(e, BinaryOp::Add) && e.dtype().is_floating() &&
           (is(e.as<Binary>()->a, BinaryOp::Mul) || is(e.as<Binary>()->b, BinaryOp::Mul));
  }

  /// Whether the expression is a sum or a multiple by a constant. Such an index changes by a
  /// constant per loop iteration.
  static bool is_step(const Expr& e) {
    const Binary* binary = e.as<Binary>();
    return binary && (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub ||
                      (binary->op == BinaryOp::Mul && constant_int(binary->b)));
  }

  /// Records that `piece` computes the value. Returns whether the value is new there.
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
  /// enough registers, the value whose last use is furthest away is spilled and reloaded for each
  /// further use (Belady).
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
    // An accumulator without a register is loaded and stored for each addition.
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
    own.waits = longest(piece.chains);
    own.memory_waits = longest(piece.memory_chains);
    // The units work in parallel, so the slowest one determines the time.
    const double parts = registers_.bits > kWholeBits ? 2 : 1;
    own.cycles = std::max({parts * own.operations / kOperationsPerCycle,
                           (parts * own.loads + own.broadcasts + own.gathered) / kReadsPerCycle,
                           parts * own.stores / kStoresPerCycle, own.indices / kIndicesPerCycle,
                           own.waits * kSumLatency, own.memory_waits * kMemoryLatency}) +
                 own.calls * kCallCycles + own.iterations + own.guards;
    for (const auto amount : kAmounts) total.*amount += piece.times * own.*amount;
  }

  VectorRegisters registers_;
  /// The work of each enclosing loop, outermost first.
  std::vector<Piece> pieces_;
  /// The depth of the loop in which each variable of a loop or let changes.
  std::unordered_map<const ExprNode*, std::size_t> depths_;
  /// The data pointers of memory that the program stores to, and of memory that is kept in
  /// registers.
  std::unordered_set<const ExprNode*> stored_, in_registers_;
};

}  // namespace

std::vector<double> Work::amounts() const {
  std::vector<double> result;
  for (const auto amount : kAmounts) result.push_back(this->*amount);
  return result;
}

Work work_of(const IRModule& loops, const TargetFacts& target) {
  lowering::PipelineOptions options;
  options.passes.verify = false;
  options.passes.vector_registers = target.vector_registers;
  Counter counter(target.vector_registers);
  for (const auto& [name, func] : loops.functions)
    counter.add(lowering::run_host_pipeline(lowering::run_pipeline(func, options), options.passes,
                                            target.fast_math));
  return counter.total;
}

// ---- memory traffic -----------------------------------------------------------------------------

namespace {

/// The associativity (cache lines per set) that is typical of current processors.
constexpr std::int64_t kWays = 8;

/// Returns the distance in bytes between the rows of a footprint with these spans. A row consists
/// of the innermost dimensions. The dimension before them is the innermost one, other than the
/// last, in which more than one index is accessed. Returns 0 if there is only one row, or if the
/// memory is allocated inside a loop and thus not larger than the footprint.
std::int64_t row_distance(const Access& access, const std::vector<double>& spans) {
  if (access.loops_around_memory > 0) return 0;
  const std::vector<tir::Expr>& shape = access.buffer->shape;
  std::int64_t bytes = access.buffer->dtype.bytes();
  for (std::size_t d = shape.size(); d-- > 1;) {
    bytes *= tir::constant_int(shape[d]).value_or(1);
    if (spans[d - 1] > 1) return bytes;
  }
  return 0;
}

/// Whether a footprint with these spans fits the sets of the cache. If the distance between rows
/// and the size of a way have a large common divisor, all rows map to a few sets.
bool has_sets_for(const Access& access, const std::vector<double>& spans,
                  std::int64_t cache_bytes) {
  const std::int64_t distance = row_distance(access, spans);
  if (distance == 0) return true;
  const double row_bytes =
      std::ceil(spans.back() * access.buffer->dtype.bytes() / kLineBytes) * kLineBytes;
  const double rows = lines_of(access, spans) * kLineBytes / row_bytes;
  const auto apart = static_cast<double>(std::gcd(distance, cache_bytes / kWays));
  return rows * std::max(apart, row_bytes) <= static_cast<double>(cache_bytes);
}

/// Returns the number of cache lines that the loops of a store load into the cache.
double lines_into(std::int64_t cache_bytes, const StoreInLoops& at,
                  const std::vector<Access>& accesses) {
  const auto fits = [&](std::size_t first) {
    double bytes = 0;
    for (const Access& access : accesses) {
      const std::vector<double> spans = spans_of(access, at.loops, first);
      if (!has_sets_for(access, spans, cache_bytes)) return false;
      bytes += lines_of(access, spans) * kLineBytes;
    }
    return bytes <= static_cast<double>(cache_bytes);
  };
  std::size_t first = at.loops.size();
  while (first > 0 && fits(first - 1)) --first;
  // Data that does not depend on the next outer loop is reused by its iterations.
  if (first > 0) --first;
  const double times = at.iterations_from(0) / at.iterations_from(first);
  double lines = 0;
  for (const Access& access : accesses)
    lines += lines_of(access, spans_of(access, at.loops, first));
  return lines * times;
}

}  // namespace

Traffic traffic_of(const tir::IRModule& loops, const tir::CacheBytes& caches) {
  Traffic result;
  for (const auto& [name, func] : loops.functions)
    for_each_store(func.body, [&](const StoreInLoops& at) {
      const std::vector<Access> accesses = accesses_of(at);
      result.into_l1 += lines_into(caches.l1, at, accesses);
      result.into_l2 += lines_into(caches.l2, at, accesses);
    });
  return result;
}

// ---- vectors of features ------------------------------------------------------------------------

namespace {

constexpr std::size_t kOperations = 8, kLoopFacts = 13, kBuffers = 5, kBufferFacts = 10,
                      kIntensities = 10, kOutput = 2;
/// The position of the iteration count among the features of a loop.
constexpr std::size_t kIterations = 11;

/// The kinds of operations, as indices of counts.
constexpr std::size_t kAdd = 0, kMul = 1, kDivide = 2, kExtremum = 3, kCompare = 4, kLogic = 5,
                      kInteger = 6, kCall = 7;

float amount(double x) { return static_cast<float>(std::log2(1 + std::abs(x))); }

void count_operations(const Expr& e, std::array<double, kOperations>& counts) {
  if (e.as<Load>()) return;
  const auto operation = [&]() -> std::optional<std::size_t> {
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
  if (operation) ++counts[*operation];
  for_each_child(e, [&](const Expr& child) { count_operations(child, counts); });
}

void add_loops(std::vector<float>& row, const StoreInLoops& at) {
  double vectors = 1, unrolled = 1, parallel = 1, threads = 1;
  for (const Loop& loop : at.loops) {
    if (loop.kind == ForKind::Vectorized) vectors *= loop.extent;
    if (loop.kind == ForKind::Unrolled) unrolled *= loop.extent;
    if (loop.kind == ForKind::Parallel) parallel *= loop.extent;
    if (loop.kind == ForKind::ThreadBinding) threads *= loop.extent;
  }
  const auto extent_from_inside = [&](std::size_t n) {
    return n < at.loops.size() ? at.loops[at.loops.size() - 1 - n].extent : 1;
  };
  for (const double fact : {vectors, unrolled, parallel, threads, at.unroll, at.guards,
                            static_cast<double>(at.loops.size()), extent_from_inside(0),
                            extent_from_inside(1), extent_from_inside(2), extent_from_inside(3),
                            at.iterations_from(0), at.loops.empty() ? 1 : at.loops.front().extent})
    row.push_back(amount(fact));
}

void add_accesses(std::vector<float>& row, const StoreInLoops& at, std::vector<Access> all) {
  const std::vector<Loop>& loops = at.loops;
  const double iterations = at.iterations_from(0);
  std::ranges::stable_sort(all, std::greater(), [&](const Access& access) {
    return bytes_of(access, spans_of(access, loops, 0));
  });
  for (std::size_t n = 0; n < kBuffers; ++n) {
    if (n >= all.size()) {
      row.insert(row.end(), kBufferFacts, 0);
      continue;
    }
    const Access& access = all[n];
    const std::vector<double> spans = spans_of(access, loops, 0);
    const double moved =
        iterations * static_cast<double>(access.places.size()) * access.buffer->dtype.bytes();
    // Finds the innermost loop whose iterations all access the same elements, and the number of
    // bytes that one of its iterations accesses.
    double again = 1, between = 0;
    for (std::size_t depth = loops.size(); depth-- > 0;) {
      const double inside = bytes_of(access, spans_of(access, loops, depth + 1));
      if (loops[depth].extent < 2 || bytes_of(access, spans_of(access, loops, depth)) > inside)
        continue;
      again = loops[depth].extent;
      for (const Access& other : all) between += bytes_of(other, spans_of(other, loops, depth + 1));
      break;
    }
    for (const double fact :
         {moved, bytes_of(access, spans), lines_of(access, spans), moved / bytes_of(access, spans),
          stride_of(access, loops), again, between, again > 1 ? moved / again : moved})
      row.push_back(amount(fact));
    row.push_back(access.is_read ? 1 : 0);
    row.push_back(access.is_written ? 1 : 0);
  }
}

/// Adds features for the arithmetic intensity: operations per byte accessed, for the loops inside
/// of several depths.
void add_intensity(std::vector<float>& row, const StoreInLoops& at, const std::vector<Access>& all,
                   double operations) {
  for (std::size_t n = 0; n < kIntensities; ++n) {
    const std::size_t first = at.loops.size() * n / kIntensities;
    double bytes = 0;
    for (const Access& access : all) bytes += bytes_of(access, spans_of(access, at.loops, first));
    row.push_back(amount(operations * at.iterations_from(first) / std::max(bytes, 1.0)));
  }
}

std::vector<float> row_of(const StoreInLoops& at) {
  std::vector<float> row;
  std::array<double, kOperations> counts{};
  count_operations(at.store->value, counts);
  double operations = 0;
  for (const double count : counts) {
    row.push_back(amount(count * at.iterations_from(0)));
    operations += count;
  }
  add_loops(row, at);
  const std::vector<Access> all = accesses_of(at);
  add_accesses(row, at, all);
  add_intensity(row, at, all, operations);
  double elements = 1;
  for (const Expr& extent : at.store->buffer->shape) elements *= extent_or_one(extent);
  row.push_back(amount(elements * at.store->buffer->dtype.bytes()));
  row.push_back(amount(elements));
  internal_check(row.size() == feature_count(), "a row of features of another length");
  return row;
}

}  // namespace

std::size_t feature_count() {
  return kOperations + kLoopFacts + kBuffers * kBufferFacts + kIntensities + kOutput;
}

float iterations_of(const std::vector<float>& row) { return row[kOperations + kIterations]; }

Features features_of(const IRModule& loops) {
  Features result;
  for (const auto& [name, func] : loops.functions)
    for_each_store(func.body, [&](const StoreInLoops& at) { result.push_back(row_of(at)); });
  return result;
}

}  // namespace tenon::tune
