// The parser of scripts: functions (parse_script.cpp), the lines of blocks (parse_blocks.cpp) and
// statements (parse_statements.cpp). A suite is parsed in order; what is in force for the rest of
// its suite (a let, an allocation, an attribute) has the rest as its body.
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

/// What is known of a function before its body.
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
  /// The blocks around, innermost last; the first is the root.
  std::vector<OpenBlock*> blocks_;
  std::unordered_map<const void*, tir::Range> loops_;
  bool is_modern_ = false;
  /// Statements around the one that is being read.
  int depth_ = 0;

  // ---- modules and functions ----
  void skip_imports();
  void decorators();
  void function(tir::IRModule& result);
  void return_type();
  static void put_in_order(tir::PrimFunc& func);
  void param();
  /// `A: T.Buffer[(128, 128), "float32"]`, or with parentheses.
  void buffer_param(const Token& name);
  /// The rest of a buffer's declaration, up to the closing sign: `, dtype="float32",
  /// scope="local"`.
  tir::Buffer details(const Token& name, std::vector<tir::Expr> shape, const char* close);
  void option(const Token& key, DataType& dtype, tir::BufferOptions& options);
  /// A name that stands for nothing yet is a stride that the buffer brings.
  std::vector<tir::Expr> strides();
  tir::Stmt function_body();

  // ---- suites ----
  /// The statements up to the end of the suite, which is taken. `block` is the block whose suite it
  /// is.
  tir::Stmt suite(OpenBlock* block);
  tir::Stmt statements(OpenBlock* block);
  static tir::Stmt joined(std::vector<tir::Stmt> stmts);
  tir::Stmt nested(OpenBlock* block = nullptr);
  /// `name = T.function(`
  bool is_assignment_of(std::string_view function) const;

  // ---- lines of functions ----
  bool function_line();
  /// `n = T.int32()`
  bool is_size() const;
  void attributes(tir::Annotations all);
  void preflattened();

  // ---- lines of blocks ----
  /// A line that says something of the block itself.
  bool block_line(OpenBlock& open);
  tir::Buffer alloc_buffer();
  void match_region(OpenBlock& open);
  std::vector<tir::BufferRegion> regions();
  /// `vi = T.axis...` or `vi, vj = T.axis...`
  bool is_axis() const;
  /// Throws if the expression names an iterator of the block that is open.
  static void require_outside(const OpenBlock& open, const tir::Expr& e, const Token& at,
                              const char* what);
  void add_iter(OpenBlock& open, const Token& name, const tir::Range& dom, tir::IterKind kind,
                const tir::Expr& value);
  void axis(OpenBlock& open);
  [[noreturn]] static tir::IterKind unknown_axis(const Token& function);
  /// `128`, or `(lo, hi)`.
  tir::Range domain();
  void remap(OpenBlock& open, const std::vector<Token>& names);
  tir::Stmt block();

  // ---- what has the rest of its suite as its body ----
  std::optional<tir::Stmt> scoped(OpenBlock* block);
  tir::Stmt let(OpenBlock* block);
  tir::Stmt allocate(OpenBlock* block);
  /// The only attributes that scripts of users state are pragmas.
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
