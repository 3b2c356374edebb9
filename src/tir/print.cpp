// The reference's text form. Names are made unique in the order in which they appear in the text.
#include "tenon/tir/print.h"

#include <cctype>
#include <ostream>
#include <unordered_map>

#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/literal_text.h"
#include "tenon/tir/ops.h"

namespace tenon::tir {

namespace {

/// One name for every variable and buffer; shared by the functions of a module.
class NameTable {
 public:
  std::string unique(const std::string& hint) {
    auto [entry, is_new] = last_number_.try_emplace(hint, 0);
    if (is_new) return hint;
    std::string name;
    do name = hint + "_" + std::to_string(++last_number_[hint]);
    while (last_number_.contains(name));
    last_number_.emplace(name, 0);
    return name;
  }

 private:
  std::unordered_map<std::string, int> last_number_;
};

std::string with_letter_first(const std::string& hint, const char* prefix) {
  const bool starts_well = !hint.empty() && std::isalpha(static_cast<unsigned char>(hint.front()));
  return starts_well ? hint : prefix + hint;
}

class TextPrinter {
 public:
  enum class Annotate : bool { No, Yes };
  TextPrinter(NameTable& names, Annotate annotate, std::size_t longest = std::string::npos)
      : names_(names), annotate_(annotate == Annotate::Yes), longest_(longest) {}

  std::string text;

  void function(const PrimFunc& func) {
    for (const BufferParam& b : func.buffers) name_buffer(b.buffer);
    text += "@" + func.attrs.global_symbol + " = primfn(";
    separated(func.params, ", ", [&](const Var& v) { expr(v); });
    text += ") -> ()";
    indent_ += 2;
    attributes(func.attrs);
    if (!func.buffers.empty()) buffer_maps(func);
    text += " {";
    newline();
    stmt(func.body);
    indent_ -= 2;
    newline();
    text += "}\n";
  }

  void expr(const Expr& e) {
    if (is_stack_low()) return with_deep_stack([&] { expr(e); });
    if (text.size() > longest_) return cut();
    match(
        e.node().value, [&](const IntImm& n) { text += integer_text(n.value, e.dtype()); },
        [&](const FloatImm& n) { text += floating_text(n.value, e.dtype()); },
        [&](const StringImm& n) { text += quoted(n.value); }, [&](const VarNode& n) { var(e, n); },
        [&](const Cast& n) { call_form("cast", e.dtype().str(), n.value); },
        [&](const Binary& n) { binary(n); }, [&](const Not& n) { text += "!", expr(n.a); },
        [&](const Select& n) { call_form("select", n.condition, n.if_true, n.if_false); },
        [&](const Ramp& n) { call_form("ramp", n.base, n.stride, std::to_string(n.lanes)); },
        [&](const Broadcast& n) { call_form("broadcast", n.value, std::to_string(n.lanes)); },
        [&](const Shuffle& n) {
          text += "shuffle(", list(n.vectors), text += ", ", list(n.indices), text += ")";
        },
        [&](const LetExpr& n) {
          text += "let ", expr(n.var), text += " = ", expr(n.value), text += " in ", expr(n.body);
        },
        [&](const Call& n) { call(n, e.dtype()); },
        [&](const Load& n) { buffer(n.buffer), list(n.indices); },
        [&](const ProducerLoad& n) { text += n.producer->name(), list(n.indices); },
        [&](const Reduce&) { text += print_legacy(e); });
  }

  void stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
    match(
        s.node().value,
        [&](const Store& n) { buffer(n.buffer), list(n.indices), text += " = ", expr(n.value); },
        [&](const Realize& n) { realize(n); }, [&](const BufferView& n) { view(n); },
        [&](const Allocate& n) { allocate(n); }, [&](const For& n) { loop(n); },
        [&](const While& n) { text += "while (", expr(n.condition), text += ")", block(n.body); },
        [&](const If& n) {
          text += "if ", expr(n.condition), block(n.then_case);
          if (n.else_case) text += " else", block(*n.else_case);
        },
        [&](const Let& n) {
          text += "let ", expr(n.var), text += " = ", expr(n.value), newline();
          if (n.body.as<Seq>()) return block(n.body);
          stmt(n.body);
        },
        [&](const Assert& n) {
          text += "assert(", expr(n.condition), text += ", " + quoted(n.message) + ")", newline(),
              stmt(n.body);
        },
        [&](const Attr& n) { attr(n); }, [&](const Evaluate& n) { expr(n.value); },
        [&](const Seq& n) {
          for (std::size_t i = 0; i < n.stmts.size(); ++i) {
            if (i > 0) newline();
            stmt(n.stmts[i]);
          }
        },
        [&](const Prefetch& n) {
          text += "prefetch(", buffer(n.buffer), text += ", ", ranges(n.region), text += ")";
        },
        [&](const BlockRealize& n) { block_realize(n); });
  }

