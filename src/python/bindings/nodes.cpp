// Python classes for the kinds of expressions and statements. Programs use them to inspect or build
// trees:
//
//    e.node                        # Binary(op="Add", a=..., b=...)
//    tir.For(i, 0, n, "serial", body)
#include "bindings/arguments.h"
#include "bindings/te.h"
#include "bindings/tir.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/block.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::python {

using tir::Expr;
using tir::Operand;
using tir::Range;
using tir::Stmt;
using tir::Var;

namespace {

constexpr std::pair<tir::ForKind, const char*> kForKinds[] = {
    {tir::ForKind::Serial, "serial"},
    {tir::ForKind::Parallel, "parallel"},
    {tir::ForKind::Vectorized, "vectorized"},
    {tir::ForKind::Unrolled, "unrolled"},
    {tir::ForKind::ThreadBinding, "thread_binding"}};

constexpr std::pair<tir::AttrKind, const char*> kAttrKinds[] = {
    {tir::AttrKind::ThreadExtent, "thread_extent"},
    {tir::AttrKind::VirtualThread, "virtual_thread"},
    {tir::AttrKind::Pragma, "pragma"},
    {tir::AttrKind::ReduceScope, "reduce_scope"},
    {tir::AttrKind::ExternScope, "extern_scope"},
    {tir::AttrKind::DoubleBufferWrite, "double_buffer_write"},
    {tir::AttrKind::RollingBufferScope, "rolling_buffer_scope"},
    {tir::AttrKind::BufferBound, "buffer_bound"}};

constexpr std::pair<tir::BinaryOp, const char*> kBinaryOps[] = {
    {tir::BinaryOp::Add, "Add"},
    {tir::BinaryOp::Sub, "Sub"},
    {tir::BinaryOp::Mul, "Mul"},
    {tir::BinaryOp::Div, "Div"},
    {tir::BinaryOp::TruncDiv, "TruncDiv"},
    {tir::BinaryOp::TruncMod, "TruncMod"},
    {tir::BinaryOp::FloorDiv, "FloorDiv"},
    {tir::BinaryOp::FloorMod, "FloorMod"},
    {tir::BinaryOp::Min, "Min"},
    {tir::BinaryOp::Max, "Max"},
    {tir::BinaryOp::Eq, "Eq"},
    {tir::BinaryOp::Ne, "Ne"},
    {tir::BinaryOp::Lt, "Lt"},
    {tir::BinaryOp::Le, "Le"},
    {tir::BinaryOp::Gt, "Gt"},
    {tir::BinaryOp::Ge, "Ge"},
    {tir::BinaryOp::And, "And"},
    {tir::BinaryOp::Or, "Or"}};

/// Returns the enumerator with the given name. Throws TypeError for an unknown name. Its message
/// lists the known names.
template <class Enum, std::size_t N>
Enum parse_name(const std::pair<Enum, const char*> (&names)[N], const std::string& text,
                const char* what) {
  std::string known;
  for (const auto& [value, name] : names) {
    if (text == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw TypeError(std::string(what) + " must be one of " + known + ", got \"" + text + "\"",
                  here());
}

template <class Enum, std::size_t N>
std::string name_of(const std::pair<Enum, const char*> (&names)[N], Enum value) {
  for (const auto& [each, name] : names)
    if (each == value) return name;
  return "unknown";
}

void bind_expr_nodes(PyModule& tir) {
  PyClass<tir::IntImm>(tir, "IntImm").def_ro("value", &tir::IntImm::value);
  PyClass<tir::FloatImm>(tir, "FloatImm").def_ro("value", &tir::FloatImm::value);
  PyClass<tir::StringImm>(tir, "StringImm", "A string argument of a call.")
      .def_ro("value", &tir::StringImm::value);
  PyClass<tir::VarNode>(tir, "VarNode")
      .def_ro("name", &tir::VarNode::name)
      .def_ro("is_size", &tir::VarNode::is_size)
      .def_prop_ro("is_pointer", [](const tir::VarNode& n) { return n.pointer.has_value(); });
  PyClass<tir::Cast>(tir, "Cast", "A value conversion.").def_ro("value", &tir::Cast::value);
  PyClass<tir::Binary>(tir, "Binary",
                       "A binary operation; `op` is \"Add\", \"FloorDiv\", \"Lt\", ...")
      .def_prop_ro("op", [](const tir::Binary& n) { return name_of(kBinaryOps, n.op); })
      .def_ro("a", &tir::Binary::a)
      .def_ro("b", &tir::Binary::b);
  PyClass<tir::Not>(tir, "Not", "A logical negation.").def_ro("a", &tir::Not::a);
  PyClass<tir::Select>(tir, "Select", "A choice that may evaluate both operands.")
      .def_ro("condition", &tir::Select::condition)
      .def_ro("if_true", &tir::Select::if_true)
      .def_ro("if_false", &tir::Select::if_false);
  PyClass<tir::Ramp>(tir, "Ramp", "The vector [base, base + stride, ...].")
      .def_ro("base", &tir::Ramp::base)
      .def_ro("stride", &tir::Ramp::stride)
      .def_ro("lanes", &tir::Ramp::lanes);
  PyClass<tir::Broadcast>(tir, "Broadcast", "Copies of a value as a vector.")
      .def_ro("value", &tir::Broadcast::value)
      .def_ro("lanes", &tir::Broadcast::lanes);
  PyClass<tir::Shuffle>(tir, "Shuffle", "Selected lanes of vectors.")
      .def_ro("vectors", &tir::Shuffle::vectors)
      .def_ro("indices", &tir::Shuffle::indices);
  PyClass<tir::LetExpr>(tir, "LetExpr", "An expression with a bound variable.")
      .def_ro("var", &tir::LetExpr::var)
      .def_ro("value", &tir::LetExpr::value)
      .def_ro("body", &tir::LetExpr::body);
  PyClass<tir::Call>(tir, "Call", "A call of an intrinsic or a C function.")
      .def_prop_ro("name",
                   [](const tir::Call& n) {
                     if (const auto* intrin = std::get_if<tir::Intrin>(&n.callee))
                       return std::string(to_string(*intrin));
                     return std::get<tir::ExternCallee>(n.callee).name;
                   })
      .def_prop_ro(
          "is_extern",
          [](const tir::Call& n) { return std::holds_alternative<tir::ExternCallee>(n.callee); })
      .def_prop_ro("is_pure",
                   [](const tir::Call& n) {
                     if (const auto* callee = std::get_if<tir::ExternCallee>(&n.callee))
                       return callee->pure;
                     return effect_of(std::get<tir::Intrin>(n.callee)) == tir::Effect::Pure;
                   })
      .def_ro("args", &tir::Call::args);
  PyClass<tir::Load>(tir, "Load", "An element, or several, of a buffer.")
      .def_ro("buffer", &tir::Load::buffer)
      .def_ro("indices", &tir::Load::indices);
  PyClass<tir::ProducerLoad>(tir, "ProducerLoad")
      .def_prop_ro("tensor", [](const tir::ProducerLoad& n) { return te::Tensor::of(n); })
      .def_ro("indices", &tir::ProducerLoad::indices);
  PyClass<tir::Reduce>(tir, "Reduce", "A component of a reduction.")
      .def_ro("value_index", &tir::Reduce::value_index)
      .def_prop_ro("source", [](const tir::Reduce& n) { return n.reduction->source; })
      .def_prop_ro("init", [](const tir::Reduce& n) { return n.reduction->init; })
      .def_prop_ro("axis", [](const tir::Reduce& n) { return n.reduction->axis; })
      .def_prop_ro("condition", [](const tir::Reduce& n) { return n.reduction->condition; })
      .def_prop_ro("combiner_name",
                   [](const tir::Reduce& n) { return n.reduction->combiner->name; })
      .def_prop_ro("lhs", [](const tir::Reduce& n) { return n.reduction->combiner->lhs; })
      .def_prop_ro("rhs", [](const tir::Reduce& n) { return n.reduction->combiner->rhs; })
      .def_prop_ro("result", [](const tir::Reduce& n) { return n.reduction->combiner->result; })
      .def_prop_ro("identity_element",
                   [](const tir::Reduce& n) { return n.reduction->combiner->identity; });

  tir.def(
      "make_ramp",
      [](const Operand& base, const Operand& stride, int lanes) {
        return tir::make_ramp(base.alone(), stride.alone(), lanes);
      },
      "base"_a, "stride"_a, "lanes"_a);
}

std::vector<Range> to_ranges(const std::vector<RangeLike>& ranges) {
  return {ranges.begin(), ranges.end()};
}

/// Defines the node classes of statements. A node can be used where a Stmt is expected.
void bind_stmt_nodes(PyModule& tir) {
  auto stmt_node = [&]<class Node>(PyClass<Node> type) {
    type.def("__repr__", [](const Node& n) { return tir::print_stmt(tir::make_stmt(n)); });
    nb::implicitly_convertible<Node, Stmt>();
    return type;
  };
  stmt_node(PyClass<tir::Store>(tir, "Store"))
      .def(
          "__init__",
          [](tir::Store* self, const tir::Buffer& buffer, const Operand& value,
             const OneOrMore<Operand>& indices) {
            // make_store checks the rank and the types.
            const Stmt made =
                tir::make_store(buffer, value.beside(buffer.dtype()), to_exprs(indices.items));
            new (self) tir::Store(*made.as<tir::Store>());
          },
          "buffer"_a, "value"_a, "indices"_a)
      .def_ro("buffer", &tir::Store::buffer)
      .def_ro("value", &tir::Store::value)
      .def_ro("indices", &tir::Store::indices);
  stmt_node(PyClass<tir::Realize>(tir, "Realize", "Defines the region of a buffer that exists."))
      .def_ro("buffer", &tir::Realize::buffer)
      .def_ro("bounds", &tir::Realize::bounds)
      .def_ro("condition", &tir::Realize::condition)
      .def_ro("body", &tir::Realize::body);
  stmt_node(PyClass<tir::BufferView>(tir, "BufferView", "A buffer that is a region of another."))
      .def_ro("view", &tir::BufferView::view)
      .def_ro("source", &tir::BufferView::source)
      .def_ro("region", &tir::BufferView::region)
      .def_ro("body", &tir::BufferView::body);
  stmt_node(PyClass<tir::Allocate>(tir, "Allocate", "Memory for the duration of the body."))
      .def_ro("data", &tir::Allocate::data)
      .def_ro("dtype", &tir::Allocate::dtype)
      .def_ro("extents", &tir::Allocate::extents)
      .def_ro("condition", &tir::Allocate::condition)
      .def_ro("body", &tir::Allocate::body);
  stmt_node(PyClass<tir::For>(tir, "For", "A loop over [min, min + extent)."))
      .def(
          "__init__",
          [](tir::For* self, const Var& var, const Operand& min, const Operand& extent,
             const std::string& kind, const Stmt& body) {
            const DataType type = var.dtype();
            const Expr begin = min.beside(type), count = extent.beside(type);
            if (begin.dtype() != type || count.dtype() != type)
              throw TypeError("For: the range of `" + var.name() + "` must be " + type.str(),
                              here());
            new (self) tir::For{var, begin, count, parse_name(kForKinds, kind, "For: kind"), body};
          },
          "var"_a, "min"_a, "extent"_a, "kind"_a, "body"_a)
      .def_ro("var", &tir::For::var)
      .def_ro("min", &tir::For::min)
      .def_ro("extent", &tir::For::extent)
      .def_prop_ro("kind", [](const tir::For& n) { return name_of(kForKinds, n.kind); })
      .def_prop_ro("thread",
                   [](const tir::For& n) -> std::optional<std::string> {
                     const auto& thread = tir::traits_of(n).thread;
                     return thread ? std::optional(thread->str()) : std::nullopt;
                   })
      .def_ro("body", &tir::For::body);
  stmt_node(PyClass<tir::While>(tir, "While"))
      .def(
          "__init__",
          [](tir::While* self, const Operand& condition, const Stmt& body) {
            new (self) tir::While{condition.alone(), body};
          },
          "condition"_a, "body"_a)
      .def_ro("condition", &tir::While::condition)
      .def_ro("body", &tir::While::body);
  stmt_node(PyClass<tir::If>(tir, "If"))
      .def(
          "__init__",
          [](tir::If* self, const Operand& condition, const Stmt& then_case,
             const std::optional<Stmt>& else_case) {
            new (self) tir::If{condition.alone(), then_case, else_case};
          },
          "condition"_a, "then_case"_a, "else_case"_a = nb::none())
      .def_ro("condition", &tir::If::condition)
      .def_ro("then_case", &tir::If::then_case)
      .def_ro("else_case", &tir::If::else_case);
  stmt_node(PyClass<tir::Let>(tir, "Let", "Runs the body with a bound variable."))
      .def(
          "__init__",
          [](tir::Let* self, const Var& var, const Operand& value, const Stmt& body) {
            new (self) tir::Let{var, value.beside(var.dtype()), body};
          },
          "var"_a, "value"_a, "body"_a)
      .def_ro("var", &tir::Let::var)
      .def_ro("value", &tir::Let::value)
      .def_ro("body", &tir::Let::body);
  stmt_node(PyClass<tir::Assert>(tir, "Assert", "Stops unless the condition holds."))
      .def(
          "__init__",
          [](tir::Assert* self, const Operand& condition, const std::string& message,
             const Stmt& body) {
            new (self) tir::Assert{condition.alone(), message, body};
          },
          "condition"_a, "message"_a, "body"_a)
      .def_ro("condition", &tir::Assert::condition)
      .def_ro("message", &tir::Assert::message)
      .def_ro("body", &tir::Assert::body);
  stmt_node(PyClass<tir::Attr>(tir, "Attr"))
      .def(
          "__init__",
          [](tir::Attr* self, const tir::IterVar& subject, const std::string& kind,
             const Operand& value, const Stmt& body) {
            new (self) tir::Attr{parse_name(kAttrKinds, kind, "Attr: kind"), subject, "",
                                 value.alone(), body};
          },
          "subject"_a, "kind"_a, "value"_a, "body"_a)
      .def_prop_ro("kind", [](const tir::Attr& n) { return name_of(kAttrKinds, n.kind); })
      .def_prop_ro("key", [](const tir::Attr& n) { return tir::attr_text(n); })
      .def_prop_ro("subject",
                   [](const tir::Attr& n) -> nb::object {
                     if (const auto* e = std::get_if<Expr>(&n.subject)) return nb::cast(*e);
                     if (const auto* axis = std::get_if<tir::IterVar>(&n.subject))
                       return nb::cast(*axis);
                     if (const auto* buffer = std::get_if<tir::Buffer>(&n.subject))
                       return nb::cast(*buffer);
                     return nb::none();
                   })
      .def_ro("value", &tir::Attr::value)
      .def_ro("body", &tir::Attr::body);
  stmt_node(PyClass<tir::Evaluate>(tir, "Evaluate", "Evaluates for the side effects."))
      .def(
          "__init__",
          [](tir::Evaluate* self, const Operand& value) {
            new (self) tir::Evaluate{value.alone()};
          },
          "value"_a)
      .def_ro("value", &tir::Evaluate::value);
  stmt_node(PyClass<tir::Seq>(tir, "Seq", "Statements in order."))
      .def_ro("stmts", &tir::Seq::stmts);
  stmt_node(PyClass<tir::Prefetch>(tir, "Prefetch"))
      .def_ro("buffer", &tir::Prefetch::buffer)
      .def_ro("region", &tir::Prefetch::region);
  PyClass<tir::BufferRegion>(tir, "BufferRegion")
      .def(
          "__init__",
          [](tir::BufferRegion* self, const tir::Buffer& buffer,
             const std::vector<RangeLike>& region) {
            new (self) tir::BufferRegion{buffer, to_ranges(region)};
          },
          "buffer"_a, "region"_a)
      .def_ro("buffer", &tir::BufferRegion::buffer)
      .def_ro("region", &tir::BufferRegion::region);
  PyClass<tir::MatchBuffer>(tir, "MatchBuffer", "A buffer that names a region of another.")
      .def_ro("buffer", &tir::MatchBuffer::buffer)
      .def_ro("source", &tir::MatchBuffer::source);
  PyClass<tir::Block>(tir, "Block", "A computation with named iterators and declared regions.")
      .def_ro("iters", &tir::Block::iters)
      .def_ro("reads", &tir::Block::reads)
      .def_ro("writes", &tir::Block::writes)
      .def_ro("name", &tir::Block::name)
      .def_ro("init", &tir::Block::init)
      .def_ro("body", &tir::Block::body)
      .def_ro("alloc_buffers", &tir::Block::alloc_buffers)
      .def_ro("match_buffers", &tir::Block::match_buffers);
  stmt_node(PyClass<tir::BlockRealize>(tir, "BlockRealize"))
      .def_ro("values", &tir::BlockRealize::values)
      .def_ro("predicate", &tir::BlockRealize::predicate)
      .def_prop_ro("block", [](const tir::BlockRealize& n) { return *n.block; });
}

/// Visits a tree in postorder: the children of a node precede the node.
void visit(const Expr& e, const nb::callable& f) {
  tir::for_each_child(e, [&](const Expr& child) { visit(child, f); });
  f(e);
}

void visit(const Stmt& s, const nb::callable& f) {
  tir::for_each_child(
      s, [&](const Expr& child) { visit(child, f); }, [&](const Stmt& child) { visit(child, f); });
  f(s);
}

/// Rewrites an expression bottom-up. The Python function `f` returns the replacement of a node, or
/// None to keep it.
Expr rewrite(const Expr& e, const nb::callable& f) {
  const Expr inner = tir::map_children(e, [&](const Expr& child) { return rewrite(child, f); });
  nb::object result = f(inner);
  if (result.is_none()) return inner;
  const std::optional<Operand> value = to_operand(result);
  if (!value)
    throw TypeError("rewrite: the function must return an expression or None for an expression",
                    here());
  return value->beside(inner.dtype());
}

Stmt rewrite(const Stmt& s, const nb::callable& f) {
  const Stmt inner = tir::map_children(
      s, [&](const Expr& child) { return rewrite(child, f); },
      [&](const Stmt& child) { return rewrite(child, f); });
  nb::object result = f(inner);
  if (result.is_none()) return inner;
  Stmt replacement = inner;
  if (!nb::try_cast(result, replacement))
    throw TypeError("rewrite: the function must return a statement or None for a statement",
                    here());
  return replacement;
}

tir::VarMap to_map(nb::handle values) {
  tir::VarMap map;
  for (const auto& [var, value] :
       pairs_from<Var, Operand>(values, "substitute: expected a dict of variables to expressions"))
    tir::set(map, var, value.beside(var.dtype()));
  return map;
}

}  // namespace

tir::ForKind to_for_kind(const std::string& text, const char* what) {
  return parse_name(kForKinds, text, what);
}

void bind_nodes(PyModule& tir) {
  bind_expr_nodes(tir);
  bind_stmt_nodes(tir);
  using Function = const nb::callable&;
  tir.def("post_order_visit", nb::overload_cast<const Stmt&, Function>(&visit), "tree"_a, "visit"_a,
          "Calls `visit` on every statement and expression, children first.");
  tir.def("post_order_visit", nb::overload_cast<const Expr&, Function>(&visit), "tree"_a,
          "visit"_a);
  tir.def("rewrite", nb::overload_cast<const Stmt&, Function>(&rewrite), "tree"_a, "f"_a,
          "Rewrites bottom-up: `f` returns the replacement of a statement or expression, or None.");
  tir.def("rewrite", nb::overload_cast<const Expr&, Function>(&rewrite), "tree"_a, "f"_a);
  tir.def(
      "substitute",
      [](const Stmt& s, nb::handle values) { return tir::substitute(s, to_map(values)); }, "tree"_a,
      "values"_a);
  tir.def(
      "substitute",
      [](const Operand& e, nb::handle values) {
        return tir::substitute(e.alone(), to_map(values));
      },
      "tree"_a, "values"_a);
  tir.def("free_vars", nb::overload_cast<const Stmt&>(&tir::free_vars), "tree"_a);
  tir.def("free_vars", nb::overload_cast<const Expr&>(&tir::free_vars), "tree"_a);
}

nb::object node_of(const Expr& e) {
  return std::visit([](const auto& node) { return nb::cast(node); }, e.node().value);
}

nb::object node_of(const Stmt& s) {
  return std::visit([](const auto& node) { return nb::cast(node); }, s.node().value);
}

Stmt to_stmt(nb::handle object) {
  Stmt made = tir::make_nop();
  bool is_node = false;
  auto try_kind = [&]<class Node>(const Node*) {
    if (const Node * node; !is_node && nb::try_cast(object, node, false) && node) {
      made = tir::make_stmt(*node);
      is_node = true;
    }
  };
  [&]<class... Node>(const std::variant<Node...>*) {
    (try_kind(static_cast<const Node*>(nullptr)), ...);
  }(static_cast<const tir::StmtNode::Value*>(nullptr));
  if (!is_node)
    throw type_error(std::string("expected a statement, got ") + nb::inst_name(object).c_str());
  return made;
}

}  // namespace tenon::python
