// Conversion of arrays between Python and the runtime, without copies. Supports Tenon's own arrays,
// objects with the buffer protocol (NumPy), and objects with DLPack (PyTorch, JAX, CuPy).
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "bindings/arguments.h"
#include "tenon/runtime/function.h"
#include "tenon/runtime/ndarray.h"

namespace tenon::python {

/// An array that belongs to Python or is visible there. If its owner has declared it read-only, the
/// memory is never written.
struct Array : runtime::NDArray {
  Array(runtime::NDArray array, bool is_readonly = false)
      : runtime::NDArray(std::move(array)), is_readonly(is_readonly) {}
  bool is_readonly;
};

/// Returns an array that shares the memory of a Python object. Throws Python's TypeError for an
/// object that is not an array.
Array import_array(nb::handle object);

/// Returns an array of the elements of a tensor, whose shape and strides are copied. The array
/// keeps `owner` until the last reference to the elements is gone.
runtime::NDArray array_of(const DLTensor& tensor, std::shared_ptr<void> owner,
                          SourceLocation where = SourceLocation::current());

/// The converted arguments of one call. They are valid until the object is destroyed. The GIL must
/// be held on construction and destruction.
class CallArguments {
 public:
  /// Converts the items of a tuple. Throws Python's TypeError, which names the argument, if an
  /// object has an unsupported type. Throws RuntimeError if the function writes an array that is
  /// read-only.
  CallArguments(const runtime::Function& function, PyObject* items);
  ~CallArguments();
  CallArguments(const CallArguments&) = delete;
  CallArguments& operator=(const CallArguments&) = delete;

  std::span<const runtime::Argument> list() const { return {arguments_, count_}; }

 private:
  static constexpr std::size_t kInline = 8;
  static constexpr int kInlineRank = 6;
  /// Describes the memory of one array argument.
  struct View {
    Py_buffer buffer;
    DLTensor tensor;
    std::int64_t strides[kInlineRank];
    std::vector<std::int64_t> long_strides;
    std::optional<Array> imported;
  };

  runtime::Argument convert(PyObject* object, View& view, std::size_t position);
  runtime::Argument convert_buffer(PyObject* object, View& view, std::size_t position);
  void check_writable(std::size_t position);
  /// Releases the buffers of all array arguments.
  void release();
  std::string name_of(std::size_t position) const;

  const runtime::Function& function_;
  std::size_t count_ = 0, views_ = 0;
  alignas(runtime::Argument) unsigned char inline_arguments_[kInline * sizeof(runtime::Argument)];
  alignas(View) unsigned char inline_views_[kInline * sizeof(View)];
  std::vector<unsigned char> long_arguments_, long_views_;
  runtime::Argument* arguments_;
  View* view_of_;
};

/// Adds the class NDArray and the functions that make arrays to the modules.
void bind_arrays(PyModule& m, PyModule& runtime);

}  // namespace tenon::python