  void range(const Range& r) { expr(r.min), text += ":", expr(end_of(r)); }

  void iter_var(const IterVar& axis) {
    text += "IterVar(", expr(axis.var()), text += ", ";
    if (axis.dom())
      text += "[", range(*axis.dom()), text += "]";
    else
      text += "(nullptr)";
    text += ", " + quoted(std::string(to_string(axis.kind()))) + ", ";
    text += quoted(axis.thread() ? axis.thread()->str() : "") + ")";
  }

 private:
  NameTable& names_;
  bool annotate_;
  std::size_t longest_;
  bool is_cut_ = false;
  int indent_ = 0;
  std::unordered_map<const void*, std::string> named_;
  std::vector<const CommReducerNode*> reducers_;

  void cut() {
    if (!std::exchange(is_cut_, true)) text += "...";
  }

  void newline() { text += "\n" + std::string(static_cast<std::size_t>(indent_), ' '); }

  /// " {", the body two columns in, "}".
  void block(const Stmt& body) {
    text += " {";
    indent_ += 2;
    newline();
    stmt(body);
    indent_ -= 2;
    newline();
    text += "}";
  }

  /// After an attribute or an allocation: a sequence becomes a block, anything else follows a
  /// semicolon.
  void body_after_header(const Stmt& body) {
    if (body.as<Seq>()) return block(body);
    text += ";";
    newline();
    stmt(body);
  }

