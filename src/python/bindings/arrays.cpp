#include "bindings/arrays.h"
#include "bindings/callback.h"

#include <new>

#include "tenon/runtime/spec.h"

namespace tenon::python {

using runtime::Device;
using runtime::NDArray;

namespace {

/// Returns the DLPack type for the element format of a Python buffer. Nullopt if DLPack has no such
/// type.
std::optional<DLDataType> type_of_format(const char* format, Py_ssize_t bytes) {
  if (format == nullptr) return DLDataType{kDLUInt, 8, 1};
  // The format may begin with an explicit sign for native byte order.
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (*format == '\0' || format[1] != '\0') return std::nullopt;
  const auto bits = static_cast<std::uint8_t>(8 * bytes);
  switch (*format) {
    case '?':
      return DLDataType{kDLBool, 8, 1};
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return DLDataType{kDLInt, bits, 1};
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
    case 'c':
      return DLDataType{kDLUInt, bits, 1};
    case 'e':
    case 'f':
    case 'd':
      return DLDataType{kDLFloat, bits, 1};
    default:
      return std::nullopt;
  }
}

/// Returns the buffer format of an element type. Null if Python buffers cannot express the type.
const char* format_of_type(DataType type) {
  if (type.lanes != 1) return nullptr;
  if (type.is_bool()) return "?";
  const int width = type.bits == 8 ? 0 : type.bits == 16 ? 1 : type.bits == 32 ? 2 : 3;
  static constexpr const char* kInts[] = {"b", "h", "i", "l"};
  static constexpr const char* kUInts[] = {"B", "H", "I", "L"};
  static constexpr const char* kFloats[] = {nullptr, "e", "f", "d"};
  if (type.bits != 8 << width) return nullptr;
  if (type.is_int()) return kInts[width];
  if (type.is_uint()) return kUInts[width];
  return type.is_float() ? kFloats[width] : nullptr;
}

/// The Python class of Array.
PyTypeObject* array_class = nullptr;

/// Returns the array of a Python NDArray object. Null for any other object.
const Array* as_array(PyObject* object) {
  return PyObject_TypeCheck(object, array_class) ? &instance<Array>(object) : nullptr;
}

/// Makes `tensor` refer to the memory of a buffer. Returns false if a stride is not a multiple of
/// the element size.
bool describe_buffer(const Py_buffer& buffer, DLDataType type, std::int64_t* strides,
                     DLTensor& tensor) {
  tensor.data = buffer.buf;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = buffer.ndim;
  tensor.dtype = type;
  static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));
  tensor.shape = reinterpret_cast<std::int64_t*>(buffer.shape);
  tensor.byte_offset = 0;
  tensor.strides = strides;
  Py_ssize_t compact = buffer.itemsize;
  for (int d = buffer.ndim; d-- > 0;) {
    // Without strides, the buffer is compact. This is the case for arrays of ctypes.
    const Py_ssize_t stride = buffer.strides ? buffer.strides[d] : compact;
    // Uses bit operations, because a division is slow. The element size is a power of two.
    if ((stride & (buffer.itemsize - 1)) != 0) return false;
    strides[d] = stride >> __builtin_ctzll(static_cast<unsigned long long>(buffer.itemsize));
    if (!buffer.strides) compact *= buffer.shape[d];
  }
  return true;
}

constexpr int kBufferFlags = PyBUF_STRIDES | PyBUF_FORMAT;

/// Requests the buffer of a Python object and returns the type of its elements. Throws RuntimeError
/// if the object does not export its buffer (for example, NumPy arrays of dates), with the object's
/// reason, or if DLPack has no such type. `subject()` returns the beginning of the message.
DLDataType get_buffer(PyObject* object, Py_buffer& buffer, auto subject) {
  if (PyObject_GetBuffer(object, &buffer, kBufferFlags) != 0) {
    buffer.obj = nullptr;
    const nb::python_error refusal;
    throw RuntimeError(subject() + "the elements of a " + class_name(object) +
                           " cannot be read: " + nb::str(refusal.value()).c_str(),
                       here());
  }
  const std::optional<DLDataType> type = type_of_format(buffer.format, buffer.itemsize);
  if (!type)
    throw RuntimeError(subject() + "no data type for the elements of a " + class_name(object) +
                           ", whose buffer format is \"" + buffer.format + "\"",
                       here());
  return *type;
}

