#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "s_tir/context.h"
#include "s_tir/script/access_parser.h"
#include "tenon/arith/block_access.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/script.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/verify.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir {

using namespace tir;

namespace script {

namespace {

/// The state of a block whose lines are being parsed.
struct OpenBlock {
  Block block = plain_block("", make_nop());
  std::vector<Expr> values;
  /// The variables of the iterators.
  std::unordered_set<const ExprNode*> iter_vars;
  std::unordered_set<std::string> iter_names;
  /// The variables of loops and lets inside the block.
  std::unordered_set<const ExprNode*> inner_vars;
  Expr predicate = make_true();
  /// The lines that a block has only once, such as "T.where".
  std::unordered_set<std::string> lines;
};

/// Parser for scripts. A let, an allocation or an attribute applies to the rest of its suite, so
/// the remaining statements become its body.
class Parser : public AccessParser {
 public:
  using AccessParser::AccessParser;

  IRModule module() {
    IRModule result;
    skip_imports();
    decorators();
    if (in_.accept_name("class")) {
      in_.expect_plain_name("the module's name");
      expect_suite();
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

 private:
  /// The function that is being parsed, its handles by name, and the names of its parameters.
  PrimFunc func_{{}, {}, make_nop()};
  std::map<std::string, Var> handles_;
  std::unordered_set<std::string> param_names_;
  /// The variables that `name = T.var(...)` declares, with the places of the declarations.
  std::vector<std::pair<Token, Var>> declared_vars_;
  /// Whether the parameters of the function are flattened.
  bool is_flat_ = false;
  /// The enclosing blocks, innermost last; the first is the root.
  std::vector<OpenBlock*> blocks_;
  std::unordered_map<const void*, Range> loops_;
  bool is_modern_ = false;

  // ---- modules and functions ----

  void skip_imports() {
    while (in_.is_name("from") || in_.is_name("import")) {
      while (!in_.is(Token::Kind::Newline) && !in_.is(Token::Kind::End)) in_.take();
      in_.accept(Token::Kind::Newline);
    }
  }

  /// Skips arguments in parentheses, if there are any.
  void skip_arguments() {
    if (!in_.accept("(")) return;
    while (!in_.accept(")")) {
      if (in_.is(Token::Kind::End)) in_.unexpected("`)`");
      in_.take();
    }
  }

  void decorators() {
    while (in_.accept("@")) {
      is_modern_ |= in_.is_name("I.ir_module");
      in_.expect(Token::Kind::Name, "the name of a decorator");
      skip_arguments();
      in_.expect_end_of_line();
    }
  }

  void function(IRModule& result) {
    in_.expect_name("def");
    const Token& name = in_.expect_plain_name("the function's name");
    func_ = {{}, {}, make_nop()};
    handles_.clear();
    param_names_.clear();
    declared_vars_.clear();
    is_flat_ = false;
    func_.attrs = {.global_symbol = is_modern_ ? name.text : "",
                   .noalias = false,
                   .from_legacy_te_schedule = false};
    scopes_ = Scopes();
    in_.expect("(");
    in_.items(")", [&] { param(); });
    if (in_.accept("->") && !in_.accept_name("None"))
      in_.unexpected("`None`, which is what functions return");
    expect_suite();
    func_.body = function_body();
    order_buffers(func_);
    require_determined_vars();
    if (!result.functions.emplace(name.text, std::move(func_)).second)
      syntax_error(name, "there are two functions `" + name.text + "`");
  }

  /// Throws if a variable is used whose value neither a parameter nor a matched buffer determines.
  void require_determined_vars() const {
    if (declared_vars_.empty()) return;
    for (const Violation& violation : verify(func_, func_.form)) {
      const auto declared = std::ranges::find_if(declared_vars_, [&](const auto& entry) {
        return violation.undefined && entry.second.same_as(*violation.undefined);
      });
      if (declared != declared_vars_.end())
        syntax_error(declared->first,
                     "nothing determines `" + declared->first.text +
                         "`: it is not in the shape, strides or offset of a parameter");
    }
  }

  static void order_buffers(PrimFunc& func) {
    std::vector<BufferParam> ordered;
    for (const Var& param : func.params)
      if (const BufferParam* b = func.buffer_of(param)) ordered.push_back(*b);
    func.buffers = std::move(ordered);
  }

  void param() {
    const Token& name = in_.expect_plain_name("a parameter");
    if (!param_names_.insert(name.text).second)
      syntax_error(name, "the function has a parameter `" + name.text + "` already");
    in_.expect(":");
    if (in_.accept_name("T.Buffer")) return buffer_param(name);
    if (!in_.peek().text.starts_with("T.")) in_.unexpected("the parameter's type");
    const Token& type = in_.expect(Token::Kind::Name, "the parameter's type");
    skip_arguments();
    const Var var(name.text, type_of(type, type.text.substr(2)));
    func_.params.push_back(var);
    scopes_.define(name.text, var);
    if (var.dtype().is_handle()) handles_.emplace(name.text, var);
  }

  /// Parses `A: T.Buffer[(128, 128), "float32"]`, or with parentheses.
  void buffer_param(const Token& name) {
    const char* close = in_.open_list();
    const Buffer buffer = details(name, list(), close);
    // TVM's name for the handle of the argument. It does not occur in scripts.
    const Var handle("var_" + name.text, Handle());
    func_.params.push_back(handle);
    func_.buffers.push_back({handle, buffer, buffer});
  }

  /// Parses the rest of a buffer's declaration, up to `close`: `, dtype="float32", scope="local"`.
  Buffer details(const Token& name, std::vector<Expr> shape, const char* close = ")") {
    // Simplifies the extents, because a constant extent may be written as a sum or product.
    for (Expr& extent : shape)
      if (free_vars(extent).empty()) extent = arith::simplify(extent);
    DataType type = Float(32);
    BufferOptions options{.name = name.text, .scope = "global"};
    while (!in_.accept(close)) {
      in_.expect(",");
      if (in_.is_sign(close)) continue;
      if (in_.is(Token::Kind::String)) {
        type = dtype();
        continue;
      }
      const Token& key = in_.expect_plain_name("an option of the buffer");
      in_.expect("=");
      if (key.text == "dtype")
        type = dtype();
      else if (key.text == "data")
        options.data = data_pointer();
      else if (key.text == "strides")
        options.strides = strides();
      else
        option(key, options);
    }
    const Buffer buffer = at_token(name, [&] { return decl_buffer(shape, type, options); });
    scopes_.define(name.text, buffer);
    return buffer;
  }

  /// Parses strides. An undefined name is a stride variable that the buffer defines.
  std::vector<Expr> strides() {
    std::vector<Expr> result;
    const char* close = in_.open_list();
    in_.items(close, [&] {
      const bool is_alone = in_.is_sign(",", 1) || in_.is_sign(close, 1);
      const Token& name = in_.peek();
      if (in_.is(Token::Kind::Name) && is_alone && !scopes_.find(name.text))
        scopes_.define(name.text, Var(name.text));
      result.push_back(expr());
    });
    return result;
  }

  Stmt function_body() {
    OpenBlock root;
    root.block.name = "root";
    blocks_ = {&root};
    const Token& at = in_.peek();
    Stmt body = suite(&root);
    blocks_.clear();
    if (is_flat_) {
      if (!root.block.alloc_buffers.empty())
        syntax_error(at, "a function with flattened parameters allocates with T.allocate");
      func_.body = body;
      func_.form = verify(func_, Form::Lowered).empty() ? Form::Lowered : Form::Flat;
      return body;
    }
    func_.form = Form::Blocks;
    // If the script has an explicit root block, no other root is added.
    if (const BlockRealize* only = body.as<BlockRealize>(); only && only->block->iters.empty() &&
                                                            root.block.alloc_buffers.empty() &&
                                                            only->block->name == "root")
      return body;
    root.block.body = std::move(body);
    return make_block({}, std::move(root.block));
  }

  // ---- suites ----

  /// Parses a colon, the end of the line and the indentation of a suite.
  void expect_suite() {
    in_.expect(":");
    in_.expect_end_of_line();
    in_.expect(Token::Kind::Indent, "a deeper line");
  }

  /// Parses the statements up to the end of the suite, including its end token. `block` is the
  /// block that owns the suite.
  Stmt suite(OpenBlock* block) {
    const NestingLevel level(depth_);
    if (level.is_too_deep()) syntax_error(in_.peek(), kTooDeep);
    return is_stack_low() ? with_deep_stack([&] { return statements(block); }) : statements(block);
  }

  Stmt statements(OpenBlock* block) {
    std::vector<Stmt> stmts;
    while (!in_.accept(Token::Kind::Dedent)) {
      if (in_.is(Token::Kind::End)) in_.unexpected("a statement");
      if (in_.is(Token::Kind::Indent)) syntax_error(in_.peek(), "a line that is too deep");
      if (block && block_line(*block)) continue;
      if (blocks_.size() == 1 && block && function_line()) continue;
      if (auto rest = scoped(block)) {
        // `rest` already contains the remainder of the suite as its body.
        stmts.push_back(std::move(*rest));
        break;
      }
      stmts.push_back(stmt());
    }
    return make_seq(std::move(stmts));
  }

  Stmt nested(OpenBlock* block = nullptr) {
    expect_suite();
    scopes_.open();
    Stmt body = suite(block);
    scopes_.close();
    return body;
  }

  /// Parses a suite in a new scope. `f` defines names in that scope first.
  template <class F>
  Stmt nested_with(F f) {
    scopes_.open();
    f();
    Stmt body = nested();
    scopes_.close();
    return body;
  }

  /// Whether `name = T.function(` follows.
  bool is_assignment_of(std::string_view function) const {
    return in_.is(Token::Kind::Name) && in_.is_sign("=", 1) && in_.is_name(function, 2) &&
           in_.is_sign("(", 3);
  }

  /// Reads `name = T.function(`, and returns the name.
  const Token& assigned() {
    const Token& name = in_.take();
    in_.skip(3);
    return name;
  }

  // ---- lines of functions ----

  bool function_line() {
    if (in_.accept_name("T.func_attr")) {
      in_.expect("(");
      attributes(annotations());
      in_.expect(")");
    } else if (is_assignment_of("T.match_buffer") && in_.peek(4).kind == Token::Kind::Name &&
               handles_.contains(in_.peek(4).text)) {
      const Token& name = assigned();
      const Token& handle = in_.take();
      const Var param = handles_.at(handle.text);
      if (func_.buffer_of(param))
        syntax_error(handle, "the parameter `" + handle.text + "` has a buffer already");
      in_.expect(",");
      const Buffer buffer = details(name, list());
      func_.buffers.push_back({param, buffer, buffer});
    } else if (in_.accept_name("T.preflattened_buffer")) {
      preflattened();
    } else if (is_assignment_of("T.var")) {
      const Token& name = assigned();
      declare_var(name, dtype());
      in_.expect(")");
    } else if ((is_assignment_of("T.int32") || is_assignment_of("T.int64")) &&
               in_.is_sign(")", 4)) {
      const DataType type = DataType::parse(in_.peek(2).text.substr(2));
      const Token& name = assigned();
      in_.expect(")");
      declare_var(name, type);
    } else {
      return false;
    }
    in_.expect_end_of_line();
    return true;
  }

  void declare_var(const Token& name, DataType type) {
    declared_vars_.emplace_back(name, Var(name.text, type));
    scopes_.define(name.text, declared_vars_.back().second);
  }

  void attributes(Annotations all) {
    PrimFunc::Attrs& attrs = func_.attrs;
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

  void preflattened() {
    in_.expect("(");
    const Token& name = in_.take();
    const Buffer flat = buffer(name);
    allow_physical_indices(flat);
    in_.expect(",");
    const Buffer declared = details(name, list());
    scopes_.define(name.text, flat);
    for (BufferParam& b : func_.buffers)
      if (b.buffer.same_as(flat)) b.declared = declared;
    is_flat_ = true;
  }

  // ---- lines of blocks ----

  /// Parses a line that describes the block itself. Returns false if the next line is of another
  /// kind.
  bool block_line(OpenBlock& open) {
    const Token& line = in_.peek();
    if (is_assignment_of("T.alloc_buffer")) {
      open.block.alloc_buffers.push_back(alloc_buffer());
    } else if (is_assignment_of("T.match_buffer") && in_.is_sign("[", 5)) {
      const Token& name = assigned();
      BufferRegion source = region();
      in_.expect(",");
      open.block.match_buffers.push_back({details(name, list()), std::move(source)});
    } else if (is_axis()) {
      axis(open);
    } else if (in_.accept_name("T.where")) {
      in_.expect("(");
      const Token& at = in_.peek();
      require_first(open, line, "T.where");
      open.predicate = as_guard(condition());
      require_outside(open, open.predicate, at, "the condition of a block");
      in_.expect(")");
    } else if (in_.accept_name("T.reads")) {
      require_first(open, line, "T.reads");
      open.block.reads = regions(open, line);
    } else if (in_.accept_name("T.writes")) {
      require_first(open, line, "T.writes");
      open.block.writes = regions(open, line);
    } else if (in_.accept_name("T.block_attr")) {
      in_.expect("(");
      require_first(open, line, "T.block_attr");
      open.block.annotations = annotations();
      in_.expect(")");
    } else if (in_.is_name("with") && in_.is_name("T.init", 1)) {
      require_first(open, line, "T.init");
      in_.skip(2), in_.expect("("), in_.expect(")");
      open.block.init = nested();
      return true;
    } else {
      return false;
    }
    in_.expect_end_of_line();
    return true;
  }

  /// Throws if a line of this kind describes the block already.
  static void require_first(OpenBlock& open, const Token& at, const char* kind) {
    if (!open.lines.insert(kind).second)
      syntax_error(at, "the block has `" + std::string(kind) + "` already");
  }

  Buffer alloc_buffer() {
    const Token& name = assigned();
    return details(name, list());
  }

  std::vector<BufferRegion> regions(const OpenBlock& open, const Token& line) {
    std::vector<BufferRegion> result;
    in_.expect("(");
    const bool is_list = in_.accept("[");
    in_.items(is_list ? "]" : ")", [&] { result.push_back(region()); });
    if (is_list) in_.expect(")");
    for (const BufferRegion& r : result) {
      const auto is_named = [&](const Buffer& own) { return own.same_as(r.buffer); };
      if (std::ranges::any_of(open.block.alloc_buffers, is_named) ||
          std::ranges::any_of(open.block.match_buffers, is_named, &MatchBuffer::buffer))
        syntax_error(line, "`" + line.text + "` names `" + r.buffer->name +
                               "`, a buffer of the same block; it names buffers outside of the "
                               "block");
    }
    return result;
  }

  /// Whether `vi = T.axis...` or `vi, vj = T.axis...` follows.
  bool is_axis() const {
    std::size_t at = 0;
    while (in_.peek(at).kind == Token::Kind::Name && in_.is_sign(",", at + 1)) at += 2;
    return in_.peek(at).kind == Token::Kind::Name && in_.is_sign("=", at + 1) &&
           in_.peek(at + 2).text.starts_with("T.axis.");
  }

  /// Throws if the expression uses an iterator of the block.
  static void require_outside(const OpenBlock& open, const Expr& e, const Token& at,
                              const char* what) {
    for (const Var& var : free_vars(e))
      if (open.iter_vars.contains(&var.node()))
        syntax_error(at, std::string(what) + " names `" + var.name() +
                             "`, an iterator of the same block; it is computed outside of the "
                             "block");
  }

  void add_iter(OpenBlock& open, const Token& name, const Range& dom, IterKind kind,
                const Expr& value) {
    require_outside(open, value, name, "the value of an iterator");
    require_outside(open, dom.min, name, "the domain of an iterator");
    require_outside(open, dom.extent, name, "the domain of an iterator");
    if (!open.iter_names.insert(name.text).second)
      syntax_error(name, "the block has an iterator `" + name.text + "` already");
    const IterVar axis(dom, Var(name.text, dom.extent.dtype()), kind);
    open.iter_vars.insert(&axis.var().node());
    open.block.iters.push_back(axis);
    open.values.push_back(cast(axis.var().dtype(), value));
    scopes_.define(name.text, axis.var());
  }

  void axis(OpenBlock& open) {
    std::vector<Token> names;
    do names.push_back(in_.take());
    while (in_.accept(","));
    in_.expect("=");
    const Token& function = in_.take();
    in_.expect("(");
    const std::string kind = function.text.substr(std::string_view("T.axis.").size());
    if (kind == "remap") return remap(open, names);
    const std::optional<IterKind> iter = kind == "spatial" || kind == "S"  ? IterKind::DataParallel
                                         : kind == "reduce" || kind == "R" ? IterKind::Reduce
                                         : kind == "scan"                  ? IterKind::Ordered
                                         : kind == "opaque" ? std::optional(IterKind::Opaque)
                                                            : std::nullopt;
    if (!iter)
      syntax_error(function, "expected T.axis.spatial, reduce, scan, opaque or remap, got `" +
                                 function.text + "`");
    if (names.size() != 1) syntax_error(names[1], "one iterator is defined here");
    const Range dom = domain();
    in_.expect(",");
    const Token& at = in_.peek();
    const Value value = this->value();
    require_index(value.e, at, "the value of an iterator");
    in_.expect(")");
    add_iter(open, names.front(), dom, *iter, as_type(value, dom.extent.dtype(), at));
  }

  static Range range_of(const Expr& lo, const Expr& hi) {
    Range range(lo, hi);
    if (!is_zero(lo)) range.extent = arith::simplify(range.extent);
    return range;
  }

  /// Parses an iterator's domain: `128` or `(lo, hi)`.
  Range domain() {
    if (!in_.is_list()) return Range::from_extent(index("the extent of an iterator"));
    const Token& at = in_.peek();
    const char* close = in_.open_list();
    const Expr lo = index("a bound of an iterator");
    in_.expect(",");
    const Expr hi = index("a bound of an iterator");
    in_.expect(close);
    return at_token(at, [&] { return range_of(lo, hi); });
  }

  void remap(OpenBlock& open, const std::vector<Token>& names) {
    const Token& kinds = in_.peek();
    const std::string& letters = in_.expect_string("the iterators' kinds");
    in_.expect(",");
    const Token& at = in_.peek();
    const std::vector<Expr> values = list();
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

  Stmt block() {
    in_.expect("(");
    OpenBlock open;
    if (!in_.is_sign(")")) open.block.name = in_.expect_string("the block's name");
    in_.expect(")");
    blocks_.push_back(&open);
    open.block.body = nested(&open);
    blocks_.pop_back();
    const bool has_reads = open.lines.contains("T.reads"),
               has_writes = open.lines.contains("T.writes");
    if (!has_reads || !has_writes) {
      std::vector<Buffer> visible = scopes_.buffers();
      for (const OpenBlock* outer : blocks_)
        for (const Buffer& b : outer->block.alloc_buffers) visible.push_back(b);
      Block undeclared = open.block;
      undeclared.reads.clear(), undeclared.writes.clear();
      const arith::BlockAccess access = arith::find_block_access(undeclared, visible);
      if (!has_reads) open.block.reads = access.reads;
      if (!has_writes) open.block.writes = access.writes;
    }
    return make_block(std::move(open.values), std::move(open.predicate), std::move(open.block));
  }

  // ---- statements whose body is the rest of the suite ----

  std::optional<Stmt> scoped(OpenBlock* block) {
    if (is_assignment_of("T.alloc_buffer")) {
      // A buffer that is allocated inside a loop belongs to the enclosing block.
      const Token& name = in_.peek();
      const Buffer own = alloc_buffer();
      for (const Expr& extent : own->shape)
        for (const Var& var : free_vars(extent))
          if (blocks_.back()->inner_vars.contains(&var.node()))
            syntax_error(name, "`" + own->name +
                                   "` belongs to the block around the definition of `" +
                                   var.name() + "`, so its shape cannot use that variable; " +
                                   "allocate it in a block inside");
      blocks_.back()->block.alloc_buffers.push_back(own);
      in_.expect_end_of_line();
      return suite(block);
    }
    if (is_assignment_of("T.allocate")) return allocate(block);
    if (in_.is(Token::Kind::Name) && in_.is_sign(":", 1) && in_.peek(2).text.starts_with("T."))
      return let(block);
    if (in_.accept_name("T.attr")) return attribute(block);
    if (in_.accept_name("assert")) {
      const Expr condition = this->condition();
      in_.expect(",");
      const std::string& message = in_.expect_string("a message");
      in_.expect_end_of_line();
      return make_stmt(Assert{condition, message, suite(block)});
    }
    return std::nullopt;
  }

  Stmt let(OpenBlock* block) {
    const Token& name = in_.take();
    in_.take();
    const Token& type = in_.take();
    in_.expect("=");
    const DataType dtype = type_of(type, type.text.substr(2));
    const Expr bound = as_type(value(), dtype, type);
    if (bound.dtype() != dtype)
      syntax_error(type, "`" + name.text + "` is a " + dtype.str() + ", and its value a " +
                             bound.dtype().str());
    in_.expect_end_of_line();
    const Var var = Var::let(name.text, bound);
    define_inside(name.text, var);
    return make_stmt(Let{var, bound, suite(block)});
  }

  Stmt allocate(OpenBlock* block) {
    const Token& name = assigned();
    const std::vector<Expr> extents = list();
    in_.expect(",");
    const DataType dtype = this->dtype();
    in_.expect(",");
    const std::string& scope = in_.expect_string("a storage scope");
    const Expr condition = in_.accept(",") ? this->condition() : make_true();
    in_.expect(")"), in_.expect_end_of_line();
    const Buffer buffer = at_token(
        name, [&] { return decl_buffer(extents, dtype, {.name = name.text, .scope = scope}); });
    allow_physical_indices(buffer);
    scopes_.define(name.text, buffer);
    return make_stmt(Allocate{buffer->data, dtype, extents, condition, suite(block)});
  }

  /// Parses an attribute. In scripts by users, attributes are pragmas.
  Stmt attribute(OpenBlock* block) {
    in_.expect("(");
    const Expr subject = expr();
    in_.expect(",");
    const Token& at = in_.peek();
    const std::string& key = in_.expect_string("the attribute's name");
    if (!key.starts_with("pragma_"))
      syntax_error(at, "expected an attribute that begins with `pragma_`, got \"" + key + "\"");
    in_.expect(",");
    const Expr value = expr();
    in_.expect(")"), in_.expect_end_of_line();
    return make_stmt(Attr{AttrKind::Pragma, subject, key.substr(7), value, suite(block)});
  }

  // ---- statements ----

  Stmt stmt() {
    if (in_.accept_name("for")) return loop();
    if (in_.accept_name("with")) return with();
    if (in_.accept_name("if")) return branch();
    if (in_.accept_name("while")) {
      const Expr condition = this->condition();
      return make_stmt(While{condition, nested()});
    }
    if (in_.accept_name("pass")) {
      in_.expect_end_of_line();
      return make_nop();
    }
    if (!in_.is(Token::Kind::Name)) in_.unexpected("a statement");
    if (is_axis()) syntax_error(in_.peek(), "an iterator is defined directly in its block");
    for (const char* line : {"T.where", "T.reads", "T.writes", "T.block_attr"})
      if (in_.is_name(line))
        syntax_error(in_.peek(), std::string(line) + " must be directly in a block");
    const Stmt result = in_.is_sign("[", 1) ? store() : make_evaluate(expr());
    in_.expect_end_of_line();
    return result;
  }

  Expr condition() {
    const Token& at = in_.peek();
    Expr condition = expr();
    if (condition.dtype() != Bool()) syntax_error(at, "expected a condition");
    return condition;
  }

  Stmt store() {
    const Buffer buffer = this->buffer(in_.take());
    const std::vector<Expr> indices = this->indices(buffer);
    const Token& op = in_.peek();
    const std::optional<BinaryOp> update = in_.is_sign("+=")   ? BinaryOp::Add
                                           : in_.is_sign("-=") ? BinaryOp::Sub
                                           : in_.is_sign("*=") ? std::optional(BinaryOp::Mul)
                                                               : std::nullopt;
    if (update)
      in_.take();
    else
      in_.expect("=");
    const Expr value = as_type(this->value(), buffer->dtype, op);
    return at_token(op, [&] {
      if (!update) return make_store(buffer, value, indices);
      return make_store(buffer, make_binary(*update, make_load(buffer, indices), value), indices);
    });
  }

  Stmt branch() {
    std::vector<std::pair<Expr, Stmt>> cases;
    do {
      if (cases.size() == static_cast<std::size_t>(kMaxNesting)) syntax_error(in_.peek(), kTooDeep);
      Expr condition = this->condition();
      cases.emplace_back(std::move(condition), nested());
    } while (in_.accept_name("elif"));
    std::optional<Stmt> rest;
    if (in_.accept_name("else")) rest = nested();
    for (auto one = cases.rbegin(); one != cases.rend(); ++one)
      rest = make_stmt(If{std::move(one->first), std::move(one->second), std::move(rest)});
    return *rest;
  }

  Stmt with() {
    const Token& what = in_.take();
    if (what.text == "T.block" || what.text == "T.sblock") return block();
    const bool is_let = what.text == "T.let";
    if (!is_let && what.text != "T.LetStmt")
      syntax_error(what, "expected T.block, T.init or T.let after `with`, got " + described(what));
    in_.expect("(");
    const Token* name = is_let ? &in_.expect_plain_name("a variable") : nullptr;
    if (is_let) in_.expect(",");
    const Expr value = expr();
    in_.expect(")");
    if (!is_let) in_.expect_name("as"), name = &in_.expect_plain_name("a variable");
    const Var var = Var::let(name->text, value);
    Stmt body = nested_with([&] { define_inside(name->text, var); });
    return make_stmt(Let{var, value, std::move(body)});
  }

  // ---- loops ----

  Stmt loop() {
    std::vector<Token> names;
    do names.push_back(in_.expect_plain_name("a loop variable"));
    while (in_.accept(","));
    in_.expect_name("in");
    const Token& function = in_.take();
    in_.expect("(");
    if (function.text == "T.grid") return grid(names);
    if (names.size() != 1)
      syntax_error(names[1], "several loop variables need T.grid, got " + described(function));
    static constexpr auto kKinds = std::to_array<std::pair<std::string_view, ForKind>>(
        {{"T.serial", ForKind::Serial},
         {"range", ForKind::Serial},
         {"T.parallel", ForKind::Parallel},
         {"T.vectorized", ForKind::Vectorized},
         {"T.unroll", ForKind::Unrolled},
         {"T.unrolled", ForKind::Unrolled},
         {"T.thread_binding", ForKind::ThreadBinding}});
    for (const auto& [name, kind] : kKinds)
      if (name == function.text) return one_loop(names.front(), kind);
    syntax_error(function,
                 "expected T.grid, T.serial, T.parallel, T.vectorized, T.unroll, "
                 "T.thread_binding or range, got " +
                     described(function));
  }

  Var begin_loop(const Token& name, const Range& range) {
    const Var var(name.text, range.extent.dtype());
    loops_.insert_or_assign(&var.node(), range);
    define_inside(name.text, var);
    return var;
  }

  void define_inside(const std::string& name, const Var& var) {
    scopes_.define(name, var);
    if (!blocks_.empty()) blocks_.back()->inner_vars.insert(&var.node());
  }

  Stmt grid(const std::vector<Token>& names) {
    std::vector<Expr> extents;
    const Token& at = in_.peek();
    in_.items(")", [&] { extents.push_back(index("the extent of a loop")); });
    if (names.size() > static_cast<std::size_t>(kMaxNesting)) syntax_error(at, kTooDeep);
    if (extents.size() != names.size())
      syntax_error(at, std::to_string(names.size()) + " loop variables for " +
                           std::to_string(extents.size()) + " extents");
    std::vector<LoopDomain> loops;
    const Stmt body = nested_with([&] {
      for (std::size_t n = 0; n < names.size(); ++n)
        loops.push_back({begin_loop(names[n], Range::from_extent(extents[n])),
                         make_int(extents[n].dtype(), 0), extents[n]});
    });
    return in_loops(loops, body);
  }

  Stmt one_loop(const Token& name, ForKind kind) {
    std::vector<Expr> bounds;
    LoopTraits traits;
    const auto thread = [&] {
      const Token& at = in_.peek();
      traits.thread =
          at_token(at, [&] { return ThreadTag::parse(in_.expect_string("a thread axis")); });
    };
    in_.items(")", [&] {
      if (in_.is(Token::Kind::Name) && in_.is_sign("=", 1)) {
        const Token& key = in_.take();
        in_.take();
        if (key.text == "annotations")
          traits.annotations = annotations();
        else if (key.text == "thread")
          thread();
        else
          syntax_error(key, "expected `thread` or `annotations`, got " + described(key));
      } else if (in_.is(Token::Kind::String) && bounds.size() == 1) {
        thread();
      } else {
        bounds.push_back(index("a bound of a loop"));
      }
    });
    if (bounds.empty() || bounds.size() > 2)
      syntax_error(name, "a loop has an extent, or a beginning and an end");
    if ((kind == ForKind::ThreadBinding) != traits.thread.has_value())
      syntax_error(name, kind == ForKind::ThreadBinding
                             ? "T.thread_binding needs `thread`, as in thread=\"threadIdx.x\""
                             : "only T.thread_binding takes `thread`");
    const Range range = at_token(name, [&] {
      return bounds.size() == 1 ? Range::from_extent(bounds[0]) : range_of(bounds[0], bounds[1]);
    });
    std::optional<Var> var;
    Stmt body = nested_with([&] { var = begin_loop(name, range); });
    return make_stmt(
        with_traits(For{*var, range.min, range.extent, kind, std::move(body)}, std::move(traits)));
  }
};

}  // namespace

}  // namespace script

IRModule parse_script(std::string_view text) { return script::Parser(text).module(); }

}  // namespace tenon::s_tir
