#include "lower/chosen_terms.h"

#include "lower/plain_loop.h"
#include "tenon/tir/combination.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// nullopt for a statement that is more than accumulations into elements that exist.
std::optional<Stmt> chosen(const Stmt& s, const Expr& condition, const arith::Facts& facts) {
  if (const Seq* n = s.as<Seq>()) {
    std::vector<Stmt> parts;
    for (const Stmt& part : n->stmts) {
      std::optional<Stmt> one = chosen(part, condition, facts);
      if (!one) return std::nullopt;
      parts.push_back(std::move(*one));
    }
    return make_seq(std::move(parts));
  }
  const Store* n = s.as<Store>();
  if (!n || n->indices.size() != 1 || !is_inside(n->buffer, n->indices[0], facts))
    return std::nullopt;
  const std::optional<AccumulationStep> step = read_accumulation(*n, {});
  if (!step || reads(condition, n->buffer->data)) return std::nullopt;
  const DataType type = step->term.dtype();
  const Expr term = make_call(type, Intrin::if_then_else,
                              {condition, step->term, identity_of(step->target.op, type)});
  return make_store(n->buffer,
                    make_binary(step->target.op, make_load(n->buffer, {n->indices[0]}), term),
                    {n->indices[0]});
}

}  // namespace

Stmt with_chosen_terms(const Stmt& body, const arith::Facts& facts) {
  return rewrite(body, [&](const If& n, const Stmt&) -> std::optional<Stmt> {
    return n.else_case ? std::nullopt : chosen(n.then_case, n.condition, facts);
  });
}

}  // namespace tenon::lowering
