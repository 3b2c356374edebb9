// Constructors of expressions and statements, and queries on constants, for code that builds
// programs without inspecting them. expr.h and stmt.h define the kinds.
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
              std::int64_t value);  // a scalar, or a broadcast for a vector type; never wraps
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
/// Builds a load. It has the element type of the buffer and the lanes of the last index.
Expr make_load(Buffer buffer, std::vector<Expr> indices);
Expr make_producer_load(ProducerRef producer, std::vector<Expr> indices);
Expr make_reduce(std::shared_ptr<const ReduceNode> reduction, int value_index);
Expr make_true(int lanes = 1);
Expr make_false(int lanes = 1);

// ---- statements ---------------------------------------------------------------------------------

/// Builds a sequence. Flattens nested sequences and drops no-ops. An empty result is a no-op, and a
/// single statement is returned as it is.
Stmt make_seq(std::vector<Stmt> stmts);
Stmt make_evaluate(Expr value);
/// Returns Evaluate(0).
Stmt make_nop();
bool is_nop(const Stmt& s);
/// Builds a store. TypeError if the rank or element type does not match the buffer. A scalar value
/// stored through a vector index is broadcast.
Stmt make_store(Buffer buffer, Expr value, std::vector<Expr> indices);

// ---- constants ----------------------------------------------------------------------------------

/// Returns the value of an integer constant, or of a broadcast integer constant.
/// Nullopt for other expressions.
std::optional<std::int64_t> constant_int(const Expr& e);
bool is_constant_int(const Expr& e, std::int64_t value);
inline bool is_zero(const Expr& e) { return is_constant_int(e, 0); }
inline bool is_one(const Expr& e) { return is_constant_int(e, 1); }
inline bool is_true(const Expr& e) { return e.dtype().is_bool() && is_constant_int(e, 1); }
inline bool is_false(const Expr& e) { return e.dtype().is_bool() && is_constant_int(e, 0); }
bool is_constant(const Expr& e);  // whether `e` is a number or a broadcast number

}  // namespace tenon::tir
