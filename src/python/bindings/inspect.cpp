// Programs as nodes: the kind of each node and its fields, with the names of TVM 0.9. For tools
// that read programs, and for tenon.compat.tvm.
//
//   inspect.kind(i + 1)          # "Add"
//   inspect.fields(i + 1)        # {"a": i, "b": 1}
#include "bindings/arguments.h"
#include "bindings/script.h"
#include "tenon/arith/simplify.h"
#include "tenon/driver/lower.h"
#include "tenon/support/match.h"
#include "tenon/te/analysis.h"
#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"
#include "tenon/te/schedule.h"
#include "tenon/te/stage_data.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::python {

using tir::BinaryOp;
using tir::Expr;
using tir::Stmt;

namespace {

struct Node {
  const char* kind;
  nb::dict fields;
};

template <class... Pairs>
Node node(const char* kind, Pairs&&... pairs) {
  Node result{kind, nb::dict()};
  (..., (result.fields[pairs.first] = nb::cast(std::forward<Pairs>(pairs).second)));
  return result;
}
template <class T>
std::pair<const char*, T> field(const char* name, T value) {
  return {name, std::move(value)};
}

// ---- expressions --------------------------------------------------------------------------------

const char* kind_of(BinaryOp op, bool is_float) {
  switch (op) {
    case BinaryOp::Add:
      return "Add";
    case BinaryOp::Sub:
      return "Sub";
    case BinaryOp::Mul:
      return "Mul";
    case BinaryOp::Div:
    case BinaryOp::TruncDiv:
      return "Div";
    case BinaryOp::TruncMod:
      return "Mod";
    case BinaryOp::FloorDiv:
      return "FloorDiv";
    case BinaryOp::FloorMod:
      return "FloorMod";
    case BinaryOp::Min:
      return "Min";
    case BinaryOp::Max:
      return "Max";
    case BinaryOp::Eq:
      return "EQ";
    case BinaryOp::Ne:
      return "NE";
    case BinaryOp::Lt:
      return "LT";
    case BinaryOp::Le:
      return "LE";
    case BinaryOp::Gt:
      return "GT";
    case BinaryOp::Ge:
      return "GE";
    case BinaryOp::And:
      return "And";
    case BinaryOp::Or:
      return "Or";
  }
  static_cast<void>(is_float);
  return "";
}

Node call_node(const tir::Call& call) {
  const auto* callee = std::get_if<tir::ExternCallee>(&call.callee);
  if (!callee) {
    const std::string name(to_string(std::get<tir::Intrin>(call.callee)));
    return node("Call", field("name", "tir." + name), field("args", call.args));
  }
  std::vector<Expr> args = {tir::make_string(callee->name)};
  args.insert(args.end(), call.args.begin(), call.args.end());
  const std::string name = callee->pure ? "tir.call_pure_extern" : "tir.call_extern";
  return node("Call", field("name", name), field("args", args));
}

Node inspect(const Expr& e) {
  return match(
      e.node().value, [](const tir::IntImm& n) { return node("IntImm", field("value", n.value)); },
      [](const tir::FloatImm& n) { return node("FloatImm", field("value", n.value)); },
      [](const tir::StringImm& n) { return node("StringImm", field("value", n.value)); },
      [](const tir::VarNode& n) {
        return node(n.is_size ? "SizeVar" : "Var", field("name", n.name));
      },
      [](const tir::Cast& n) { return node("Cast", field("value", n.value)); },
      [&](const tir::Binary& n) {
        const bool is_float = e.dtype().is_floating();
        return node(kind_of(n.op, is_float), field("a", n.a), field("b", n.b));
      },
      [](const tir::Not& n) { return node("Not", field("a", n.a)); },
      [](const tir::Select& n) {
        return node("Select", field("condition", n.condition), field("true_value", n.if_true),
                    field("false_value", n.if_false));
      },
      [](const tir::Ramp& n) {
        return node("Ramp", field("base", n.base), field("stride", n.stride),
                    field("lanes", n.lanes));
      },
      [](const tir::Broadcast& n) {
        return node("Broadcast", field("value", n.value), field("lanes", n.lanes));
      },
      [](const tir::Shuffle& n) {
        return node("Shuffle", field("vectors", n.vectors), field("indices", n.indices));
      },
      [](const tir::LetExpr& n) {
        return node("Let", field("var", n.var), field("value", n.value), field("body", n.body));
      },
      [](const tir::Call& n) { return call_node(n); },
      [](const tir::Load& n) {
        return node("BufferLoad", field("buffer", n.buffer), field("indices", n.indices));
      },
      [](const tir::ProducerLoad& n) {
        return node("ProducerLoad", field("producer", te::Tensor::of(n)),
                    field("indices", n.indices));
      },
      [](const tir::Reduce& n) {
        const tir::ReduceNode& r = *n.reduction;
        return node("Reduce", field("source", r.source), field("init", r.init),
                    field("axis", r.axis), field("condition", r.condition),
                    field("value_index", n.value_index));
      });
}

// ---- statements ---------------------------------------------------------------------------------

/// A block as a value of Python: the signature of a realization's block.
struct BlockView {
  std::shared_ptr<const tir::Block> block;
};

nb::object annotation_value(const tir::Annotation& annotation) {
  if (const auto* e = std::get_if<Expr>(&annotation.value)) return nb::cast(*e);
  nb::list items;
  for (const tir::Annotation& each : std::get<std::vector<tir::Annotation>>(annotation.value))
    items.append(annotation_value(each));
  return items;
}

nb::dict annotations_dict(const tir::Annotations& annotations) {
  nb::dict result;
  for (const auto& [key, value] : annotations) result[key.c_str()] = annotation_value(value);
  return result;
}

nb::object subject_of(const tir::Attr& attr) {
  return std::visit(
      [](const auto& subject) -> nb::object {
        using T = std::remove_cvref_t<decltype(subject)>;
        if constexpr (std::is_same_v<T, tir::CommReducer>) {
          return nb::str(subject->name.c_str());
        } else {
          return nb::cast(subject);
        }
      },
      attr.subject);
}

Node for_node(const tir::For& n) {
  const tir::LoopTraits& traits = tir::traits_of(n);
  const std::optional<std::string> thread =
      traits.thread ? std::optional(traits.thread->str()) : std::nullopt;
  return node("For", field("loop_var", n.var), field("min", n.min), field("extent", n.extent),
              field("kind", static_cast<int>(n.kind)), field("body", n.body),
              field("thread_tag", thread),
              field("annotations", annotations_dict(traits.annotations)));
}

Node inspect(const Stmt& s) {
  return match(
      s.node().value,
      [](const tir::Store& n) {
        return node("BufferStore", field("buffer", n.buffer), field("value", n.value),
                    field("indices", n.indices));
      },
      [](const tir::Realize& n) {
        return node("BufferRealize", field("buffer", n.buffer), field("bounds", n.bounds),
                    field("condition", n.condition), field("body", n.body));
      },
      [](const tir::BufferView& n) {
        return node("BufferView", field("view", n.view), field("source", n.source),
                    field("region", n.region), field("body", n.body));
      },
      [](const tir::Allocate& n) {
        return node("Allocate", field("buffer_var", n.data), field("dtype", n.dtype),
                    field("extents", n.extents), field("condition", n.condition),
                    field("body", n.body));
      },
      [](const tir::For& n) { return for_node(n); },
      [](const tir::While& n) {
        return node("While", field("condition", n.condition), field("body", n.body));
      },
      [](const tir::If& n) {
        return node("IfThenElse", field("condition", n.condition), field("then_case", n.then_case),
                    field("else_case", n.else_case));
      },
      [](const tir::Let& n) {
        return node("LetStmt", field("var", n.var), field("value", n.value), field("body", n.body));
      },
      [](const tir::Assert& n) {
        return node("AssertStmt", field("condition", n.condition),
                    field("message", tir::make_string(n.message)), field("body", n.body));
      },
      [](const tir::Attr& n) {
        return node("AttrStmt", field("node", subject_of(n)), field("attr_key", tir::attr_text(n)),
                    field("value", n.value), field("body", n.body));
      },
      [](const tir::Evaluate& n) { return node("Evaluate", field("value", n.value)); },
      [](const tir::Seq& n) { return node("SeqStmt", field("seq", n.stmts)); },
      [](const tir::Prefetch& n) {
        return node("Prefetch", field("buffer", n.buffer), field("bounds", n.region));
      },
      [](const tir::BlockRealize& n) {
        return node("BlockRealize", field("iter_values", n.values), field("predicate", n.predicate),
                    field("block", BlockView{n.block}));
      });
}

nb::list regions(const std::vector<tir::BufferRegion>& list) {
  nb::list result;
  for (const tir::BufferRegion& each : list)
    result.append(nb::make_tuple(each.buffer, each.region));
  return result;
}

Node inspect(const BlockView& view) {
  const tir::Block& b = *view.block;
  nb::list matches;
  for (const tir::MatchBuffer& each : b.match_buffers)
    matches.append(nb::make_tuple(each.buffer, each.source.buffer, each.source.region));
  return node("Block", field("iter_vars", b.iters), field("reads", regions(b.reads)),
              field("writes", regions(b.writes)), field("name_hint", b.name), field("init", b.init),
              field("body", b.body), field("alloc_buffers", b.alloc_buffers),
              field("match_buffers", matches),
              field("annotations", annotations_dict(b.annotations)));
}

// ---- operations and schedules -------------------------------------------------------------------

Node inspect(const te::Operation& op) {
  return match(
      op.kind(),
      [](const te::Placeholder& n) {
        return node("PlaceholderOp", field("shape", n.shape), field("dtype", n.dtype));
      },
      [](const te::Compute&) { return node("ComputeOp"); },
      [](const te::Scan& n) {
        return node("ScanOp", field("scan_axis", n.scan_axis), field("init", n.init),
                    field("update", n.update), field("state_placeholder", n.state),
                    field("spatial_axis_", n.spatial_axis));
      },
      [](const te::Extern& n) {
        return node("ExternOp", field("input_placeholders", n.input_buffers),
                    field("output_placeholders", n.output_buffers), field("body", n.body));
      },
      [](const te::TensorCompute& n) {
        return node("TensorComputeOp", field("schedulable_ndim", n.schedulable_ndim));
      });
}

nb::list relations_of(const te::StageData& data) {
  nb::list result;
  for (const te::Relation& relation : data.relations) {
    const char* kind = match(
        relation, [](const te::Split&) { return "Split"; }, [](const te::Fuse&) { return "Fuse"; },
        [](const te::Rebase&) { return "Rebase"; },
        [](const te::Singleton&) { return "Singleton"; },
        [](const te::Transform&) { return "Transform"; });
    result.append(nb::make_tuple(kind, te::parents_of(relation), te::children_of(relation)));
  }
  return result;
}

nb::list attributes_of(const te::StageData& data) {
  nb::list result;
  for (const auto& [axis, marks] : data.attributes) {
    nb::dict fields;
    std::string kind;
    if (marks.tensorize) {
      kind = "Tensorized";
      fields["tensor_intrin"] = nb::cast(marks.tensorize->intrin);
    } else if (marks.run) {
      kind = std::string(to_string(marks.run->mark));
    }
    fields["kind"] = kind;
    if (marks.thread) fields["bind_thread"] = nb::cast(marks.thread->axis);
    nb::list keys, values;
    for (const te::Pragma& pragma : marks.pragmas) {
      keys.append(nb::cast(tir::make_string(pragma.key)));
      values.append(nb::cast(pragma.value));
    }
    fields["pragma_keys"] = keys;
    fields["pragma_values"] = values;
    result.append(nb::make_tuple(axis, fields));
  }
  return result;
}

nb::dict stage_fields(const te::Stage& stage) {
  const te::StageData& data = stage.data(here());
  nb::dict fields;
  fields["relations"] = relations_of(data);
  fields["iter_var_attrs"] = attributes_of(data);
  fields["is_output"] = data.is_output;
  fields["double_buffer"] = data.double_buffer;
  fields["scope"] = data.scope ? std::string(to_string(*data.scope)) : std::string();
  match(
      data.attach, [&](const te::AttachRoot&) { fields["attach"] = "root"; },
      [&](const te::AttachInline&) { fields["attach"] = "inline"; },
      [&](const te::AttachAt& at) {
        fields["attach"] = "at";
        fields["attach_ivar"] = nb::cast(at.axis);
        fields["attach_number"] = at.stage.index();
      },
      [&](const te::AttachScanUpdate& at) {
        fields["attach"] = "scan_update";
        fields["attach_ivar"] = nb::cast(at.axis);
        fields["attach_number"] = at.scan.index();
      });
  return fields;
}

/// Calls `f` on every node, children first.
void visit(const Expr& e, const nb::callable& f) {
  tir::for_each_child(e, [&](const Expr& child) { visit(child, f); });
  f(e);
}
void visit(const Stmt& s, const nb::callable& f) {
  tir::for_each_child(
      s, [&](const Expr& child) { visit(child, f); }, [&](const Stmt& child) { visit(child, f); });
  f(s);
}

tir::VarMap var_map(const std::vector<std::pair<tir::Var, tir::Operand>>& pairs) {
  tir::VarMap map;
  for (const auto& [var, value] : pairs) tir::set(map, var, value.beside(var.dtype()));
  return map;
}

/// Constructors of nodes, for builders.
void bind_constructors(nb::module_& m) {
  using tir::Buffer;
  using tir::IterVar;
  using tir::Operand;
  using tir::Var;
  m.def("make_load", [](const Buffer& b, const Operands& indices) {
    return tir::make_load(b, to_exprs(indices));
  });
  m.def("make_store", [](const Buffer& b, const Operand& value, const Operands& indices) {
    return tir::make_store(b, value.beside(b.dtype()), to_exprs(indices));
  });
  m.def("make_seq", [](const std::vector<Stmt>& stmts) { return tir::make_seq(stmts); });
  m.def("make_evaluate", [](const Expr& value) { return tir::make_evaluate(value); });
  m.def("make_for",
        [](const Var& var, const Operand& min, const Operand& extent, int kind, const Stmt& body) {
          const DataType type = var.dtype();
          return tir::make_stmt(tir::For{var, min.beside(type), extent.beside(type),
                                         static_cast<tir::ForKind>(kind), body});
        });
  m.def("make_while", [](const Operand& condition, const Stmt& body) {
    return tir::make_stmt(tir::While{condition.alone(), body});
  });
  m.def(
      "make_if",
      [](const Operand& condition, const Stmt& then_case, const std::optional<Stmt>& else_case) {
        return tir::make_stmt(tir::If{condition.alone(), then_case, else_case});
      },
      "condition"_a, "then_case"_a, "else_case"_a.none());
  m.def("make_let", [](const Var& var, const Expr& value, const Stmt& body) {
    return tir::make_stmt(tir::Let{var, value, body});
  });
  m.def("make_allocate", [](const Buffer& b, const Stmt& body) {
    return tir::make_stmt(tir::Allocate{b->data, b.dtype(), b.shape(), tir::make_true(), body});
  });
  m.def("make_thread_extent",
        [](const IterVar& axis, const std::string& key, const Expr& value, const Stmt& body) {
          const auto kind =
              key == "virtual_thread" ? tir::AttrKind::VirtualThread : tir::AttrKind::ThreadExtent;
          return tir::make_stmt(tir::Attr{kind, axis, "", value, body});
        });
  m.def("make_pragma", [](const std::string& key, const Expr& value, const Stmt& body) {
    return tir::make_stmt(tir::Attr{tir::AttrKind::Pragma, Expr(0), key, value, body});
  });
  m.def("is_zero", [](const Expr& e) { return tir::is_zero(e); });
}

tir::Annotation annotation_of(nb::handle value) {
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    std::vector<tir::Annotation> items;
    for (nb::handle each : value) items.push_back(annotation_of(each));
    return {std::move(items)};
  }
  if (PyUnicode_Check(value.ptr())) return {tir::make_string(nb::cast<std::string>(value))};
  const std::optional<tir::Operand> operand = to_operand(value);
  if (!operand)
    throw TypeError(
        std::string("the value of an attribute must be a number, a text or a list, got ") +
            nb::inst_name(value).c_str(),
        here());
  return {operand->alone()};
}

