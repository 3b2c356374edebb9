// Emits a function of the IR as two C functions: the computation, which C programs may call, and
// the packed function that the runtime calls (c_api.h), which unpacks the arguments.
#include "codegen/c_like/function_emitter.h"
#include "tenon/support/error.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

class PackedTextEmitter {
 public:
  PackedTextEmitter(TextEmitter& module, const PrimFunc& func, const Signature& signature)
      : module_(module),
        func_(func),
        signature_(signature),
        used_as_data_(data_variables(func.body)) {}

  void run() {
    const std::string wanted = as_identifier(signature_.spec.name);
    name_ = module_.names().take(is_reserved(wanted) ? wanted + "_compute" : wanted);
    emit_computation();
    emit_packed();
  }

 private:
  std::string type_of(DataType t) const { return value_type(module_.dialect(), t); }
  std::string memory_of(std::size_t n, const BufferParam& array) const {
    const auto& spec = std::get<runtime::ArraySpec>(signature_.spec.params[n].type);
    return (spec.access == runtime::Access::Read ? "const " : "") +
           memory_type(module_.dialect(), array.declared->dtype);
  }

  // ---- the computation ----

  void emit_computation() {
    CFunctionEmitter emitter(module_, used_as_data_, name_, func_.attrs.noalias);
    emitter.comment_stages(func_);
    emitter.sizes_ = &sizes_;
    std::string params, in_header;
    const auto add = [&](const std::string& text, const std::string& plain) {
      params += (params.empty() ? "" : ", ") + text;
      in_header += (in_header.empty() ? "" : ", ") + plain;
    };
    for (std::size_t n = 0; n < func_.params.size(); ++n) {
      const Var& param = func_.params[n];
      const BufferParam* array = func_.buffer_of(param);
      CVariable variable{.name = emitter.names().take(signature_.spec.params[n].name)};
      if (!array) {
        const std::string text = type_of(param.dtype()) + " " + variable.name;
        add(text, text);
        emitter.define(param, variable);
        continue;
      }
      variable.pointee = memory_of(n, *array);
      add(emitter.declaration("", variable), variable.pointee + "* " + variable.name);
      emitter.define(array->buffer->data, variable);
      emitter.define(array->declared->data, variable);
      emitter.define(param, variable);
    }
    for (const SizeBinding& size : signature_.sizes) {
      const std::string name = emitter.names().take(size.var.name());
      const std::string text = type_of(size.var.dtype()) + " " + name;
      add(text, text);
      emitter.define(size.var, {.name = name, .is_index = true});
    }
    for (const Var& offset : signature_.zero_offsets)
      emitter.define(offset, {.name = "0", .is_index = true});
    emitter.body(func_.body);
    if (params.empty()) params = in_header = "void";
    module_.add_function(emitter.function("int32_t " + name_ + "(" + params + ")"));
    module_.add_declaration("\n/* " + signature_comment(signature_.spec) + " */\nint32_t " + name_ +
                            "(" + in_header + ");\n");
  }

  // ---- the packed function ----

  void emit_packed() {
    CFunctionEmitter emitter(module_, used_as_data_, signature_.spec.symbol, func_.attrs.noalias);
    for (const char* name : {"args", "type_codes", "num_args"}) emitter.names().reserve(name);
    emitter.out_.add("(void)type_codes, (void)num_args;");
    for (std::size_t n = 0; n < func_.params.size(); ++n) unpack(emitter, n);
    for (const SizeBinding& size : signature_.sizes) {
      const Text value = value_of(size.size);
      const DataType t = size.var.dtype();
      const std::string name =
          emitter.bind(size.var.name(), t, t.bits == 64 ? value : cast_to(type_of(t), value));
      emitter.define(size.var, {.name = name, .is_index = true});
      arguments_.push_back(name);
    }
    for (const Var& offset : signature_.zero_offsets)
      emitter.define(offset, {.name = "0", .is_index = true});
    for (const SizeCheck& check : signature_.checks) emit_check(emitter, check);
    std::string arguments;
    for (std::size_t n = 0; n < arguments_.size(); ++n) {
      const BufferParam* array =
          n < func_.params.size() ? func_.buffer_of(func_.params[n]) : nullptr;
      arguments += (n ? ", " : "") + (array ? base_of(emitter, n, *array) : arguments_[n]);
    }
    emitter.out_.add("return " + name_ + "(" + arguments + ");");
    module_.add_packed(
        emitter.function("int32_t " + signature_.spec.symbol +
                         "(const TenonValue* args, const int32_t* type_codes, int32_t num_args)"));
  }

