// Long sequences of statements become several functions, because LLVM's time for a function grows
// faster than its length.
#include <algorithm>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/optimize.h"
#include "codegen/llvm/outlined_body.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

namespace {

/// The number of IR nodes per part. It is small enough for LLVM's time to be linear, and large
/// enough for call overhead to be negligible.
constexpr int kPart = 400;
/// A sequence of more nodes than this is divided. A single statement of more than kLongest nodes
/// does not become a part; the sequences inside it are divided.
constexpr int kLongest = 2'000;
/// The limit inside loops, and for sequences that store to local memory: unrolled register tiles
/// can keep their accumulators in registers only within one function.
constexpr int kLongestOfTiles = 16'000;
/// The maximum number of consecutive calls of parts. Longer runs of calls are grouped into
/// functions again. Each call copies its arguments to its own registers, and LLVM compares all
/// copies of a value pairwise.
constexpr std::size_t kMaxCalls = 64;

bool stores_to_local_memory(std::span<const Stmt> stmts) {
  bool found = false;
  for (const Stmt& s : stmts)
    walk(s, [&](const Store& n) { found = found || n.buffer.scope() == StorageScope::Local; });
  return found;
}

}  // namespace

void FunctionEmitter::emit(const Seq& n) {
  if (!tiles_ && !computation_.fragments.empty()) {
    const std::vector<std::span<const Stmt>> lives = lives_of_fragments(n.stmts);
    if (lives.size() > 1 && lives.size() < n.stmts.size()) {
      for (const std::span<const Stmt> life : lives) stmt(make_seq({life.begin(), life.end()}));
      return;
    }
  }
  const std::int64_t nodes = computation_.sizes.nodes_that_fit(n.stmts, kLongest);
  // Tasks of a parallel region share loops and synchronize at barriers, so a region is not divided.
  // Kernel launches, which use the device, and masked stores are not divided either.
  const bool divides =
      nodes > kLongest && !task_ && !device_id_ && !stored_lanes_ &&
      (nodes > kLongestOfTiles || (loop_depth_ == 0 && !stores_to_local_memory(n.stmts)));
  if (divides) return divide(n.stmts);
  for (const Stmt& s : n.stmts) stmt(s);
}

void FunctionEmitter::divide(std::span<const Stmt> stmts) {
  const StmtSizes& sizes = computation_.sizes;
  const std::vector<std::span<const Stmt>> pieces = pieces_of(stmts, sizes, kPart);
  if (pieces.size() > kMaxCalls) return divide_in_groups(pieces);
  for (const std::span<const Stmt> piece : pieces) {
    // Moving a single statement to a function only pays if it has more nodes than half a part.
    if (piece.size() > 1 || (sizes.fits(piece[0], kLongest) && sizes.of(piece[0]) > kPart / 2)) {
      part(piece, [&](FunctionEmitter& inner) {
        for (const Stmt& s : piece) inner.stmt(s);
      });
    } else {
      stmt(piece[0]);
    }
  }
}

void FunctionEmitter::divide_in_groups(std::span<const std::span<const Stmt>> pieces) {
  const std::size_t count = std::max(kMaxCalls, (pieces.size() + kMaxCalls - 1) / kMaxCalls);
  for (std::size_t first = 0; first < pieces.size(); first += count) {
    const auto group = pieces.subspan(first, std::min(count, pieces.size() - first));
    const std::span<const Stmt> stmts(group.front().data(), &group.back().back() + 1);
    const bool stays =
        std::ranges::any_of(stmts, [&](const Stmt& s) { return computation_.sizes.returns(s); });
    if (stays) {
      for (const Stmt& s : stmts) stmt(s);
    } else {
      part(stmts, [&](FunctionEmitter& inner) { inner.divide(stmts); });
    }
  }
}

void FunctionEmitter::part(std::span<const Stmt> stmts,
                           FunctionRef<void(FunctionEmitter&)> emit_inside) {
  const Stmt body = make_seq({stmts.begin(), stmts.end()});
  const OutlinedBody outlined(*this, body, function_->getName().str() + "_part", {});
  FunctionEmitter inner(module_, outlined.function(), computation_);
  outlined.define_captured(inner);
  outlined.function()->addFnAttr(kPartAttribute);
  inner.is_divided_ = loop_depth_ == 0;
  inner.loop_depth_ = loop_depth_;
  inner.stack_ = stack_;
  inner.tiles_ = tiles_;
  emit_inside(inner);
  inner.finish();
  check_status(call_foreign(outlined.function(), outlined.captured()));
}

}  // namespace tenon::codegen
