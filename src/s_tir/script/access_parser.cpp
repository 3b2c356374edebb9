// Second part of the expression parser: names, lists, accesses and regions of buffers, annotations.
#include "s_tir/script/expr_parser.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/deep_stack.h"

namespace tenon::s_tir::script {

using namespace tir;

// ---- names --------------------------------------------------------------------------------------

void Scopes::define(const std::string& name, Entity entity) {
  scopes_.back().insert_or_assign(name, std::move(entity));
}

const Scopes::Entity* Scopes::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->find(name); found != scope->end()) return &found->second;
  return nullptr;
}

std::vector<Buffer> Scopes::buffers() const {
  std::vector<Buffer> result;
  for (const auto& scope : scopes_)
    for (const auto& [name, entity] : scope)
      if (const Buffer* buffer = std::get_if<Buffer>(&entity)) result.push_back(*buffer);
  return result;
}

// ---- lists, accesses, regions -------------------------------------------------------------------

std::vector<Expr> ExprParser::list() {
  const bool is_list = in_.is_sign("[");
  if (!is_list && !in_.is_sign("(")) return {expr()};
  in_.take();
  const char* close = is_list ? "]" : ")";
  std::vector<Expr> items;
  while (!in_.accept(close)) {
    items.push_back(expr());
    if (!in_.is_sign(close)) in_.expect(",");
  }
  return items;
}

std::pair<Expr, std::optional<Expr>> ExprParser::slice(std::optional<Expr>& step) {
  const Value lo = value();
  if (!in_.accept(":")) return {lo.e, std::nullopt};
  const Token at = in_.peek();
  const Value hi = value();
  if (in_.accept(":")) step = expr();
  const auto [a, b] = alike(lo, hi, at);
  return {a, b};
}

std::vector<Expr> ExprParser::indices(const Buffer& buffer) {
  const Token open = in_.peek();
  in_.expect("[");
  std::vector<Expr> result;
  if (in_.is_sign("(") && in_.is_sign(")", 1)) in_.take(), in_.take();
  while (!in_.accept("]")) {
    std::optional<Expr> step;
    const auto [lo, hi] = slice(step);
    if (hi) {
      require_index(lo, open, "the beginning of a slice");
      const Expr stride = step.value_or(make_int(lo.dtype(), 1));
      const auto length = constant_int(arith::simplify(*hi - lo));
      const auto every = constant_int(stride);
      if (!length || !every || *every == 0 || !fits(*length, Int(32)) || !fits(*every, Int(32)))
        syntax_error(open, "a slice of an access has a constant length and a constant step");
      if (*length == *every) {
        result.push_back(lo);
      } else {
        const int count = lanes(open, make_int(Int(64), *length / *every));
        result.push_back(at_token(open, [&] { return make_ramp(lo, stride, count); }));
      }
    } else {
      if (!lo.dtype().is_integral() || lo.dtype().is_bool())
        syntax_error(open, "expected integers as indices, got one of type " + lo.dtype().str());
      result.push_back(lo);
    }
    if (!in_.is_sign("]")) in_.expect(",");
  }
  const bool is_physical =
      result.size() == buffer->axis_separators.size() + 1 && physical_.contains(buffer.get());
  if (result.size() != buffer->shape.size() && !is_physical)
    syntax_error(open, "buffer `" + buffer->name + "` has " + std::to_string(buffer->rank()) +
                           " dimensions, got " + std::to_string(result.size()) + " indices");
  return result;
}

BufferRegion ExprParser::region() {
  const Token name = in_.peek();
  if (!in_.is(Token::Kind::Name)) in_.unexpected("a region of a buffer");
  BufferRegion result{buffer(in_.take()), {}};
  in_.expect("[");
  if (in_.is_sign("(") && in_.is_sign(")", 1)) in_.take(), in_.take();
  while (!in_.accept("]")) {
    std::optional<Expr> step;
    const auto [lo, hi] = slice(step);
    if (step) syntax_error(name, "a region has no step");
    require_index(lo, name, "the beginning of a region");
    const Expr extent =
        hi ? at_token(name, [&] { return arith::simplify(*hi - lo); }) : make_int(lo.dtype(), 1);
    result.region.push_back(Range::from_min_extent(lo, extent));
    if (!in_.is_sign("]")) in_.expect(",");
  }
  if (result.region.size() != result.buffer->shape.size())
    syntax_error(name, "buffer `" + name.text + "` has " + std::to_string(result.buffer->rank()) +
                           " dimensions, and the region " + std::to_string(result.region.size()));
  return result;
}

Annotation ExprParser::annotation() {
  if (is_stack_low()) return with_deep_stack([&] { return annotation(); });
  const bool is_list = in_.is_sign("[");
  if (!is_list && !in_.is_sign("(")) return {expr()};
  const NestingLevel level(depth_);
  if (level.is_too_deep()) syntax_error(in_.peek(), kTooDeep);
  in_.take();
  const char* close = is_list ? "]" : ")";
  std::vector<Annotation> items;
  while (!in_.accept(close)) {
    items.push_back(annotation());
    if (!in_.is_sign(close)) in_.expect(",");
  }
  return {std::move(items)};
}

Annotations ExprParser::annotations() {
  Annotations notes;
  in_.expect("{");
  while (!in_.accept("}")) {
    const std::string key = in_.expect_string("a key");
    in_.expect(":");
    notes.insert_or_assign(key, annotation());
    if (!in_.is_sign("}")) in_.expect(",");
  }
  return notes;
}

}  // namespace tenon::s_tir::script
