// The reference's older text form, used for operations, axes and errors: names as they are, no types.
#include "tenon/support/match.h"
#include "tenon/tir/literal_text.h"
#include "tenon/tir/print.h"

namespace tenon::tir {

namespace {

std::string joined(const std::vector<Expr>& list) {
  std::string text;
  for (const Expr& e : list) text += (text.empty() ? "" : ", ") + print_legacy(e);
  return text;
}

std::string bracketed(const std::vector<Expr>& list) { return "[" + joined(list) + "]"; }

std::string vars(const std::vector<Var>& list) {
  std::string text;
  for (const Var& v : list) text += (text.empty() ? "" : ", ") + v.name();
  return "[" + text + "]";
}

std::string floating(double value, DataType type) {
  const char* suffix = type.is_bfloat() ? "bf" : type.bits == 64 ? "" : type.bits == 32 ? "f" : "h";
  return shortest_text(value) + suffix;
}

std::string integer(std::int64_t value, DataType type) {
  if (type == Int(32)) return std::to_string(value);
  const bool big = type.is_uint() && type.bits == 64;
  return "(" + type.str() + ")" +
         (big ? std::to_string(static_cast<std::uint64_t>(value)) : std::to_string(value));
}

std::string binary(const Binary& n) {
  const std::string a = print_legacy(n.a), b = print_legacy(n.b);
  switch (n.op) {
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
    case BinaryOp::Min:
    case BinaryOp::Max:
      return std::string(to_string(n.op)) + "(" + a + ", " + b + ")";
    case BinaryOp::Mul:
      return "(" + a + "*" + b + ")";
    case BinaryOp::Div:
    case BinaryOp::TruncDiv:
      return "(" + a + "/" + b + ")";
    case BinaryOp::TruncMod:
      return "(" + a + " % " + b + ")";
    default:
      return "(" + a + " " + std::string(to_string(n.op)) + " " + b + ")";
  }
}

std::string reduce(const Reduce& n) {
  const ReduceNode& r = *n.reduction;
  const CommReducerNode& c = *r.combiner;
  std::string axes;
  for (const IterVar& axis : r.axis) axes += (axes.empty() ? "" : ", ") + print_legacy(axis);
  return "reduce(combiner=comm_reducer(result=" + bracketed(c.result) + ", lhs=" + vars(c.lhs) +
         ", rhs=" + vars(c.rhs) + ", identity_element=" + bracketed(c.identity) +
         "), source=" + bracketed(r.source) + ", init=" + bracketed(r.init) + ", axis=[" + axes +
         "], where=" + print_legacy(r.condition) + ", value_index=" + std::to_string(n.value_index) + ")";
}

class LegacyStmts {
 public:
  std::string text;

  void stmt(const Stmt& s, int indent) {
    match(
        s.node().value,
        [&](const Store& n) {
          line(indent, n.buffer->name + bracketed(n.indices) + " = " + print_legacy(n.value));
        },
        [&](const Realize& n) {
          line(indent, "buffer_realize " + n.buffer->name + "(" + ranges(n.bounds) + ") {");
          stmt(n.body, indent + 2), line(indent, "}");
        },
        [&](const BufferView& n) {
          line(indent, "// view " + n.view->name + " = " + n.source->name + "(" + ranges(n.region) + ")");
          stmt(n.body, indent);
        },
        [&](const Allocate& n) {
          std::string extents;
          for (const Expr& e : n.extents) extents += " * " + print_legacy(e);
          std::string text = "allocate " + n.data.name() + "[" + n.dtype.str() + extents + "]";
          const std::optional<PointerType>& pointer = n.data.as<VarNode>()->pointer;
          const StorageScope scope = pointer && pointer->scope ? *pointer->scope : StorageScope::Global;
          text += ", storage_scope = " + std::string(to_string(scope));
          line(indent, text + (is_true(n.condition) ? "" : " if " + print_legacy(n.condition)));
          stmt(n.body, indent);
        },
        [&](const For& n) {
          line(indent, std::string(kind(n.kind)) + " (" + n.var.name() + ", " + print_legacy(n.min) + ", " +
                           print_legacy(n.extent) + ") {");
          stmt(n.body, indent + 2), line(indent, "}");
        },
        [&](const While& n) {
          line(indent, "while(" + print_legacy(n.condition) + "){");
          stmt(n.body, indent + 2), line(indent, "}");
        },
        [&](const If& n) {
          line(indent, "if (" + print_legacy(n.condition) + ") {");
          stmt(n.then_case, indent + 2);
          if (n.else_case) line(indent, "} else {"), stmt(*n.else_case, indent + 2);
          line(indent, "}");
        },
        [&](const Let& n) {
          line(indent, "let " + n.var.name() + " = " + print_legacy(n.value)), stmt(n.body, indent);
        },
        [&](const Assert& n) {
          line(indent, "assert(" + print_legacy(n.condition) + ", " + quoted(n.message) + ")");
          stmt(n.body, indent);
        },
        [&](const Attr& n) {
          line(indent, "// attr [" + subject(n) + "] " + attr_text(n) + " = " + print_legacy(n.value));
          stmt(n.body, indent);
        },
        [&](const Evaluate& n) { line(indent, print_legacy(n.value)); },
        [&](const Seq& n) {
          for (const Stmt& c : n.stmts) stmt(c, indent);
        },
        [&](const Prefetch& n) {
          line(indent, "prefetch " + n.buffer->name + "(" + ranges(n.region) + ")");
        });
  }

