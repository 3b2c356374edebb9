#include "tenon/codegen/signature.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tenon/support/error.h"
#include "tenon/tir/launch.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

namespace {

/// The uses of a data pointer in a body.
struct Use {
  bool reads = false;
  bool writes = false;
  bool has_narrow_index = false;
  /// The alignment in bytes that kernels require.
  int alignment = 1;
};
/// Keys are data pointers.
using Uses = std::unordered_map<const ExprNode*, Use>;

/// Whether the index is computed in 32 bits. A constant is not computed.
bool is_narrow(const Expr& index) { return index.dtype().bits <= 32 && !constant_int(index); }

/// Adds the kernel's uses of its parameters to the uses of the arguments that are passed for them.
void add_uses_of_launch(const Call& call, const KernelCode& kernels, Uses& uses) {
  const auto& name = call.args[kLaunchName].as<StringImm>()->value;
  const runtime::FunctionSpec& kernel = kernels.functions[number_of_kernel(kernels, name)];
  for (std::size_t n = 0; n < kernel.params.size(); ++n) {
    const auto* array = std::get_if<runtime::ArraySpec>(&kernel.params[n].type);
    const Expr& data = call.args[kLaunchArguments + n];
    if (!array || !data.as<VarNode>()) continue;
    Use& use = uses[&data.node()];
    use.reads |= array->access != runtime::Access::Write;
    use.writes |= array->access != runtime::Access::Read;
    use.has_narrow_index |= array->index_bits == 32;
    use.alignment = std::max(use.alignment, array->alignment);
  }
}

void add_uses(const Expr& e, const KernelCode* kernels, bool in_prefetch, Uses& uses) {
  if (e.as<VarNode>()) {
    // If the pointer itself is used as a value, the memory may be read and written anywhere.
    if (e.dtype().is_handle()) uses[&e.node()].reads = uses[&e.node()].writes = true;
    return;
  }
  if (const Load* load = e.as<Load>()) {
    Use& use = uses[&load->buffer->data.node()];
    use.reads = true;
    use.has_narrow_index |= std::ranges::any_of(load->indices, is_narrow);
  }
  const Call* call = e.as<Call>();
  if (call && kernels && call->is(Intrin::launch_kernel))
    return add_uses_of_launch(*call, *kernels, uses);
  if (call && call->is(Intrin::tvm_access_ptr) && call->args[1].as<VarNode>()) {
    const std::int64_t mask = constant_int(call->args[4]).value_or(3);
    Use& use = uses[&call->args[1].node()];
    use.reads |= (mask & 1) != 0;
    use.writes |= (mask & 2) != 0;
    return add_uses(call->args[2], kernels, in_prefetch, uses);
  }
  if (call && call->is(Intrin::address_of)) {
    const Load* load = call->args[0].as<Load>();
    if (load && !in_prefetch) uses[&load->buffer->data.node()].writes = true;
  }
  const bool is_prefetch = call && call->is(Intrin::prefetch);
  for_each_child(e, [&](const Expr& c) { add_uses(c, kernels, is_prefetch, uses); });
}

/// Adds the uses in the statement. If `kernels` is not null, these are the launched kernels.
void add_uses(const Stmt& s, const KernelCode* kernels, Uses& uses) {
  if (const Store* store = s.as<Store>()) {
    Use& use = uses[&store->buffer->data.node()];
    use.writes = true;
    use.has_narrow_index |= std::ranges::any_of(store->indices, is_narrow);
  }
  for_each_child(
      s, [&](const Expr& e) { add_uses(e, kernels, false, uses); },
      [&](const Stmt& c) { add_uses(c, kernels, uses); });
}

class SignatureMaker {
 public:
  SignatureMaker(const PrimFunc& func, int argument_alignment, const KernelCode* kernels)
      : func_(func), argument_alignment_(argument_alignment), kernels_(kernels) {
    add_uses(func.body, kernels, uses_);
  }

  Signature run(std::string symbol) {
    result_.spec.name = func_.attrs.global_symbol;
    result_.spec.symbol = std::move(symbol);
    name_params();
    for (std::size_t n = 0; n < func_.params.size(); ++n)
      if (const BufferParam* array = func_.buffer_of(func_.params[n]))
        bind_sizes(static_cast<int>(n), array->declared);
    for (std::size_t n = 0; n < func_.params.size(); ++n) add_param(static_cast<int>(n));
    check_all_bound();
    return std::move(result_);
  }