Array import_buffer(PyObject* object) {
  const std::shared_ptr<Py_buffer> buffer(new Py_buffer(), [](Py_buffer* held) {
    if (Py_IsInitialized()) {
      const HeldGil gil;
      PyBuffer_Release(held);
    }
    delete held;
  });
  const DLDataType type = get_buffer(object, *buffer, [] { return std::string(); });
  std::vector<std::int64_t> strides(static_cast<std::size_t>(buffer->ndim));
  DLTensor tensor = {};
  if (!describe_buffer(*buffer, type, strides.data(), tensor))
    throw RuntimeError(
        "the strides of a " + class_name(object) + " are not multiples of its elements", here());
  return {array_of(tensor, buffer, here()), buffer->readonly != 0};
}

Array import_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    auto* versioned =
        static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    if (versioned->version.major != DLPACK_MAJOR_VERSION)
      throw RuntimeError("DLPack version " + std::to_string(versioned->version.major) +
                             " is not supported, expected " + std::to_string(DLPACK_MAJOR_VERSION),
                         here());
    // Presents the tensor as one of version 0.
    auto managed = std::make_unique<DLManagedTensor>();
    managed->dl_tensor = versioned->dl_tensor;
    managed->manager_ctx = versioned;
    managed->deleter = [](DLManagedTensor* self) {
      auto* own = static_cast<DLManagedTensorVersioned*>(self->manager_ctx);
      if (own->deleter) own->deleter(own);
      delete self;
    };
    const bool is_readonly = (versioned->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
    NDArray array = NDArray::from_dlpack(managed.get(), here());
    static_cast<void>(managed.release());
    PyCapsule_SetName(capsule, "used_dltensor_versioned");
    return {std::move(array), is_readonly};
  }
  if (!PyCapsule_IsValid(capsule, "dltensor")) {
    const char* name = PyCapsule_GetName(capsule);
    throw RuntimeError(
        std::string("expected a DLPack capsule that has not been used, got a capsule `") +
            (name ? name : "") + "`",
        here());
  }
  auto* tensor = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
  NDArray array = NDArray::from_dlpack(tensor, here());
  PyCapsule_SetName(capsule, "used_dltensor");
  return {std::move(array)};
}

Array import_dlpack(nb::handle object) {
  nb::object method = object.attr("__dlpack__");
  nb::object capsule;
  try {
    capsule = method("max_version"_a = nb::make_tuple(DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION));
  } catch (nb::python_error& error) {
    // Before DLPack version 1, the method did not have this parameter.
    if (!error.matches(PyExc_TypeError)) throw;
    capsule = method();
  }
  if (!PyCapsule_CheckExact(capsule.ptr()))
    throw type_error("__dlpack__ of a " + class_name(object) + " must return a capsule, got " +
                     class_name(capsule));
  return import_capsule(capsule.ptr());
}

}  // namespace

NDArray array_of(const DLTensor& tensor, std::shared_ptr<void> owner, SourceLocation where) {
  auto held = std::make_unique<std::shared_ptr<void>>(std::move(owner));
  auto managed = std::make_unique<DLManagedTensor>();
  managed->dl_tensor = tensor;
  managed->manager_ctx = held.get();
  managed->deleter = [](DLManagedTensor* self) {
    delete static_cast<std::shared_ptr<void>*>(self->manager_ctx);
    delete self;
  };
  NDArray array = NDArray::from_dlpack(managed.get(), where);
  static_cast<void>(held.release());
  static_cast<void>(managed.release());
  return array;
}

