#include "lower/loops/bind_view.h"

#include "tenon/arith/simplify.h"
#include "tenon/tir/print.h"

namespace tenon::lowering {

using namespace tir;

namespace {

class Binder {
 public:
  Binder(const Buffer& declared, const VarMap& known, const arith::Facts& facts)
      : declared_(declared), known_(known), facts_(facts) {}

  /// Binds a free variable of the declaration, or compares its value. Returns whether it was free.
  bool bind(const Expr& formal, const Expr& actual, const std::string& what) {
    if (formal.as<VarNode>() && !value_of(formal)) {
      const bool is_cut = formal.dtype() != actual.dtype() && formal.dtype().is_integral() &&
                          actual.dtype().is_integral();
      result_.values.emplace_back(Var::of(formal), is_cut ? cast(formal.dtype(), actual) : actual);
      return true;
    }
    const std::optional<Expr> value = value_of(formal);
    check((value ? *value : substitute_folding(formal, known_)) == actual, what, formal, actual);
    return false;
  }

  void check(const Expr& condition, const std::string& what, const Expr& formal,
             const Expr& actual) {
    const Expr simple = arith::simplify(condition, facts_);
    if (is_true(simple)) return;
    const std::string text = "buffer `" + declared_->name + "`: " + what + " is declared as " +
                             print_expr(formal) + ", but the memory bound to it has " +
                             print_expr(actual);
    if (is_false(simple)) throw LowerError(text);
    result_.checks.push_back({simple, text});
  }

  /// Binds a size, and checks that it fits the type of the declared variable.
  void bind_size(const Expr& formal, const Expr& actual, const std::string& what) {
    if (bind(formal, actual, what) && formal.dtype().bits < actual.dtype().bits)
      check(cast(actual.dtype(), cast(formal.dtype(), actual)) == actual,
            what + " of type " + formal.dtype().str(), formal, actual);
  }

  void bind_offset(const Expr& formal, const Expr& actual) {
    if (!bind(formal, actual, "the offset")) return;
    if (formal.dtype().bits < actual.dtype().bits) result_.wide_offset = actual;
    if (declared_->offset_factor <= 1) return;
    const Expr factor = make_int(actual.dtype(), declared_->offset_factor);
    check(floormod(actual, factor) == 0, "the factor of the offset", factor, actual);
  }

  ViewBinding take() { return std::move(result_); }

 private:
  std::optional<Expr> value_of(const Expr& var) const {
    if (auto found = known_.find(&var.node()); found != known_.end()) return found->second;
    for (const auto& [bound, value] : result_.values)
      if (bound.same_as(var)) return value;
    return std::nullopt;
  }

  const Buffer& declared_;
  const VarMap& known_;
  const arith::Facts& facts_;
  ViewBinding result_;
};

/// Returns the type of the elements in memory: bools are bytes there.
DataType type_in_memory(const Buffer& buffer) {
  return buffer->dtype.is_bool() ? Int(8, buffer->dtype.lanes) : buffer->dtype;
}

void check_kind(const Buffer& declared, const Buffer& piece) {
  if (type_in_memory(declared) != type_in_memory(piece))
    throw LowerError("buffer `" + declared->name + "` of " + declared->dtype.str() +
                     " cannot be bound to `" + piece->name + "` of " + piece->dtype.str());
  const std::optional<PointerType>& pointer = declared->data.as<VarNode>()->pointer;
  if (pointer && pointer->scope && *pointer->scope != piece->scope())
    throw LowerError("buffer `" + declared->name + "` is declared in scope \"" +
                     std::string(to_string(*pointer->scope)) + "\", `" + piece->name +
                     "` is in \"" + std::string(to_string(piece->scope())) + "\"");
  if (declared->shape.size() > piece->shape.size())
    throw LowerError("buffer `" + declared->name + "` has " +
                     std::to_string(declared->shape.size()) + " dimensions, the region of `" +
                     piece->name + "` has " + std::to_string(piece->shape.size()));
}

}  // namespace

ViewBinding bind_view(const Buffer& declared, const Buffer& piece, const VarMap& known,
                      const arith::Facts& facts) {
  check_kind(declared, piece);
  Binder binder(declared, known, facts);
  if (is_zero(declared->elem_offset) && !is_zero(piece->elem_offset))
    throw LowerError("buffer `" + declared->name +
                     "` is declared without an offset but is bound to a region that begins at " +
                     print_expr(piece->elem_offset) +
                     " of its memory: declare it with offset_factor = 1");
  binder.bind(declared->data, piece->data, "the data pointer");
  binder.bind_offset(declared->elem_offset, piece->elem_offset);
  const std::size_t missing = piece->shape.size() - declared->shape.size();
  for (std::size_t n = 0; n < missing; ++n)
    binder.check(piece->shape[n] == 1, "a dimension that is left out", 1, piece->shape[n]);
  for (std::size_t n = 0; n < declared->shape.size(); ++n)
    binder.bind_size(declared->shape[n], piece->shape[n + missing],
                     "shape[" + std::to_string(n) + "]");
  if (declared->strides.empty()) {
    if (!piece->strides.empty())
      throw LowerError("buffer `" + declared->name +
                       "` is declared compact but is bound to a region of `" + piece->name +
                       "` with strides: declare its strides as variables");
    return binder.take();
  }
  const std::vector<Expr> strides =
      piece->strides.empty() ? compact_strides(piece->shape) : piece->strides;
  for (std::size_t n = 0; n < declared->strides.size(); ++n) {
    // A dimension of one element is never stepped over, so any declared stride is valid.
    if (is_one(piece->shape[n + missing]) && !declared->strides[n].as<VarNode>()) continue;
    binder.bind_size(declared->strides[n], strides[n + missing],
                     "strides[" + std::to_string(n) + "]");
  }
  return binder.take();
}

}  // namespace tenon::lowering