 private:
  // ---- names ----

  std::string unique(const std::string& wanted) {
    std::string name = wanted;
    for (int n = 1; !taken_.insert(name).second; ++n) name = wanted + "_" + std::to_string(n);
    return name;
  }

  void name_params() {
    for (const Var& param : func_.params) {
      const BufferParam* array = func_.buffer_of(param);
      param_names_.push_back(unique(array ? array->declared->name : param.name()));
      if (array) continue;
      if (param.dtype().is_integral()) symbols_[&param.node()] = param_names_.back();
      bound_.insert(&param.node());
    }
  }

  // ---- sizes ----

  /// Returns the size if it is a variable, otherwise null.
  static const Expr* as_variable(const Expr& size) {
    if (size.as<VarNode>()) return &size;
    const Cast* cast = size.as<Cast>();
    return cast && cast->value.as<VarNode>() && size.dtype().bits >= cast->value.dtype().bits
               ? &cast->value
               : nullptr;
  }

  void bind_sizes(int param, const Buffer& buffer) {
    for (int d = 0; d < buffer->rank(); ++d)
      bind(buffer->shape[static_cast<std::size_t>(d)], extent_of(param, d));
    for (int d = 0; d < static_cast<int>(buffer->strides.size()); ++d)
      bind(buffer->strides[static_cast<std::size_t>(d)], stride_of(buffer, param, d));
    if (const Expr* offset = as_variable(buffer->elem_offset);
        offset && bound_.insert(&offset->node()).second)
      result_.zero_offsets.push_back(Var::of(*offset));
  }

  static ArgumentSize extent_of(int param, int dimension) {
    return {.param = param, .is_stride = false, .dimension = dimension};
  }

  static ArgumentSize stride_of(const Buffer& buffer, int param, int dimension) {
    const auto is_constant = [&](const std::vector<Expr>& sizes) {
      return constant_int(sizes[static_cast<std::size_t>(dimension)]).has_value();
    };
    return {.param = param,
            .is_stride = true,
            .dimension = dimension,
            .zero_if_extent_is_one = buffer->kind == BufferKind::AutoBroadcast &&
                                     !(is_constant(buffer->shape) && is_constant(buffer->strides))};
  }

  void bind(const Expr& size, const ArgumentSize& source) {
    const Expr* var = as_variable(size);
    if (!var) return;
    if (!symbols_.contains(&var->node())) symbols_[&var->node()] = unique(Var::of(*var).name());
    if (!bound_.insert(&var->node()).second) return;
    result_.sizes.push_back({.var = Var::of(*var), .size = source});
  }

  /// Whether the variable takes its value from this size of the argument.
  bool is_bound_to(const Expr& var, const ArgumentSize& source) const {
    return std::ranges::any_of(result_.sizes, [&](const SizeBinding& bound) {
      return bound.var.same_as(var) && bound.size == source;
    });
  }

  /// Returns the requirement on the size of the argument. If the runtime cannot check it, because
  /// it does not know the expression or whether the dimension is broadcast, adds a check to the
  /// generated code.
  runtime::Size size_of(const Expr& size, const ArgumentSize& source) {
    const Expr* var = as_variable(size);
    bool is_own_variable = false;
    if (source.zero_if_extent_is_one) {
      is_own_variable = var && is_bound_to(*var, source);
      if (is_own_variable && var->dtype().bits == 64) return runtime::AnySize{};
    } else if (const auto constant = constant_int(size)) {
      return *constant;
    } else if (var) {
      const DataType t = var->dtype();
      // Extents are nonnegative. An unsigned extent of 8 bits is therefore described as a signed
      // integer of 9 bits.
      const bool uses_sign_bit = t.is_uint() && t.bits < 32 && !source.is_stride;
      return runtime::Symbol{.name = symbols_.at(&var->node()),
                             .bits = t.bits + (uses_sign_bit ? 1 : 0)};
    }
    std::string fault =
        is_own_variable ? " does not fit " + var->dtype().str() : " is not " + print_expr(size);
    if (source.zero_if_extent_is_one && !is_own_variable)
      fault = ", or 0 if the extent is 1," + fault;
    const std::string& name = param_names_[static_cast<std::size_t>(source.param)];
    result_.checks.push_back({.size = source,
                              .expected = wide_size(size),
                              .message = "argument " + std::to_string(source.param + 1) + " `" +
                                         name + "` of `" + func_.attrs.global_symbol +
                                         "`: " + (source.is_stride ? "stride " : "extent ") +
                                         std::to_string(source.dimension) + fault});
    return runtime::AnySize{};
  }

