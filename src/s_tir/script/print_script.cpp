#include <algorithm>

#include "s_tir/script/script_printer.h"
#include "tenon/support/match.h"
#include "tenon/tir/literal_text.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir {

using namespace tir;

namespace script {

namespace {

/// Whether a parameter's annotation describes the buffer completely: a compact buffer of constant
/// shape with memory of its own.
bool is_simple(const Buffer& b) {
  return b->strides.empty() && is_zero(b->elem_offset) && b->scope() == StorageScope::Global &&
         b->data_alignment == BufferNode::kDefaultAlignment && b->offset_factor == 1 &&
         b->kind == BufferKind::Default && b->axis_separators.empty() && b->rank() > 0 &&
         std::ranges::all_of(b->shape, [](const Expr& e) { return constant_int(e).has_value(); });
}

std::string function_name(const PrimFunc& func) {
  return func.attrs.global_symbol.empty() ? "func" : func.attrs.global_symbol;
}

}  // namespace

void Printer::function(const PrimFunc& func, const std::string& name, int indent) {
  indent_ = indent;
  line("@T.prim_func");
  std::string params;
  for (const Var& v : func.params) params += (params.empty() ? "" : ", ") + param(func, v);
  line("def " + name + "(" + params + ")" + (is_modern() ? ":" : " -> None:"));
  ++indent_;
  attributes(func.attrs, name);
  sizes(func);
  for (const BufferParam& b : func.buffers) buffer_param(b);
  comment("body");
  body(func.body);
  --indent_;
  // Each function has its own names.
  names_ = Names();
}

std::string Printer::param(const PrimFunc& func, const Var& v) {
  const BufferParam* b = func.buffer_of(v);
  if (!b || !is_simple(b->buffer))
    return text_.name(v) + ": T." + (v.dtype().is_handle() ? "handle" : v.dtype().str());
  const Buffer& buffer = b->buffer;
  std::string shape = text_.list(buffer->shape);
  if (buffer->rank() > 1) shape = "(" + shape + ")";
  if (buffer->rank() == 1 && is_modern()) shape = "(" + shape + ",)";
  const std::string name = names_.define(buffer.get(), buffer->name, "buf_");
  names_.define_as(&buffer->data.node(), name + ".data");
  const std::string type = shape + ", " + quoted(buffer->dtype.str());
  return name + ": T.Buffer" + (is_modern() ? "(" + type + ")" : "[" + type + "]");
}

void Printer::attributes(const PrimFunc::Attrs& attrs, const std::string& name) {
  Annotations all = attrs.others ? *attrs.others : Annotations();
  const bool says_symbol = !is_modern() || attrs.global_symbol != name;
  if (!attrs.global_symbol.empty() && says_symbol)
    all["global_symbol"] = {make_string(attrs.global_symbol)};
  if (attrs.noalias) all["tir.noalias"] = {make_true()};
  if (attrs.from_legacy_te_schedule) all["from_legacy_te_schedule"] = {make_true()};
  if (all.empty()) return;
  comment("function attr dict");
  std::string text;
  for (const auto& [key, value] : all)
    text += (text.empty() ? "" : ", ") + quoted(key) + ": " + text_.annotation(value);
  line("T.func_attr({" + text + "})");
}

void Printer::sizes(const PrimFunc& func) {
  bool is_first = true;
  auto define = [&](const Expr& e) {
    for (const Var& v : free_vars(e)) {
      if (names_.find(&v.node())) continue;
      if (std::exchange(is_first, false)) comment("var definition");
      const std::string name = names_.define(&v.node(), v.name(), "v"), type = v.dtype().str();
      line(name + (is_modern() ? " = T." + type + "()" : " = T.var(" + quoted(type) + ")"));
    }
  };
  for (const BufferParam& b : func.buffers) {
    for (const Expr& e : b.declared->shape) define(e);
    for (const Expr& e : b.declared->strides) define(e);
    if (!b.declared->elem_offset.as<VarNode>()) define(b.declared->elem_offset);
  }
}

void Printer::buffer_param(const BufferParam& b) {
  if (!is_simple(b.buffer))
    line(text_.name(b.buffer) + " = T.match_buffer(" + text_.name(b.param) + ", " +
         text_.buffer_details(b.buffer) + ")");
  if (b.declared.same_as(b.buffer)) return;
  const std::string name = text_.name(b.buffer);
  names_.define_as(b.declared.get(), name);
  line("T.preflattened_buffer(" + name + ", " + text_.buffer_details(b.declared) + ")");
}

void Printer::body(const Stmt& s) {
  const BlockRealize* root = s.as<BlockRealize>();
  const bool is_implicit = root && root->block->iters.empty() && is_true(root->predicate) &&
                           root->block->annotations.empty() && root->block->reads.empty() &&
                           root->block->writes.empty() && !root->block->init &&
                           root->block->match_buffers.empty() && root->block->name == "root";
  if (!is_implicit) return is_nop(s) ? line("T.evaluate(0)") : stmt(s);
  line(is_modern() ? "# with T.block(\"root\"):" : "# with T.block(\"root\")");
  allocations(*root->block);
  if (is_nop(root->block->body)) return line("T.evaluate(0)");
  stmt(root->block->body);
}

}  // namespace script

std::string print_script(const IRModule& module, ScriptStyle style) {
  const bool is_modern = style == ScriptStyle::Modern;
  std::string text = is_modern ? "# from tvm.script import ir as I\n" : "";
  text += "# from tvm.script import tir as T\n";
  text += is_modern ? "\n@I.ir_module\nclass Module:\n" : "@tvm.script.ir_module\nclass Module:\n";
  bool is_first = true;
  for (const auto& [name, func] : module.functions) {
    script::Printer printer(style);
    printer.function(func, name, 1);
    if (!std::exchange(is_first, false)) text += is_modern ? "\n" : "    \n";
    text += printer.out;
  }
  // An empty module still needs a body.
  if (is_first) text += "    pass\n";
  return is_modern ? text : text + "    \n";
}

std::string print_script(const PrimFunc& func, ScriptStyle style) {
  script::Printer printer(style);
  printer.function(func, script::function_name(func), 0);
  return "# from tvm.script import tir as T\n" +
         (style == ScriptStyle::Modern ? "\n" + printer.out : printer.out);
}

std::string print_script(const Stmt& stmt) {
  script::Printer printer(ScriptStyle::V09);
  printer.stmt(stmt);
  return printer.out;
}

std::string print_script(const Expr& e) { return script::Printer(ScriptStyle::V09).expr(e); }

}  // namespace tenon::s_tir
