// The parser of scripts: functions (parse_script.cpp), lines of blocks (parse_blocks.cpp) and
// statements (parse_statements.cpp). A suite is parsed in order; a statement that applies to the
// rest of its suite (a let, an allocation, an attribute) has the rest as its body.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "s_tir/script/expr_parser.h"
#include "tenon/tir/function.h"

namespace tenon::s_tir::script {

/// A block whose lines are being read.
struct OpenBlock {
  tir::Block block{.iters = {},
                   .reads = {},
                   .writes = {},
                   .name = "",
                   .init = std::nullopt,
                   .body = tir::make_nop()};
  std::vector<tir::Expr> values;
  /// The variables of the iterators.
  std::unordered_set<const tir::ExprNode*> iter_vars;
  std::unordered_set<std::string> iter_names;
  tir::Expr predicate = tir::make_true();
  bool has_reads = false, has_writes = false;
};

/// The parts of a function that precede its body: parameters, buffers and attributes.
struct Head {
  tir::PrimFunc func{{}, {}, tir::make_nop()};
  std::map<std::string, tir::Var> handles;
  std::unordered_set<std::string> param_names;
  bool is_flat = false;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text), exprs_(in_, scopes_) {}
  tir::IRModule module();

 private:
  Scopes scopes_;
  TokenStream in_;
  ExprParser exprs_;
  Head head_;
  /// The enclosing blocks, innermost last; the first is the root.
  std::vector<OpenBlock*> blocks_;
  std::unordered_map<const void*, tir::Range> loops_;
  bool is_modern_ = false;
  /// Number of enclosing statements.
  int depth_ = 0;

  // ---- modules and functions ----
  void skip_imports();
  void decorators();
  void function(tir::IRModule& result);
  void return_type();
  static void put_in_order(tir::PrimFunc& func);
  void param();
  /// Parses `A: T.Buffer[(128, 128), "float32"]`, or with parentheses.
  void buffer_param(const Token& name);
  /// Parses the rest of a buffer's declaration, up to the closing sign: `, dtype="float32",
  /// scope="local"`.
  tir::Buffer details(const Token& name, std::vector<tir::Expr> shape, const char* close);
  void option(const Token& key, DataType& dtype, tir::BufferOptions& options);
  /// Parses strides. An undefined name is a stride variable that the buffer defines.
  std::vector<tir::Expr> strides();
  tir::Stmt function_body();

  // ---- suites ----
  /// Parses the statements up to the end of the suite, including its end token. `block` is the
  /// block that owns the suite.
  tir::Stmt suite(OpenBlock* block);
  tir::Stmt statements(OpenBlock* block);
  static tir::Stmt joined(std::vector<tir::Stmt> stmts);
  tir::Stmt nested(OpenBlock* block = nullptr);
  /// Whether `name = T.function(` follows.
  bool is_assignment_of(std::string_view function) const;

  // ---- lines of functions ----
  bool function_line();
  /// Whether `n = T.int32()` follows.
  bool is_size() const;
  void attributes(tir::Annotations all);
  void preflattened();

  // ---- lines of blocks ----
  /// Parses a line that describes the block itself. Returns whether there was one.
  bool block_line(OpenBlock& open);
  tir::Buffer alloc_buffer();
  void match_region(OpenBlock& open);
  std::vector<tir::BufferRegion> regions();
  /// Whether `vi = T.axis...` or `vi, vj = T.axis...` follows.
  bool is_axis() const;
  /// Throws if the expression uses an iterator of the open block.
  static void require_outside(const OpenBlock& open, const tir::Expr& e, const Token& at,
                              const char* what);
  void add_iter(OpenBlock& open, const Token& name, const tir::Range& dom, tir::IterKind kind,
                const tir::Expr& value);
  void axis(OpenBlock& open);
  [[noreturn]] static tir::IterKind unknown_axis(const Token& function);
  /// Parses `128`, or `(lo, hi)`.
  tir::Range domain();
  void remap(OpenBlock& open, const std::vector<Token>& names);
  tir::Stmt block();

  // ---- statements whose body is the rest of the suite ----
  std::optional<tir::Stmt> scoped(OpenBlock* block);
  tir::Stmt let(OpenBlock* block);
  tir::Stmt allocate(OpenBlock* block);
  /// Parses an attribute. In scripts by users, attributes are pragmas.
  tir::Stmt attribute(OpenBlock* block);

  // ---- statements ----
  tir::Stmt stmt();
  tir::Expr condition();
  tir::Stmt store();
  tir::Stmt branch();
  tir::Stmt with();

  // ---- loops ----
  tir::Stmt loop();
  static std::optional<tir::ForKind> kind_of(const std::string& function);
  tir::Var begin_loop(const Token& name, const tir::Range& range);
  tir::Stmt grid(const std::vector<Token>& names);
  tir::Stmt one_loop(const Token& name, tir::ForKind kind);
};

}  // namespace tenon::s_tir::script
