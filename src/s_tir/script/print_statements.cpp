#include <algorithm>

#include "s_tir/script/script_printer.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/literal_text.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir::script {

using namespace tir;

namespace {

/// Whether T.grid can express the loop: serial, from zero, without annotations.
bool is_plain(const For& n) { return n.kind == ForKind::Serial && is_zero(n.min) && !n.traits; }

}  // namespace

void Printer::stmt(const Stmt& s) {
  if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
  match(
      s.node().value,
      [&](const Store& n) { line(text_.access(n.buffer, n.indices) + " = " + text_(n.value)); },
      [&](const For& n) { loop(n); },
      [&](const While& n) { line("while " + text_(n.condition) + ":"), indented(n.body); },
      [&](const If& n) {
        line("if " + text_(n.condition) + ":"), indented(n.then_case);
        if (n.else_case) line("else:"), indented(*n.else_case);
      },
      [&](const Let& n) { let(n); },
      [&](const Assert& n) {
        line("assert " + text_(n.condition) + ", " + quoted(n.message));
        stmt(n.body);
      },
      [&](const Evaluate& n) { evaluate(n.value); },
      [&](const Seq& n) {
        for (std::size_t i = 0; i < n.stmts.size(); ++i) {
          is_last_ = i + 1 == n.stmts.size();
          stmt(n.stmts[i]);
        }
      },
      [&](const BlockRealize& n) { block(n); }, [&](const Allocate& n) { allocate(n); },
      [&](const Attr& n) {
        line("T.attr(" + subject(n) + ", " + quoted(attr_text(n)) + ", " + text_(n.value) + ")");
        stmt(n.body);
      },
      [&](const Realize& n) {
        nested("with T.realize(" + text_.region({n.buffer, n.bounds}) + "):", n.body);
      },
      [&](const BufferView& n) {
        const std::string name = text_.name(n.view);
        line(name + " = " + matched({n.view, {n.source, n.region}}));
        stmt(n.body);
      },
      [&](const Prefetch& n) {
        line("T.prefetch(" + text_.region({n.buffer, n.region}) + ")");
      });
}

void Printer::line(const std::string& content) {
  out += std::string(static_cast<std::size_t>(indent_) * 4, ' ') + content + "\n";
}

void Printer::comment(const char* content) {
  if (!is_modern()) line(std::string("# ") + content);
}

void Printer::indented(const Stmt& s) {
  const bool was_last = std::exchange(is_last_, true);
  ++indent_;
  if (is_nop(s))
    line("T.evaluate(0)");
  else
    stmt(s);
  --indent_;
  is_last_ = was_last;
}

void Printer::loop(const For& n) {
  std::vector<const For*> nest = {&n};
  auto depends = [&](const Expr& e) {
    return uses_var(e, [&](const Expr& v) {
      return std::ranges::any_of(nest, [&](const For* l) { return l->var.same_as(v); });
    });
  };
  while (is_plain(*nest.back())) {
    const For* inner = nest.back()->body.as<For>();
    if (!inner || !is_plain(*inner) || depends(inner->extent)) break;
    nest.push_back(inner);
  }
  std::string extents;
  for (const For* l : nest) extents += (extents.empty() ? "" : ", ") + text_(l->extent);
  std::string names;
  for (const For* l : nest) {
    names += (names.empty() ? "" : ", ") + names_.define(&l->var.node(), l->var.name(), "v");
    loops_.insert_or_assign(&l->var.node(), Range::from_min_extent(l->min, l->extent));
  }
  line("for " + names + " in " + (nest.size() > 1 ? "T.grid(" + extents + ")" : iterations(n)) +
       ":");
  indented(nest.back()->body);
  for (const For* l : nest) names_.release(&l->var.node()), loops_.erase(&l->var.node());
}

std::string Printer::iterations(const For& n) {
  const LoopTraits& traits = traits_of(n);
  std::string text;
  if (!is_zero(n.min)) text = text_(n.min) + ", ";
  text += text_(is_zero(n.min) ? n.extent : n.min + n.extent);
  if (is_modern() && n.kind == ForKind::Serial && traits.annotations.empty())
    return "range(" + text + ")";
  if (traits.thread) text += ", thread=" + quoted(traits.thread->str());
  if (!traits.annotations.empty()) text += ", annotations=" + text_.annotations(traits.annotations);
  switch (n.kind) {
    case ForKind::Serial:
      return "T.serial(" + text + ")";
    case ForKind::Parallel:
      return "T.parallel(" + text + ")";
    case ForKind::Vectorized:
      return "T.vectorized(" + text + ")";
    case ForKind::Unrolled:
      return "T.unroll(" + text + ")";
    case ForKind::ThreadBinding:
      return "T.thread_binding(" + text + ")";
  }
  internal_error("a loop kind without a name");
}

void Printer::block(const BlockRealize& n) {
  const Block& b = *n.block;
  line("with T.block(" + (b.name.empty() ? "" : quoted(b.name)) + "):");
  const bool was_last = std::exchange(is_last_, true);
  ++indent_;
  axes(n);
  if (!is_true(n.predicate)) line("T.where(" + text_(n.predicate) + ")");
  // Matched buffers have no names yet, so regions use the original buffers.
  line("T.reads(" + regions(b.reads) + ")");
  line("T.writes(" + regions(b.writes) + ")");
  if (!b.annotations.empty()) line("T.block_attr(" + text_.annotations(b.annotations) + ")");
  allocations(b);
  for (const MatchBuffer& m : b.match_buffers) {
    const std::string name = names_.define(m.buffer.get(), m.buffer->name, "buf_");
    line(name + " = " + matched(m));
  }
  if (b.init) nested("with T.init():", *b.init);
  --indent_;
  indented(b.body);
  is_last_ = was_last;
  for (const IterVar& axis : b.iters) names_.release(&axis.var().node());
}

