// Prints TVM 0.9 text, in which names are made unique in order of appearance. Also prints an older
// form without unique names and types, which is used for operations, axes and errors.
#include "tenon/tir/print.h"

#include <algorithm>
#include <array>
#include <ostream>

#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/literal_text.h"
#include "tenon/tir/memory_scope.h"
#include "tir/text_printer.h"

namespace tenon::tir {

// ---- functions ----------------------------------------------------------------------------------

void TextPrinter::function(const PrimFunc& func) {
  names_.forget(), reducers_.clear();
  for (const BufferParam& b : func.buffers) name(b.buffer);
  put("@", func.attrs.global_symbol, " = primfn(");
  separated(func.params, [&](const Var& v) { expr(v); });
  put(") -> ()");
  indent_ += 2;
  attributes(func.attrs);
  if (!func.buffers.empty()) buffer_maps(func);
  put(" {"), newline(), stmt(func.body);
  indent_ -= 2;
  newline(), put("}\n");
}

void TextPrinter::attributes(const PrimFunc::Attrs& attrs) {
  std::vector<std::string> entries;
  if (attrs.from_legacy_te_schedule) entries.push_back("\"from_legacy_te_schedule\": True");
  entries.push_back("\"global_symbol\": " + quoted(attrs.global_symbol));
  if (attrs.noalias) entries.push_back("\"tir.noalias\": True");
  if (attrs.reversed_in_text) entries = {entries.rbegin(), entries.rend()};
  newline(), put("attr = {");
  separated(entries, [&](const std::string& entry) { put(entry); });
  put("}");
}

void TextPrinter::buffer_maps(const PrimFunc& func) {
  const auto map = [&](const char* head, Buffer BufferParam::*buffer) {
    newline(), put(head, " = {");
    separated(func.buffers, [&](const BufferParam& b) { put(b.param, ": ", b.*buffer); });
    put("}");
  };
  newline(), put("buffers = {");
  separated(
      func.buffers,
      [&](const BufferParam& b) { put(name(b.buffer), ": "), buffer_details(b.buffer); },
      ",\n             ");
  put("}");
  map("buffer_map", &BufferParam::buffer);
  map("preflattened_buffer_map", &BufferParam::declared);
}

// ---- statements ---------------------------------------------------------------------------------

std::vector<ListedStmt> TextPrinter::listed_body(const PrimFunc& func) {
  std::vector<ListedStmt> listed;
  for (const BufferParam& b : func.buffers) name(b.buffer);
  listed_ = &listed;
  is_memory_named_ = true;
  stmt(func.body);
  return listed;
}

/// Returns the number of the last line of `text`.
int TextPrinter::line_number() {
  line_ += static_cast<int>(std::ranges::count(std::string_view(text).substr(counted_), '\n'));
  counted_ = text.size();
  return line_;
}

void TextPrinter::stmt(const Stmt& s) {
  if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
  if (!listed_ || s.as<Seq>()) return stmt_text(s);
  const std::size_t index = listed_->size();
  listed_->push_back({s, line_number(), 0, std::exchange(current_, static_cast<int>(index))});
  stmt_text(s);
  (*listed_)[index].last = line_number();
  current_ = (*listed_)[index].parent;
}

void TextPrinter::stmt_text(const Stmt& s) {
  const auto condition = [&](const Expr& e) {
    if (!is_true(e)) put(" if ", e);
  };
  match(
      s.node().value, [&](const Store& n) { access(n.buffer, n.indices), put(" = ", n.value); },
      [&](const Realize& n) {
        put("realize("), ranges(n.buffer, n.bounds, ", "), put(")"), condition(n.condition);
        body_after_header(n.body);
      },
      [&](const BufferView& n) {
        put("view(", n.view, " = "), ranges(n.source, n.region), put(")");
        body_after_header(n.body);
      },
      [&](const Allocate& n) {
        put("allocate(", n.data, ", ", n.dtype, ", [", n.extents,
            "]), storage_scope = ", to_string(memory_scope(n.data)));
        condition(n.condition), body_after_header(n.body);
      },
      [&](const For& n) { loop(n); },
      [&](const While& n) { put("while (", n.condition, ")"), block(n.body); },
      [&](const If& n) {
        put("if ", n.condition), block(n.then_case);
        if (n.else_case) put(" else"), block(*n.else_case);
      },
      [&](const Let& n) {
        put("let ", n.var, " = ", n.value), newline();
        if (n.body.as<Seq>()) return block(n.body);
        stmt(n.body);
      },
      [&](const Assert& n) {
        put("assert(", n.condition, ", ", quoted(n.message), ")"), newline(), stmt(n.body);
      },
      [&](const Attr& n) { attr(n); }, [&](const Evaluate& n) { expr(n.value); },
      [&](const Seq& n) {
        for (const Stmt& child : n.stmts) {
          if (&child != n.stmts.data()) newline();
          stmt(child);
        }
      },
      [&](const Prefetch& n) { put("prefetch("), ranges(n.buffer, n.region, ", "), put(")"); },
      [&](const BlockRealize& n) { block_realize(n); });
}

void TextPrinter::block(const Stmt& body) {
  put(" {");
  indent_ += 2;
  newline(), stmt(body);
  indent_ -= 2;
  newline(), put("}");
}

void TextPrinter::body_after_header(const Stmt& body) {
  if (body.as<Seq>()) return block(body);
  put(";"), newline(), stmt(body);
}

void TextPrinter::loop(const For& n) {
  static constexpr std::array kKinds = {"", " \"parallel\"", " \"vectorized\"", " \"unroll\"",
                                        " \"thread_binding\""};
  put("for (", n.var, ", ", n.min, ", ", end_of(Range::from_min_extent(n.min, n.extent)), ")",
      kKinds[static_cast<std::size_t>(n.kind)]);
  const LoopTraits& traits = traits_of(n);
  if (traits.thread) put(" ", quoted(traits.thread->str()));
  if (!traits.annotations.empty()) put(" "), annotations(traits.annotations);
  block(n.body);
}

void TextPrinter::regions(const char* head, const std::vector<BufferRegion>& list) {
  newline(), put(head);
  separated(list, [&](const BufferRegion& r) { ranges(r.buffer, r.region); });
  put("])");
}

void TextPrinter::block_realize(const BlockRealize& n) {
  const Block& b = *n.block;
  put("block([");
  separated(b.iters, [&](const IterVar& axis) {
    put("\"", to_string(axis.kind()), "\" ["), range(*axis.dom()), put("]");
  });
  put("], ", quoted(b.name), ") as [");
  separated(b.iters, [&](const IterVar& axis) { expr(axis.var()); });
  put("] {");
  indent_ += 2;
  for (std::size_t i = 0; i < b.iters.size(); ++i)
    newline(), put("bind(", b.iters[i].var(), ", ", n.values[i], ")");
  if (!is_true(n.predicate)) newline(), put("where(", n.predicate, ")");
  for (const Buffer& allocated : b.alloc_buffers) newline(), put("alloc_buffer(", allocated, ")");
  for (const MatchBuffer& m : b.match_buffers)
    newline(), put("match_buffer(", m.buffer, " = "), ranges(m.source.buffer, m.source.region),
        put(")");
  regions("reads([", b.reads);
  regions("writes([", b.writes);
  if (!b.annotations.empty()) newline(), put("annotations("), annotations(b.annotations), put(")");
  newline();
  if (b.init) put("with init()"), block(*b.init), newline();
  stmt(b.body);
  indent_ -= 2;
  newline(), put("}");
}

void TextPrinter::attr(const Attr& n) {
  put("attr [");
  match(
      n.subject, [&](const Expr& e) { expr(e); }, [&](const IterVar& axis) { iter_var(axis); },
      [&](const Buffer& b) { put(b); }, [&](const CommReducer& r) { reducer(r); });
  put("] ", quoted(attr_text(n)), " = ", n.value);
  body_after_header(n.body);
}

void TextPrinter::iter_var(const IterVar& axis) {
  put("IterVar(", axis.var(), ", ", axis.dom() ? "[" : "(nullptr)");
  if (axis.dom()) range(*axis.dom()), put("]");
  put(", \"", to_string(axis.kind()), "\", ", quoted(axis.thread() ? axis.thread()->str() : ""),
      ")");
}

void TextPrinter::reducer(const CommReducer& r) {
  std::size_t index = 0;
  while (index < reducers_.size() && reducers_[index] != r.get()) ++index;
  if (index == reducers_.size()) reducers_.push_back(r.get());
  put("meta[tir.CommReducer][", index, "]");
}

// ---- the older form -----------------------------------------------------------------------------

namespace {

class LegacyPrinter : public ExprPrinter {
 public:
  LegacyPrinter() : ExprPrinter(Dialect::Legacy) {}

