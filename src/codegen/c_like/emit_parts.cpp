// Long sequences of statements become several functions, as in llvm/emit_parts.cpp, because compile
// time grows faster than a function's length (GCC 12 -O2: 23 s for 2,500 statements, 1 s for the
// same in parts).
#include "codegen/c_like/function_emitter.h"
#include "tenon/codegen/statements.h"

namespace tenon::codegen {

using namespace tir;

namespace {

/// kPart is the number of IR nodes per part. A sequence of more than kLongest nodes is divided into
/// parts. Inside loops the limit is kLongestInLoops, because calls may be costly there. A single
/// statement of more than kLongest nodes does not become a part; the sequences inside it are
/// divided instead.
constexpr int kPart = 600;
constexpr int kLongest = 2'000;
constexpr int kLongestInLoops = 8'000;

}  // namespace

void CFunctionEmitter::emit(const Seq& n) {
  // Tasks of a parallel region share loops and synchronize at barriers, so the region must remain
  // one function.
  const bool divides =
      sizes_ && !task_ &&
      sizes_->nodes_that_fit(n.stmts, kLongest) > (loop_depth_ > 0 ? kLongestInLoops : kLongest);
  if (!divides) {
    for (const Stmt& child : n.stmts) stmt(child);
    return;
  }
  for (const std::span<const Stmt> piece : pieces_of(n.stmts, *sizes_, kPart)) {
    const bool is_large = sizes_->fits(piece[0], kLongest) && sizes_->of(piece[0]) > kPart / 2;
    if (piece.size() > 1 || is_large) {
      part(piece);
    } else {
      stmt(piece[0]);
    }
  }
}

void CFunctionEmitter::part(std::span<const Stmt> stmts) {
  module_.use_parts();
  const std::string function = take_callee_name("part");
  CFunctionEmitter inner(module_, used_as_data_, function, noalias_);
  inner.comments_ = comments_;
  inner.stack_ = stack_;
  inner.sizes_ = sizes_;
  inner.loop_depth_ = loop_depth_;
  std::string params;
  std::vector<Text> args;
  capture(make_seq({stmts.begin(), stmts.end()}), inner,
          [&](const std::string& value, const CVariable& own, const std::string& type) {
            params += (params.empty() ? "" : ", ") + declaration(type, own);
            args.push_back({value});
          });
  for (const Stmt& s : stmts) inner.stmt(s);
  if (inner.may_fail_) inner.out_.add("return 0;");
  const std::string type = inner.may_fail_ ? "int32_t " : "void ";
  module_.add_function(
      inner.function("PART " + type + function + "(" + (params.empty() ? "void" : params) + ")"));
  if (inner.may_fail_) return check_status(call(function, args).text);
  out_.add(call(function, args).text + ";");
}

}  // namespace tenon::codegen
