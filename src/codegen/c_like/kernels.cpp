#include "tenon/codegen/c_like/kernels.h"

#include <algorithm>

#include "codegen/c_like/function_emitter.h"
#include "tenon/codegen/c_like/nvrtc.h"
#include "tenon/support/error.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

/// Emits a kernel as a function in the text of `module`.
class KernelTextEmitter {
 public:
  KernelTextEmitter(TextEmitter& module, const PrimFunc& kernel, std::optional<int> max_registers)
      : module_(module),
        max_registers_(max_registers),
        kernel_(kernel),
        used_as_data_(data_variables(kernel.body)),
        name_(module.names().take(kernel.attrs.global_symbol)),
        emitter_(module, used_as_data_, name_, kernel.attrs.noalias && num_updated_arrays_ == 0) {}

  /// Returns the kernel's accesses to its parameters, and their alignment.
  runtime::FunctionSpec function() const {
    runtime::FunctionSpec function = signature_.spec;
    for (std::size_t n = 0; n < function.params.size(); ++n)
      if (auto* array = std::get_if<runtime::ArraySpec>(&function.params[n].type))
        if (const auto aligned = emitter_.aligned_params_.find(param_names_[n]);
            aligned != emitter_.aligned_params_.end())
          array->alignment = aligned->second;
    return function;
  }

  runtime::KernelSpec run() {
    spec_.name = name_;
    for (std::size_t n = 0; n < kernel_.params.size(); ++n) add_param(n);
    emitter_.comment_stages(kernel_);
    emitter_.kernel_body(kernel_.body);
    spec_.has_dynamic_shared = emitter_.has_dynamic_shared_;
    if (spec_.has_dynamic_shared) add_dynamic_shared();
    module_.add_function(emitter_.function(prefix() + name_ + "(" + list_of_params() + ")"));
    return std::move(spec_);
  }

 private:
  void add_param(std::size_t n) {
    const Var& param = kernel_.params[n];
    CVariable variable{.name = emitter_.names().take(signature_.spec.params[n].name)};
    param_names_.push_back(variable.name);
    std::string type;
    if (const BufferParam* array = kernel_.buffer_of(param)) {
      const auto& spec = std::get<runtime::ArraySpec>(signature_.spec.params[n].type);
      variable.pointee = (spec.access == runtime::Access::Read ? "const " : "") +
                         memory_type(module_.dialect(), array->buffer->dtype);
      const DeviceDialect& device = *module_.dialect().device;
      variable.space = device.of_global;
      if (kernel_.attrs.noalias && num_updated_arrays_ > 0 && device.has_ptx) {
        variable.is_opaque = spec.access == runtime::Access::Read;
        variable.is_restrict = variable.is_opaque || num_updated_arrays_ == 1;
      }
      emitter_.define(array->buffer->data, variable);
      emitter_.define(array->declared->data, variable);
      spec_.params.push_back(Handle());
    } else {
      // OpenCL does not allow bool parameters of kernels. 16-bit floats are passed as float32.
      const DataType t = param.dtype();
      const DataType passed = t.is_bool()                       ? UInt(8)
                              : t.is_floating() && t.bits == 16 ? Float(32)
                                                                : t;
      variable.is_index = t.is_int() && t.bits >= 32 && !used_as_data_.contains(&param.node());
      type = "const " + value_type(module_.dialect(), passed);
      spec_.params.push_back(passed);
      if (emitter_.is_native_half(t)) {
        params_.push_back(type + " " + variable.name);
        const std::string value = emitter_.bind(variable.name, t, cast_to("half", {variable.name}));
        return emitter_.define(param, {.name = value});
      }
    }
    params_.push_back(emitter_.declaration(type, variable));
    emitter_.define(param, std::move(variable));
  }

  void add_dynamic_shared() {
    const DeviceDialect& device = *module_.dialect().device;
    const std::string type = memory_type(module_.dialect(), UInt(8));
    if (device.dynamic_shared_is_parameter) {
      // OpenCL requires memory to be aligned for the pointee type of the parameter.
      const std::string bytes = std::string(device.of_shared) + type + "*";
      params_.push_back(std::string(device.of_shared) + "ulong16* " + std::string(kSharedVectors));
      emitter_.out_.add_first(bytes + " const " + std::string(kDynamicShared) + " = (" + bytes +
                              ")" + std::string(kSharedVectors) + ";");
    } else {
      emitter_.out_.add_first("extern __shared__ __align__(32) " + type + " " +
                              std::string(kDynamicShared) + "[];");
    }
  }

  /// Returns the parameters in one line, or one per line if that line would be too long.
  std::string list_of_params() const {
    constexpr std::size_t kLongest = 80;
    std::size_t length = 0;
    for (const std::string& param : params_) length += param.size() + 2;
    std::string list;
    for (const std::string& param : params_) {
      if (!list.empty()) list += length > kLongest ? "," : ", ";
      if (length > kLongest) list += "\n    ";
      list += param;
    }
    return list;
  }