  template <class List, class F>
  void separated(const List& items, const char* separator, F f) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) text += separator;
      first = false;
      f(item);
    }
  }

  void list(const std::vector<Expr>& items) {
    text += "[", separated(items, ", ", [&](const Expr& e) { expr(e); }), text += "]";
  }
  void ranges(const std::vector<Range>& items) {
    text += "[", separated(items, ", ", [&](const Range& r) { range(r); }), text += "]";
  }

  static Expr end_of(const Range& r) {
    return fold(BinaryOp::Add, r.min, cast(r.min.dtype(), r.extent));
  }

  void part(const Expr& e) { expr(e); }
  void part(const std::string& s) { text += s; }
  template <class... Part>
  void call_form(const char* name, const Part&... parts) {
    text += std::string(name) + "(";
    bool first = true;
    ((text += first ? "" : ", ", first = false, part(parts)), ...);
    text += ")";
  }

  void binary(const Binary& n) {
    switch (n.op) {
      case BinaryOp::FloorDiv:
      case BinaryOp::FloorMod:
      case BinaryOp::Min:
      case BinaryOp::Max:
        return call_form(std::string(to_string(n.op)).c_str(), n.a, n.b);
      case BinaryOp::Mul:
        return infix(n, "*");
      case BinaryOp::TruncDiv:
        return infix(n, " / ");
      case BinaryOp::TruncMod:
        return infix(n, " % ");
      default:
        return infix(n, (" " + std::string(to_string(n.op)) + " ").c_str());
    }
  }

  void infix(const Binary& n, const char* sign) {
    text += "(", expr(n.a), text += sign, expr(n.b), text += ")";
  }

  void call(const Call& n, DataType type) {
    match(
        n.callee, [&](Intrin i) { text += "@tir." + std::string(to_string(i)) + "("; },
        [&](const ExternCallee& c) {
          text +=
              std::string(c.pure ? "@tir.call_pure_extern(" : "@tir.call_extern(") + quoted(c.name);
          if (!n.args.empty()) text += ", ";
        });
    separated(n.args, ", ", [&](const Expr& e) { expr(e); });
    text += ", dtype=" + type.str() + ")";
  }

  void var(const Expr& e, const VarNode& n) {
    auto [entry, is_new] = named_.try_emplace(&e.node());
    if (!is_new) {
      text += entry->second;
      return;
    }
    entry->second = names_.unique(with_letter_first(n.name, "v"));
    text += entry->second;
    if (annotate_) text += ": " + type_text(e, n);
  }

  static std::string type_text(const Expr& e, const VarNode& n) {
    if (!n.pointer) return e.dtype().str();
    std::string scope = n.pointer->scope ? std::string(to_string(*n.pointer->scope)) + " " : "";
    return "Pointer(" + scope + n.pointer->element.str() + ")";
  }

  const std::string& name_buffer(const Buffer& b) {
    auto [entry, is_new] = named_.try_emplace(b.get());
    if (is_new) entry->second = names_.unique(with_letter_first(b->name, "buf_"));
    return entry->second;
  }

  void buffer(const Buffer& b) {
    const bool is_new = !named_.contains(b.get());
    text += name_buffer(b);
    if (is_new && annotate_) text += ": ", buffer_details(b);
  }

  void buffer_details(const Buffer& b) {
    text += "Buffer(", expr(b->data), text += ", " + b->dtype.str() + ", ";
    list(b->shape), text += ", ", list(b->strides);
    if (!is_zero(b->elem_offset)) text += ", elem_offset=", expr(b->elem_offset);
    if (!b->axis_separators.empty()) {
      text += ", axis_separators=[";
      separated(b->axis_separators, ", ", [&](int at) { text += std::to_string(at); });
      text += "]";
    }
    if (b->scope() != StorageScope::Global)
      text += ", scope=" + quoted(std::string(to_string(b->scope())));
    if (b->data_alignment != BufferNode::kDefaultAlignment)
      text += ", align=" + std::to_string(b->data_alignment);
    if (b->offset_factor != 1) text += ", offset_factor=" + std::to_string(b->offset_factor);
    if (b->kind == BufferKind::AutoBroadcast) text += ", type=\"auto\"";
    text += ")";
  }

  void attributes(const PrimFunc::Attrs& attrs) {
    std::vector<std::string> entries;
    if (attrs.from_legacy_te_schedule) entries.push_back("\"from_legacy_te_schedule\": True");
    entries.push_back("\"global_symbol\": " + quoted(attrs.global_symbol));
    if (attrs.noalias) entries.push_back("\"tir.noalias\": True");
    if (attrs.reversed_in_text) entries = {entries.rbegin(), entries.rend()};
    newline();
    text += "attr = {";
    separated(entries, ", ", [&](const std::string& entry) { text += entry; });
    text += "}";
  }

  void buffer_maps(const PrimFunc& func) {
    newline();
    text += "buffers = {";
    separated(func.buffers, ",\n             ", [&](const BufferParam& b) {
      text += name_buffer(b.buffer) + ": ", buffer_details(b.buffer);
    });
    text += "}";
    newline();
    text += "buffer_map = {";
    separated(func.buffers, ", ",
              [&](const BufferParam& b) { expr(b.param), text += ": ", buffer(b.buffer); });
    text += "}";
    newline();
    text += "preflattened_buffer_map = {";
    separated(func.buffers, ", ",
              [&](const BufferParam& b) { expr(b.param), text += ": ", buffer(b.declared); });
    text += "}";
  }

  void loop(const For& n) {
    text += "for (", expr(n.var), text += ", ", expr(n.min), text += ", ";
    expr(end_of(Range::from_min_extent(n.min, n.extent))), text += ")";
    switch (n.kind) {
      case ForKind::Serial:
        break;
      case ForKind::Parallel:
        text += " \"parallel\"";
        break;
      case ForKind::Vectorized:
        text += " \"vectorized\"";
        break;
      case ForKind::Unrolled:
        text += " \"unroll\"";
        break;
      case ForKind::ThreadBinding:
        text += " \"thread_binding\"";
        break;
    }
    const LoopTraits& traits = traits_of(n);
    if (traits.thread) text += " " + quoted(traits.thread->str());
    if (!traits.annotations.empty()) text += " ", annotations(traits.annotations);
    block(n.body);
  }

  // ---- blocks ----

  void annotation(const Annotation& value) {
    match(
        value.value, [&](const Expr& e) { expr(e); },
        [&](const std::vector<Annotation>& items) {
          text += "[", separated(items, ", ", [&](const Annotation& a) { annotation(a); }),
              text += "]";
        });
  }

  void annotations(const Annotations& notes) {
    text += "{";
    separated(notes, ", ", [&](const auto& note) {
      text += quoted(note.first) + ": ", annotation(note.second);
    });
    text += "}";
  }

  void regions(const char* head, const std::vector<BufferRegion>& list) {
    newline();
    text += head;
    separated(list, ", ", [&](const BufferRegion& r) { buffer(r.buffer), ranges(r.region); });
    text += "])";
  }

  /// block(["S" [0:16], "R" [0:8]], "C") as [vi, vk] { bind(vi, i) ... }
  void block_realize(const BlockRealize& n) {
    const Block& b = *n.block;
    text += "block([";
    separated(b.iters, ", ", [&](const IterVar& axis) {
      text += quoted(std::string(to_string(axis.kind()))) + " [", range(*axis.dom()), text += "]";
    });
    text += "], " + quoted(b.name) + ") as [";
    separated(b.iters, ", ", [&](const IterVar& axis) { expr(axis.var()); });
    text += "] {";
    indent_ += 2;
    for (std::size_t i = 0; i < b.iters.size(); ++i)
      newline(), text += "bind(", expr(b.iters[i].var()), text += ", ", expr(n.values[i]),
          text += ")";
    if (!is_true(n.predicate)) newline(), text += "where(", expr(n.predicate), text += ")";
    for (const Buffer& allocated : b.alloc_buffers)
      newline(), text += "alloc_buffer(", buffer(allocated), text += ")";
    for (const MatchBuffer& m : b.match_buffers)
      newline(), text += "match_buffer(", buffer(m.buffer), text += " = ", buffer(m.source.buffer),
          ranges(m.source.region), text += ")";
    regions("reads([", b.reads);
    regions("writes([", b.writes);
    if (!b.annotations.empty())
      newline(), text += "annotations(", annotations(b.annotations), text += ")";
    newline();
    if (b.init) text += "with init()", block(*b.init), newline();
    stmt(b.body);
    indent_ -= 2;
    newline();
    text += "}";
  }

  void allocate(const Allocate& n) {
    text += "allocate(", expr(n.data), text += ", " + n.dtype.str() + ", ", list(n.extents),
        text += ")";
    const VarNode* pointer = n.data.as<VarNode>();
    const StorageScope scope = pointer->pointer && pointer->pointer->scope
                                   ? *pointer->pointer->scope
                                   : StorageScope::Global;
    text += ", storage_scope = " + std::string(to_string(scope));
    if (!is_true(n.condition)) text += " if ", expr(n.condition);
    body_after_header(n.body);
  }

  void realize(const Realize& n) {
    text += "realize(", buffer(n.buffer), text += ", ", ranges(n.bounds), text += ")";
    if (!is_true(n.condition)) text += " if ", expr(n.condition);
    body_after_header(n.body);
  }

  void view(const BufferView& n) {
    text += "view(", buffer(n.view), text += " = ", buffer(n.source), ranges(n.region), text += ")";
    body_after_header(n.body);
  }

  void attr(const Attr& n) {
    text += "attr [";
    match(
        n.subject, [&](const Expr& e) { expr(e); }, [&](const IterVar& axis) { iter_var(axis); },
        [&](const Buffer& b) { buffer(b); }, [&](const CommReducer& r) { reducer(r); });
    text += "] " + quoted(attr_text(n)) + " = ", expr(n.value);
    body_after_header(n.body);
  }

  void reducer(const CommReducer& r) {
    std::size_t index = 0;
    while (index < reducers_.size() && reducers_[index] != r.get()) ++index;
    if (index == reducers_.size()) reducers_.push_back(r.get());
    text += "meta[tir.CommReducer][" + std::to_string(index) + "]";
  }
};

}  // namespace

