// Legalizes bfloat16: values are stored in uint16 memory as the upper 16 bits of a float32, and
// operations compute in float32.
//
//   B[i] = A[i] + A[i]                                                  // bfloat16
//   B[i] = cast(uint16, (x + bias(x)) >> 16),  x = bits of (float(A[i]) + float(A[i]))
//
// Every operation rounds to nearest even. Results therefore do not depend on which stages are
// inlined.
//
// Afterwards, bfloat16 occurs only in the declarations of parameters, whose data pointers are
// replaced, and in fragments of tensor cores.
#include <bit>
#include <cmath>

#include "lower/passes.h"
#include "lower/rewriting.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

DataType bits_type(DataType type) { return UInt(16, type.lanes); }

std::uint16_t rounded_bits(double value) {
  const float narrow = static_cast<float>(value);
  if (std::isnan(narrow)) return 0x7fc0;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(narrow);
  return static_cast<std::uint16_t>((bits + ((bits >> 16) & 1) + 0x7fff) >> 16);
}

/// Returns the float32 value of the bfloat16 whose bits are `bits`.
Expr float_of(const Expr& bits) {
  const int lanes = bits.dtype().lanes;
  if (const IntImm* constant = bits.as<IntImm>())
    return make_float(Float(32),
                      std::bit_cast<float>(static_cast<std::uint32_t>(constant->value) << 16));
  return make_call(Float(32, lanes), Intrin::reinterpret, {make_cast(UInt(32, lanes), bits) << 16});
}

/// Returns the bits of the nearest bfloat16, ties to even, in the form of TVM 0.9 (which is wrong
/// for some NaNs). Adds just under half a unit in the last place, plus one if that place is odd.
/// The sum carries into the last place exactly if the value must be rounded up.
Expr round_to_bits(const Expr& value) {
  const int lanes = value.dtype().lanes;
  const Expr single =
      value.dtype().element() == Float(32) ? value : make_cast(Float(32, lanes), value);
  const Expr bits = make_call(UInt(32, lanes), Intrin::reinterpret, {single});
  const Expr bias = ((bits >> 16) & 1) + 0x7fff;
  return make_cast(UInt(16, lanes), (bits + bias) >> 16);
}

class Legalizer {
 public:
  BufferParam param(const BufferParam& p) { return {p.param, p.declared, buffer(p.buffer)}; }

