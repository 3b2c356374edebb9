#include "tune/search/features.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tune/space/accesses.h"

namespace tenon::tune {

namespace {

using namespace tir;

constexpr std::size_t kOperations = 8, kLoopFacts = 13, kBuffers = 5, kBufferFacts = 10,
                      kIntensities = 10, kOutput = 2;
/// The index of the iteration count within the loop features of a row.
constexpr std::size_t kIterations = 11;

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
  std::stable_sort(all.begin(), all.end(), [&](const Access& a, const Access& b) {
    return bytes_of(a, touched(a, loops, 0)) > bytes_of(b, touched(b, loops, 0));
  });
  for (std::size_t n = 0; n < kBuffers; ++n) {
    if (n >= all.size()) {
      row.insert(row.end(), kBufferFacts, 0);
      continue;
    }
    const Access& access = all[n];
    const Box box = touched(access, loops, 0);
    const double moved =
        iterations * static_cast<double>(access.places.size()) * access.buffer->dtype.bytes();
    // Finds the innermost loop whose iterations access the same elements, and the bytes that one of
    // its iterations accesses.
    double again = 1, between = 0;
    for (std::size_t depth = loops.size(); depth-- > 0;) {
      const double inside = bytes_of(access, touched(access, loops, depth + 1));
      if (loops[depth].extent < 2 || bytes_of(access, touched(access, loops, depth)) > inside)
        continue;
      again = loops[depth].extent;
      for (const Access& other : all) between += bytes_of(other, touched(other, loops, depth + 1));
      break;
    }
    for (const double fact :
         {moved, bytes_of(access, box), lines_of(access, box), moved / bytes_of(access, box),
          stride_of(access, loops), again, between, again > 1 ? moved / again : moved})
      row.push_back(amount(fact));
    row.push_back(access.is_read ? 1 : 0);
    row.push_back(access.is_written ? 1 : 0);
  }
}

/// Adds the operations per byte accessed by the loops from a depth inwards, for several depths.
void add_intensity(std::vector<float>& row, const StoreInLoops& at, const std::vector<Access>& all,
                   double operations) {
  for (std::size_t n = 0; n < kIntensities; ++n) {
    const std::size_t first = at.loops.size() * n / kIntensities;
    double bytes = 0;
    for (const Access& access : all) bytes += bytes_of(access, touched(access, at.loops, first));
    row.push_back(amount(operations * at.iterations_from(first) / std::max(bytes, 1.0)));
  }
}

std::vector<float> row_of(const StoreInLoops& at) {
  std::vector<float> row;
  std::array<double, kOperations> counts{};
  count_operations(at.store.value, counts);
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
  for (const Expr& extent : at.store.buffer->shape)
    elements *= static_cast<double>(constant_int(extent).value_or(1));
  row.push_back(amount(elements * at.store.buffer->dtype.bytes()));
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
