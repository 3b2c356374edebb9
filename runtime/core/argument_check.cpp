#include "runtime/core/argument_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "runtime/arrays/element.h"
#include "runtime/arrays/layout.h"
#include "runtime/core/text.h"
#include "tenon/runtime/device_api.h"
#include "tenon/runtime/function.h"
#include "tenon/runtime/ndarray.h"

namespace tenon::runtime {

namespace {

// ---- arguments in messages ----------------------------------------------------------------------

// Views of tensors for checks, and text of arguments for messages.

inline std::span<const std::int64_t> shape_of(const DLTensor& tensor) {
  return {tensor.shape, static_cast<std::size_t>(tensor.ndim)};
}
/// Returns the strides. Precondition: the tensor has strides.
inline std::span<const std::int64_t> strides_of(const DLTensor& tensor) {
  return {tensor.strides, static_cast<std::size_t>(tensor.ndim)};
}

inline bool has_type(DLDataType given, DLDataType wanted) {
  if (given.code == wanted.code && given.bits == wanted.bits && given.lanes == wanted.lanes)
    return true;
  // Before DLPack had a code for bool, bools were passed as unsigned integers of one bit.
  return wanted.code == kDLBool && given.code == kDLUInt && given.bits == 1 &&
         given.lanes == wanted.lanes;
}

std::string describe(DLDataType dtype) {
  try {
    return from_dlpack(dtype).str();
  } catch (const RuntimeError&) {
    return "DLPack type " + std::to_string(dtype.code) + " of " + std::to_string(dtype.bits) +
           " bits";
  }
}

/// Returns the tensor. Precondition: the argument is a tensor.
const DLTensor& tensor_of(const Argument& arg) {
  return *static_cast<const DLTensor*>(arg.value().p);
}

/// Returns "float32[4, 3]", "the integer 5", "null".
std::string describe_given(const Argument& arg) {
  switch (arg.code()) {
    case kTenonInt:
      return "the integer " + std::to_string(arg.value().i);
    case kTenonUInt:
      return "the integer " + std::to_string(static_cast<std::uint64_t>(arg.value().i));
    case kTenonFloat:
      return "the number " + to_text(arg.value().f);
    case kTenonHandle:
      return "a pointer";
    case kTenonNull:
      return "null";
    case kTenonTensor: {
      const DLTensor& tensor = tensor_of(arg);
      if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr))
        return "a tensor without a shape";
      return describe(tensor.dtype) + to_text(shape_of(tensor));
    }
  }
  return "an argument with the unknown type code " + std::to_string(arg.code());
}

// ---- arrays of which only the address is unknown ------------------------------------------------

// Fast path for arrays whose specification fixes everything except the address. It produces no
// messages. Nearly all calls use it. It must be fast, because a short kernel itself takes no longer
// than the check.

/// Returns the extents; nullopt if one is not constant.
std::optional<std::vector<std::int64_t>> constant_extents(const std::vector<Size>& shape) {
  std::vector<std::int64_t> extents;
  for (const Size& size : shape) {
    const auto* extent = std::get_if<std::int64_t>(&size);
    if (!extent) return std::nullopt;
    extents.push_back(*extent);
  }
  return extents;
}