nb::dict function_attributes(const tir::PrimFunc& func) {
  nb::dict result = func.attrs.others ? annotations_dict(*func.attrs.others) : nb::dict();
  if (!func.attrs.global_symbol.empty()) result["global_symbol"] = func.attrs.global_symbol;
  if (func.attrs.noalias) result["tir.noalias"] = true;
  if (func.attrs.from_legacy_te_schedule) result["from_legacy_te_schedule"] = true;
  return result;
}

/// Returns the function with one attribute set, or removed for None.
tir::PrimFunc with_attribute(tir::PrimFunc func, const std::string& key, nb::handle value) {
  const bool is_set = !value.is_none();
  if (key == "global_symbol") {
    func.attrs.global_symbol = is_set ? nb::cast<std::string>(nb::str(value)) : "";
  } else if (key == "tir.noalias") {
    func.attrs.noalias = is_set && PyObject_IsTrue(value.ptr()) == 1;
  } else if (key == "from_legacy_te_schedule") {
    func.attrs.from_legacy_te_schedule = is_set && PyObject_IsTrue(value.ptr()) == 1;
  } else {
    tir::Annotations others = func.attrs.others ? *func.attrs.others : tir::Annotations();
    others.erase(key);
    if (is_set) others.emplace(key, annotation_of(value));
    func.attrs.others = std::make_shared<const tir::Annotations>(std::move(others));
  }
  return func;
}

