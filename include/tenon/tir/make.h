// Expressions and statements from their parts, and what is asked of constants, for who builds
// programs without looking into them: the kinds themselves are in expr.h and stmt.h.
//
//   Stmt body = make_seq({make_store(buffer, 0.0f, {i}), make_evaluate(call)});
//   if (is_zero(extent)) ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/tir/handles.h"
#include "tenon/tir/intrin.h"

namespace tenon::tir {

// ---- expressions: types are checked (TypeError), nothing is folded ------------------------------

Expr make_int(DataType type,
              std::int64_t value);  // a scalar, or a broadcast for a vector type; wraps nothing
Expr make_float(DataType type, double value);
Expr make_cast(DataType type, Expr value);
Expr make_binary(BinaryOp op, Expr a, Expr b);
Expr make_not(Expr a);
Expr make_select(Expr condition, Expr if_true, Expr if_false);
Expr make_ramp(Expr base, Expr stride, int lanes);
Expr make_broadcast(Expr value, int lanes);
Expr make_shuffle(std::vector<Expr> vectors, std::vector<Expr> indices);
Expr make_let(Var var, Expr value, Expr body);
Expr make_call(DataType type, Intrin intrin, std::vector<Expr> args);
Expr make_extern_call(DataType type, std::string name, std::vector<Expr> args, bool pure = false);
/// The element type of the load follows the buffer and the lanes of the last index.
Expr make_load(Buffer buffer, std::vector<Expr> indices);
Expr make_producer_load(ProducerRef producer, std::vector<Expr> indices);
Expr make_reduce(std::shared_ptr<const ReduceNode> reduction, int value_index);
Expr make_true(int lanes = 1);
Expr make_false(int lanes = 1);

// ---- statements ---------------------------------------------------------------------------------

/// Flattens nested sequences and drops no-ops; none left gives a no-op, one gives itself.
Stmt make_seq(std::vector<Stmt> stmts);
Stmt make_evaluate(Expr value);
/// Evaluate(0).
Stmt make_nop();
bool is_nop(const Stmt& s);
/// Checks rank and element type; a scalar value stored through a vector index is broadcast.
Stmt make_store(Buffer buffer, Expr value, std::vector<Expr> indices);

// ---- constants ----------------------------------------------------------------------------------

/// The value of a constant integer (scalar, or a broadcast of one).
std::optional<std::int64_t> constant_int(const Expr& e);
bool is_constant_int(const Expr& e, std::int64_t value);
inline bool is_zero(const Expr& e) { return is_constant_int(e, 0); }
inline bool is_one(const Expr& e) { return is_constant_int(e, 1); }
inline bool is_true(const Expr& e) { return e.dtype().is_bool() && is_constant_int(e, 1); }
inline bool is_false(const Expr& e) { return e.dtype().is_bool() && is_constant_int(e, 0); }
bool is_constant(const Expr& e);  // a number, or a broadcast of one

}  // namespace tenon::tir
