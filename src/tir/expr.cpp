#include "tenon/tir/expr.h"

#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "tenon/interp/scalar.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/fields.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tir/finish_node.h"
#include "tir/node_pool.h"
#include "tir/operands.h"
#include "tir/operators.h"

namespace tenon::tir {

namespace {

// ---- small integers -----------------------------------------------------------------------------

/// The integer constants that have one static node each, without a reference count: those of a type
/// from a minimum to a maximum.
constexpr std::array kSmallIntegers = {
    std::tuple(DataType{DataType::Code::Int, 32, 1}, std::int64_t{-16}, std::int64_t{1024}),
    std::tuple(DataType{DataType::Code::UInt, 1, 1}, std::int64_t{0}, std::int64_t{1}),
    std::tuple(DataType{DataType::Code::Int, 64, 1}, std::int64_t{-16}, std::int64_t{64})};
using SmallIntegerNodes = std::array<std::vector<ExprNode>, kSmallIntegers.size()>;

SmallIntegerNodes* make_small_integers() {
  auto* nodes = new SmallIntegerNodes();
  for (std::size_t n = 0; n < kSmallIntegers.size(); ++n) {
    const auto& [type, min, max] = kSmallIntegers[n];
    (*nodes)[n].reserve(static_cast<std::size_t>(max - min) + 1);
    for (std::int64_t value = min; value <= max; ++value)
      finish<IntImm>((*nodes)[n].emplace_back(type, std::size_t{0}, Contents(), IntImm{value}));
  }
  return nodes;
}

/// Returns the shared node of an integer constant; null if the constant has no shared node.
const ExprNode* find_small_integer(DataType type, std::int64_t value) {
  // Never destroyed, because handles may outlive it.
  static const SmallIntegerNodes* const nodes = make_small_integers();
  for (std::size_t n = 0; n < kSmallIntegers.size(); ++n)
    if (const auto& [own, min, max] = kSmallIntegers[n];
        own == type && value >= min && value <= max)
      return &(*nodes)[n][static_cast<std::size_t>(value - min)];
  return nullptr;
}

// ---- parts, for destruction ----

void take(Expr& e, std::vector<Expr>& parts) {
  if (!e.is_moved_from()) parts.push_back(std::move(e));
}
void take(std::vector<Expr>& list, std::vector<Expr>& parts) {
  for (Expr& e : list) take(e, parts);
}
/// Moves the expressions out of a reduction, unless another node shares the reduction.
void take(std::shared_ptr<const ReduceNode>& reduction, std::vector<Expr>& parts) {
  if (reduction.use_count() != 1) return;
  auto& n = const_cast<ReduceNode&>(*reduction);
  take(n.source, parts), take(n.init, parts), take(n.condition, parts);
}
template <LeafField T>
void take(T&, std::vector<Expr>&) {}

/// Moves all children out of the node.
void take_parts(ExprNode& node, std::vector<Expr>& parts) {
  std::visit(
      [&]<class Node>(Node& n) {
        for_each_field<Node>([&](const auto& field) { take(n.*field.member, parts); });
      },
      node.value);
}

template <class Node>
Expr make(DataType type, Node value) {
  auto node = std::allocate_shared<ExprNode>(NodeAllocator<ExprNode>(), type, std::size_t{0},
                                             Contents(), std::move(value));
  finish<Node>(*node);
  return Expr(std::shared_ptr<const ExprNode>(std::move(node)));
}

void require_same_type(std::string_view what, const Expr& a, const Expr& b) {
  if (a.dtype() == b.dtype()) return;
  throw TypeError("the operands of " + std::string(what) + " have different types, " +
                  a.dtype().str() + " and " + b.dtype().str() + ": " + print_expr(a) + " and " +
                  print_expr(b));
}

void require_vector(std::string_view what, const Expr& element, int lanes) {
  if (element.dtype().is_scalar() && lanes > 1) return;
  throw TypeError("a " + std::string(what) + " needs a scalar and more than one lane, got `" +
                  print_expr(element) + "` of " + element.dtype().str() + " and " +
                  std::to_string(lanes) + (lanes == 1 ? " lane" : " lanes"));
}

void require_bool(std::string_view what, const Expr& e) {
  if (!e.dtype().is_bool())
    throw TypeError(std::string(what) + " must be a bool, got " + e.dtype().str() + ": " +
                    print_expr(e));
}

}  // namespace

constinit const ExprNode kMovedFrom{
    {DataType::Code::Handle, 64, 1}, 0, {}, Call{.callee = Intrin::tvm_tuple, .args = {}}};

std::uint64_t bit_of_variable(const ExprNode* var) {
  return std::uint64_t{1} << (mix(0, hash_pointer(var)) >> 58);
}

ExprNode::~ExprNode() {
  if (!is_stack_low()) return;
  // The node has no other owner, so modifying it is safe.
  std::vector<Expr> dying;
  take_parts(*this, dying);
  while (!dying.empty()) {
    const Expr e = std::move(dying.back());
    dying.pop_back();
    if (e.is_last()) take_parts(const_cast<ExprNode&>(e.node()), dying);
  }
}

// ---- Expr, Var, IterVar, Range ------------------------------------------------------------------

DataType Expr::dtype() const { return node_->dtype; }

Expr::Expr(const IterVar& axis) : Expr(static_cast<const Expr&>(axis.var())) {}

DataType IntegerLiteral::type() const {
  if (is_bool) return Bool();
  if (is_above_int64) return UInt(64);
  return tenon::fits(bits, Int(32)) ? Int(32) : Int(64);
}
bool IntegerLiteral::fits(DataType type) const {
  return is_above_int64 ? type == UInt(64) : tenon::fits(bits, type);
}
double IntegerLiteral::as_double() const {
  return is_above_int64 ? static_cast<double>(static_cast<std::uint64_t>(bits))
                        : static_cast<double>(bits);
}
std::string IntegerLiteral::str() const {
  return is_above_int64 ? std::to_string(static_cast<std::uint64_t>(bits)) : std::to_string(bits);
}

Expr Expr::from_literal(const IntegerLiteral& value) { return make_int(value.type(), value.bits); }

Expr Expr::from_floating(double value, const SourceLocation& where) {
  return make_const(Float(32), value, where);
}

Expr Expr::astype(DataType type, SourceLocation where) const {
  return cast(type, Operand(*this, where));
}

Range::Range(Expr begin, Expr end, SourceLocation where)
    : min(std::move(begin)), extent(std::move(end)) {
  for (const Expr& end : {min, extent}) {
    const DataType type = Operand(end, where).alone().dtype();
    if (!type.is_integral() || !type.is_scalar() || type.is_bool())
      throw TypeError("a range is of integers, got `" + print_expr(end) + "` of type " + type.str(),
                      where);
  }
  const auto [from, to] = promote(min, extent);
  const DataType type = from.dtype();
  const IntImm *first = from.as<IntImm>(), *last = to.as<IntImm>();
  std::int64_t count = 0;
  if (first && last && type.is_int() &&
      (__builtin_sub_overflow(last->value, first->value, &count) || !fits(count, type)))
    throw TypeError("the range from " + print_expr(from) + " to " + print_expr(to) +
                        " has more points than " + type.str() + " counts",
                    where);
  min = from;
  extent = is_zero(from) ? to : Operand(to, where) - from;
}

Range Range::from_min_extent(Expr min, Expr extent) {
  if (min.dtype() == extent.dtype() || !extent.dtype().is_integral())
    return Range(std::in_place, std::move(min), std::move(extent));
  const auto [a, b] = promote(min, extent);
  return Range(std::in_place, a, b);
}
Range Range::from_extent(Expr extent) {
  Expr zero = make_int(extent.dtype(), 0);
  return Range(std::in_place, std::move(zero), std::move(extent));
}
std::vector<Range> whole_region(const std::vector<Expr>& shape) {
  std::vector<Range> region;
  for (const Expr& extent : shape) region.push_back(Range::from_extent(extent));
  return region;
}

Var::Var(Name name, DataType type) : Expr(make(type, VarNode{.name = std::move(name)})) {}
Var::Var(Name name, PointerType type)
    : Expr(make(Handle(), VarNode{.name = std::move(name), .pointer = type})) {}
Var Var::size(Name name, DataType type) {
  return Var(make(type, VarNode{.name = std::move(name), .is_size = true}));
}
Var Var::let(Name name, const Expr& value) {
  return Var(make(value.dtype(), VarNode{.name = std::move(name), .is_data = wraps(value)}));
}

Var Var::of(const Expr& e) {
  if (!e.as<VarNode>()) throw TypeError("`" + print_expr(e) + "` is not a variable");
  return Var(e);
}

const std::string& Var::name() const { return as<VarNode>()->name; }

Var Var::fresh() const { return fresh(name()); }

Var Var::fresh(std::string name) const {
  VarNode copy = *as<VarNode>();
  copy.name = std::move(name);
  return Var(make(dtype(), std::move(copy)));
}

IterVar::IterVar(std::optional<Range> dom, Var var, IterKind kind, std::optional<ThreadTag> thread)
    : node_(std::make_shared<IterVarNode>(
          IterVarNode{std::move(dom), std::move(var), kind, thread})) {}
const Var& IterVar::var() const { return node_->var; }
const std::string& IterVar::name() const { return node_->var.name(); }
const std::optional<Range>& IterVar::dom() const { return node_->dom; }
IterKind IterVar::kind() const { return node_->kind; }
const std::optional<ThreadTag>& IterVar::thread() const { return node_->thread; }

// ---- construction -------------------------------------------------------------------------------

Expr make_int(DataType type, std::int64_t value) {
  if (type.is_vector()) return make_broadcast(make_int(type.element(), value), type.lanes);
  if (!type.is_integral()) throw TypeError("an integer constant cannot be of type " + type.str());
  value = type.is_bool() ? value != 0 : wrap(value, type);
  if (const ExprNode* known = find_small_integer(type, value))
    return Expr(Shared<const ExprNode>::of_static(*known));
  return make(type, IntImm{value});
}

Expr make_float(DataType type, double value) {
  if (type.is_vector()) return make_broadcast(make_float(type.element(), value), type.lanes);
  if (!type.is_floating()) throw TypeError("a floating constant cannot be of type " + type.str());
  // Uses a single NaN, so that all NaNs print alike.
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  return make(type, FloatImm{interp::fit(interp::floating(value), type).d});
}

Expr make_string(std::string value) { return make(Handle(), StringImm{std::move(value)}); }

Expr make_cast(DataType type, Expr value) {
  if (type.is_handle() != value.dtype().is_handle())
    throw TypeError("cannot cast " + value.dtype().str() + " to " + type.str() +
                    "; use reinterpret");
  if (type.lanes != value.dtype().lanes)
    throw TypeError("cannot cast " + value.dtype().str() + " to " + type.str() +
                    ": the lanes differ");
  return make(type, Cast{std::move(value)});
}

Expr make_binary(BinaryOp op, Expr a, Expr b) {
  DataType type = a.dtype();
  if (type != b.dtype()) require_same_type(to_string(op), a, b);
  if (op == BinaryOp::And || op == BinaryOp::Or) {
    require_bool(to_string(op), a);
  } else if (is_comparison(op)) {
    type = Bool(type.lanes);
  }
  return make(type, Binary{op, std::move(a), std::move(b)});
}

Expr make_not(Expr a) {
  require_bool("the operand of !", a);
  DataType type = a.dtype();
  return make(type, Not{std::move(a)});
}

Expr make_select(Expr condition, Expr if_true, Expr if_false) {
  require_bool("the condition of select", condition);
  require_same_type("select", if_true, if_false);
  const int lanes = condition.dtype().lanes;
  if (lanes != 1 && lanes != if_true.dtype().lanes)
    throw TypeError("the condition of select has " + std::to_string(lanes) + " lanes, its values " +
                    std::to_string(if_true.dtype().lanes));
  DataType type = if_true.dtype();
  return make(type, Select{std::move(condition), std::move(if_true), std::move(if_false)});
}

Expr make_ramp(Expr base, Expr stride, int lanes) {
  require_same_type("ramp", base, stride);
  require_vector("ramp", base, lanes);
  DataType type = base.dtype().with_lanes(lanes);
  return make(type, Ramp{std::move(base), std::move(stride), lanes});
}

Expr make_broadcast(Expr value, int lanes) {
  require_vector("broadcast", value, lanes);
  DataType type = value.dtype().with_lanes(lanes);
  return make(type, Broadcast{std::move(value), lanes});
}

Expr make_shuffle(std::vector<Expr> vectors, std::vector<Expr> indices) {
  if (vectors.empty() || indices.empty()) throw TypeError("a shuffle needs vectors and indices");
  DataType type = vectors.front().dtype().element().with_lanes(static_cast<int>(indices.size()));
  return make(type, Shuffle{std::move(vectors), std::move(indices)});
}

Expr make_let(Var var, Expr value, Expr body) {
  require_same_type("let", var, value);
  DataType type = body.dtype();
  return make(type, LetExpr{std::move(var), std::move(value), std::move(body)});
}

Expr make_call(DataType type, Intrin intrin, std::vector<Expr> args) {
  return make(type, Call{intrin, std::move(args)});
}

Expr make_extern_call(DataType type, std::string name, std::vector<Expr> args, bool pure) {
  return make(type, Call{ExternCallee{std::move(name), pure}, std::move(args)});
}

Expr make_call(DataType type, const std::variant<Intrin, ExternCallee>& callee,
               std::vector<Expr> args) {
  return make(type, Call{callee, std::move(args)});
}

int lanes_of_access(const Buffer& buffer, const std::vector<Expr>& indices) {
  if (indices.empty()) return buffer->dtype.lanes;
  for (std::size_t n = 0; n + 1 < indices.size(); ++n)
    if (indices[n].dtype().is_vector())
      throw TypeError("an access of buffer `" + buffer->name +
                      "`: only the last index may be a vector, and index " + std::to_string(n) +
                      " is `" + print_expr(indices[n]) + "`");
  return buffer->dtype.lanes * indices.back().dtype().lanes;
}

Expr make_load(Buffer buffer, std::vector<Expr> indices) {
  const DataType type = buffer->dtype.with_lanes(lanes_of_access(buffer, indices));
  return make(type, Load{std::move(buffer), std::move(indices)});
}

Expr make_producer_load(ProducerRef producer, std::vector<Expr> indices) {
  DataType type = producer->dtype();
  return make(type, ProducerLoad{std::move(producer), std::move(indices)});
}

Expr make_reduce(std::shared_ptr<const ReduceNode> reduction, int value_index) {
  internal_check(
      value_index >= 0 && static_cast<std::size_t>(value_index) < reduction->source.size(),
      "a reduction has no such component");
  require_bool("the condition of a reduction", reduction->condition);
  DataType type = reduction->source[static_cast<std::size_t>(value_index)].dtype();
  return make(type, Reduce{std::move(reduction), value_index});
}

Expr make_true(int lanes) { return make_int(Bool(lanes), 1); }
Expr make_false(int lanes) { return make_int(Bool(lanes), 0); }

// ---- queries ------------------------------------------------------------------------------------

bool is_comparison(BinaryOp op) { return op >= BinaryOp::Eq && op <= BinaryOp::Ge; }

std::string_view to_string(BinaryOp op) { return operator_of(op).name; }

std::optional<std::int64_t> constant_int(const Expr& e) {
  if (const IntImm* n = e.as<IntImm>()) return n->value;
  if (const Broadcast* n = e.as<Broadcast>()) return constant_int(n->value);
  return std::nullopt;
}

bool is_constant_int(const Expr& e, std::int64_t value) { return constant_int(e) == value; }

bool is_constant(const Expr& e) {
  if (const Broadcast* n = e.as<Broadcast>()) return is_constant(n->value);
  return e.as<IntImm>() || e.as<FloatImm>();
}

const Binary* as_binary(const Expr& e, BinaryOp op) {
  const Binary* n = e.as<Binary>();
  return n && n->op == op ? n : nullptr;
}

const Call* as_call(const Expr& e, Intrin intrin) {
  const Call* n = e.as<Call>();
  return n && n->is(intrin) ? n : nullptr;
}

}  // namespace tenon::tir