/// Ranges of variables, each a Range or a value.
using VarBounds = std::vector<std::pair<tir::Var, std::variant<tir::Range, tir::Operand>>>;

arith::Facts facts_of(const VarBounds& bounds) {
  arith::Facts facts;
  for (const auto& [var, bound] : bounds) {
    if (const auto* range = std::get_if<tir::Range>(&bound)) {
      facts.bind(var, *range, true);
    } else {
      facts.bind(var, std::get<tir::Operand>(bound).beside(var.dtype()), true);
    }
  }
  return facts;
}

void bind_proofs(nb::module_& m) {
  m.def(
      "simplify",
      [](const Expr& e, const VarBounds& bounds) { return arith::simplify(e, facts_of(bounds)); },
      "expr"_a, "bounds"_a);
  m.def(
      "can_prove",
      [](const Expr& e, const VarBounds& bounds) { return arith::can_prove(e, facts_of(bounds)); },
      "condition"_a, "bounds"_a);
  m.def(
      "can_prove_equal",
      [](const Expr& a, const Expr& b, const VarBounds& bounds) {
        return arith::can_prove_equal(a, b, facts_of(bounds));
      },
      "a"_a, "b"_a, "bounds"_a);
}

template <class T>
void bind_node(nb::module_& m) {
  m.def(
      "kind", [](const T& x) { return inspect(x).kind; }, "node"_a);
  m.def(
      "fields", [](const T& x) { return inspect(x).fields; }, "node"_a);
}

}  // namespace