Array import_array(nb::handle object) {
  if (const Array* array = as_array(object.ptr())) return *array;
  if (PyCapsule_CheckExact(object.ptr())) return import_capsule(object.ptr());
  // The buffer protocol is preferred: before version 2.1, NumPy does not export read-only arrays
  // through DLPack.
  if (PyObject_CheckBuffer(object.ptr())) return import_buffer(object.ptr());
  if (nb::hasattr(object, "__dlpack__")) return import_dlpack(object);
  throw type_error("expected an array (NDArray, NumPy, or an object with __dlpack__), got " +
                   class_name(object));
}

// ---- calls --------------------------------------------------------------------------------------

/// Returns the value of a Python int. Nullopt if it does not fit 64 bits.
static std::optional<runtime::Argument> integer_of(nb::handle object) {
  const auto value = value_of_int(object);
  if (!value) return std::nullopt;
  return std::visit([](auto number) { return runtime::Argument(number); }, *value);
}

CallArguments::CallArguments(const runtime::Function& function, PyObject* items)
    : function_(function) {
  const auto count = static_cast<std::size_t>(PyTuple_Size(items));
  arguments_ = reinterpret_cast<runtime::Argument*>(inline_arguments_);
  view_of_ = reinterpret_cast<View*>(inline_views_);
  if (count > kInline) {
    long_arguments_.resize(count * sizeof(runtime::Argument));
    long_views_.resize(count * sizeof(View));
    arguments_ = reinterpret_cast<runtime::Argument*>(long_arguments_.data());
    view_of_ = reinterpret_cast<View*>(long_views_.data());
  }
  try {
    for (; count_ < count; ++count_) {
      View& view = *new (view_of_ + count_) View();
      ++views_;
      view.buffer.obj = nullptr;
      new (arguments_ + count_) runtime::Argument(
          convert(PyTuple_GetItem(items, static_cast<Py_ssize_t>(count_)), view, count_));
    }
  } catch (...) {
    release();
    throw;
  }
}

CallArguments::~CallArguments() { release(); }

void CallArguments::release() {
  for (; views_ > 0; --views_) {
    View& view = view_of_[views_ - 1];
    if (view.buffer.obj != nullptr) PyBuffer_Release(&view.buffer);
    view.~View();
  }
}

std::string CallArguments::name_of(std::size_t position) const {
  const auto& params = function_.spec().params;
  const std::string number = "argument " + std::to_string(position + 1);
  if (position >= params.size()) return number + " of `" + function_.name() + "`";
  return number + " `" + params[position].name + "` of `" + function_.name() + "`";
}

void CallArguments::check_writable(std::size_t position) {
  const auto& params = function_.spec().params;
  if (position >= params.size()) return;
  const auto* array = std::get_if<runtime::ArraySpec>(&params[position].type);
  if (array != nullptr && array->access != runtime::Access::Read)
    throw RuntimeError(name_of(position) +
                           ": expected memory that can be written, got a read-only "
                           "array",
                       here());
}

runtime::Argument CallArguments::convert_buffer(PyObject* object, View& view,
                                                std::size_t position) {
  // The name is composed only if there is an error, because composing it takes longer than
  // requesting the buffer.
  const DLDataType type = get_buffer(object, view.buffer, [&] { return name_of(position) + ": "; });
  std::int64_t* strides = view.strides;
  if (view.buffer.ndim > kInlineRank) {
    view.long_strides.resize(static_cast<std::size_t>(view.buffer.ndim));
    strides = view.long_strides.data();
  }
  if (!describe_buffer(view.buffer, type, strides, view.tensor))
    throw RuntimeError(
        name_of(position) + ": the strides of the array are not multiples of its elements", here());
  if (view.buffer.readonly != 0) check_writable(position);
  return runtime::Argument(&view.tensor);
}