  // ---- parameters ----

  void add_param(int n) {
    const Var& param = func_.params[static_cast<std::size_t>(n)];
    const BufferParam* array = func_.buffer_of(param);
    if (param.dtype().is_vector())
      throw LowerError("parameter `" + param.name() + "` of `" + func_.attrs.global_symbol +
                       "` is a vector, " + param.dtype().str() +
                       "; functions take scalars and arrays");
    runtime::ParamSpec spec{.name = param_names_[static_cast<std::size_t>(n)],
                            .type = runtime::ScalarSpec{param.dtype()}};
    if (array) spec.type = array_spec(n, *array);
    result_.spec.params.push_back(std::move(spec));
  }

  runtime::ArraySpec array_spec(int n, const BufferParam& param) {
    const Buffer& buffer = param.declared;
    runtime::ArraySpec spec{.dtype = buffer->dtype};
    for (int d = 0; d < buffer->rank(); ++d)
      spec.shape.push_back(size_of(buffer->shape[static_cast<std::size_t>(d)], extent_of(n, d)));
    if (!buffer->strides.empty()) {
      spec.strides.emplace();
      for (int d = 0; d < buffer->rank(); ++d)
        spec.strides->push_back(
            size_of(buffer->strides[static_cast<std::size_t>(d)], stride_of(buffer, n, d)));
    }
    const Use& use = uses_[&param.buffer->data.node()];
    spec.access = !use.writes ? runtime::Access::Read
                  : use.reads ? runtime::Access::ReadWrite
                              : runtime::Access::Write;
    const int of_element = buffer->dtype.element().bytes();
    spec.alignment = buffer->data_alignment == BufferNode::kDefaultAlignment
                         ? std::max(argument_alignment_, of_element)
                         : buffer->data_alignment;
    if (kernels_) spec.alignment = std::max(spec.alignment, use.alignment);
    const auto is_constant = [](const Expr& e) { return constant_int(e).has_value(); };
    const bool has_fixed_size = std::ranges::all_of(buffer->shape, is_constant) &&
                                std::ranges::all_of(buffer->strides, is_constant);
    if (use.has_narrow_index && !has_fixed_size) spec.index_bits = 32;
    if (kernels_) spec.device = kernels_->device;
    spec.zero_byte_offset = spec.device == runtime::DeviceType::OpenCL;
    return spec;
  }

  void check_all_bound() {
    auto check = [&](const Var& var) {
      if (bound_.contains(&var.node()) || var.dtype().is_handle()) return;
      const std::string& name = var.name();
      const bool is_thread = name.starts_with("threadIdx.") || name.starts_with("blockIdx.");
      throw LowerError(
          "function `" + func_.attrs.global_symbol + "` uses variable `" + name + "`, " +
          (is_thread ? "the index of a thread to which no loop is bound; bind a loop to it first"
                     : "which is neither a parameter nor an extent or stride of one"));
    };
    for (const Var& var : free_vars(func_.body)) check(var);
    for (const SizeCheck& size : result_.checks)
      for (const Var& var : free_vars(size.expected)) check(var);
  }

  const PrimFunc& func_;
  int argument_alignment_;
  const KernelCode* kernels_;
  Uses uses_;
  Signature result_;
  std::unordered_set<std::string> taken_;
  std::vector<std::string> param_names_;
  std::unordered_map<const ExprNode*, std::string> symbols_;
  std::unordered_set<const ExprNode*> bound_;
};

}  // namespace

Expr wide_size(const Expr& size) {
  if (size.dtype().bits == 64) return size;
  if (const Binary* n = size.as<Binary>(); n && !is_comparison(n->op))
    return make_binary(n->op, wide_size(n->a), wide_size(n->b));
  return cast(Int(64), size);
}

Signature signature_of(const PrimFunc& func, std::string symbol, int argument_alignment,
                       const KernelCode* kernels) {
  return SignatureMaker(func, argument_alignment, kernels).run(std::move(symbol));
}

}  // namespace tenon::codegen