  Stmt stmt(const Stmt& s) {
    if (const Store* store = s.as<Store>())
      return make_stmt(Store{buffer(store->buffer), expr(store->value), exprs(store->indices)});
    if (const Allocate* allocate = s.as<Allocate>();
        allocate && allocate->dtype.is_bfloat() && !is_fragment(memory_scope(allocate->data))) {
      Allocate result = *allocate;
      result.dtype = bits_type(allocate->dtype);
      result.data = pointer(allocate->data, result.dtype);
      result.extents = exprs(allocate->extents);
      result.body = stmt(allocate->body);
      return make_stmt(std::move(result));
    }
    if (const Let* let = s.as<Let>(); let && let->var.dtype().is_bfloat()) {
      const Expr value = expr(let->value);
      return make_stmt(Let{variable(let->var), value, stmt(let->body)});
    }
    if (const Attr* attr = s.as<Attr>()) {
      Attr result = *attr;
      if (Expr* subject = std::get_if<Expr>(&result.subject)) *subject = expr(*subject);
      if (Buffer* subject = std::get_if<Buffer>(&result.subject)) *subject = buffer(*subject);
      if (CommReducer* subject = std::get_if<CommReducer>(&result.subject))
        *subject = reducer(*subject);
      result.value = expr(attr->value);
      result.body = stmt(attr->body);
      return make_stmt(std::move(result));
    }
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& c) { return stmt(c); });
  }

 private:
  std::vector<Expr> exprs(const std::vector<Expr>& list) {
    return mapped(list, [&](const Expr& e) { return expr(e); });
  }

  Expr expr(const Expr& e) { return e.dtype().is_bfloat() ? bits(e) : other(e); }

  /// Returns an operand of an operation. A bfloat16 operand is converted to float32.
  Expr operand(const Expr& e) { return e.dtype().is_bfloat() ? float_of(bits(e)) : other(e); }

  std::vector<Expr> operands(const std::vector<Expr>& list) {
    return mapped(list, [&](const Expr& e) { return operand(e); });
  }

  /// Returns the bits of a bfloat16 value.
  Expr bits(const Expr& e) {
    if (const FloatImm* constant = e.as<FloatImm>())
      return make_int(bits_type(e.dtype()), rounded_bits(constant->value));
    if (e.as<VarNode>()) {
      const auto found = variables_.find(&e.node());
      // A parameter of the function keeps its type, so its bits are reinterpreted.
      return found != variables_.end() ? found->second
                                       : make_call(bits_type(e.dtype()), Intrin::reinterpret, {e});
    }
    if (const Load* load = e.as<Load>())
      return make_load(buffer(load->buffer), exprs(load->indices));
    if (const Cast* cast = e.as<Cast>())
      return cast->value.dtype().is_bfloat() ? bits(cast->value)
                                             : round_to_bits(other(cast->value));
    if (const Binary* binary = e.as<Binary>())
      return round_to_bits(fold(binary->op, operand(binary->a), operand(binary->b)));
    if (const LetExpr* let = e.as<LetExpr>()) return this->let(*let);
    if (const Call* call = e.as<Call>()) return bits_of_call(*call, e.dtype());
    return map_children(e, [&](const Expr& c) { return expr(c); });
  }

  Expr bits_of_call(const Call& call, DataType type) {
    if (call.is(Intrin::reinterpret)) {
      const Expr value = expr(call.args[0]);
      return value.dtype() == bits_type(type) ? value
                                              : make_call(bits_type(type), call.callee, {value});
    }
    if (call.is(Intrin::type_annotation)) return make_call(bits_type(type), call.callee, {});
    if (call.is(Intrin::if_then_else) || std::holds_alternative<ExternCallee>(call.callee))
      return make_call(bits_type(type), call.callee, exprs(call.args));
    return round_to_bits(make_call(Float(32, type.lanes), call.callee, operands(call.args)));
  }

  Expr other(const Expr& e) {
    if (e.as<VarNode>()) {
      auto found = variables_.find(&e.node());
      return found == variables_.end() ? e : found->second;
    }
    if (const Load* load = e.as<Load>())
      return make_load(buffer(load->buffer), exprs(load->indices));
    if (const LetExpr* let = e.as<LetExpr>()) return this->let(*let);
    if (const Cast* cast = e.as<Cast>(); cast && cast->value.dtype().is_bfloat()) {
      const Expr value = operand(cast->value);
      return e.dtype() == value.dtype() ? value : make_cast(e.dtype(), value);
    }
    if (const Binary* binary = e.as<Binary>(); binary && binary->a.dtype().is_bfloat())
      return fold(binary->op, operand(binary->a), operand(binary->b));
    if (const Call* call = e.as<Call>()) {
      const Intrin* intrin = std::get_if<Intrin>(&call->callee);
      // The arguments of these calls stay stored bits and are not converted to float32. A reduction
      // over threads passes the bits to its reducer and writes the bits of the result; dp4a accepts
      // bits or float32.
      const bool takes_bits = !intrin || *intrin == Intrin::reinterpret ||
                              *intrin == Intrin::dp4a || *intrin == Intrin::address_of ||
                              *intrin == Intrin::tvm_access_ptr ||
                              *intrin == Intrin::tvm_thread_allreduce;
      if (intrin && *intrin == Intrin::reinterpret && call->args[0].dtype().is_bfloat()) {
        const Expr value = expr(call->args[0]);
        return value.dtype() == e.dtype() ? value : make_call(e.dtype(), call->callee, {value});
      }
      return make_call(e.dtype(), call->callee,
                       takes_bits ? exprs(call->args) : operands(call->args));
    }
    return map_children(e, [&](const Expr& c) { return expr(c); });
  }

  /// Converts a reducer of bfloat16 values to a reducer of their bits.
  CommReducer reducer(const CommReducer& combiner) {
    CommReducerNode result = *combiner;
    for (std::vector<Var>* side : {&result.lhs, &result.rhs})
      for (Var& var : *side)
        if (var.dtype().is_bfloat()) var = variable(var);
    result.result = exprs(combiner->result);
    result.identity = exprs(combiner->identity);
    return std::make_shared<const CommReducerNode>(std::move(result));
  }

  Expr let(const LetExpr& let) {
    const Expr value = expr(let.value);
    const Var var = let.var.dtype().is_bfloat() ? variable(let.var) : let.var;
    return make_let(var, value, expr(let.body));
  }

  Var variable(const Var& var) {
    auto found = variables_.find(&var.node());
    if (found != variables_.end()) return Var::of(found->second);
    const Var result(var.name(), bits_type(var.dtype()));
    set(variables_, var, result);
    return result;
  }

  Var pointer(const Var& data, DataType element) {
    auto found = variables_.find(&data.node());
    if (found != variables_.end()) return Var::of(found->second);
    PointerType type = data.as<VarNode>()->pointer.value_or(PointerType{element, std::nullopt});
    type.element = element;
    const Var result(data.name(), type);
    set(variables_, data, result);
    return result;
  }

  Buffer buffer(const Buffer& b) {
    // Tensor core fragments keep the type bfloat16, but they are loaded from memory that holds
    // bits.
    if (!b->dtype.is_bfloat() || is_fragment(memory_scope(b->data))) return b;
    return copy_once(buffers_, b, [&](BufferNode& node) {
      node.dtype = bits_type(b->dtype);
      node.data = pointer(b->data, node.dtype);
    });
  }

  VarMap variables_;
  std::unordered_map<const BufferNode*, Buffer> buffers_;
};

}  // namespace

PrimFunc legalize_bfloat16(const PrimFunc& func, const PassOptions&) {
  Legalizer legalizer;
  PrimFunc result = func;
  for (BufferParam& param : result.buffers) param = legalizer.param(param);
  result.body = legalizer.stmt(func.body);
  return result;
}

}  // namespace tenon::lowering