runtime::Argument CallArguments::convert(PyObject* object, View& view, std::size_t position) {
  if (object == Py_None) return nullptr;
  if (object == Py_True || object == Py_False) return object == Py_True;
  if (PyLong_Check(object)) {
    if (const auto value = integer_of(object)) return *value;
    throw RuntimeError(name_of(position) + ": the integer does not fit 64 bits", here());
  }
  if (PyFloat_Check(object)) return PyFloat_AsDouble(object);
  if (const Array* array = as_array(object)) {
    if (array->is_readonly) check_writable(position);
    return runtime::Argument(*array);
  }
  // A NumPy scalar also has the buffer protocol. It is excluded, because it is not a sequence.
  if (PyObject_CheckBuffer(object) && PySequence_Check(object))
    return convert_buffer(object, view, position);
  if (!PySequence_Check(object)) {
    if (is_numpy_bool(object)) return PyObject_IsTrue(object) == 1;
    if (PyIndex_Check(object)) return convert(to_int(object).ptr(), view, position);
    if (has_float(object)) return to_double(object);
  }
  if (PyObject_HasAttrString(object, "__dlpack__")) {
    view.imported = import_dlpack(object);
    if (view.imported->is_readonly) check_writable(position);
    return runtime::Argument(*view.imported);
  }
  if (PyObject_CheckBuffer(object)) return convert_buffer(object, view, position);
  throw type_error(name_of(position) + ": expected an array or a number, got " +
                   class_name(object));
}

// ---- the class ----------------------------------------------------------------------------------

namespace {

/// Converts a number: an integer of up to 64 bits stays an integer, any other number becomes a
/// float.
runtime::Argument number(nb::handle value) {
  if (PyIndex_Check(value.ptr()))
    if (const auto narrow = integer_of(to_int(value))) return *narrow;
  return to_double(value);
}

int export_buffer(PyObject* self, Py_buffer* view, int flags) {
  auto refuse = [&](const char* reason) {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, reason);
    return -1;
  };
  if (!nb::inst_ready(self)) return refuse("the array is not initialized");
  const Array* array = nb::inst_ptr<Array>(nb::handle(self));
  const char* format = format_of_type(array->dtype());
  if (array->device().type != runtime::DeviceType::Cpu)
    return refuse("the array is not in host memory; copy it with copy_to(cpu())");
  if (format == nullptr) return refuse("buffers cannot express the element type; use DLPack");
  if ((flags & PyBUF_WRITABLE) != 0 && array->is_readonly) return refuse("the array is read-only");
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !array->is_compact())
    return refuse("the array is not compact");
  const int rank = array->ndim();
  auto* numbers = static_cast<Py_ssize_t*>(
      PyMem_Malloc(sizeof(Py_ssize_t) * 2 * (static_cast<std::size_t>(rank) + 1)));
  if (numbers == nullptr) {
    PyErr_NoMemory();
    return -1;
  }
  const Py_ssize_t bytes = array->dtype().bytes();
  for (int d = 0; d < rank; ++d) {
    numbers[d] = array->shape()[static_cast<std::size_t>(d)];
    numbers[rank + d] = array->strides()[static_cast<std::size_t>(d)] * bytes;
  }
  const DLTensor& tensor = array->dl_tensor();
  view->obj = Py_NewRef(self);
  view->buf = static_cast<char*>(tensor.data) + tensor.byte_offset;
  view->len = array->num_elements() * bytes;
  view->itemsize = bytes;
  view->readonly = array->is_readonly ? 1 : 0;
  view->ndim = rank;
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format) : nullptr;
  view->shape = (flags & PyBUF_ND) != 0 ? numbers : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? numbers + rank : nullptr;
  view->suboffsets = nullptr;
  view->internal = numbers;
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) { PyMem_Free(view->internal); }

PyType_Slot array_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(export_buffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                             {0, nullptr}};

/// The destructor of a DLPack capsule. Calls the deleter of the tensor if no consumer has taken the
/// tensor.
template <class Managed>
void destroy_capsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed->deleter) managed->deleter(managed);
}

