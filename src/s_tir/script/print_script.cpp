#include <algorithm>
#include <array>

#include "tenon/arith/simplify.h"
#include "tenon/s_tir/script.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr_printer.h"
#include "tenon/tir/literal_text.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

/// Whether the annotation of a parameter can describe the buffer completely. The buffer must be
/// compact, of constant shape, and have memory of its own.
bool is_simple(const Buffer& b) {
  return b->strides.empty() && is_zero(b->elem_offset) && b->scope() == StorageScope::Global &&
         b->data_alignment == BufferNode::kDefaultAlignment && b->offset_factor == 1 &&
         b->kind == BufferKind::Default && b->axis_separators.empty() && b->rank() > 0 &&
         std::ranges::all_of(b->shape, [](const Expr& e) { return constant_int(e).has_value(); });
}

/// Whether T.grid can express the loop: it must be serial, start at zero and have no annotations.
bool is_plain(const For& n) { return n.kind == ForKind::Serial && is_zero(n.min) && !n.traits; }

class ScriptPrinter : public ExprPrinter {
 public:
  explicit ScriptPrinter(ScriptStyle style, int indent = 0)
      : ExprPrinter(style == ScriptStyle::Modern ? Dialect::ModernScript : Dialect::Script) {
    indent_ = indent;
  }

  void function(const PrimFunc& func, const std::string& name) {
    if (!is_plain_name(name))
      throw TypeError("function `" + name +
                      "` has no script, because its name is not an identifier");
    line("@T.prim_func");
    line(
        "def ", name, "(", [&] { separated(func.params, [&](const Var& v) { param(func, v); }); },
        is_modern() ? "):" : ") -> None:");
    indent_ += 4;
    attributes(func.attrs, name);
    sizes(func);
    for (const BufferParam& b : func.buffers) buffer_param(b);
    comment("body");
    body(func.body);
    indent_ -= 4;
    // Each function has its own names.
    names_ = Names(Dialect::Script);
  }