/// Returns the parameter as a known array; nullopt if it is something else.
std::optional<KnownArray> known_array(const ParamSpec& param) {
  const auto* array = std::get_if<ArraySpec>(&param.type);
  if (!array || array->strides || array->device != DeviceType::Cpu) return std::nullopt;
  const auto extents = constant_extents(array->shape);
  const auto alignment = static_cast<std::uintptr_t>(array->alignment);
  if (!extents || !std::has_single_bit(alignment)) return std::nullopt;
  // Every kernel supports arrays of at most 2^31 - 1 elements.
  const std::int64_t elements = count_elements(*extents).value_or(0);
  if (elements <= 0 || elements > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return KnownArray{.dtype = to_dlpack(array->dtype),
                    .shape = *extents,
                    .strides = compact_strides(*extents),
                    .bytes = static_cast<std::uintptr_t>(elements) *
                             static_cast<std::uintptr_t>(array->dtype.bytes()),
                    .alignment = alignment,
                    .is_written = array->access != Access::Read};
}

std::uintptr_t address_of(const Argument& arg) {
  return reinterpret_cast<std::uintptr_t>(tensor_of(arg).data);
}

bool fits(const KnownArray& expected, const Argument& arg) {
  if (arg.code() != kTenonTensor) return false;
  const DLTensor& tensor = tensor_of(arg);
  const std::span<const std::int64_t> shape = expected.shape, strides = expected.strides;
  const std::size_t dimensions = shape.size();
  if (!has_type(tensor.dtype, expected.dtype) ||
      tensor.ndim != static_cast<std::int32_t>(dimensions))
    return false;
  if (tensor.device.device_type != kDLCPU || tensor.device.device_id != 0) return false;
  if (tensor.byte_offset != 0 || tensor.data == nullptr ||
      (address_of(arg) & (expected.alignment - 1)) != 0)
    return false;
  if (dimensions > 0 && tensor.shape == nullptr) return false;
  for (std::size_t d = 0; d < dimensions; ++d)
    if (tensor.shape[d] != shape[d]) return false;
  for (std::size_t d = 0; tensor.strides != nullptr && d < dimensions; ++d)
    if (tensor.strides[d] != strides[d]) return false;
  return true;
}

/// Whether each written array is disjoint from all other arrays.
bool lie_apart(const std::vector<KnownArray>& expected, std::span<const Argument> args) {
  for (std::size_t n = 0; n < args.size(); ++n)
    for (std::size_t other = 0; other < n; ++other) {
      if (!expected[n].is_written && !expected[other].is_written) continue;
      const std::uintptr_t one = address_of(args[n]), two = address_of(args[other]);
      if (one < two + expected[other].bytes && two < one + expected[n].bytes) return false;
    }
  return true;
}

/// Whether the arguments match these arrays and written memory is disjoint from the rest. If so,
/// stores them in `result`. Otherwise leaves it unchanged, and CallCheck handles unusual arguments
/// and reports errors.
bool take_known_arrays(const std::vector<KnownArray>& expected, std::span<const Argument> args,
                       CheckedArguments& result) {
  if (expected.empty() || expected.size() != args.size()) return false;
  for (std::size_t n = 0; n < args.size(); ++n)
    if (!fits(expected[n], args[n])) return false;
  if (!lie_apart(expected, args)) return false;
  TenonValue* values = result.values.data();
  std::int32_t* codes = result.codes.data();
  for (std::size_t n = 0; n < args.size(); ++n) {
    codes[n] = kTenonTensor;
    values[n] = args[n].value();
    if (tensor_of(args[n]).strides != nullptr) continue;
    DLTensor& copy = result.tensors[result.rewritten++];
    copy = tensor_of(args[n]);
    // Generated code does not modify strides.
    copy.strides = const_cast<std::int64_t*>(expected[n].strides.data());
    values[n].p = &copy;
  }
  return true;
}

}  // namespace

// ---- the specification --------------------------------------------------------------------------

ArgumentChecker::ArgumentChecker(FunctionSpec spec) : spec_(std::move(spec)) {
  for (const ParamSpec& param : spec_.params) {
    Param numbered;
    if (const auto* array = std::get_if<ArraySpec>(&param.type)) {
      numbered.dtype = to_dlpack(array->dtype);
      dimensions_ += array->shape.size();
      numbered.shape = symbols_of(array->shape);
      if (const auto extents = constant_extents(array->shape))
        numbered.elements = count_elements(*extents);
      if (array->strides) numbered.strides = symbols_of(*array->strides);
    }
    params_.push_back(std::move(numbered));
  }
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const auto* scalar = std::get_if<ScalarSpec>(&spec_.params[i].type);
    if (scalar != nullptr && scalar->is_integral())
      params_[i].symbol = find_symbol(spec_.params[i].name);
  }
  for (const ParamSpec& param : spec_.params)
    if (std::optional<KnownArray> known = known_array(param))
      known_arrays_.push_back(*std::move(known));
  if (known_arrays_.size() != params_.size()) known_arrays_.clear();
}

int ArgumentChecker::find_symbol(const std::string& name) const {
  auto found = std::ranges::find(symbols_, name, &Symbol::name);
  return found == symbols_.end() ? -1 : static_cast<int>(found - symbols_.begin());
}

std::vector<int> ArgumentChecker::symbols_of(const std::vector<Size>& sizes) {
  std::vector<int> numbers;
  for (const Size& size : sizes) {
    numbers.push_back(-1);
    const auto* symbol = std::get_if<Symbol>(&size);
    if (symbol == nullptr) continue;
    int& number = numbers.back() = find_symbol(symbol->name);
    if (number < 0) {
      number = static_cast<int>(symbols_.size());
      symbols_.push_back(*symbol);
    }
    int& bits = symbols_[static_cast<std::size_t>(number)].bits;
    bits = std::min(bits, symbol->bits);
  }
  return numbers;
}