void bind_inspect(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("inspect", "Programs as nodes with kinds and fields.");
  nb::class_<BlockView>(m, "Block", "The signature and body of a block.");
  bind_node<Expr>(m);
  bind_node<Stmt>(m);
  bind_node<BlockView>(m);
  bind_node<te::Operation>(m);
  m.def("stage_fields", &stage_fields, "stage"_a);
  m.def(
      "post_order_visit", [](const Stmt& s, const nb::callable& f) { visit(s, f); }, "node"_a,
      "f"_a);
  m.def(
      "post_order_visit", [](const Expr& e, const nb::callable& f) { visit(e, f); }, "node"_a,
      "f"_a);
  using Pairs = std::vector<std::pair<tir::Var, tir::Operand>>;
  m.def(
      "substitute",
      [](const Expr& e, const Pairs& map) { return tir::substitute_folding(e, var_map(map)); },
      "node"_a, "map"_a);
  m.def(
      "substitute",
      [](const Stmt& s, const Pairs& map) { return tir::substitute(s, var_map(map)); }, "node"_a,
      "map"_a);
  m.def(
      "structural_equal", [](const Expr& a, const Expr& b) { return tir::structural_equal(a, b); },
      "a"_a, "b"_a);
  m.def(
      "structural_equal", [](const Stmt& a, const Stmt& b) { return tir::structural_equal(a, b); },
      "a"_a, "b"_a);
  m.def(
      "structural_equal",
      [](const tir::PrimFunc& a, const tir::PrimFunc& b) { return tir::structural_equal(a, b); },
      "a"_a, "b"_a);
  m.def(
      "first_difference",
      [](const tir::PrimFunc& a, const tir::PrimFunc& b) -> std::string {
        const auto difference = tir::first_difference(a.body, b.body);
        return difference ? difference->what + ": " + difference->left + " / " + difference->right
                          : std::string();
      },
      "a"_a, "b"_a);
  bind_constructors(m);
  bind_proofs(m);
  m.def(
      "lower_to_loops",
      [](const te::Schedule& s, const std::vector<LowerArgument>& args, const std::string& name) {
        return lower_to_loops(s, args, {.name = Name(name)}, here());
      },
      "schedule"_a, "args"_a, "name"_a = "main");
  m.def("function_attributes", &function_attributes, "func"_a);
  m.def("with_attribute", &with_attribute, "func"_a, "key"_a, "value"_a.none());
  m.def(
      "buffers_of",
      [](const tir::PrimFunc& func) {
        nb::list result;
        for (const tir::BufferParam& each : func.buffers)
          result.append(nb::make_tuple(each.param, each.declared, each.buffer));
        return result;
      },
      "func"_a,
      "The array parameters: variable, declared buffer, and the buffer that is accessed.");
  m.def(
      "make_producer_load",
      [](const te::Tensor& tensor, const std::vector<tir::Operand>& indices) {
        return tir::make_producer_load(tensor.producer(), to_exprs(indices));
      },
      "tensor"_a, "indices"_a);
  m.def(
      "post_dfs_order",
      [](const std::vector<te::Operation>& ops) { return te::post_dfs_order(ops); }, "outputs"_a);
  m.def(
      "scan_body", [](const te::Operation& op) { return te::scan_body(op, here()); }, "scan"_a);
  m.def(
      "scan_fixed_axes", [](const te::Operation& op) { return te::scan_fixed_axes(op, here()); },
      "scan"_a);
  m.def(
      "auto_inline_elementwise",
      [](const te::Schedule& s) { return te::auto_inline_elementwise(s, here()); }, "schedule"_a);
  m.def(
      "auto_inline_broadcast",
      [](const te::Schedule& s) { return te::auto_inline_broadcast(s, here()); }, "schedule"_a);
  m.def(
      "auto_inline_injective",
      [](const te::Schedule& s) { return te::auto_inline_injective(s, here()); }, "schedule"_a);
}

}  // namespace tenon::python