  void stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
    match(
        s.node().value, [&](const Store& n) { line(n.buffer, "[", n.indices, "] = ", n.value); },
        [&](const Realize& n) {
          line("buffer_realize ", n.buffer, "(", ranges(n.bounds), ") {"), nested(n.body);
        },
        [&](const BufferView& n) {
          line("// view ", n.view, " = ", n.source, "(", ranges(n.region), ")"), stmt(n.body);
        },
        [&](const Allocate& n) {
          std::string extents;
          for (const Expr& e : n.extents) extents += " * " + text_of(e);
          line("allocate ", n.data.name(), "[", n.dtype, extents,
               "], storage_scope = ", to_string(memory_scope(n.data)),
               is_true(n.condition) ? "" : " if " + text_of(n.condition));
          stmt(n.body);
        },
        [&](const For& n) {
          static constexpr std::array kKinds = {"for", "parallel", "vectorized", "unrolled",
                                                "thread_binding"};
          line(kKinds[static_cast<std::size_t>(n.kind)], " (", n.var.name(), ", ", n.min, ", ",
               n.extent, ") {");
          nested(n.body);
        },
        [&](const While& n) { line("while(", n.condition, "){"), nested(n.body); },
        [&](const If& n) {
          line("if (", n.condition, ") {"), nested(n.then_case, n.else_case ? "} else {" : "}");
          if (n.else_case) nested(*n.else_case);
        },
        [&](const Let& n) { line("let ", n.var.name(), " = ", n.value), stmt(n.body); },
        [&](const Assert& n) {
          line("assert(", n.condition, ", ", quoted(n.message), ")"), stmt(n.body);
        },
        [&](const Attr& n) {
          line("// attr [", subject(n), "] ", attr_text(n), " = ", n.value), stmt(n.body);
        },
        [&](const Evaluate& n) { line(n.value); },
        [&](const Seq& n) {
          for (const Stmt& child : n.stmts) stmt(child);
        },
        [&](const Prefetch& n) { line("prefetch ", n.buffer, "(", ranges(n.region), ")"); },
        [&](const BlockRealize& n) {
          line("block ", n.block->name, "(", bindings(n), ") {");
          indent_ += 2;
          if (n.block->init) line("init {"), nested(*n.block->init);
          indent_ -= 2;
          nested(n.block->body);
        });
  }