nb::object export_capsule(const Array& array, bool versioned) {
  if (!versioned) {
    DLManagedTensor* managed = array.to_dlpack();
    return nb::steal(PyCapsule_New(managed, "dltensor", [](PyObject* capsule) {
      destroy_capsule<DLManagedTensor>(capsule, "dltensor");
    }));
  }
  auto* managed = new DLManagedTensorVersioned();
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->manager_ctx = new NDArray(array);
  managed->deleter = [](DLManagedTensorVersioned* self) {
    delete static_cast<NDArray*>(self->manager_ctx);
    delete self;
  };
  managed->flags = array.is_readonly ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  managed->dl_tensor = array.dl_tensor();
  return nb::steal(PyCapsule_New(managed, "dltensor_versioned", [](PyObject* capsule) {
    destroy_capsule<DLManagedTensorVersioned>(capsule, "dltensor_versioned");
  }));
}

nb::object dlpack(const Array& array, nb::handle stream, nb::handle max_version, nb::handle device,
                  nb::handle copy) {
  static_cast<void>(stream);  // Work on devices is complete when a call returns to Python.
  bool versioned = false;
  const bool must_copy =
      !copy.is_none() && argument_as<bool>(copy, "__dlpack__: expected `copy`, a bool or None");
  if (!max_version.is_none()) {
    const auto [major, minor] = argument_as<std::pair<long, long>>(
        max_version, "__dlpack__: expected `max_version`, a pair of ints");
    versioned = major >= DLPACK_MAJOR_VERSION;
  }
  Array shared = array;
  if (!device.is_none()) {
    const auto [type, id] = argument_as<std::pair<int, int>>(
        device, "__dlpack__: expected `dl_device`, a pair of ints");
    const Device wanted{static_cast<runtime::DeviceType>(type), id};
    if (!(wanted == array.device())) {
      if (!copy.is_none() && !must_copy)
        throw nb::buffer_error("the array is on another device, and copy=False");
      return export_capsule(Array(array.copy_to(wanted, here())), versioned);
    }
  }
  if (must_copy) shared = Array(array.copy_to(array.device(), here()));
  if (shared.is_readonly && !versioned)
    throw nb::buffer_error("a read-only array needs DLPack version 1 (max_version=(1, 0))");
  return export_capsule(shared, versioned);
}

/// Returns a NumPy array of the elements. It shares the memory if the elements are in host memory.
nb::object to_numpy(nb::handle self) {
  const Array& array = instance<Array>(self);
  nb::module_ numpy = nb::module_::import_("numpy");
  if (array.device().type == runtime::DeviceType::Cpu) {
    if (format_of_type(array.dtype()) != nullptr) return numpy.attr("asarray")(self);
    throw RuntimeError("NumPy has no type for the elements of an array of " + array.dtype().str() +
                           "; compute a copy in another type (topi.cast)",
                       here());
  }
  return to_numpy(nb::cast(Array(array.copy_to(cpu(0), here()))));
}

}  // namespace