  void unpack(CFunctionEmitter& emitter, std::size_t n) {
    const Var& param = func_.params[n];
    const std::string slot = "args[" + std::to_string(n) + "]";
    const std::string& wanted = signature_.spec.params[n].name;
    if (func_.buffer_of(param)) {
      arguments_.push_back(emitter.names().take(wanted));
      emitter.out_.add("const DLTensor* const " + arguments_.back() + " = " + slot + ".p;");
      return;
    }
    const DataType t = param.dtype();
    if (t.is_handle()) {
      arguments_.push_back(emitter.names().take(wanted));
      emitter.out_.add("void* const " + arguments_.back() + " = " + slot + ".p;");
    } else {
      const bool is_floating = t.is_floating();
      const Text value =
          emitter.cast({slot + (is_floating ? ".f" : ".i")}, is_floating ? Float(64) : Int(64), t);
      arguments_.push_back(emitter.bind(wanted, t, value));
    }
    emitter.define(param, {.name = arguments_.back()});
  }

  Text part(int param, bool is_stride, int dimension) const {
    return {arguments_[static_cast<std::size_t>(param)] + (is_stride ? "->strides[" : "->shape[") +
            std::to_string(dimension) + "]"};
  }

  Text value_of(const ArgumentSize& size) const {
    const Text value = part(size.param, size.is_stride, size.dimension);
    if (!size.zero_if_extent_is_one) return value;
    return {
        part(size.param, /*is_stride=*/false, size.dimension).text + " == 1 ? 0 : " + value.text,
        Level::Choice};
  }

  void emit_check(CFunctionEmitter& emitter, const SizeCheck& check) {
    module_.use_runtime();
    const Text given = value_of(check.size);
    const Text wanted = emitter.index(check.expected);
    emitter.block("if (" + given.within(Level::Sum) + " != " + wanted.within(Level::Sum) + ")",
                  [&] {
                    emitter.out_.add("set_last_error(" + c_string(check.message) + ");");
                    emitter.out_.add("return 2;");
                  });
  }

  /// Returns the address of index 0. Indices include the offset of the first element, and the
  /// argument's data pointer is the address of the first element, so the offset is subtracted.
  std::string base_of(CFunctionEmitter& emitter, std::size_t n, const BufferParam& array) const {
    const Expr& offset = array.declared->elem_offset;
    const std::string data = arguments_[n] + "->data";
    if (is_zero(offset) || offset.as<VarNode>()) return data;
    const Text elements = emitter.index(wide_size(offset));
    const int lanes = array.declared->dtype.lanes;
    return "(" + memory_of(n, array) + "*)" + data + " - " + elements.within(Level::Unary) +
           (lanes > 1 ? " * " + std::to_string(lanes) : "");
  }

  TextEmitter& module_;
  const PrimFunc& func_;
  const Signature& signature_;
  const VarSet used_as_data_;
  const StmtSizes sizes_{func_.body};
  std::string name_;
  /// The arguments of the computation, in order.
  std::vector<std::string> arguments_;
};

void reserve_names(TextEmitter& module, const PrimFunc& func, const Signature& signature) {
  module.names().reserve(signature.spec.symbol);
  walk(func.body, [&](const Call& n) {
    if (const auto* callee = std::get_if<ExternCallee>(&n.callee))
      module.names().reserve(callee->name);
    if (n.is(Intrin::tvm_call_packed) && !n.args.empty())
      if (const StringImm* name = n.args[0].as<StringImm>()) module.names().reserve(name->value);
  });
}

void emit_c_function(TextEmitter& module, const PrimFunc& func, const Signature& signature) {
  PackedTextEmitter(module, func, signature).run();
}

}  // namespace tenon::codegen