 private:
  void nested(const Stmt& body, const char* end = "}") {
    indent_ += 2;
    stmt(body);
    indent_ -= 2;
    line(end);
  }
  std::string ranges(const std::vector<Range>& list) {
    std::string result;
    for (const Range& r : list)
      result += (result.empty() ? "[" : ", [") + text_of(r.min, ", ", r.extent, "]");
    return result;
  }
  std::string bindings(const BlockRealize& n) {
    std::string result;
    for (std::size_t i = 0; i < n.block->iters.size() && i < n.values.size(); ++i)
      result +=
          (result.empty() ? "" : ", ") + text_of(n.block->iters[i].name(), " = ", n.values[i]);
    return result;
  }
  std::string subject(const Attr& n) {
    return match(
        n.subject, [&](const Expr& e) { return text_of(e); },
        [](const IterVar& axis) { return print_legacy(axis); },
        [](const Buffer& b) { return b->name; }, [](const CommReducer& r) { return r->name; });
  }
};

/// Maximum length of the text of an expression.
constexpr std::size_t kMaxExpression = std::size_t{1} << 22;

template <class Printer>
std::string limited(Printer printer, const Expr& e) {
  printer.max_length = kMaxExpression;
  printer.expr(e);
  return printer.text;
}

}  // namespace

// ---- entries ------------------------------------------------------------------------------------

std::string print_module(const IRModule& module) {
  TextPrinter printer(true);
  for (const auto& [name, func] : module.functions) {
    if (!printer.text.empty()) printer.put("\n");
    printer.function(func);
  }
  return printer.text;
}

std::string print_function(const PrimFunc& func) {
  TextPrinter printer(true);
  printer.function(func);
  return printer.text;
}

std::string print_expr(const Expr& e) { return limited(TextPrinter(false), e); }

std::string print_stmt(const Stmt& s) {
  TextPrinter printer(true);
  printer.stmt(s);
  return printer.text;
}

std::ostream& operator<<(std::ostream& out, const Expr& e) {
  return out << limited(TextPrinter(true), e);
}

std::string print_legacy(const Expr& e) { return limited(LegacyPrinter(), e); }

std::string print_legacy(const Stmt& s) {
  LegacyPrinter printer;
  printer.stmt(s);
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
