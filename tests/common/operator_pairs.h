// All pairs of operators, one as an operand of the other, for the tests of printers and parsers.
#pragma once

#include <functional>
#include <vector>

#include "tenon/tir/ops.h"

namespace tenon::testing {

/// The operands of the inner operators.
struct PairOperands {
  tir::Var x{"x"}, y{"y"}, z{"z"};
  tir::Var p{"p", Bool()}, q{"q", Bool()}, r{"r", Bool()};
};

namespace detail {

/// An operator from operands of the given types.
struct PairForm {
  DataType result;
  std::vector<DataType> operands;
  std::function<tir::Expr(const std::vector<tir::Expr>&)> make;
};

inline std::vector<PairForm> pair_forms() {
  using tir::BinaryOp;
  using tir::Expr;
  const DataType whole = Int(32), truth = Bool();
  std::vector<PairForm> forms;
  const auto add = [&](BinaryOp op, DataType operand, DataType result) {
    forms.push_back({result, {operand, operand}, [op](const std::vector<Expr>& e) {
                       return tir::make_binary(op, e[0], e[1]);
                     }});
  };
  for (const BinaryOp op :
       {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::TruncDiv, BinaryOp::TruncMod,
        BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::Min, BinaryOp::Max})
    add(op, whole, whole);
  for (const BinaryOp op :
       {BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge}) {
    add(op, whole, truth);
    add(op, truth, truth);
  }
  for (const BinaryOp op : {BinaryOp::And, BinaryOp::Or}) add(op, truth, truth);
  forms.push_back({truth, {truth}, [](const std::vector<Expr>& e) { return tir::make_not(e[0]); }});
  for (const DataType type : {whole, truth})
    forms.push_back({type, {truth, type, type}, [](const std::vector<Expr>& e) {
                       return tir::make_select(e[0], e[1], e[2]);
                     }});
  forms.push_back(
      {whole, {truth}, [](const std::vector<Expr>& e) { return tir::make_cast(Int(32), e[0]); }});
  forms.push_back({whole, {whole}, [](const std::vector<Expr>& e) {
                     return tir::make_binary(tir::BinaryOp::Sub, 0, e[0]);
                   }});
  forms.push_back({whole, {whole}, [](const std::vector<Expr>& e) {
                     return tir::make_binary(tir::BinaryOp::Add, -3, e[0]);
                   }});
  for (const DataType type : {whole, truth})
    forms.push_back({type, {type, type}, [](const std::vector<Expr>& e) {
                       const tir::Var v("v", e[0].dtype());
                       return tir::make_let(v, e[0], tir::make_binary(tir::BinaryOp::Max, v, e[1]));
                     }});
  return forms;
}

}  // namespace detail

/// Returns f(..., g(...), ...) for all operators f and g and all operands of f that g can be.
inline std::vector<tir::Expr> operator_pairs(const PairOperands& v) {
  const std::vector<detail::PairForm> forms = detail::pair_forms();
  const auto leaves = [&](const detail::PairForm& form) {
    std::vector<tir::Expr> result;
    for (const DataType type : form.operands) {
      const std::size_t n = result.size();
      result.push_back(type.is_bool() ? (n == 0   ? v.p
                                         : n == 1 ? v.q
                                                  : v.r)
                                      : (n == 0   ? v.x
                                         : n == 1 ? v.y
                                                  : v.z));
    }
    return result;
  };
  std::vector<tir::Expr> pairs;
  for (const detail::PairForm& outer : forms)
    for (const detail::PairForm& inner : forms)
      for (std::size_t n = 0; n < outer.operands.size(); ++n) {
        if (outer.operands[n] != inner.result) continue;
        std::vector<tir::Expr> operands = leaves(outer);
        operands[n] = inner.make(leaves(inner));
        pairs.push_back(outer.make(operands));
      }
  return pairs;
}

}  // namespace tenon::testing
