#include "s_tir/script/access_parser.h"

#include "tenon/arith/simplify.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir::script {

using namespace tir;

Expr AccessParser::reference(const Token& token) {
  const std::string& name = token.text;
  if (in_.is_sign("[")) {
    const Buffer source = buffer(token);
    const std::vector<Expr> list = indices(source);
    return at_token(token, [&] { return make_load(source, list); });
  }
  if (const Scopes::Entity* known = scopes_.find(name)) {
    if (const Var* var = std::get_if<Var>(known)) return *var;
    syntax_error(token, "buffer `" + name + "` is used where an expression is expected");
  }
  if (const std::size_t dot = name.rfind('.'); dot != std::string::npos)
    if (const Buffer* owner = scopes_.find<Buffer>(name.substr(0, dot))) {
      if (name.substr(dot) == ".data") return (*owner)->data;
      if (name.substr(dot) == ".elem_offset") return (*owner)->elem_offset;
    }
  syntax_error(token, "`" + name + "` is not defined");
}

Buffer AccessParser::buffer(const Token& name) const {
  if (const Buffer* found = scopes_.find<Buffer>(name.text)) return *found;
  syntax_error(name, "`" + name.text + "` is not a buffer in scope");
}

template <class F>
void AccessParser::slices(F use) {
  in_.expect("[");
  if (in_.is_sign("(") && in_.is_sign(")", 1)) in_.skip(2);
  in_.items("]", [&] {
    const Value lo = value();
    if (!in_.accept(":")) return use(lo.e, std::nullopt, std::nullopt);
    const Token& at = in_.peek();
    const Value hi = value();
    const auto [a, b] = alike(lo, hi, at);
    std::optional<Expr> step;
    if (in_.accept(":")) step = as_type(value(), a.dtype(), at);
    use(a, b, step);
  });
}

std::vector<Expr> AccessParser::indices(const Buffer& buffer) {
  const Token& open = in_.peek();
  std::vector<Expr> result;
  slices([&](const Expr& lo, const std::optional<Expr>& hi, const std::optional<Expr>& step) {
    if (!hi) {
      if (!lo.dtype().is_integral() || lo.dtype().is_bool())
        syntax_error(open, "expected integers as indices, got one of type " + lo.dtype().str());
      result.push_back(as_index(lo));
      return;
    }
    require_index(lo, open, "the beginning of a slice");
    const Expr stride = step.value_or(make_int(lo.dtype(), 1));
    const auto length =
        at_token(open, [&] { return constant_int(arith::simplify(Range(lo, *hi).extent)); });
    const auto every = constant_int(stride);
    if (!length || !every || *every == 0 || !fits(*length, Int(32)) || !fits(*every, Int(32)))
      syntax_error(open, "a slice of an access has a constant length and a constant step");
    // The last step may exceed the end of the slice, as in Python.
    const std::int64_t count = (*length + *every - (*every > 0 ? 1 : -1)) / *every;
    if (count == 1) return result.push_back(lo);
    const int width = lanes(open, make_int(Int(64), count));
    result.push_back(at_token(open, [&] { return make_ramp(lo, stride, width); }));
  });
  const bool is_physical =
      result.size() == buffer->axis_separators.size() + 1 && physical_.contains(buffer.get());
  if (result.size() != buffer->shape.size() && !is_physical)
    syntax_error(open, "buffer `" + buffer->name + "` has " + std::to_string(buffer->rank()) +
                           " dimensions, got " + std::to_string(result.size()) + " indices");
  return result;
}

BufferRegion AccessParser::region() {
  const Token& name = in_.expect(Token::Kind::Name, "a region of a buffer");
  BufferRegion result{buffer(name), {}};
  slices([&](const Expr& lo, const std::optional<Expr>& hi, const std::optional<Expr>& step) {
    if (step) syntax_error(name, "a region has no step");
    require_index(lo, name, "the beginning of a region");
    const Expr extent = hi ? at_token(name, [&] { return arith::simplify(Range(lo, *hi).extent); })
                           : make_int(lo.dtype(), 1);
    result.region.push_back(Range::from_min_extent(lo, extent));
  });
  if (result.region.size() != result.buffer->shape.size())
    syntax_error(name, "buffer `" + name.text + "` has " + std::to_string(result.buffer->rank()) +
                           " dimensions, and the region " + std::to_string(result.region.size()));
  return result;
}

Annotation AccessParser::annotation() {
  if (is_stack_low()) return with_deep_stack([&] { return annotation(); });
  if (!in_.is_list()) return {expr()};
  const NestingLevel level(depth_);
  if (level.is_too_deep()) syntax_error(in_.peek(), kTooDeep);
  std::vector<Annotation> items;
  in_.items(in_.open_list(), [&] { items.push_back(annotation()); });
  return {std::move(items)};
}

Annotations AccessParser::annotations() {
  Annotations notes;
  in_.expect("{");
  in_.items("}", [&] {
    const std::string& key = in_.expect_string("a key");
    in_.expect(":");
    notes.insert_or_assign(key, annotation());
  });
  return notes;
}

}  // namespace tenon::s_tir::script
