#include "s_tir/script/script_parser.h"
#include "tenon/arith/block_access.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir {

using namespace tir;

namespace script {

bool Parser::block_line(OpenBlock& open) {
  if (is_assignment_of("T.alloc_buffer")) {
    open.block.alloc_buffers.push_back(alloc_buffer());
  } else if (is_assignment_of("T.match_buffer") && in_.is_sign("[", 5)) {
    match_region(open);
  } else if (is_axis()) {
    axis(open);
  } else if (in_.accept_name("T.where")) {
    in_.expect("(");
    const Token at = in_.peek();
    open.predicate = condition();
    require_outside(open, open.predicate, at, "the condition of a block");
    in_.expect(")");
  } else if (in_.accept_name("T.reads")) {
    open.block.reads = regions();
    open.has_reads = true;
  } else if (in_.accept_name("T.writes")) {
    open.block.writes = regions();
    open.has_writes = true;
  } else if (in_.accept_name("T.block_attr")) {
    in_.expect("(");
    open.block.annotations = exprs_.annotations();
    in_.expect(")");
  } else if (in_.is_name("with") && in_.is_name("T.init", 1)) {
    in_.take(), in_.take(), in_.expect("("), in_.expect(")");
    open.block.init = nested();
    return true;
  } else {
    return false;
  }
  in_.expect_end_of_line();
  return true;
}

Buffer Parser::alloc_buffer() {
  const Token name = in_.take();
  in_.take(), in_.take(), in_.expect("(");
  const std::vector<Expr> shape = exprs_.list();
  return details(name, shape, ")");
}

void Parser::match_region(OpenBlock& open) {
  const Token name = in_.take();
  in_.take(), in_.take(), in_.expect("(");
  BufferRegion source = exprs_.region();
  in_.expect(",");
  const std::vector<Expr> shape = exprs_.list();
  open.block.match_buffers.push_back({details(name, shape, ")"), std::move(source)});
}

std::vector<BufferRegion> Parser::regions() {
  std::vector<BufferRegion> result;
  in_.expect("(");
  const bool is_list = in_.accept("[");
  const char* close = is_list ? "]" : ")";
  while (!in_.accept(close)) {
    result.push_back(exprs_.region());
    if (!in_.is_sign(close)) in_.expect(",");
  }
  if (is_list) in_.expect(")");
  return result;
}

bool Parser::is_axis() const {
  std::size_t at = 0;
  while (in_.peek(at).kind == Token::Kind::Name && in_.is_sign(",", at + 1)) at += 2;
  return in_.peek(at).kind == Token::Kind::Name && in_.is_sign("=", at + 1) &&
         in_.peek(at + 2).text.starts_with("T.axis.");
}

void Parser::require_outside(const OpenBlock& open, const Expr& e, const Token& at,
                             const char* what) {
  for (const Var& var : free_vars(e))
    if (open.iter_vars.contains(&var.node()))
      syntax_error(at, std::string(what) + " names `" + var.name() +
                           "`, an iterator of the same block; it is computed outside of the block");
}

void Parser::add_iter(OpenBlock& open, const Token& name, const Range& dom, IterKind kind,
                      const Expr& value) {
  require_outside(open, value, name, "the value of an iterator");
  require_outside(open, dom.min, name, "the domain of an iterator");
  require_outside(open, dom.extent, name, "the domain of an iterator");
  if (!open.iter_names.insert(name.text).second)
    syntax_error(name, "the block has an iterator `" + name.text + "` already");
  const IterVar axis(dom, Var(name.text, dom.extent.dtype()), kind);
  open.iter_vars.insert(&axis.var().node());
  open.block.iters.push_back(axis);
  open.values.push_back(value);
  scopes_.define(name.text, axis.var());
}

void Parser::axis(OpenBlock& open) {
  std::vector<Token> names;
  do names.push_back(in_.take());
  while (in_.accept(","));
  in_.expect("=");
  const Token function = in_.take();
  in_.expect("(");
  const std::string kind = function.text.substr(std::string_view("T.axis.").size());
  if (kind == "remap") return remap(open, names);
  const IterKind iter = kind == "spatial" || kind == "S"  ? IterKind::DataParallel
                        : kind == "reduce" || kind == "R" ? IterKind::Reduce
                        : kind == "scan"                  ? IterKind::Ordered
                        : kind == "opaque"                ? IterKind::Opaque
                                                          : unknown_axis(function);
  if (names.size() != 1) syntax_error(names[1], "one iterator is defined here");
  const Range dom = domain();
  in_.expect(",");
  const Token at = in_.peek();
  const Value value = exprs_.value();
  ExprParser::require_index(value.e, at, "the value of an iterator");
  in_.expect(")");
  add_iter(open, names.front(), dom, iter, ExprParser::as_type(value, dom.extent.dtype(), at));
}

IterKind Parser::unknown_axis(const Token& function) {
  syntax_error(function, "expected T.axis.spatial, reduce, scan, opaque or remap, got `" +
                             function.text + "`");
}

Range Parser::domain() {
  if (!in_.is_sign("(")) {
    const Expr extent = exprs_.index("the extent of an iterator");
    return Range::from_min_extent(make_int(extent.dtype(), 0), extent);
  }
  const Token at = in_.take();
  const Expr lo = exprs_.index("a bound of an iterator");
  if (in_.accept(")")) return Range::from_min_extent(make_int(lo.dtype(), 0), lo);
  in_.expect(",");
  const Expr hi = exprs_.index("a bound of an iterator");
  in_.expect(")");
  return at_token(
      at, [&] { return Range::from_min_extent(lo, is_zero(lo) ? hi : arith::simplify(hi - lo)); });
}

void Parser::remap(OpenBlock& open, const std::vector<Token>& names) {
  const Token kinds = in_.peek();
  const std::string letters = in_.expect_string("the iterators' kinds");
  in_.expect(",");
  const Token at = in_.peek();
  const std::vector<Expr> values = exprs_.list();
  in_.expect(")");
  if (letters.size() != names.size() || values.size() != names.size())
    syntax_error(kinds, std::to_string(names.size()) + " iterators, " +
                            std::to_string(letters.size()) + " kinds and " +
                            std::to_string(values.size()) + " loops: expected as many of each");
  for (std::size_t n = 0; n < names.size(); ++n) {
    if (letters[n] != 'S' && letters[n] != 'R')
      syntax_error(kinds, std::string("expected S or R, got `") + letters[n] + "`");
    const auto loop = loops_.find(&values[n].node());
    if (loop == loops_.end()) syntax_error(at, "T.axis.remap takes variables of loops");
    add_iter(open, names[n], loop->second,
             letters[n] == 'S' ? IterKind::DataParallel : IterKind::Reduce, values[n]);
  }
}

Stmt Parser::block() {
  in_.expect("(");
  OpenBlock open;
  if (!in_.is_sign(")")) open.block.name = in_.expect_string("the block's name");
  in_.expect(")");
  blocks_.push_back(&open);
  open.block.body = nested(&open);
  blocks_.pop_back();
  if (!(open.has_reads && open.has_writes)) {
    std::vector<Buffer> visible = scopes_.buffers();
    for (const OpenBlock* outer : blocks_)
      for (const Buffer& b : outer->block.alloc_buffers) visible.push_back(b);
    const arith::BlockAccess access = arith::find_block_access(open.block, visible);
    if (!open.has_reads) open.block.reads = access.reads;
    if (!open.has_writes) open.block.writes = access.writes;
  }
  return make_block(std::move(open.values), std::move(open.predicate), std::move(open.block));
}

}  // namespace script

}  // namespace tenon::s_tir