// ---- all other calls ----------------------------------------------------------------------------

/// The range of bytes that the elements of an argument occupy: addresses, or offsets in `object` if
/// its address is not known.
struct ArgumentBytes {
  std::uintptr_t begin;
  std::uintptr_t end;
  const void* object;
};

namespace {

bool ranges_overlap(const ArgumentBytes& a, const ArgumentBytes& b) {
  return a.object == b.object && a.begin < b.end && b.begin < a.end;
}

/// Inlined, because every call uses it (std::has_single_bit may call the compiler's library).
bool is_power_of_two(std::uint64_t x) { return (x & (x - 1)) == 0; }

bool fits_signed(std::int64_t value, int bits) {
  if (bits >= 64) return true;
  const std::int64_t rest = value >> (bits - 1);
  return rest == 0 || rest == -1;
}

/// Whether the specification demands another, constant size.
bool differs(const Size& expected, std::int64_t size) {
  const auto* constant = std::get_if<std::int64_t>(&expected);
  return constant != nullptr && *constant != size;
}

bool is_array(const ParamSpec& param) { return std::holds_alternative<ArraySpec>(param.type); }

}  // namespace

/// The state of one call's check: the symbols and the memory of arrays found so far.
class CallCheck {
 public:
  CallCheck(const ArgumentChecker& checker, std::span<const Argument> args,
            CheckedArguments& result)
      : checker_(checker),
        params_(checker.spec_.params),
        args_(args),
        result_(result),
        bindings_(checker.symbols_.size()),
        memory_(args.size()) {
    for (std::size_t n = 0; n < bindings_.size(); ++n) bindings_[n].place = nullptr;
  }

  void run() {
    check_count();
    // Checks scalars first. Messages about a size then name the integer parameter as its origin.
    for (param_ = 0; param_ < params_.size(); ++param_)
      if (auto* scalar = std::get_if<ScalarSpec>(&params_[param_].type)) check_scalar(*scalar);
    for (param_ = 0; param_ < params_.size(); ++param_)
      if (auto* array = std::get_if<ArraySpec>(&params_[param_].type)) check_array(*array);
    for (param_ = 0; param_ < params_.size(); ++param_)
      if (auto* array = std::get_if<ArraySpec>(&params_[param_].type)) check_no_alias(*array);
  }

 private:
  /// A symbol's value and its first occurrence.
  struct Binding {
    /// "extent" or "stride"; "" for an integer parameter; null if the symbol has no value yet.
    const char* place;
    std::size_t param;
    std::size_t dimension;
    std::int64_t value;
  };

  // ---- Messages ----

  std::string name_of_argument(std::size_t param) const {
    return "argument " + std::to_string(param + 1) + " `" + params_[param].name + "`";
  }
  std::string describe(const Binding& b) const {
    const std::string argument = name_of_argument(b.param);
    if (*b.place == 0) return argument;
    return std::string(b.place) + " " + std::to_string(b.dimension) + " of " + argument;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw RuntimeError(name_of_argument(param_) + " of `" + checker_.spec_.name + "`: " + what);
  }
  [[noreturn]] void refuse_as_given(const std::string& expected) const {
    refuse("expected " + expected + ", got " + describe_given(args_[param_]));
  }
  std::string expected_type() const {
    const std::string type = runtime::describe(params_[param_]);
    return params_[param_].type.index() == 1 && type == "handle" ? "a pointer" : type;
  }

  // ---- The call ----

  void check_count() const {
    if (args_.size() == params_.size()) return;
    std::string list;
    for (const ParamSpec& param : params_)
      list += (list.empty() ? " (" : ", ") + param.name + ": " + runtime::describe(param);
    throw RuntimeError("`" + checker_.spec_.name + "`: expected " + std::to_string(params_.size()) +
                       (params_.size() == 1 ? " argument" : " arguments") + list +
                       (list.empty() ? "" : ")") + ", got " + std::to_string(args_.size()));
  }

  // ---- Scalars ----

