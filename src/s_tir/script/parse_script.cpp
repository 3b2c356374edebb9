#include <algorithm>

#include "s_tir/script/script_parser.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/script.h"
#include "tenon/tir/verify.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir {

using namespace tir;

namespace script {

IRModule Parser::module() {
  IRModule result;
  skip_imports();
  decorators();
  if (in_.accept_name("class")) {
    in_.expect_plain_name("the module's name");
    in_.expect_suite();
    while (!in_.accept(Token::Kind::Dedent)) {
      if (in_.accept_name("pass")) {
        in_.expect_end_of_line();
        continue;
      }
      decorators();
      function(result);
    }
  } else {
    function(result);
  }
  if (!in_.is(Token::Kind::End)) in_.unexpected("the end of the script");
  return result;
}

void Parser::skip_imports() {
  while (in_.is_name("from") || in_.is_name("import")) {
    while (!in_.is(Token::Kind::Newline) && !in_.is(Token::Kind::End)) in_.take();
    in_.accept(Token::Kind::Newline);
  }
}

void Parser::decorators() {
  while (in_.accept("@")) {
    is_modern_ |= in_.is_name("I.ir_module");
    if (!in_.is(Token::Kind::Name)) in_.unexpected("the name of a decorator");
    in_.take();
    if (in_.accept("(")) {
      while (!in_.accept(")")) {
        if (in_.is(Token::Kind::Newline) || in_.is(Token::Kind::End)) in_.unexpected("`)`");
        in_.take();
      }
    }
    in_.expect_end_of_line();
  }
}

void Parser::function(IRModule& result) {
  in_.expect_name("def");
  const Token name = in_.expect_plain_name("the function's name");
  head_ = Head();
  head_.func.attrs = {.global_symbol = is_modern_ ? name.text : "",
                      .noalias = false,
                      .from_legacy_te_schedule = false,
                      .reversed_in_text = false,
                      .others = {}};
  scopes_ = Scopes();
  in_.expect("(");
  while (!in_.accept(")")) {
    param();
    if (!in_.is_sign(")")) in_.expect(",");
  }
  if (in_.accept("->")) return_type();
  in_.expect_suite();
  head_.func.body = function_body();
  put_in_order(head_.func);
  if (!result.functions.emplace(name.text, std::move(head_.func)).second)
    syntax_error(name, "there are two functions `" + name.text + "`");
}

void Parser::return_type() {
  if (!in_.accept_name("None")) in_.unexpected("`None`, which is what functions return");
}

void Parser::put_in_order(PrimFunc& func) {
  std::vector<BufferParam> ordered;
  for (const Var& param : func.params)
    if (const BufferParam* b = func.buffer_of(param)) ordered.push_back(*b);
  func.buffers = std::move(ordered);
}

void Parser::param() {
  const Token name = in_.expect_plain_name("a parameter");
  if (!head_.param_names.insert(name.text).second)
    syntax_error(name, "the function has a parameter `" + name.text + "` already");
  in_.expect(":");
  if (in_.accept_name("T.Buffer")) return buffer_param(name);
  const Token type = in_.peek();
  if (!in_.is(Token::Kind::Name) || !type.text.starts_with("T."))
    in_.unexpected("the parameter's type");
  in_.take();
  if (in_.accept("(")) {
    while (!in_.accept(")")) {
      if (in_.is(Token::Kind::End)) in_.unexpected("`)`");
      in_.take();
    }
  }
  const DataType dtype = at_token(type, [&] { return DataType::parse(type.text.substr(2)); });
  const Var var(name.text, dtype);
  head_.func.params.push_back(var);
  scopes_.define(name.text, var);
  if (dtype.is_handle()) head_.handles.emplace(name.text, var);
}

void Parser::buffer_param(const Token& name) {
  const char* close = in_.is_sign("[") ? "]" : ")";
  if (!in_.accept("[")) in_.expect("(");
  const std::vector<Expr> shape = exprs_.list();
  const Buffer buffer = details(name, shape, close);
  // TVM's name for the argument's handle, which scripts do not mention.
  const Var handle("var_" + name.text, Handle());
  head_.func.params.push_back(handle);
  head_.func.buffers.push_back({handle, buffer, buffer});
}

Buffer Parser::details(const Token& name, std::vector<Expr> shape, const char* close) {
  // A constant extent may be written as a sum or product.
  for (Expr& extent : shape)
    if (free_vars(extent).empty()) extent = arith::simplify(extent);
  DataType dtype = Float(32);
  BufferOptions options{.name = name.text, .scope = "global"};
  while (!in_.accept(close)) {
    in_.expect(",");
    if (in_.is_sign(close)) continue;
    if (in_.is(Token::Kind::String)) {
      dtype = exprs_.dtype();
      continue;
    }
    const Token key = in_.expect_plain_name("an option of the buffer");
    in_.expect("=");
    option(key, dtype, options);
  }
  const Buffer buffer = at_token(name, [&] { return decl_buffer(shape, dtype, options); });
  scopes_.define(name.text, buffer);
  return buffer;
}

void Parser::option(const Token& key, DataType& dtype, BufferOptions& options) {
  if (key.text == "dtype") {
    dtype = exprs_.dtype();
  } else if (key.text == "data") {
    const Token at = in_.peek();
    const Expr data = exprs_.expr();
    if (!data.as<VarNode>()) syntax_error(at, "expected a data pointer");
    options.data = Var::of(data);
  } else if (key.text == "strides") {
    options.strides = strides();
  } else if (key.text == "elem_offset") {
    options.elem_offset = exprs_.expr();
  } else if (key.text == "scope") {
    options.scope = in_.expect_string("a storage scope");
  } else if (key.text == "align") {
    options.data_alignment = exprs_.integer("an alignment");
  } else if (key.text == "offset_factor") {
    options.offset_factor = exprs_.integer("a factor");
  } else if (key.text == "type" || key.text == "buffer_type") {
    if (in_.expect_string("a kind of buffer") == "auto") options.kind = BufferKind::AutoBroadcast;
  } else if (key.text == "axis_separators") {
    for (const Expr& e : exprs_.list())
      options.axis_separators.push_back(ExprParser::int_of(e, key, "a dimension"));
  } else {
    syntax_error(key, "`" + key.text + "` is not an option of a buffer");
  }
}

std::vector<Expr> Parser::strides() {
  std::vector<Expr> result;
  const char* close = in_.is_sign("[") ? "]" : ")";
  if (!in_.accept("[")) in_.expect("(");
  while (!in_.accept(close)) {
    const bool is_alone = in_.is_sign(",", 1) || in_.is_sign(close, 1);
    if (in_.is(Token::Kind::Name) && is_alone && !scopes_.find(in_.peek().text)) {
      const Token name = in_.take();
      const Var stride(name.text);
      scopes_.define(name.text, stride);
      result.push_back(stride);
    } else {
      result.push_back(exprs_.expr());
    }
    if (!in_.is_sign(close)) in_.expect(",");
  }
  return result;
}

Stmt Parser::function_body() {
  OpenBlock root;
  root.block.name = "root";
  blocks_ = {&root};
  const Token at = in_.peek();
  Stmt body = suite(&root);
  blocks_.clear();
  if (head_.is_flat) {
    if (!root.block.alloc_buffers.empty())
      syntax_error(at, "a function with flattened parameters allocates with T.allocate");
    PrimFunc& func = head_.func;
    func.body = body;
    func.form = verify(func, Form::Lowered).empty() ? Form::Lowered : Form::Flat;
    return body;
  }
  head_.func.form = Form::Blocks;
  // An explicit root block in the script is the root.
  if (const BlockRealize* only = body.as<BlockRealize>(); only && only->block->iters.empty() &&
                                                          root.block.alloc_buffers.empty() &&
                                                          only->block->name == "root")
    return body;
  root.block.body = std::move(body);
  return make_block({}, std::move(root.block));
}

bool Parser::function_line() {
  if (in_.is_name("T.func_attr")) {
    in_.take(), in_.expect("(");
    attributes(exprs_.annotations());
    in_.expect(")");
  } else if (is_assignment_of("T.match_buffer") && in_.peek(4).kind == Token::Kind::Name &&
             head_.handles.contains(in_.peek(4).text)) {
    const Token name = in_.take();
    in_.take(), in_.take(), in_.take();
    const Token handle = in_.take();
    const Var param = head_.handles.at(handle.text);
    if (head_.func.buffer_of(param))
      syntax_error(handle, "the parameter `" + handle.text + "` has a buffer already");
    in_.expect(",");
    const std::vector<Expr> shape = exprs_.list();
    const Buffer buffer = details(name, shape, ")");
    head_.func.buffers.push_back({param, buffer, buffer});
  } else if (in_.is_name("T.preflattened_buffer")) {
    preflattened();
  } else if (is_assignment_of("T.var")) {
    const Token name = in_.take();
    in_.take(), in_.take(), in_.take();
    scopes_.define(name.text, Var(name.text, exprs_.dtype()));
    in_.expect(")");
  } else if (is_size()) {
    const Token name = in_.take();
    in_.take();
    const Token type = in_.take();
    in_.take(), in_.take();
    scopes_.define(name.text, Var(name.text, DataType::parse(type.text.substr(2))));
  } else {
    return false;
  }
  in_.expect_end_of_line();
  return true;
}

bool Parser::is_size() const {
  return in_.is(Token::Kind::Name) && in_.is_sign("=", 1) && in_.is_sign("(", 3) &&
         in_.is_sign(")", 4) && (in_.is_name("T.int32", 2) || in_.is_name("T.int64", 2));
}

void Parser::attributes(Annotations all) {
  PrimFunc::Attrs& attrs = head_.func.attrs;
  if (const auto found = all.find("global_symbol"); found != all.end())
    attrs.global_symbol = annotation_text(found->second).value_or("");
  auto flag = [&](const char* key) {
    const auto found = all.find(key);
    return found != all.end() && annotation_int(found->second).value_or(0) != 0;
  };
  attrs.noalias = flag("tir.noalias");
  attrs.from_legacy_te_schedule = flag("from_legacy_te_schedule");
  for (const char* key : {"global_symbol", "tir.noalias", "from_legacy_te_schedule"})
    all.erase(key);
  if (!all.empty()) attrs.others = std::make_shared<const Annotations>(std::move(all));
}

void Parser::preflattened() {
  in_.take(), in_.expect("(");
  const Token name = in_.take();
  const Buffer flat = exprs_.buffer(name);
  exprs_.allow_physical_indices(flat);
  in_.expect(",");
  const std::vector<Expr> shape = exprs_.list();
  const Buffer declared = details(name, shape, ")");
  scopes_.define(name.text, flat);
  for (BufferParam& b : head_.func.buffers)
    if (b.buffer.same_as(flat)) b.declared = declared;
  head_.is_flat = true;
}

}  // namespace script

IRModule parse_script(std::string_view text) { return script::Parser(text).module(); }

}  // namespace tenon::s_tir
