// Access to operations, stages and annotations under their TVM 0.9 names, for tenon.compat.tvm.
//
//    _compat.kind(C.op)           # "ComputeOp"
//    _compat.stage_fields(s[C])   # {"attach": "root", "relations": [...], ...}
#include "bindings/arguments.h"
#include "bindings/callback.h"
#include "bindings/rooms.h"
#include "tenon/driver/lower.h"
#include "tenon/interp/evaluate.h"
#include "tenon/support/match.h"
#include "tenon/te/operation_kind.h"
#include "tenon/te/schedule.h"
#include "tenon/te/stage_data.h"
#include "tenon/tir/block.h"
#include "tenon/tir/compare.h"

namespace tenon::python {

using tir::Expr;
using tir::Stmt;

namespace {

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

// ---- operations and schedules -------------------------------------------------------------------

const char* kind_of(const te::Operation& op) {
  return match(
      op.kind(), [](const te::Placeholder&) { return "PlaceholderOp"; },
      [](const te::Compute&) { return "ComputeOp"; }, [](const te::Scan&) { return "ScanOp"; },
      [](const te::Extern&) { return "ExternOp"; },
      [](const te::TensorCompute&) { return "TensorComputeOp"; });
}

/// Returns the fields that only operations of this kind have.
nb::dict fields_of(const te::Operation& op) {
  nb::dict fields;
  match(
      op.kind(),
      [&](const te::Placeholder& n) {
        fields["shape"] = n.shape;
        fields["dtype"] = n.dtype;
      },
      [](const te::Compute&) {},
      [&](const te::Scan& n) {
        fields["scan_axis"] = n.scan_axis;
        fields["init"] = n.init;
        fields["update"] = n.update;
        fields["state_placeholder"] = n.state;
        fields["spatial_axis_"] = n.spatial_axis;
      },
      [&](const te::Extern& n) {
        fields["input_placeholders"] = n.input_buffers;
        fields["output_placeholders"] = n.output_buffers;
        fields["body"] = n.body;
      },
      [&](const te::TensorCompute& n) { fields["schedulable_ndim"] = n.schedulable_ndim; });
  return fields;
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
      fields["tensor_intrin"] = nb::cast(*marks.tensorize);
    } else if (marks.run) {
      kind = te::run_text(*marks.run);
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
      },
      [&](const te::AttachScanUpdate& at) {
        fields["attach"] = "scan_update";
        fields["attach_ivar"] = nb::cast(at.axis);
      });
  return fields;
}

tir::Annotation annotation_of(nb::handle value) {
  const char* what = "the value of an attribute must be a number, a UTF-8 text or a list";
  const RecursionGuard guard(" in the value of an attribute");
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    std::vector<tir::Annotation> items;
    for (nb::handle each : value) items.push_back(annotation_of(each));
    return {std::move(items)};
  }
  if (PyUnicode_Check(value.ptr()))
    return {tir::make_string(argument_as<std::string>(value, what))};
  return {argument_as<tir::Operand>(value, what).alone()};
}

nb::dict function_attributes(const tir::PrimFunc& func) {
  nb::dict result = func.attrs.others ? annotations_dict(*func.attrs.others) : nb::dict();
  if (!func.attrs.global_symbol.empty()) result["global_symbol"] = func.attrs.global_symbol;
  if (func.attrs.noalias) result["tir.noalias"] = true;
  if (func.attrs.from_legacy_te_schedule) result["from_legacy_te_schedule"] = true;
  return result;
}

