// Long sequences of statements become several functions: LLVM's time for one grows faster than in
// proportion to its length.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/optimize.h"
#include "codegen/llvm/outlined_body.h"

namespace tenon::codegen {

using namespace tir;

namespace {

/// Nodes of a part: small enough for LLVM's time to be in proportion, and so large that a call does
/// not count.
constexpr int kPart = 400;
/// What may stay together of a sequence. Inside of loops it is more: there may be a register tile
/// that is unrolled far, whose sums are kept in registers only as one function.
constexpr int kLongest = 2'000;
constexpr int kLongestInLoops = 16'000;

}  // namespace

void FunctionEmitter::emit(const Seq& n) {
  const StmtSizes& sizes = computation_.sizes;
  const auto fits = [&](const Stmt& s) { return sizes.of(s) <= kPart && !sizes.returns(s); };
  std::int64_t small = 0;
  for (const Stmt& s : n.stmts)
    if (fits(s)) small += sizes.of(s);
  // The tasks of a region share loops and meet at barriers: they stay in one function. So do
  // launches, which know the device.
  const bool divides =
      small > (loop_depth_ > 0 ? kLongestInLoops : kLongest) && !task_ && !device_id_;
  if (!divides) {
    for (const Stmt& s : n.stmts) stmt(s);
    return;
  }
  const std::span<const Stmt> all = n.stmts;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    int nodes = 0;
    while (end < all.size() && fits(all[end]) && nodes + sizes.of(all[end]) <= kPart)
      nodes += sizes.of(all[end++]);
    if (end > begin + 1) {
      part(all.subspan(begin, end - begin));
    } else {
      stmt(all[begin]);
      end = begin + 1;
    }
    begin = end;
  }
}

void FunctionEmitter::part(std::span<const Stmt> stmts) {
  const Stmt body = make_seq({stmts.begin(), stmts.end()});
  const OutlinedBody outlined(*this, body, function_->getName().str() + "_part", {});
  FunctionEmitter inner(module_, outlined.function(), computation_);
  outlined.define_captured(inner);
  outlined.function()->addFnAttr(kPartAttribute);
  inner.is_divided_ = loop_depth_ == 0;
  inner.loop_depth_ = loop_depth_;
  inner.stack_ = stack_;
  for (const Stmt& s : stmts) inner.stmt(s);
  inner.finish();
  check_status(call_foreign(outlined.function(), outlined.captured()));
}

}  // namespace tenon::codegen
