// Prefetches the next panel of a packed matrix while the current one is used. Runs for host code
// only, after `lower`.
//
//   for (j, 0, 64) {                            // marked by the pragma "prefetch_panels"
//     for (i, 0, 16) {
//       for (k, 0, 96) {
//         ... B[ramp(j*36864 + k*384, 1, 16)] ...
// becomes, since iteration j reads 36864 elements from B[j*36864] on in 16*96 iterations of k,
//       for (k, 0, 96) {
//         @tir.prefetch(@tir.address_of(B[j*36864 + 36864 + (i*96 + k)*32]), 0, 2, 1)
//         @tir.prefetch(@tir.address_of(B[j*36864 + 36864 + (i*96 + k)*32 + 16]), 0, 2, 1)
//         ... B[ramp(j*36864 + k*384, 1, 16)] ...
//
// Weights come from memory, whose bandwidth is less than the first use of a panel requires. The
// loads of the next panel are therefore spread over all iterations and overlap with the arithmetic
// of the current panel. A dense layer of 128 rows, 768 to 3072, reached 145 GFLOPS with weights in
// memory and 176 with weights in the cache; with this pass, it reaches 190 and 200 (Emerald
// Rapids). Many prefetches at once would fill the processor's load queue without a gain.
//
// Each iteration prefetches a whole number of cache lines. The last iterations may therefore reach
// beyond the next panel, and the last panel beyond the buffer. This is safe, because a prefetch
// does not fault.
#include "lower/passes.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/pragma.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// The maximum number of cache lines that an iteration prefetches.
constexpr std::int64_t kMaxLines = 8;
constexpr std::int64_t kLineBytes = 64;

/// Contiguous elements that a load reads. `path` holds the loops around the load, inside the marked
/// loop.
struct Read {
  Buffer buffer;
  Expr first;
  std::int64_t count;
  std::vector<Stmt> path;
};

bool divides_by_variable(const Expr& e) {
  return any_node(e,
                  [](const Binary& n) { return is_integer_division(n.op) && !constant_int(n.b); });
}

/// Returns the reads in a loop whose index depends only on loop variables and on values known
/// before the loop. Lets are inlined. Indices with loads, calls and divisions by variables are
/// omitted, because a guard may protect them.
std::vector<Read> reads_of(const Stmt& whole) {
  std::vector<Read> reads;
  VarMap lets;
  std::unordered_set<const ExprNode*> known;
  for (const Var& var : free_vars(whole)) known.insert(&var.node());
  known.insert(&whole.as<For>()->var.node());
  std::vector<Stmt> path;
  const auto read = [&](const Load& n) {
    if (n.indices.size() != 1 || n.buffer->dtype.lanes != 1) return;
    const Ramp* ramp = n.indices[0].as<Ramp>();
    if (ramp ? !is_one(ramp->stride) : n.indices[0].dtype().is_vector()) return;
    const Expr first = substitute(ramp ? ramp->base : n.indices[0], lets);
    const bool is_known = std::ranges::all_of(
        free_vars(first), [&](const Var& var) { return known.contains(&var.node()); });
    if (is_known && !contains<Load>(first) && !contains<Call>(first) && !divides_by_variable(first))
      reads.push_back({n.buffer, first, n.indices[0].dtype().lanes, path});
  };
  const std::function<void(const Stmt&)> visit = [&](const Stmt& s) {
    for_each_expression(s, [&](const Expr& e) { walk(e, read); });
    if (const Let* n = s.as<Let>()) set(lets, n->var, substitute(n->value, lets));
    const For* loop = s.as<For>();
    if (loop) {
      known.insert(&loop->var.node());
      path.push_back(s);
    }
    for_each_statement(s, visit);
    if (loop) path.pop_back();
  };
  visit(whole.as<For>()->body);
  return reads;
}

/// Returns the number of consecutive iterations that read one panel: 14 for floordiv(j, 14).
std::int64_t iterations_of_a_panel(const Expr& index, const Var& loop) {
  std::int64_t divisor = 1;
  walk(index, [&](const Binary& n) {
    const auto by = constant_int(n.b);
    if (n.op == BinaryOp::FloorDiv && n.a.same_as(loop) && by && *by > 0) divisor = *by;
  });
  return divisor;
}