std::string Printer::regions(const std::vector<BufferRegion>& list) {
  std::string text;
  for (const BufferRegion& r : list) text += (text.empty() ? "" : ", ") + text_.region(r);
  return text;
}

std::string Printer::matched(const MatchBuffer& m) {
  return "T.match_buffer(" + text_.region(m.source) + ", " + text_.buffer_details(m.buffer) + ")";
}

void Printer::allocations(const Block& b) {
  for (const Buffer& buffer : b.alloc_buffers) {
    const std::string name = names_.define(buffer.get(), buffer->name, "buf_");
    line(name + " = T.alloc_buffer(" + text_.buffer_details(buffer) + ")");
  }
}

bool Printer::is_remap(const IterVar& axis, const Expr& value) const {
  if (axis.kind() != IterKind::DataParallel && axis.kind() != IterKind::Reduce) return false;
  const auto loop = loops_.find(&value.node());
  return loop != loops_.end() && structural_equal(loop->second.min, axis.dom()->min) &&
         structural_equal(loop->second.extent, axis.dom()->extent);
}

void Printer::axes(const BlockRealize& n) {
  const std::vector<IterVar>& iters = n.block->iters;
  // Binding values are outside the block, so they are printed before its iterators get names.
  std::vector<std::string> values;
  for (const Expr& value : n.values) values.push_back(text_(value));
  for (const IterVar& axis : iters) names_.define(&axis.var().node(), axis.name(), "v");
  for (std::size_t first = 0; first < iters.size();) {
    std::size_t end = first;
    while (end < iters.size() && is_remap(iters[end], n.values[end])) ++end;
    if (end - first < 2) {
      axis(iters[first], values[first]);
      ++first;
      continue;
    }
    std::string names, kinds, loops;
    for (; first < end; ++first) {
      names += (names.empty() ? "" : ", ") + text_.name(iters[first].var());
      kinds += iters[first].kind() == IterKind::Reduce ? "R" : "S";
      loops += (loops.empty() ? "" : ", ") + values[first];
    }
    line(names + " = T.axis.remap(" + quoted(kinds) + ", [" + loops + "])");
  }
}

void Printer::axis(const IterVar& axis, const std::string& value) {
  const Range& dom = *axis.dom();
  const std::string range = is_zero(dom.min)
                                ? text_(dom.extent)
                                : "(" + text_(dom.min) + ", " + text_(dom.min + dom.extent) + ")";
  const char* kind = axis.kind() == IterKind::DataParallel ? "spatial"
                     : axis.kind() == IterKind::Reduce     ? "reduce"
                     : axis.kind() == IterKind::Ordered    ? "scan"
                                                           : "opaque";
  line(text_.name(axis.var()) + " = T.axis." + kind + "(" + range + ", " + value + ")");
}

void Printer::let(const Let& n) {
  const std::string value = text_(n.value);
  const std::string& name = names_.define(&n.var.node(), n.var.name(), "v");
  if (is_last_) {
    line(name + ": T." + n.var.dtype().str() + " = " + value);
    stmt(n.body);
  } else {
    nested("with T.let(" + name + ", " + value + "):", n.body);
  }
  names_.release(&n.var.node());
}

void Printer::evaluate(const Expr& e) {
  const bool is_call = e.as<Call>() != nullptr;
  line(is_call ? text_(e) : "T.evaluate(" + text_(e) + ")");
}

void Printer::allocate(const Allocate& n) {
  std::optional<Buffer> over;
  auto look = [&](const Buffer& b) {
    if (!over && b->data.same_as(n.data)) over = b;
  };
  walk(
      n.body, [&](const Load& load) { look(load.buffer); },
      [&](const Store& store) { look(store.buffer); });
  const VarNode* pointer = n.data.as<VarNode>();
  const StorageScope scope =
      pointer->pointer && pointer->pointer->scope ? *pointer->pointer->scope : StorageScope::Global;
  const std::string name = names_.define(&n.data.node(), n.data.name(), "v");
  if (over) names_.define_as(over->get(), name);
  std::string text = name + " = T.allocate([" + text_.list(n.extents) + "], " +
                     quoted(n.dtype.str()) + ", " + quoted(std::string(to_string(scope)));
  if (!is_true(n.condition)) text += ", " + text_(n.condition);
  line(text + ")");
  stmt(n.body);
}

std::string Printer::subject(const Attr& n) {
  return match(
      n.subject, [&](const Expr& e) { return text_(e); },
      [&](const IterVar& axis) {
        const std::string tag = axis.thread() ? ", " + quoted(axis.thread()->str()) : "";
        return "T.iter_var(" + text_.name(axis.var()) + tag + ")";
      },
      [&](const Buffer& b) { return text_.name(b); },
      [&](const CommReducer& r) { return quoted(r->name); });
}

}  // namespace tenon::s_tir::script