std::string print_module(const IRModule& module) {
  NameTable names;
  std::string text;
  for (const auto& [name, func] : module.functions) {
    TextPrinter printer(names, TextPrinter::Annotate::Yes);
    printer.function(func);
    text += (text.empty() ? "" : "\n") + printer.text;
  }
  return text;
}

std::string print_function(const PrimFunc& func) {
  NameTable names;
  TextPrinter printer(names, TextPrinter::Annotate::Yes);
  printer.function(func);
  return printer.text;
}

namespace {
/// An expression may share its parts, and would be too long for any memory if they were all written
/// out.
constexpr std::size_t kLongestExpression = std::size_t{1} << 22;
}  // namespace

std::string print_expr(const Expr& e) {
  NameTable names;
  TextPrinter printer(names, TextPrinter::Annotate::No, kLongestExpression);
  printer.expr(e);
  return printer.text;
}

std::string print_stmt(const Stmt& s) {
  NameTable names;
  TextPrinter printer(names, TextPrinter::Annotate::Yes);
  printer.stmt(s);
  return printer.text;
}

std::ostream& operator<<(std::ostream& out, const Expr& e) {
  NameTable names;
  TextPrinter printer(names, TextPrinter::Annotate::Yes, kLongestExpression);
  printer.expr(e);
  return out << printer.text;
}

}  // namespace tenon::tir