  void check_scalar(DataType dtype) {
    if (dtype.is_handle()) return check_handle();
    if (dtype.is_floating()) return check_floating(dtype);
    const Argument& arg = args_[param_];
    if (arg.code() != kTenonInt && arg.code() != kTenonUInt) refuse_as_given(expected_type());
    const std::int64_t value = arg.value().i;
    const bool above_int64 = arg.code() == kTenonUInt && value < 0;
    const bool fits_type = above_int64 ? !integer_max(dtype) : fits(value, dtype);
    if (!fits_type) {
      const auto max = integer_max(dtype);
      refuse("expected " + dtype.str() + ", which holds " + std::to_string(integer_min(dtype)) +
             " to " +
             std::to_string(max ? static_cast<std::uint64_t>(*max)
                                : std::numeric_limits<std::uint64_t>::max()) +
             ", got " + describe_given(arg));
    }
    put(above_int64 ? kTenonUInt : kTenonInt, arg.value());
    if (checker_.params_[param_].symbol >= 0)
      bindings_[static_cast<std::size_t>(checker_.params_[param_].symbol)] = {
          .place = "", .param = param_, .dimension = 0, .value = value};
  }

  void check_handle() {
    const Argument& arg = args_[param_];
    if (arg.code() != kTenonHandle && arg.code() != kTenonNull) refuse_as_given(expected_type());
    put(kTenonHandle, arg.value());
  }

  void check_floating(DataType dtype) {
    const Argument& arg = args_[param_];
    TenonValue value = arg.value();
    bool exact = true;
    if (arg.code() == kTenonInt) {
      value.f = static_cast<double>(arg.value().i);
      exact = value.f < 0x1p63 && static_cast<std::int64_t>(value.f) == arg.value().i;
    } else if (arg.code() == kTenonUInt) {
      value.f = static_cast<double>(static_cast<std::uint64_t>(arg.value().i));
      exact = value.f < 0x1p64 &&
              static_cast<std::uint64_t>(value.f) == static_cast<std::uint64_t>(arg.value().i);
    } else if (arg.code() != kTenonFloat) {
      refuse_as_given(expected_type());
    }
    const bool too_large = std::isfinite(value.f) && with_lane_type(dtype, [&]<class T>(T) {
                             return std::isinf(static_cast<double>(static_cast<T>(value.f)));
                           });
    if (!exact || too_large)
      refuse("expected " + dtype.str() + ", got " + describe_given(arg) + ", which it cannot hold");
    put(kTenonFloat, value);
  }

  void put(std::int32_t code, TenonValue value) {
    result_.codes[param_] = code;
    result_.values[param_] = value;
  }

  // ---- Arrays ----

  void check_array(const ArraySpec& spec) {
    const Argument& arg = args_[param_];
    if (arg.code() != kTenonTensor) refuse_as_given(expected_type());
    const DLTensor& tensor = tensor_of(arg);
    const std::int64_t count = check_type_and_shape(spec, tensor);
    check_device(spec, tensor);
    const DLTensor& complete = put_tensor(spec, tensor);
    memory_[param_] = {};
    if (count == 0) return bind_strides(spec, complete);
    // The strides of `complete` need no check if a compact array is expected and `tensor` has no
    // strides: put_tensor then filled in compact ones.
    if (spec.strides || tensor.strides != nullptr) check_strides(spec, complete);
    bind_strides(spec, complete);
    const bool has_no_gaps = !spec.strides || is_compact(shape_of(complete), strides_of(complete));
    check_memory(spec, complete, tensor.byte_offset,
                 has_no_gaps ? std::optional(Span{0, count - 1})
                             : touched(shape_of(complete), strides_of(complete)));
    if (spec.access != Access::Read && !has_no_gaps) check_apart(complete);
  }

  /// Returns the number of elements.
  std::int64_t check_type_and_shape(const ArraySpec& spec, const DLTensor& tensor) {
    const ArgumentChecker::Param& expected = checker_.params_[param_];
    const std::size_t dimensions = spec.shape.size();
    if (!has_type(tensor.dtype, expected.dtype) ||
        static_cast<std::size_t>(tensor.ndim) != dimensions ||
        (dimensions > 0 && tensor.shape == nullptr))
      refuse_as_given(expected_type());
    for (std::size_t d = 0; d < dimensions; ++d)
      if (differs(spec.shape[d], tensor.shape[d]) || tensor.shape[d] < 0)
        refuse_as_given(expected_type());
    if (expected.elements) return *expected.elements;
    const std::optional<std::int64_t> count = count_elements(shape_of(tensor));
    if (!count) refuse_as_given(expected_type() + " with fewer than 2^63 elements");
    for (std::size_t d = 0; d < dimensions; ++d)
      bind(expected.shape[d], "extent", d, tensor.shape[d],
           [&](const std::string& condition) { refuse_as_given(expected_type() + condition); });
    return *count;
  }

