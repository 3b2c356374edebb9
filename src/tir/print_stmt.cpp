// The text of statements, blocks and functions.
#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/literal_text.h"
#include "tir/text_printer.h"

namespace tenon::tir {

void TextPrinter::function(const PrimFunc& func) {
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

std::vector<TextPrinter::Mark> TextPrinter::marked_body(const PrimFunc& func) {
  std::vector<Mark> marks;
  for (const BufferParam& b : func.buffers) name_buffer(b.buffer);
  marks_ = &marks;
  stmt(func.body);
  marks_ = nullptr;
  return marks;
}

void TextPrinter::stmt(const Stmt& s) {
  if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
  if (!marks_ || s.as<Seq>()) return stmt_text(s);
  const std::size_t mark = marks_->size();
  marks_->push_back({s, text.size(), 0});
  stmt_text(s);
  (*marks_)[mark].end = text.size();
}

void TextPrinter::stmt_text(const Stmt& s) {
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

void TextPrinter::block(const Stmt& body) {
  text += " {";
  indent_ += 2;
  newline();
  stmt(body);
  indent_ -= 2;
  newline();
  text += "}";
}

void TextPrinter::body_after_header(const Stmt& body) {
  if (body.as<Seq>()) return block(body);
  text += ";";
  newline();
  stmt(body);
}

void TextPrinter::attributes(const PrimFunc::Attrs& attrs) {
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

void TextPrinter::buffer_maps(const PrimFunc& func) {
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

void TextPrinter::loop(const For& n) {
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

void TextPrinter::annotation(const Annotation& value) {
  match(
      value.value, [&](const Expr& e) { expr(e); },
      [&](const std::vector<Annotation>& items) {
        text += "[", separated(items, ", ", [&](const Annotation& a) { annotation(a); }),
            text += "]";
      });
}

void TextPrinter::annotations(const Annotations& notes) {
  text += "{";
  separated(notes, ", ",
            [&](const auto& note) { text += quoted(note.first) + ": ", annotation(note.second); });
  text += "}";
}

void TextPrinter::regions(const char* head, const std::vector<BufferRegion>& list) {
  newline();
  text += head;
  separated(list, ", ", [&](const BufferRegion& r) { buffer(r.buffer), ranges(r.region); });
  text += "])";
}

void TextPrinter::block_realize(const BlockRealize& n) {
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

void TextPrinter::allocate(const Allocate& n) {
  text += "allocate(", expr(n.data), text += ", " + n.dtype.str() + ", ", list(n.extents),
      text += ")";
  const VarNode* pointer = n.data.as<VarNode>();
  const StorageScope scope =
      pointer->pointer && pointer->pointer->scope ? *pointer->pointer->scope : StorageScope::Global;
  text += ", storage_scope = " + std::string(to_string(scope));
  if (!is_true(n.condition)) text += " if ", expr(n.condition);
  body_after_header(n.body);
}

void TextPrinter::realize(const Realize& n) {
  text += "realize(", buffer(n.buffer), text += ", ", ranges(n.bounds), text += ")";
  if (!is_true(n.condition)) text += " if ", expr(n.condition);
  body_after_header(n.body);
}

void TextPrinter::view(const BufferView& n) {
  text += "view(", buffer(n.view), text += " = ", buffer(n.source), ranges(n.region), text += ")";
  body_after_header(n.body);
}

void TextPrinter::attr(const Attr& n) {
  text += "attr [";
  match(
      n.subject, [&](const Expr& e) { expr(e); }, [&](const IterVar& axis) { iter_var(axis); },
      [&](const Buffer& b) { buffer(b); }, [&](const CommReducer& r) { reducer(r); });
  text += "] " + quoted(attr_text(n)) + " = ", expr(n.value);
  body_after_header(n.body);
}

void TextPrinter::reducer(const CommReducer& r) {
  std::size_t index = 0;
  while (index < reducers_.size() && reducers_[index] != r.get()) ++index;
  if (index == reducers_.size()) reducers_.push_back(r.get());
  text += "meta[tir.CommReducer][" + std::to_string(index) + "]";
}

}  // namespace tenon::tir
