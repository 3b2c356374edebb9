#include "codegen/c_like/function_emitter.h"
#include "tenon/codegen/statements.h"
#include "tenon/runtime/c_api.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/support/error.h"
#include "tenon/support/match.h"
#include "tenon/tir/print.h"

namespace tenon::codegen {

using namespace tir;

Text CFunctionEmitter::emit(const Call& n, DataType type, const Lane& lane) {
  return match(
      n.callee,
      [&](Intrin intrin) {
        return is_kernel() ? device_intrin(intrin, n, type, lane)
                           : call_intrin(intrin, n, type, lane);
      },
      [&](const ExternCallee& callee) { return call_extern(callee, n, type); });
}

Text CFunctionEmitter::call_intrin(Intrin intrin, const Call& n, DataType type, const Lane& lane) {
  const Text none{"0"};
  if (is_of_devices(intrin)) refuse_device_intrinsic(intrin);
  switch (intrin) {
    case Intrin::if_then_else:
      if (auto extremum = choice_as_extremum(n.args[0], n.args[1], n.args[2], lane))
        return *extremum;
      return choose(
          expr(n.args[0], n.args[0].dtype().is_vector() ? lane : Lane{}),
          [&] { return expr(n.args[1], lane); }, [&] { return expr(n.args[2], lane); },
          type_of(type.element()));
    case Intrin::likely:
      return expr(n.args[0], lane);
    case Intrin::reinterpret:
      if (type.lanes != n.args[0].dtype().lanes)
        throw LowerError("C text has no reinterpret from " + n.args[0].dtype().str() + " to " +
                         type.str() + ", which has another number of lanes");
      return reinterpret(expr(n.args[0], lane), n.args[0].dtype().element(), type.element());
    case Intrin::address_of:
      return address_of(n.args[0]);
    case Intrin::tvm_access_ptr: {
      const DataType element = n.args[0].dtype();
      const Text base = pointer(n.args[1], element);
      Text offset = index(n.args[2]);
      if (is_zero(n.args[2])) return base;
      if (element.lanes > 1)
        offset = infix(offset, "*", {std::to_string(element.lanes)}, Level::Product);
      return infix(base, "+", offset, Level::Sum);
    }
    case Intrin::type_annotation:
      internal_error("a type annotation outside of tvm_access_ptr");
    case Intrin::handle_add_byte_offset:
      return infix(cast_to("char*", expr(n.args[0])), "+", index(n.args[1]), Level::Sum);
    case Intrin::isnullptr:
      return comparison(BinaryOp::Eq, expr(n.args[0]), {"NULL"});
    case Intrin::tvm_stack_make_array:
      return stack_array(n);
    case Intrin::tvm_stack_make_shape:
      return stack_shape(n);
    case Intrin::tvm_call_packed:
      return call_packed(n);
    case Intrin::tvm_tuple:
      for (const Expr& arg : n.args) emit(Evaluate{arg});
      return none;
    case Intrin::prefetch: {
      const auto hint = [&](std::size_t k, std::int64_t otherwise) {
        return Text{std::to_string(k < n.args.size() ? constant_int(n.args[k]).value_or(otherwise)
                                                     : otherwise)};
      };
      return call(module_.use_helper(Helper::Prefetch), {expr(n.args[0]), hint(1, 0), hint(2, 3)});
    }
    case Intrin::dp4a:
    case Intrin::launch_kernel:
      refuse_device_intrinsic(intrin);
    case Intrin::tvm_storage_sync:  // a single thread needs no barrier
      return none;
    case Intrin::call_llvm_intrin:
    case Intrin::call_llvm_pure_intrin:
      throw LowerError("an intrinsic of LLVM's is called, which C does not have; use target llvm");
    case Intrin::ret:
      return_value(cast_to(type_of(Int(32)), expr(n.args[0])));
      return none;
    default:
      if (is_bit_operation(intrin)) return bits_intrin(intrin, n, type.element(), lane);
      return math(intrin, n, type.element(), lane);
  }
}

// ---- addresses ----

Text CFunctionEmitter::address_of(const Expr& e) {
  const Load* load = e.as<Load>();
  if (!load) throw LowerError("address_of takes an element of a buffer, got " + print_expr(e));
  const Expr position = flat_index(load->buffer, load->indices);
  // A float16 element that vload_half accesses is not an lvalue, so its address is emitted as
  // pointer + offset.
  if (const auto [base, at] = place_of(load->buffer, position, Lane::at(0));
      is_loaded_by_function(load->buffer->dtype.element()))
    return infix(base, "+", at, Level::Sum);
  return {"&" + element(load->buffer, position, Lane::at(0)).text, Level::Unary};
}

// ---- C functions ----

Text CFunctionEmitter::call_extern(const ExternCallee& callee, const Call& n, DataType type) {
  const auto checked = [&](DataType t) {
    if (t.is_vector() || (t.is_floating() && t.bits == 16))
      throw LowerError("the extern function `" + callee.name + "` is called with or gives " +
                       t.str() + ", which C text cannot pass; use target llvm");
    return type_of(t);
  };
  if (is_kernel()) {
    // Calls a built-in function of the device's compiler.
    std::vector<Text> args;
    for (const Expr& arg : n.args) {
      checked(arg.dtype());
      args.push_back(expr(arg));
    }
    return call(callee.name, args);
  }
  std::string declaration = checked(type) + " " + callee.name + "(";
  std::vector<Text> args;
  for (const Expr& arg : n.args) {
    declaration += (args.empty() ? "" : ", ") + checked(arg.dtype());
    const Text value = expr(arg);
    args.push_back(arg.dtype().is_handle() && value.text.rfind("(void*)", 0) != 0
                       ? cast_to("void*", value)
                       : value);
  }
  module_.use_extern(callee.name, declaration + (args.empty() ? "void)" : ")"));
  return call(callee.name, args);
}

// ---- packed functions ----

Text CFunctionEmitter::stack_shape(const Call& n) {
  std::string extents;
  for (const Expr& arg : n.args) extents += (extents.empty() ? "" : ", ") + index(arg).text;
  const std::string name = names_.take("shape");
  out_.add("int64_t " + name + "[] = {" + (extents.empty() ? "0" : extents) + "};");
  return {name};
}

/// Emits a DLTensor from the arguments (data, shape, strides or 0, rank, a value of the element
/// type, offset in elements).
Text CFunctionEmitter::stack_array(const Call& n) {
  module_.use_call_types();
  const auto rank = constant_int(n.args[3]);
  internal_check(rank.has_value(), "the rank of an array is not constant");
  const std::string shape = expr(n.args[1]).text;
  std::string strides;
  if (n.args[2].dtype().is_handle()) {
    strides = expr(n.args[2]).text;
  } else {
    // c_api.h guarantees non-null strides, so the strides of a compact array are computed here.
    strides = names_.take("strides");
    out_.add("int64_t " + strides + "[" + std::to_string(std::max<std::int64_t>(1, *rank)) + "];");
    for (std::int64_t d = *rank; d-- > 0;) {
      const std::string next = "[" + std::to_string(d + 1) + "]";
      out_.add(strides + "[" + std::to_string(d) +
               "] = " + (d + 1 == *rank ? "1" : strides + next + " * " + shape + next) + ";");
    }
  }
  const DataType element = n.args[4].dtype();
  const DLDataType type = runtime::to_dlpack(element);
  const Text data = infix(pointer(n.args[0], element), "+", index(n.args[5]), Level::Sum);
  const std::string name = names_.take("array");
  out_.add("DLTensor " + name + " = {(void*)(" + data.text + "), {" + std::to_string(kDLCPU) +
           ", 0}, " + std::to_string(*rank) + ", {" + std::to_string(type.code) + ", " +
           std::to_string(type.bits) + ", " + std::to_string(type.lanes) + "}, " + shape + ", " +
           strides + ", 0};");
  return {"&" + name, Level::Unary};
}

/// Emits the call of a TenonPackedFunction by name: (name, arguments...).
Text CFunctionEmitter::call_packed(const Call& n) {
  const StringImm* name = n.args.empty() ? nullptr : n.args[0].as<StringImm>();
  if (!name) throw LowerError("tvm_call_packed takes the function's name first");
  module_.use_call_types();
  module_.use_extern(name->value,
                     "int32_t " + name->value + "(const TenonValue*, const int32_t*, int32_t)");
  const std::string arguments = names_.take("arguments"), kinds = names_.take("kinds");
  std::string values, codes;
  for (std::size_t k = 1; k < n.args.size(); ++k) {
    const Expr& arg = n.args[k];
    const DataType t = arg.dtype();
    const auto [code, negative_code] = argument_codes(arg);
    const bool is_tensor = code == kTenonTensor;
    const char* member = t.is_integral() ? "i" : t.is_floating() ? "f" : "p";
    const Text value = expr(arg);
    values +=
        (k > 1 ? ", " : "") + std::string("{.") + member + " = " +
        (t.is_handle() && !is_tensor ? cast_to("void*", value) : value).within(Level::Choice) + "}";
    codes += k > 1 ? ", " : "";
    if (negative_code != code)
      codes += arguments + "[" + std::to_string(k - 1) + "].i < 0 ? " +
               std::to_string(negative_code) + " : ";
    codes += std::to_string(code);
  }
  const bool is_empty = values.empty();
  out_.add("const TenonValue " + arguments + "[] = {" + (is_empty ? "{0}" : values) + "};");
  out_.add("const int32_t " + kinds + "[] = {" + (is_empty ? "0" : codes) + "};");
  check_status(name->value + "(" + arguments + ", " + kinds + ", " +
               std::to_string(n.args.size() - 1) + ")");
  return {"0"};
}

}  // namespace tenon::codegen