 private:
  void line(int indent, const std::string& content) {
    text += std::string(static_cast<std::size_t>(indent), ' ') + content + "\n";
  }
  static std::string ranges(const std::vector<Range>& list) {
    std::string text;
    for (const Range& r : list)
      text += (text.empty() ? "[" : ", [") + print_legacy(r.min) + ", " + print_legacy(r.extent) + "]";
    return text;
  }
  static std::string_view kind(ForKind kind) {
    switch (kind) {
      case ForKind::Serial:
        return "for";
      case ForKind::Parallel:
        return "parallel";
      case ForKind::Vectorized:
        return "vectorized";
      case ForKind::Unrolled:
        return "unrolled";
    }
    internal_error("a loop kind without a name");
  }
  static std::string subject(const Attr& n) {
    return match(
        n.subject, [](const Expr& e) { return print_legacy(e); },
        [](const IterVar& axis) { return print_legacy(axis); }, [](const Buffer& b) { return b->name; },
        [](const CommReducer& r) { return r->name; });
  }
};

}  // namespace

std::string print_legacy(const Expr& e) {
  return match(
      e.node().value, [&](const IntImm& n) { return integer(n.value, e.dtype()); },
      [&](const FloatImm& n) { return floating(n.value, e.dtype()); },
      [](const StringImm& n) { return quoted(n.value); },
      [](const VarNode& n) { return n.is_size ? "{" + n.name + "|" + n.name + ">=0}" : n.name; },
      [&](const Cast& n) { return e.dtype().str() + "(" + print_legacy(n.value) + ")"; },
      [](const Binary& n) { return binary(n); }, [](const Not& n) { return "!" + print_legacy(n.a); },
      [](const Select& n) {
        return "select(" + print_legacy(n.condition) + ", " + print_legacy(n.if_true) + ", " +
               print_legacy(n.if_false) + ")";
      },
      [](const Ramp& n) {
        return "ramp(" + print_legacy(n.base) + ", " + print_legacy(n.stride) + ", " +
               std::to_string(n.lanes) + ")";
      },
      [](const Broadcast& n) { return "x" + std::to_string(n.lanes) + "(" + print_legacy(n.value) + ")"; },
      [](const Shuffle& n) { return "shuffle(" + bracketed(n.vectors) + ", " + bracketed(n.indices) + ")"; },
      [](const LetExpr& n) {
        return "(let " + n.var.name() + " = " + print_legacy(n.value) + " in " + print_legacy(n.body) + ")";
      },
      [](const Call& n) {
        return match(
            n.callee,
            [&](Intrin i) { return "tir." + std::string(to_string(i)) + "(" + joined(n.args) + ")"; },
            [&](const ExternCallee& c) {
              return std::string(c.pure ? "tir.call_pure_extern(" : "tir.call_extern(") + quoted(c.name) +
                     (n.args.empty() ? "" : ", ") + joined(n.args) + ")";
            });
      },
      [](const Load& n) { return n.buffer->name + bracketed(n.indices); },
      [](const ProducerLoad& n) { return n.producer->name() + bracketed(n.indices); },
      [](const Reduce& n) { return reduce(n); });
}

std::string print_legacy(const Stmt& s) {
  LegacyStmts printer;
  printer.stmt(s, 0);
  return printer.text;
}

std::string print_legacy(const Range& range) {
  return "range(min=" + print_legacy(range.min) + ", ext=" + print_legacy(range.extent) + ")";
}

std::string print_legacy(const IterVar& axis) {
  std::string text = "iter_var(" + axis.name() + ", ";
  if (axis.dom()) text += print_legacy(*axis.dom());
  if (axis.thread()) text += ", " + axis.thread()->str();
  return text + ")";
}

}  // namespace tenon::tir