  void check_device(const ArraySpec& spec, const DLTensor& tensor) {
    const Device device = device_of(tensor);
    if (device.type != spec.device)
      refuse("expected an array on " + to_string(spec.device) + ", got one on " + device.str());
    for (std::size_t other = 0; other < param_; ++other) {
      if (!is_array(params_[other])) continue;
      const DLTensor& earlier = tensor_of(args_[other]);
      if (earlier.device.device_type == tensor.device.device_type && device_of(earlier) != device)
        refuse("expected an array on " + device_of(earlier).str() + " like " +
               name_of_argument(other) + ", got one on " + device.str());
    }
  }

  /// Returns the tensor with strides and with its offset added to the data pointer.
  const DLTensor& put_tensor(const ArraySpec& spec, const DLTensor& tensor) {
    if (spec.zero_byte_offset && tensor.byte_offset != 0)
      refuse("expected a byte_offset of 0, got " + std::to_string(tensor.byte_offset));
    const bool offset_fits_pointer = spec.device != DeviceType::OpenCL;
    TenonValue value = args_[param_].value();
    if (tensor.strides == nullptr || (tensor.byte_offset != 0 && offset_fits_pointer)) {
      DLTensor& copy = result_.tensors[result_.rewritten++];
      copy = tensor;
      if (offset_fits_pointer && tensor.data != nullptr) {
        copy.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
        copy.byte_offset = 0;
      }
      if (tensor.strides == nullptr) {
        const auto dimensions = static_cast<std::size_t>(tensor.ndim);
        copy.strides = result_.strides.data() + result_.filled;
        result_.filled += dimensions;
        write_compact_strides(shape_of(tensor), {copy.strides, dimensions});
      }
      value.p = &copy;
    }
    put(kTenonTensor, value);
    return *static_cast<const DLTensor*>(value.p);
  }

  void check_strides(const ArraySpec& spec, const DLTensor& tensor) const {
    const auto shape = shape_of(tensor), strides = strides_of(tensor);
    if (!spec.strides) {
      if (!is_compact(shape, strides))
        refuse("expected the compact row-major strides " + to_text(compact_strides(shape)) +
               ", got " + to_text(strides));
      return;
    }
    for (std::size_t d = 0; d < spec.strides->size(); ++d)
      if (shape[d] > 1 && differs((*spec.strides)[d], strides[d]))
        refuse("expected the strides " + runtime::describe(*spec.strides) + ", got " +
               to_text(strides));
  }

  void bind_strides(const ArraySpec& spec, const DLTensor& tensor) {
    const std::vector<int>& symbols = checker_.params_[param_].strides;
    for (std::size_t d = 0; d < symbols.size(); ++d)
      bind(symbols[d], "stride", d, tensor.strides[d], [&](const std::string& condition) {
        refuse("expected the strides " + runtime::describe(*spec.strides) + condition + ", got " +
               to_text(strides_of(tensor)));
      });
  }

  /// Checks the memory of an array. `span` is the range of its elements; nullopt if it exceeds 64
  /// bits.
  void check_memory(const ArraySpec& spec, const DLTensor& tensor, std::uint64_t byte_offset,
                    const std::optional<Span>& span) {
    const auto strides = strides_of(tensor);
    if (tensor.data == nullptr)
      refuse_as_given(expected_type() + " with data; its data pointer is null");
    if (!span) refuse("its strides " + to_text(strides) + " span more than 64 bits can represent");
    if (spec.index_bits == 32 &&
        std::max(-span->first, span->last) > std::numeric_limits<std::int32_t>::max())
      refuse(
          "expected an array whose positions fit 32 bits, for which the function was compiled, "
          "got " +
          describe_given(args_[param_]) + " with strides " + to_text(strides));
    const std::uint64_t address = spec.device == DeviceType::OpenCL
                                      ? byte_offset
                                      : reinterpret_cast<std::uintptr_t>(tensor.data);
    const auto alignment = static_cast<std::uint64_t>(spec.alignment);
    const std::uint64_t excess =
        is_power_of_two(alignment) ? address & (alignment - 1) : address % alignment;
    if (excess != 0)
      refuse("expected data aligned to " + std::to_string(spec.alignment) + " bytes" +
             why_aligned(spec) + ", got an address that is " + std::to_string(excess) +
             " bytes past a multiple" +
             (byte_offset != 0 ? " (byte_offset " + std::to_string(byte_offset) + ")" : ""));
    memory_[param_] = memory_of(spec, tensor, *span);
  }