void bind_arrays(PyModule& m, PyModule& runtime) {
  PyClass<Device>(m, "Device")
      .def_prop_ro("type", [](const Device& d) { return to_string(d.type); })
      .def_ro("id", &Device::id)
      .def("exists", &Device::exists)
      .def("why_missing", &Device::why_missing)
      .def_equality([](const Device& a, const Device& b) { return a == b; })
      .def("__hash__", [](const Device& d) { return static_cast<int>(d.type) * 1000 + d.id; })
      .def("__repr__", &Device::str);
  m.def("cpu", &cpu, "id"_a = 0);
  m.def("cuda", &cuda, "id"_a = 0);
  m.def("opencl", &opencl, "id"_a = 0);

  using Shape = const OneOrMore<std::int64_t>&;
  PyClass<Array> array(runtime, "NDArray", nb::type_slots(array_slots),
                       "An array on a device, in DLPack's layout. NumPy and DLPack share its "
                       "memory.");
  array_class = reinterpret_cast<PyTypeObject*>(array.ptr());
  array
      .def_static(
          "empty",
          [](Shape shape, const DTypeLike& dtype, Device device) {
            return Array(NDArray::empty(shape.items, dtype, device, here()));
          },
          "shape"_a, "dtype"_a = DTypeLike{Float(32)}, "device"_a = cpu(0),
          "Allocates an uninitialized array.")
      .def_static(
          "zeros",
          [](Shape shape, const DTypeLike& dtype, Device device) {
            return Array(NDArray::zeros(shape.items, dtype, device, here()));
          },
          "shape"_a, "dtype"_a = DTypeLike{Float(32)}, "device"_a = cpu(0))
      .def_static(
          "full",
          [](Shape shape, const DTypeLike& dtype, nb::handle value, Device device) {
            return Array(NDArray::full(shape.items, dtype, number(value), device, here()));
          },
          "shape"_a, "dtype"_a, "value"_a, "device"_a = cpu(0))
      .def_static(
          "random",
          [](Shape shape, const DTypeLike& dtype, Device device,
             std::optional<std::uint64_t> seed) {
            return Array(NDArray::random(shape.items, dtype, device, {.seed = seed}, here()));
          },
          "shape"_a, "dtype"_a = DTypeLike{Float(32)}, "device"_a = cpu(0), "seed"_a = nb::none(),
          "Allocates an array of random elements: floats in [0, 1), integers in -10..10.")
      .def_prop_ro("shape", [](const Array& a) { return nb::tuple(nb::cast(a.shape())); })
      .def_prop_ro(
          "strides", [](const Array& a) { return nb::tuple(nb::cast(a.strides())); },
          "Strides in elements.")
      .def_prop_ro("ndim", &NDArray::ndim)
      .def_prop_ro("dtype", &NDArray::dtype)
      .def_prop_ro("device", &NDArray::device)
      .def_prop_ro("num_elements", &NDArray::num_elements)
      .def_prop_ro("is_compact", &NDArray::is_compact)
      .def_ro("is_readonly", &Array::is_readonly)
      .def(
          "copy_to", [](const Array& a, Device device) { return Array(a.copy_to(device, here())); },
          "device"_a)
      .def(
          "copy_to",
          [](const Array& a, const Array& target) {
            if (target.is_readonly) throw RuntimeError("copy_to: the target is read-only", here());
            a.NDArray::copy_to(target, here());
            return target;
          },
          "target"_a, "Copies the elements to `target`.")
      .def(
          "copy_from",
          [](nb::handle_t<Array> self, nb::handle source) {
            const Array& target = instance<Array>(self);
            if (target.is_readonly) throw RuntimeError("copy_from: the array is read-only", here());
            import_array(source).NDArray::copy_to(target, here());
            return nb::borrow(self);
          },
          "source"_a, "Copies the elements of another array or NumPy array into this one.")
      .def(
          "numpy", [](nb::handle_t<Array> self) { return to_numpy(self); },
          "Returns a NumPy array that shares the memory; a copy for an array on a device.")
      .def("__dlpack__", &dlpack, nb::kw_only(), "stream"_a = nb::none(),
           "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none())
      .def("__dlpack_device__",
           [](const Array& a) {
             return std::pair(static_cast<int>(a.device().type), a.device().id);
           })
      .def("__repr__", [](const Array& a) {
        return describe(a) + (a.device() == cpu(0) ? "" : " on " + a.device().str());
      });
  runtime.def("from_dlpack", &import_array, "array"_a,
              "Returns an array that shares the memory of a NumPy array or of an object with "
              "__dlpack__.");
  runtime.def(
      "array",
      [](nb::handle source, Device device) {
        nb::object values = nb::borrow(source);
        const bool is_array = nb::isinstance<Array>(source) || PyObject_CheckBuffer(source.ptr()) ||
                              nb::hasattr(source, "__dlpack__");
        if (!is_array) values = nb::module_::import_("numpy").attr("asarray")(source);
        return Array(import_array(values).NDArray::copy_to(device, here()));
      },
      "values"_a, "device"_a = cpu(0),
      "Returns a copy of an array, or of a list of numbers, on the device.");
}

}  // namespace tenon::python
