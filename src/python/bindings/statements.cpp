// The bindings of buffers, statements, functions and the builder of loop programs.
#include "bindings/tir.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/parse.h"
#include "tenon/tir/print.h"
#include "tenon/tir/verify.h"

namespace tenon::python {

using tir::Buffer;
using tir::BufferRef;
using tir::Expr;
using tir::IRBuilder;
using tir::IRModule;
using tir::Operand;
using tir::PrimFunc;
using tir::Stmt;
using tir::Var;

namespace {

void bind_buffers(PyModule& tir) {
  using Indices = OneOrMore<Operand>;
  PyClass<Buffer>(tir, "Buffer", "Typed, shaped, strided memory behind a data pointer.")
      .def_prop_ro("name", &Buffer::name)
      .def_prop_ro("dtype", &Buffer::dtype)
      .def_prop_ro("shape", [](const Buffer& b) { return nb::tuple(nb::cast(b.shape())); })
      .def_prop_ro(
          "strides", [](const Buffer& b) { return nb::tuple(nb::cast(b.strides())); },
          "Strides in elements. Empty: compact and row-major.")
      .def_prop_ro("scope", [](const Buffer& b) { return std::string(to_string(b.scope())); })
      .def_prop_ro("data", [](const Buffer& b) { return b->data; })
      .def_prop_ro("elem_offset", [](const Buffer& b) { return b->elem_offset; })
      .def_prop_ro("offset_factor", [](const Buffer& b) { return b->offset_factor; })
      .def_prop_ro("data_alignment", [](const Buffer& b) { return b->data_alignment; })
      .def(
          "access_ptr",
          [](const Buffer& b, const std::string& mode, const Operand& offset) {
            return b.access_ptr(mode, offset.alone(), here());
          },
          "mode"_a, "offset"_a = 0,
          "Returns the address of the first element. `mode` is \"r\", \"w\" or \"rw\", `offset` is in "
          "elements.")
      .def(
          "vload",
          [](const Buffer& b, const Indices& begin, const std::optional<DTypeLike>& dtype) {
            return b.vload(to_exprs(begin.items),
                           dtype ? std::optional<DataType>(*dtype) : std::nullopt, here());
          },
          "begin"_a, "dtype"_a = nb::none(), "Loads consecutive elements, one per lane of `dtype`.")
      .def(
          "vstore",
          [](const Buffer& b, const Indices& begin, const Operand& value) {
            return b.vstore(to_exprs(begin.items), value.beside(b.dtype()), here());
          },
          "begin"_a, "value"_a, "Stores consecutive elements, one per lane of the value.")
      .def(
          "offset_of",
          [](const Buffer& b, const Indices& indices) {
            return b.offset_of(to_exprs(indices.items), here());
          },
          "indices"_a)
      .def(
          "__getitem__",
          [](const Buffer& b, const Indices& indices) {
            return b(to_exprs(indices.items), here());
          },
          "indices"_a)
      .def("same_as", &Buffer::same_as, "other"_a)
      .def_equality(&Buffer::same_as)
      .def("__hash__", [](const Buffer& b) { return std::hash<const void*>()(b.get()); })
      .def("__repr__", [](const Buffer& b) {
        std::string text = "Buffer(" + b.name() + ", " + b.dtype().str() + "[";
        for (const Expr& extent : b.shape())
          text += (text.back() == '[' ? "" : ", ") + tir::print_expr(extent);
        return text + "])";
      });
  tir.attr("Buffer").attr("__iter__") = nb::none();
  tir.def(
      "decl_buffer",
      [](const OneOrMore<Operand>& shape, const DTypeLike& dtype, const std::string& name,
         const std::optional<Var>& data, const Operands& strides,
         const std::optional<Operand>& elem_offset, const std::string& scope, int data_alignment,
         int offset_factor, const std::string& kind, const std::vector<int>& axis_separators) {
        if (kind != "default" && kind != "auto_broadcast")
          throw TypeError(
              "decl_buffer: kind must be \"default\" or \"auto_broadcast\", got \"" + kind + "\"",
              here());
        tir::BufferOptions options{
            .name = name,
            .data = data,
            .strides = to_exprs(strides),
            .scope = scope,
            .data_alignment = data_alignment,
            .offset_factor = offset_factor,
            .kind = kind == "default" ? tir::BufferKind::Default : tir::BufferKind::AutoBroadcast,
            .axis_separators = axis_separators};
        if (elem_offset) options.elem_offset = elem_offset->alone();
        return tir::decl_buffer(to_exprs(shape.items), dtype, options, here());
      },
      "shape"_a, "dtype"_a = DTypeLike{Float(32)}, "name"_a = "buffer", nb::kw_only(),
      "data"_a = nb::none(), "strides"_a = nb::tuple(), "elem_offset"_a = nb::none(),
      "scope"_a = "", "data_alignment"_a = 0, "offset_factor"_a = 0, "kind"_a = "default",
      "axis_separators"_a = std::vector<int>(), "Declares a buffer.");
}

void bind_functions(PyModule& m, PyModule& tir) {
  PyClass<Stmt>(m, "Stmt", "A statement of a loop program.")
      .def(
          "__init__", [](Stmt* self, nb::handle node) { new (self) Stmt(to_stmt(node)); }, "node"_a)
      .def_prop_ro(
          "node", [](const Stmt& s) { return node_of(s); },
          "The node as an object of its kind: For, Store, If, ...")
      .def("same_as", &Stmt::same_as, "other"_a)
      .def("__hash__", [](const Stmt& s) { return std::hash<const void*>()(&s.node()); })
      .def_equality(&Stmt::same_as)
      .def_text([](const Stmt& s) { return tir::print_stmt(s); });
  PyClass<PrimFunc>(m, "PrimFunc", "A function of the loop IR.")
      .def(
          "__init__",
          [](PrimFunc* self, const std::vector<Var>& params, const Stmt& body, nb::handle buffers,
             const std::string& name) {
            PrimFunc func{.params = params, .buffers = {}, .body = body};
            func.attrs.global_symbol = name;
            func.attrs.from_legacy_te_schedule = false;
            const auto pairs = pairs_from<Var, Buffer>(
                buffers, "PrimFunc: buffers must be a dict of parameters to buffers");
            for (const Var& param : params)
              for (const auto& [key, buffer] : pairs)
                if (key.same_as(param)) func.buffers.push_back({param, buffer, buffer});
            new (self) PrimFunc(std::move(func));
          },
          "params"_a, "body"_a, "buffers"_a = nb::none(), "name"_a = "main")
      .def_ro("params", &PrimFunc::params)
      .def_ro("body", &PrimFunc::body)
      .def_prop_ro("name", [](const PrimFunc& f) { return f.attrs.global_symbol; })
      .def_prop_ro(
          "form",
          [](const PrimFunc& f) {
            static constexpr const char* kForms[] = {"blocks", "multi_dimensional", "flat",
                                                     "lowered"};
            return kForms[static_cast<std::size_t>(f.form)];
          },
          "\"blocks\", \"multi_dimensional\", \"flat\" or \"lowered\".")
      .def_prop_ro(
          "buffers",
          [](const PrimFunc& f) {
            std::vector<std::pair<Var, Buffer>> pairs;
            for (const tir::BufferParam& each : f.buffers)
              pairs.emplace_back(each.param, each.declared);
            return pairs;
          },
          "The array parameters with their buffers.")
      .def(
          "with_name",
          [](const PrimFunc& f, const std::string& name) {
            PrimFunc named = f;
            named.attrs.global_symbol = name;
            return named;
          },
          "name"_a)
      .def(
          "verify",
          [](const PrimFunc& f) {
            std::vector<std::string> faults;
            for (const tir::Violation& each : tir::verify(f, f.form))
              faults.push_back(each.what + ": " + each.where);
            return faults;
          },
          "Returns the violations of the function's form; empty if it is well-formed.")
      .def_text([](const PrimFunc& f) { return text_of(f); });
  PyClass<IRModule>(m, "IRModule")
      .def(
          "__init__",
          [](IRModule* self, const std::map<std::string, PrimFunc>& functions) {
            new (self) IRModule{functions};
            for (auto& [name, func] : self->functions)
              if (func.attrs.global_symbol.empty()) func.attrs.global_symbol = name;
          },
          "functions"_a = std::map<std::string, PrimFunc>())
      .def_prop_ro("functions", [](const IRModule& module) { return module.functions; })
      .def(
          "__getitem__",
          [](const IRModule& module, const std::string& name) {
            const auto found = module.functions.find(name);
            if (found == module.functions.end()) throw nb::key_error(name.c_str());
            return found->second;
          },
          "name"_a)
      .def("__contains__", [](const IRModule& module,
                              const std::string& name) { return module.functions.contains(name); })
      .def("__len__", [](const IRModule& module) { return module.functions.size(); })
      .def_text([](const IRModule& module) { return text_of(module); });

  tir.def("structural_equal",
          nb::overload_cast<const PrimFunc&, const PrimFunc&>(&tir::structural_equal), "a"_a, "b"_a,
          "Whether two trees are equal up to the names of what they define.");
  tir.def(
      "structural_equal",
      [](const IRModule& a, const IRModule& b) {
        if (a.functions.size() != b.functions.size()) return false;
        for (const auto& [name, func] : a.functions) {
          const auto other = b.functions.find(name);
          if (other == b.functions.end() || !tir::structural_equal(func, other->second))
            return false;
        }
        return true;
      },
      "a"_a, "b"_a);
  tir.def("structural_equal", nb::overload_cast<const Stmt&, const Stmt&>(&tir::structural_equal),
          "a"_a, "b"_a);
  tir.def(
      "structural_equal",
      [](const Operand& a, const Operand& b) {
        return tir::structural_equal(a.alone(), b.alone());
      },
      "a"_a, "b"_a);
  tir.def("print_legacy", nb::overload_cast<const Expr&>(&tir::print_legacy), "value"_a);
  tir.def("print_legacy", nb::overload_cast<const Stmt&>(&tir::print_legacy), "value"_a);
  tir.def("print_legacy", nb::overload_cast<const tir::IterVar&>(&tir::print_legacy), "value"_a);
  tir.def("print_legacy", nb::overload_cast<const tir::Range&>(&tir::print_legacy), "value"_a);
  tir.def(
      "parse_expr",
      [](const std::string& text, const std::vector<Var>& vars) {
        return tir::parse_expr(text, vars);
      },
      "text"_a, "vars"_a = std::vector<Var>(), "Parses the text of an expression.");
  tir.def(
      "parse_module", [](const std::string& text) { return tir::parse_module(text); }, "text"_a,
      "Parses the text of a module.");
  tir.def("make_nop", &tir::make_nop);
  tir.def("make_seq", &tir::make_seq, "stmts"_a);
}

// ---- the builder --------------------------------------------------------------------------------

/// A scope of a builder, which Python uses as a context manager.
struct BuilderScope {
  IRBuilder builder;
  /// Opens the scope. Returns the object that `with ... as` binds.
  std::function<nb::object(IRBuilder&)> open;
};

tir::ElementRef element(const BufferRef& of, const OneOrMore<Operand>& indices) {
  const Operands& items = indices.items;
  switch (items.size()) {
    case 0:
      return of[{}];
    case 1:
      return of[items[0]];
    case 2:
      return of[{items[0], items[1]}];
    case 3:
      return of[{items[0], items[1], items[2]}];
    case 4:
      return of[{items[0], items[1], items[2], items[3]}];
    case 5:
      return of[{items[0], items[1], items[2], items[3], items[4]}];
    case 6:
      return of[{items[0], items[1], items[2], items[3], items[4], items[5]}];
    default:
      throw TypeError("an element of a buffer under construction has at most 6 indices, got " +
                          std::to_string(items.size()),
                      here());
  }
}

void bind_builder(PyModule& tir) {
  PyClass<BuilderScope>(tir, "BuilderScope", "An open scope of an IRBuilder, for `with`.")
      .def("__enter__", [](BuilderScope& scope) { return scope.open(scope.builder); })
      .def(
          "__exit__",
          [](BuilderScope& scope, nb::handle type, nb::handle, nb::handle) {
            if (type.is_none()) {
              scope.builder.close_scope(here());
            } else {
              scope.builder.abandon_scope();
            }
          },
          "type"_a.none(), "value"_a.none(), "traceback"_a.none());
  PyClass<BufferRef>(tir, "BufferRef")
      .def_prop_ro("buffer", [](const BufferRef& b) { return b.buffer(); })
      .def(
          "__getitem__",
          [](const BufferRef& b, const OneOrMore<Operand>& indices) {
            return static_cast<Expr>(element(b, indices));
          },
          "indices"_a)
      .def(
          "__setitem__",
          [](const BufferRef& b, const OneOrMore<Operand>& indices, const Operand& value) {
            element(b, indices) = value;
          },
          "indices"_a, "value"_a);
  tir.attr("BufferRef").attr("__iter__") = nb::none();
  PyClass<IRBuilder>(tir, "IRBuilder",
                     "Builds loop programs by hand:\n\n"
                     "    ib = tir.IRBuilder()\n"
                     "    b, c = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])\n"
                     "    with ib.for_range(0, n, \"i\", kind=\"parallel\") as i:\n"
                     "        c[i] = b[i] + 1\n"
                     "    return ib.get()")
      .def(nb::init<>())
      .def(
          "for_range",
          [](const IRBuilder& ib, const Operand& begin, const Operand& end, const std::string& name,
             const std::string& kind, const DTypeLike& dtype) {
            const tir::ForOptions options{.kind = to_for_kind(kind, "for_range: kind"),
                                          .dtype = dtype};
            return BuilderScope{ib, [=](IRBuilder& builder) {
                                  return nb::cast(builder.open_for(begin, end, name, options));
                                }};
          },
          "begin"_a, "end"_a, "name"_a = "i", "kind"_a = "serial", "dtype"_a = DTypeLike{Int(32)},
          "A loop over [begin, end), as the variable.")
      .def(
          "while_loop",
          [](const IRBuilder& ib, const Operand& condition) {
            return BuilderScope{ib, [=](IRBuilder& builder) -> nb::object {
                                  builder.open_while(condition);
                                  return nb::none();
                                }};
          },
          "condition"_a)
      .def(
          "if_scope",
          [](const IRBuilder& ib, const Operand& condition) {
            return BuilderScope{ib, [=](IRBuilder& builder) -> nb::object {
                                  builder.open_if(condition);
                                  return nb::none();
                                }};
          },
          "condition"_a)
      .def(
          "else_scope",
          [](const IRBuilder& ib) {
            return BuilderScope{ib, [](IRBuilder& builder) -> nb::object {
                                  builder.open_else(here());
                                  return nb::none();
                                }};
          },
          "The else branch of the preceding if_scope.")
      .def(
          "let",
          [](IRBuilder& ib, const std::string& name, const Operand& value) {
            return ib.let(name, value);
          },
          "name"_a, "value"_a)
      .def(
          "allocate",
          [](IRBuilder& ib, const DTypeLike& dtype, const OneOrMore<Operand>& shape,
             const std::string& name, const std::string& scope) {
            return ib.allocate(dtype, to_exprs(shape.items), name, scope, here());
          },
          "dtype"_a, "shape"_a, "name"_a = "buf", "scope"_a = "global")
      .def("buffer_ptr", with_line(&IRBuilder::buffer_ptr), "buffer"_a)
      .def(
          "scope_attr",
          [](IRBuilder& ib, const std::variant<tir::IterVar, std::string>& subject,
             const std::string& kind, const std::optional<Operand>& value) {
            if (const auto* axis = std::get_if<tir::IterVar>(&subject)) {
              if (kind != "thread_extent" && kind != "virtual_thread")
                throw TypeError(
                    "scope_attr: an axis has a \"thread_extent\" or a \"virtual_thread\"", here());
              ib.scope_attr(*axis,
                            kind == "thread_extent" ? tir::AttrKind::ThreadExtent
                                                    : tir::AttrKind::VirtualThread,
                            value ? *value : Operand(1, here()));
            } else {
              ib.scope_attr(Name(std::get<std::string>(subject)),
                            value ? *value : Operand(1, here()));
            }
          },
          "subject"_a, "kind"_a = "", "value"_a = nb::none(),
          "Binds a thread axis over the rest of the scope, or applies a pragma by its key.")
      .def(
          "emit", [](IRBuilder& ib, const Stmt& stmt) { ib.emit(stmt); }, "stmt"_a)
      .def(
          "emit", [](IRBuilder& ib, const Expr& call) { ib.emit(call, here()); }, "call"_a)
      .def("get", with_line(&IRBuilder::get));
}

}  // namespace

void bind_statements(PyModule& m, PyModule& tir) {
  bind_buffers(tir);
  bind_functions(m, tir);
  bind_nodes(tir);
  bind_builder(tir);
}

}  // namespace tenon::python