  void check_apart(const DLTensor& tensor) const {
    const auto shape = shape_of(tensor), strides = strides_of(tensor);
    if (elements_are_apart(shape, strides)) return;
    refuse("it is written, so its elements must not overlap; strides " + to_text(strides) +
           " of shape " + to_text(shape) + " let them overlap");
  }

  static std::string why_aligned(const ArraySpec& spec) {
    if (spec.alignment <= spec.dtype.element().bytes()) return "";
    return " (demanded by the build option `argument_alignment`, or by `data_alignment` of a "
           "buffer)";
  }

  /// Returns the bytes of an array that was checked.
  StridedBytes bytes_of(std::size_t param) const {
    const auto& tensor = *static_cast<const DLTensor*>(result_.values[param].p);
    const auto shape = shape_of(tensor), strides = strides_of(tensor);
    const std::int64_t bytes = std::get<ArraySpec>(params_[param].type).dtype.bytes();
    const Span span = touched(shape, strides).value_or(Span{});
    return {static_cast<std::int64_t>(memory_[param].begin) - span.first * bytes, bytes, shape,
            strides};
  }

  static ArgumentBytes memory_of(const ArraySpec& spec, const DLTensor& tensor, const Span& span) {
    // For OpenCL, `data` is the handle of an object. Handles of distinct objects can be close
    // together.
    const bool is_handle = spec.device == DeviceType::OpenCL;
    const std::uintptr_t base =
        (is_handle ? 0 : reinterpret_cast<std::uintptr_t>(tensor.data)) + tensor.byte_offset;
    const auto bytes = static_cast<std::uintptr_t>(spec.dtype.bytes());
    return {base + static_cast<std::uintptr_t>(span.first) * bytes,
            base + (static_cast<std::uintptr_t>(span.last) + 1) * bytes,
            is_handle ? tensor.data : nullptr};
  }

  /// Refuses overlapping arrays if one of them is written.
  void check_no_alias(const ArraySpec& spec) const {
    for (std::size_t other = 0; other < param_; ++other) {
      const auto* earlier = std::get_if<ArraySpec>(&params_[other].type);
      if (earlier == nullptr || earlier->device != spec.device) continue;
      if (spec.access == Access::Read && earlier->access == Access::Read) continue;
      if (!ranges_overlap(memory_[param_], memory_[other])) continue;
      const std::optional<bool> found = overlap(bytes_of(param_), bytes_of(other));
      if (found == false) continue;
      refuse("expected memory disjoint from that of " + name_of_argument(other) + ", because `" +
             params_[spec.access == Access::Read ? other : param_].name +
             "` is written; got memory that " + (found == true ? "overlaps" : "could overlap") +
             " it (to compute in place, build with one buffer for both tensors: option `binds`)");
    }
  }

  // ---- Symbols ----

  /// Sets the value of the symbol of this number, unless it is -1. Refuses a value that differs
  /// from an earlier one.
  template <class Refuse>
  void bind(int number, const char* place, std::size_t dimension, std::int64_t value,
            Refuse&& refuse_with) {
    if (number < 0) return;
    const auto index = static_cast<std::size_t>(number);
    const Symbol& symbol = checker_.symbols_[index];
    Binding& binding = bindings_[index];
    if (!fits_signed(value, symbol.bits)) {
      const std::int64_t max = (std::int64_t{1} << (symbol.bits - 1)) - 1;
      refuse_with(" with " + symbol.name +
                  (value < 0 ? " >= " + std::to_string(-max - 1) : " <= " + std::to_string(max)));
    }
    if (binding.place == nullptr) {
      binding = {.place = place, .param = param_, .dimension = dimension, .value = value};
    } else if (binding.value != value) {
      refuse_with(" with " + symbol.name + " = " + std::to_string(binding.value) + " (" +
                  describe(binding) + ")");
    }
  }

  const ArgumentChecker& checker_;
  const std::vector<ParamSpec>& params_;
  std::span<const Argument> args_;
  /// The parameter being checked.
  std::size_t param_ = 0;
  CheckedArguments& result_;
  InlineList<Binding, 16> bindings_;
  InlineList<ArgumentBytes, 8> memory_;
};

CheckedArguments::CheckedArguments(const ArgumentChecker& checker, std::span<const Argument> args)
    : values(args.size()), codes(args.size()), tensors(args.size()), strides(checker.dimensions_) {
  if (take_known_arrays(checker.known_arrays_, args, *this)) return;
  CallCheck(checker, args, *this).run();
}

}  // namespace tenon::runtime