  void stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
    match(
        s.node().value,
        [&](const Store& n) { line([&] { access(n.buffer, n.indices); }, " = ", n.value); },
        [&](const For& n) { loop(n); },
        [&](const While& n) { line("while ", n.condition, ":"), indented(n.body); },
        [&](const If& n) {
          line("if ", n.condition, ":"), indented(n.then_case);
          if (n.else_case) line("else:"), indented(*n.else_case);
        },
        [&](const Let& n) { let(n); },
        [&](const Assert& n) {
          line("assert ", n.condition, ", ", quoted(n.message)), stmt(n.body);
        },
        [&](const Evaluate& n) {
          const bool is_call = n.value.as<Call>() != nullptr;
          line(is_call ? "" : "T.evaluate(", n.value, is_call ? "" : ")");
        },
        [&](const Seq& n) {
          for (const Stmt& child : n.stmts) is_last_ = &child == &n.stmts.back(), stmt(child);
        },
        [&](const BlockRealize& n) { block(n); }, [&](const Allocate& n) { allocate(n); },
        [&](const Attr& n) {
          line("T.attr(", subject(n), ", ", quoted(attr_text(n)), ", ", n.value, ")");
          stmt(n.body);
        },
        [&](const Realize& n) {
          line(
              "with T.realize(",
              [&] {
                region({n.buffer, n.bounds});
              },
              "):"),
              indented(n.body);
        },
        [&](const BufferView& n) {
          line(name(n.view), " = ", [&] { matched({n.view, {n.source, n.region}}); });
          stmt(n.body);
        },
        [&](const Prefetch& n) {
          line(
              "T.prefetch(",
              [&] {
                region({n.buffer, n.region});
              },
              ")");
        });
  }

 private:
  /// Whether the current statement is the last one of its suite.
  bool is_last_ = true;
  /// The ranges of the enclosing loops.
  std::unordered_map<const void*, Range> loops_;

  void comment(const char* content) {
    if (!is_modern()) line("# ", content);
  }

  void indented(const Stmt& s) {
    const bool was_last = std::exchange(is_last_, true);
    indent_ += 4;
    if (is_nop(s))
      line("T.evaluate(0)");
    else
      stmt(s);
    indent_ -= 4;
    is_last_ = was_last;
  }

  /// Prints an access: `A[i, j]`, `A[i:i + 4]` for consecutive elements.
  void access(const Buffer& buffer, const std::vector<Expr>& indices) override {
    put(name(buffer), indices.empty() ? "[()" : "[");
    separated(indices, [&](const Expr& e) {
      const Ramp* ramp = e.as<Ramp>();
      const auto stride = ramp ? constant_int(ramp->stride) : std::nullopt;
      // Slices are only printed if the parser can derive the lanes from the distance of the two
      // ends. The distance must fit an int32, and the end must fit the index type.
      if (!stride || *stride == 0 || !ramp->base.dtype().is_index() || !fits(*stride, Int(32)) ||
          !fits(*stride * ramp->lanes, Int(32)))
        return expr(e);
      put(ramp->base, ":", arith::simplify(ramp->base + Expr(ramp->lanes) * *stride));
      if (*stride != 1) put(":", *stride);
    });
    put("]");
  }

  /// Prints `A[vi, 0 : 16]`.
  void region(const BufferRegion& r) {
    put(name(r.buffer), r.region.empty() ? "[()" : "[");
    separated(r.region, [&](const Range& range) {
      put(range.min);
      if (!is_one(range.extent))
        put(is_modern() ? ":" : " : ", arith::simplify(range.min + range.extent));
    });
    put("]");
  }

  void notes(const Annotations& notes) { annotations(notes, is_modern() ? ": " : ":"); }

  // ---- buffers ----

  /// Prints `[128, 128], dtype="float32", scope="local"`: a buffer's shape and non-default
  /// properties. Defines the names `<name>.data` for its data pointer and `<name>.elem_offset` for
  /// a variable offset, if these have no names yet.
  void details(const Buffer& buffer) {
    if (!is_modern()) {
      put("[", buffer->shape, "], dtype=\"", buffer->dtype, "\"");
    } else {
      put("(", buffer->shape, buffer->rank() == 1 ? ",)" : ")");
      if (buffer->dtype != Float(32)) put(", \"", buffer->dtype, "\"");
    }
    const std::string own = name(buffer);
    if (names_.find(&buffer->data.node()))
      put(", data=", buffer->data);
    else
      names_.define_as(&buffer->data.node(), own + ".data");
    if (!buffer->strides.empty()) put(", strides=[", buffer->strides, "]");
    bool has_factor = buffer->offset_factor != 1;
    if (buffer->elem_offset.as<VarNode>() && !names_.find(&buffer->elem_offset.node())) {
      names_.define_as(&buffer->elem_offset.node(), own + ".elem_offset");
      has_factor = true;
    } else if (!is_zero(buffer->elem_offset)) {
      put(", elem_offset=", buffer->elem_offset);
    }
    buffer_options(buffer, has_factor);
  }

  void matched(const MatchBuffer& m) {
    put("T.match_buffer("), region(m.source), put(", "), details(m.buffer), put(")");
  }

  void allocations(const Block& b) {
    for (const Buffer& buffer : b.alloc_buffers) {
      const std::string name = names_.define(buffer.get(), buffer->name, "buf_");
      line(
          name, " = T.alloc_buffer(", [&] { details(buffer); }, ")");
    }
  }

  // ---- functions ----

  void param(const PrimFunc& func, const Var& v) {
    const BufferParam* b = func.buffer_of(v);
    if (!b || !is_simple(b->buffer)) return put(name(v), ": T.", v.dtype());
    const Buffer& buffer = b->buffer;
    const std::string name = names_.define(buffer.get(), buffer->name, "buf_");
    names_.define_as(&buffer->data.node(), name + ".data");
    const bool is_list = buffer->rank() > 1 || is_modern();
    put(name, ": T.Buffer", is_modern() ? "(" : "[", is_list ? "(" : "", buffer->shape);
    put(is_modern() && buffer->rank() == 1 ? "," : "", is_list ? ")" : "", ", \"", buffer->dtype);
    put(is_modern() ? "\")" : "\"]");
  }

  void attributes(const PrimFunc::Attrs& attrs, const std::string& name) {
    Annotations all = attrs.others ? *attrs.others : Annotations();
    const bool has_symbol = !is_modern() || attrs.global_symbol != name;
    if (!attrs.global_symbol.empty() && has_symbol)
      all["global_symbol"] = {make_string(attrs.global_symbol)};
    if (attrs.noalias) all["tir.noalias"] = {make_true()};
    if (attrs.from_legacy_te_schedule) all["from_legacy_te_schedule"] = {make_true()};
    if (all.empty()) return;
    comment("function attr dict");
    line(
        "T.func_attr(", [&] { annotations(all); }, ")");
  }

  /// Prints definitions of the variables that occur in the shapes of parameters and are not
  /// parameters themselves.
  void sizes(const PrimFunc& func) {
    bool is_first = true;
    auto define = [&](const Expr& e) {
      for (const Var& v : free_vars(e)) {
        if (names_.find(&v.node())) continue;
        if (std::exchange(is_first, false)) comment("var definition");
        line(name(v), is_modern() ? " = T." : " = T.var(\"", v.dtype(), is_modern() ? "()" : "\")");
      }
    };
    for (const BufferParam& b : func.buffers) {
      for (const Expr& e : b.declared->shape) define(e);
      for (const Expr& e : b.declared->strides) define(e);
      if (!b.declared->elem_offset.as<VarNode>()) define(b.declared->elem_offset);
    }
  }

  void buffer_param(const BufferParam& b) {
    if (!is_simple(b.buffer))
      line(
          name(b.buffer), " = T.match_buffer(", b.param, ", ", [&] { details(b.buffer); }, ")");
    if (b.declared.same_as(b.buffer)) return;
    names_.define_as(b.declared.get(), std::string(name(b.buffer)));
    line(
        "T.preflattened_buffer(", b.buffer, ", ", [&] { details(b.declared); }, ")");
  }

  void body(const Stmt& s) {
    const BlockRealize* root = s.as<BlockRealize>();
    const bool is_implicit = root && root->block->iters.empty() && is_true(root->predicate) &&
                             root->block->annotations.empty() && root->block->reads.empty() &&
                             root->block->writes.empty() && !root->block->init &&
                             root->block->match_buffers.empty() && root->block->name == "root";
    if (is_implicit) {
      line("# with T.block(\"root\")", is_modern() ? ":" : "");
      allocations(*root->block);
    }
    const Stmt& rest = is_implicit ? root->block->body : s;
    return is_nop(rest) ? line("T.evaluate(0)") : stmt(rest);
  }

  // ---- loops ----

  void loop(const For& n) {
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
    // The extents are outside the loops, so they are printed before the variables get names.
    const std::string extents =
        text_of([&] { separated(nest, [&](const For* l) { put(l->extent); }); });
    line(
        "for ",
        [&] {
          separated(nest, [&](const For* l) {
            put(names_.define(&l->var.node(), l->var.name(), "v"));
            loops_.insert_or_assign(&l->var.node(), Range::from_min_extent(l->min, l->extent));
          });
        },
        " in ", [&] { nest.size() > 1 ? put("T.grid(", extents, ")") : iterations(n); }, ":");
    indented(nest.back()->body);
    for (const For* l : nest) names_.release(&l->var.node()), loops_.erase(&l->var.node());
  }

  void iterations(const For& n) {
    static constexpr std::array kKinds = {"T.serial(", "T.parallel(", "T.vectorized(", "T.unroll(",
                                          "T.thread_binding("};
    const LoopTraits& traits = traits_of(n);
    const bool is_range = is_modern() && n.kind == ForKind::Serial && traits.annotations.empty();
    put(is_range ? "range(" : kKinds[static_cast<std::size_t>(n.kind)]);
    if (is_zero(n.min))
      put(n.extent);
    else
      put(n.min, ", ", n.min + n.extent);
    if (traits.thread) put(", thread=", quoted(traits.thread->str()));
    if (!traits.annotations.empty()) put(", annotations="), notes(traits.annotations);
    put(")");
  }

  // ---- blocks ----

  void block(const BlockRealize& n) {
    const Block& b = *n.block;
    line("with T.block(", b.name.empty() ? "" : quoted(b.name), "):");
    const bool was_last = std::exchange(is_last_, true);
    indent_ += 4;
    axes(n);
    if (!is_true(n.predicate)) line("T.where(", n.predicate, ")");
    // Matched buffers have no names yet, so regions use the original buffers.
    const auto regions = [&](const char* head, const std::vector<BufferRegion>& list) {
      line(
          head, [&] { separated(list, [&](const BufferRegion& r) { region(r); }); }, ")");
    };
    regions("T.reads(", b.reads);
    regions("T.writes(", b.writes);
    if (!b.annotations.empty())
      line(
          "T.block_attr(", [&] { notes(b.annotations); }, ")");
    allocations(b);
    for (const MatchBuffer& m : b.match_buffers)
      line(names_.define(m.buffer.get(), m.buffer->name, "buf_"), " = ", [&] { matched(m); });
    if (b.init) line("with T.init():"), indented(*b.init);
    indent_ -= 4;
    indented(b.body);
    is_last_ = was_last;
    for (const IterVar& axis : b.iters) names_.release(&axis.var().node());
  }

  /// Whether the iterator is spatial or reduction and bound to a loop over exactly its domain.
  bool is_remap(const IterVar& axis, const Expr& value) const {
    if (axis.kind() != IterKind::DataParallel && axis.kind() != IterKind::Reduce) return false;
    const auto loop = loops_.find(&value.node());
    return loop != loops_.end() && structural_equal(loop->second.min, axis.dom()->min) &&
           structural_equal(loop->second.extent, axis.dom()->extent);
  }

  void axes(const BlockRealize& n) {
    const std::vector<IterVar>& iters = n.block->iters;
    // Binding values are outside the block, so they are printed before its iterators get names.
    std::vector<std::string> values;
    for (const Expr& value : n.values) values.push_back(text_of(value));
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
        names += (names.empty() ? "" : ", ") + name(iters[first].var());
        kinds += iters[first].kind() == IterKind::Reduce ? "R" : "S";
        loops += (loops.empty() ? "" : ", ") + values[first];
      }
      line(names, " = T.axis.remap(\"", kinds, "\", [", loops, "])");
    }
  }

  void axis(const IterVar& axis, const std::string& value) {
    const Range& dom = *axis.dom();
    const char* kind = axis.kind() == IterKind::DataParallel ? "spatial("
                       : axis.kind() == IterKind::Reduce     ? "reduce("
                       : axis.kind() == IterKind::Ordered    ? "scan("
                                                             : "opaque(";
    const std::string range = is_zero(dom.min)
                                  ? text_of(dom.extent)
                                  : text_of("(", dom.min, ", ", dom.min + dom.extent, ")");
    line(axis.var(), " = T.axis.", kind, range, ", ", value, ")");
  }

  // ---- other statements ----

  void let(const Let& n) {
    const std::string value = text_of(n.value);
    const std::string name = names_.define(&n.var.node(), n.var.name(), "v");
    if (is_last_)
      line(name, ": T.", n.var.dtype(), " = ", value), stmt(n.body);
    else
      line("with T.let(", name, ", ", value, "):"), indented(n.body);
    names_.release(&n.var.node());
  }

  /// Prints an allocation. It gets the name of the buffer that covers the whole allocation.
  void allocate(const Allocate& n) {
    std::optional<Buffer> over;
    auto look = [&](const Buffer& b) {
      if (!over && b->data.same_as(n.data)) over = b;
    };
    walk(
        n.body, [&](const Load& load) { look(load.buffer); },
        [&](const Store& store) { look(store.buffer); });
    const std::string name = names_.define(&n.data.node(), n.data.name(), "v");
    if (over) names_.define_as(over->get(), name);
    line(
        name, " = T.allocate([", n.extents, "], \"", n.dtype, "\", \"",
        to_string(memory_scope(n.data)), "\"",
        [&] {
          if (!is_true(n.condition)) put(", ", n.condition);
        },
        ")");
    stmt(n.body);
  }

  std::string subject(const Attr& n) {
    return match(
        n.subject, [&](const Expr& e) { return text_of(e); },
        [&](const IterVar& axis) {
          const std::string tag = axis.thread() ? ", " + quoted(axis.thread()->str()) : "";
          return text_of("T.iter_var(", axis.var(), tag, ")");
        },
        [&](const Buffer& b) { return name(b); },
        [&](const CommReducer& r) { return quoted(r->name); });
  }
};

}  // namespace