  /// Returns the prefix of the kernel's name. It states the number of threads per block if that is
  /// known.
  std::string prefix() const {
    const DeviceDialect& device = *module_.dialect().device;
    std::int64_t extents[3] = {1, 1, 1}, block_count = 1;
    bool is_known = true;
    std::string blocks;
    walk(kernel_.body, [&](const Attr& n) {
      if (is_pragma(n, PragmaKey::BlocksPerMultiprocessor)) {
        block_count = constant_int(n.value).value_or(1);
        blocks = ", " + std::to_string(block_count);
      }
      if (n.kind != AttrKind::ThreadExtent) return;
      const IterVar& axis = std::get<IterVar>(n.subject);
      if (!axis.thread() || !axis.thread()->is_thread() || !axis.thread()->dim) return;
      const auto extent = constant_int(n.value);
      is_known &= extent.has_value();
      extents[*axis.thread()->dim] = extent.value_or(1);
    });
    // The prefix cannot state an extent of 0. A kernel without threads is never launched.
    for (std::int64_t extent : extents) is_known = is_known && extent > 0;
    is_known = is_known && has_bounds(extents[0] * extents[1] * extents[2], block_count);
    std::string text(is_known ? device.kernel_of_known_size : device.kernel);
    replace_all(text, "$X", std::to_string(extents[0]));
    replace_all(text, "$Y", std::to_string(extents[1]));
    replace_all(text, "$Z", std::to_string(extents[2]));
    replace_all(text, "$N", std::to_string(extents[0] * extents[1] * extents[2]));
    replace_all(text, "$B", blocks);
    return text;
  }

  /// Whether the prefix may declare launch bounds. With launch bounds, NVRTC limits the registers
  /// per thread so that a block of this size fits, and it ignores `max_registers_`. Launch bounds
  /// are therefore omitted if `max_registers_` is the smaller limit.
  bool has_bounds(std::int64_t threads, std::int64_t blocks) const {
    constexpr std::int64_t kRegisters = 65536;
    return !max_registers_ ||
           kRegisters / std::max<std::int64_t>(threads * blocks, 1) <= *max_registers_;
  }

  TextEmitter& module_;
  const std::optional<int> max_registers_;
  const PrimFunc& kernel_;
  const VarSet used_as_data_;
  const std::string name_;
  const Signature signature_ = signature_of(kernel_, name_);
  /// The number of arrays that the kernel reads and writes. If there are any, at most one of them
  /// is declared __restrict__, and loads from read-only arrays are opaque. The reason is a fault in
  /// NVVM 7.0.1 (CUDA 13.0): it merges the loads of `c ? A[i] : B[i]` into one load from a selected
  /// address and keeps the alias information of one of them. It then deletes earlier stores to the
  /// other array, and reads that array through the read-only cache. Vector loads are not merged.
  const std::ptrdiff_t num_updated_arrays_ =
      std::ranges::count_if(signature_.spec.params, [](const runtime::ParamSpec& param) {
        const auto* array = std::get_if<runtime::ArraySpec>(&param.type);
        return array && array->access == runtime::Access::ReadWrite;
      });
  CFunctionEmitter emitter_;
  runtime::KernelSpec spec_;
  std::vector<std::string> param_names_;
  std::vector<std::string> params_;
};

namespace {

bool exchanges_values(const PrimFunc& kernel) {
  return any_node(kernel.body, [](const Call& n) {
    return n.is(Intrin::tvm_warp_shuffle) || n.is(Intrin::tvm_warp_shuffle_up) ||
           n.is(Intrin::tvm_warp_shuffle_down);
  });
}

}  // namespace

KernelCode emit_kernels(const std::vector<PrimFunc>& kernels, const TargetFacts& facts,
                        const CompileOptions& options) {
  internal_check(facts.is_gpu(), "kernels for a processor");
  const bool is_cuda = facts.kind == TargetKind::Cuda;
  KernelCode code{.device = is_cuda ? runtime::DeviceType::Cuda : runtime::DeviceType::OpenCL};
  const Dialect dialect = is_cuda ? cuda_c() : opencl_c(facts);
  TextEmitter module(dialect, {}, options);
  for (const PrimFunc& kernel : kernels) {
    KernelTextEmitter emitter(module, kernel, facts.max_registers);
    code.specs.push_back(emitter.run());
    if (exchanges_values(kernel)) code.specs.back().subgroup_size = facts.subgroup_size;
    code.functions.push_back(emitter.function());
  }
  code.text = module.kernels();
  if (is_cuda) compile_cuda(code, facts.arch, facts.max_registers);
  return code;
}

}  // namespace tenon::codegen