/// Returns the first element of the next panel, and the number of elements per panel. Returns
/// nullopt unless all reads of an iteration lie in one panel and consecutive panels are adjacent in
/// memory.
std::optional<std::pair<Expr, std::int64_t>> panels_of(const For& loop,
                                                       const std::vector<Read>& reads,
                                                       std::int64_t repeats) {
  arith::Facts facts;
  facts.bind(loop.var, Range::from_min_extent(loop.min, loop.extent));
  const VarMap next = {{&loop.var.node(), loop.var + make_int(loop.var.dtype(), repeats)}};
  VarMap begin;
  for (const Stmt& inner : reads.front().path)
    set(begin, inner.as<For>()->var, inner.as<For>()->min);
  const Expr start = substitute(reads.front().first, begin);
  std::optional<std::int64_t> size, first, last;
  for (const Read& read : reads) {
    for (const Stmt& s : read.path) {
      const For* inner = s.as<For>();
      facts.bind(inner->var, Range::from_min_extent(inner->min, inner->extent), true);
    }
    const auto step =
        constant_int(arith::simplify(substitute(read.first, next) - read.first, facts));
    if (!step || *step <= 0 || size.value_or(*step) != *step) return std::nullopt;
    size = step;
    const arith::ConstBound ends =
        arith::const_bound(arith::simplify(read.first - start, facts), facts);
    if (!ends.min || !ends.max) return std::nullopt;
    first = std::min(first.value_or(*ends.min), *ends.min);
    last = std::max(last.value_or(*ends.max + read.count - 1), *ends.max + read.count - 1);
  }
  if (*last - *first >= *size) return std::nullopt;
  return std::pair(substitute(start, next) + make_int(start.dtype(), *first), *last - *first + 1);
}

/// The prefetches to insert at the beginning of loop bodies.
using Prefetches = std::unordered_map<const StmtNode*, std::vector<Stmt>>;

/// Adds the prefetches of a buffer to the innermost loop around its first read.
void add_prefetches(const For& panels, const std::vector<Read>& reads, Prefetches& prefetches) {
  const Read& read = reads.front();
  if (read.path.empty()) return;
  const std::int64_t repeats = iterations_of_a_panel(read.first, panels.var);
  const DataType type = read.first.dtype();
  const auto constant = [&](std::int64_t value) { return make_int(type, value); };
  // The number of iterations that use a panel, and the number of the current iteration among
  // them.
  std::int64_t shares = repeats;
  Expr share = floormod(Expr(panels.var), constant(repeats));
  for (const Stmt& s : read.path) {
    const For* loop = s.as<For>();
    const auto extent = constant_int(loop->extent);
    const bool is_usual = loop->kind == ForKind::Serial && loop->var.dtype() == type;
    if (!is_usual || !extent || __builtin_mul_overflow(shares, *extent, &shares)) return;
    share = share * constant(*extent) + (loop->var - loop->min);
  }
  const auto found = panels_of(panels, reads, repeats);
  if (!found || shares < 1) return;
  const auto& [next, count] = *found;
  const DataType element = read.buffer->dtype;
  const std::int64_t of_a_line = kLineBytes / element.bytes();
  const std::int64_t lines = (count - 1) / of_a_line + 1, each = (lines - 1) / shares + 1;
  if (each > kMaxLines) return;
  for (std::int64_t line = 0; line < each; ++line) {
    const Expr at = next + (share * constant(each) + constant(line)) * constant(of_a_line);
    const Expr address =
        make_call(Handle(), Intrin::address_of, {make_load(read.buffer, {arith::simplify(at)})});
    prefetches[&read.path.back().node()].push_back(
        make_evaluate(make_call(element, Intrin::prefetch, {address, 0, 2, 1})));
  }
}

/// Finds the prefetches of the marked loops. `is_marked`: whether `s` is a marked loop, or contains
/// the loops into which a marked loop was divided.
void find_prefetches(const Stmt& s, bool is_marked, Prefetches& prefetches) {
  const For* loop = s.as<For>();
  if (loop && is_marked) {
    const std::vector<Read> reads = reads_of(s);
    // The memory that the loop writes, and the memory of earlier reads.
    std::unordered_set<const ExprNode*> seen;
    walk(s, [&](const Store& n) { seen.insert(&n.buffer->data.node()); });
    for (const Read& read : reads) {
      if (!seen.insert(&read.buffer->data.node()).second) continue;
      std::vector<Read> same;
      std::ranges::copy_if(reads, std::back_inserter(same), [&](const Read& other) {
        return other.buffer->data.same_as(read.buffer->data);
      });
      add_prefetches(*loop, same, prefetches);
    }
  }
  const Attr* attr = s.as<Attr>();
  const bool are_marked = is_marked ? !loop : attr && is_pragma(*attr, PragmaKey::PrefetchPanels);
  for_each_statement(s, [&](const Stmt& child) { find_prefetches(child, are_marked, prefetches); });
}

Stmt with_prefetches(const Stmt& s, const Prefetches& prefetches) {
  const Stmt result =
      map_statements(s, [&](const Stmt& child) { return with_prefetches(child, prefetches); });
  const auto found = prefetches.find(&s.node());
  if (found == prefetches.end()) return result;
  For loop = *result.as<For>();
  std::vector<Stmt> body = found->second;
  body.push_back(loop.body);
  loop.body = make_seq(std::move(body));
  return make_stmt(std::move(loop));
}

}  // namespace

PrimFunc prefetch_panels(const PrimFunc& func, const PassOptions&) {
  Prefetches prefetches;
  find_prefetches(func.body, false, prefetches);
  return with_body(func, with_prefetches(func.body, prefetches));
}

}  // namespace tenon::lowering