std::string print_script(const IRModule& module, ScriptStyle style) {
  const bool is_modern = style == ScriptStyle::Modern;
  ScriptPrinter printer(style, 4);
  printer.put(is_modern ? "# from tvm.script import ir as I\n" : "",
              "# from tvm.script import tir as T\n",
              is_modern ? "\n@I.ir_module\n" : "@tvm.script.ir_module\n", "class Module:\n");
  bool is_first = true;
  for (const auto& [name, func] : module.functions) {
    if (!std::exchange(is_first, false)) printer.put(is_modern ? "\n" : "    \n");
    printer.function(func, name);
  }
  // An empty module needs a body in Python.
  printer.put(is_first ? "    pass\n" : "", is_modern ? "" : "    \n");
  return printer.text;
}

std::string print_script(const PrimFunc& func, ScriptStyle style) {
  ScriptPrinter printer(style);
  printer.put("# from tvm.script import tir as T\n", style == ScriptStyle::Modern ? "\n" : "");
  printer.function(func, func.attrs.global_symbol.empty() ? "func" : func.attrs.global_symbol);
  return printer.text;
}

std::string print_script(const Stmt& stmt) {
  ScriptPrinter printer(ScriptStyle::V09);
  printer.stmt(stmt);
  return printer.text;
}

std::string print_script(const Expr& e) { return ScriptPrinter(ScriptStyle::V09).text_of(e); }

}  // namespace tenon::s_tir