/// Returns the function with the attribute `key` set to `value`. None removes the attribute.
tir::PrimFunc with_attribute(tir::PrimFunc func, const std::string& key, nb::handle value) {
  const bool is_set = !value.is_none();
  if (key == "global_symbol") {
    func.attrs.global_symbol =
        is_set ? argument_as<std::string>(nb::str(value), "`global_symbol` must be a UTF-8 text")
               : "";
  } else if (key == "tir.noalias") {
    func.attrs.noalias = is_set && nb::cast<bool>(nb::bool_(value));
  } else if (key == "from_legacy_te_schedule") {
    func.attrs.from_legacy_te_schedule = is_set && nb::cast<bool>(nb::bool_(value));
  } else {
    tir::Annotations others = func.attrs.others ? *func.attrs.others : tir::Annotations();
    others.erase(key);
    if (is_set) others.emplace(key, annotation_of(value));
    func.attrs.others = std::make_shared<const tir::Annotations>(std::move(others));
  }
  return func;
}

/// An argument of the interpreter: a number, or an array as (address, type, shape).
using InterpretedArgument =
    std::variant<std::tuple<std::uintptr_t, DTypeLike, std::vector<std::int64_t>>, std::int64_t,
                 double>;

void interpret(const tir::PrimFunc& func, const std::vector<InterpretedArgument>& args) {
  std::vector<tir::HostValue> values;
  for (const InterpretedArgument& each : args) {
    if (const auto* integer = std::get_if<std::int64_t>(&each)) {
      values.emplace_back(*integer);
    } else if (const auto* number = std::get_if<double>(&each)) {
      values.emplace_back(*number);
    } else {
      const auto& [address, type, shape] = std::get<0>(each);
      values.emplace_back(tir::HostArray{reinterpret_cast<void*>(address), type, shape});
    }
  }
  const ReleasedGil release;
  tir::evaluate(func, values);
}

}  // namespace

void bind_compat(PyModule& parent) {
  PyModule m = parent.def_submodule("_compat", "Properties that tenon.compat.tvm shows.");
  m.def("kind", &kind_of, "op"_a, "TVM's name of the kind of an operation.");
  m.def("fields", &fields_of, "op"_a, "The fields that only this kind of operation has.");
  m.def("stage_fields", &stage_fields, "stage"_a,
        "The attachment, relations and marks of a stage.");
  m.def(
      "annotations",
      [](const Stmt& s) {
        if (const auto* loop = s.as<tir::For>())
          return annotations_dict(tir::traits_of(*loop).annotations);
        if (const auto* realize = s.as<tir::BlockRealize>())
          return annotations_dict(realize->block->annotations);
        return nb::dict();
      },
      "node"_a, "The annotations of a loop, or of a realization's block.");
  m.def(
      "annotations", [](const tir::Block& b) { return annotations_dict(b.annotations); },
      "block"_a);
  m.def("function_attributes", &function_attributes, "func"_a);
  m.def("with_attribute", &with_attribute, "func"_a, "key"_a, "value"_a.none(),
        "Returns the function with one attribute set, or removed for None.");
  m.def(
      "first_difference",
      [](const tir::PrimFunc& a, const tir::PrimFunc& b) -> std::string {
        const auto difference = tir::first_difference(a.body, b.body);
        return difference ? difference->what + ": " + difference->left + " / " + difference->right
                          : std::string();
      },
      "a"_a, "b"_a);
  m.def(
      "make_string", [](const std::string& text) { return tir::make_string(text); }, "text"_a);
  m.def("interpret", &interpret, "func"_a, "args"_a,
        "Interprets a function, also one with threads of a device, on host memory.");
  m.def(
      "with_body",
      [](tir::PrimFunc func, const Stmt& body) {
        func.body = body;
        return func;
      },
      "func"_a, "body"_a);
  m.def(
      "make_producer_load",
      [](const te::Tensor& tensor, const Operands& indices) {
        return tir::make_producer_load(tensor.producer(), to_exprs(indices));
      },
      "tensor"_a, "indices"_a);
  m.def(
      "lower_to_loops",
      [](const te::Schedule& s, const std::vector<LowerArgument>& args, const std::string& name) {
        return lower_to_loops(s, args, {.name = Name(name)}, here());
      },
      "schedule"_a, "args"_a, "name"_a = "main");
}

}  // namespace tenon::python
