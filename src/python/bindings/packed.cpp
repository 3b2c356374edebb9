// Python functions that generated code calls by name (tvm_call_packed, call_extern).
//
//  Generated code can only call C functions without a closure. Each registered Python function
//  therefore occupies one of a fixed number of C entry points. If a Python function raises an
//  exception, the call fails with an error status, which stops parallel loops. The error message
//  contains the number of the exception, by which it is found when the call returns to Python.
#include "bindings/packed.h"

#include <array>
#include <map>
#include <mutex>

#include "bindings/arrays.h"
#include "bindings/callback.h"
#include "tenon/runtime/c_api.h"
#include "tenon/runtime/symbols.h"

namespace tenon::python {

namespace {

constexpr std::size_t kMaxPackedFunctions = 256;
constexpr const char* kMarker = "a Python function raised exception #";

struct PackedFunctions {
  std::mutex mutex;
  std::vector<std::pair<std::string, Callback>> functions;
  /// The exceptions that have not been rethrown yet, by number.
  std::map<int, std::exception_ptr> raised;
  int number = 0, running_calls = 0;
};

PackedFunctions& packed() {
  static PackedFunctions& functions = *new PackedFunctions();  // outlives the interpreter
  return functions;
}

/// Converts an argument. An array refers to the elements of the caller and holds a copy of `loan`.
nb::object to_object(const TenonValue& value, std::int32_t code,
                     const std::shared_ptr<void>& loan) {
  switch (code) {
    case kTenonInt:
      return nb::int_(value.i);
    case kTenonUInt:
      return nb::int_(static_cast<std::uint64_t>(value.i));
    case kTenonFloat:
      return nb::float_(value.f);
    case kTenonTensor:
      return nb::cast(Array(array_of(*static_cast<const DLTensor*>(value.p), loan)));
    case kTenonNull:
      return nb::none();
    default:
      return nb::int_(reinterpret_cast<std::uintptr_t>(value.p));
  }
}

/// Clears the local variables of all frames in the tracebacks of an exception and of the exceptions
/// that caused it.
void clear_frames(const nb::python_error& error) {
  const nb::object clear = nb::module_::import_("traceback").attr("clear_frames");
  for (nb::object e = nb::borrow(error.value()); !e.is_none(); e = e.attr("__context__"))
    clear(e.attr("__traceback__"));
}

std::int32_t call_packed(std::size_t entry, const TenonValue* args, const std::int32_t* codes,
                         std::int32_t count) noexcept {
  const HeldGil gil;
  try {
    std::pair<std::string, Callback> function;
    {
      const std::scoped_lock lock(packed().mutex);
      function = packed().functions.at(entry);
    }
    const auto loan = std::make_shared<char>();
    const auto is_kept = [&] { return loan.use_count() > 1; };
    std::exception_ptr raised;
    try {
      nb::list arguments;
      for (std::int32_t n = 0; n < count; ++n) arguments.append(to_object(args[n], codes[n], loan));
      (*function.second)(*arguments);
    } catch (const nb::python_error& error) {
      if (is_kept()) clear_frames(error);
      raised = std::current_exception();
    }
    if (is_kept()) PyGC_Collect();  // an array that only a reference cycle refers to is not in use
    if (is_kept())
      throw RuntimeError("the Python function `" + function.first +
                             "` kept an array argument, whose memory is valid until it returns; "
                             "keep a copy, such as array.copy_to(cpu())",
                         here());
    if (raised) std::rethrow_exception(raised);
    return kTenonOk;
  } catch (...) {
    const std::scoped_lock lock(packed().mutex);
    const int number = ++packed().number;
    packed().raised[number] = std::current_exception();
    tenon_set_last_error((kMarker + std::to_string(number) + ";").c_str());
    return kTenonError;
  }
}

template <std::size_t Entry>
std::int32_t entry_point(const TenonValue* args, const std::int32_t* codes, std::int32_t count) {
  return call_packed(Entry, args, codes, count);
}

constexpr auto kEntryPoints = []<std::size_t... N>(std::index_sequence<N...>) {
  return std::array<TenonPackedFunction, sizeof...(N)>{entry_point<N>...};
}
(std::make_index_sequence<kMaxPackedFunctions>());

void register_packed_function(const std::string& name, const nb::callable& function) {
  PackedFunctions& all = packed();
  const Callback made = make_callback(function);
  Callback replaced;  // destroyed after the lock is released
  const std::scoped_lock lock(all.mutex);
  for (std::size_t n = 0; n < all.functions.size(); ++n) {
    if (all.functions[n].first != name) continue;
    replaced = std::exchange(all.functions[n].second, made);
    return;
  }
  if (all.functions.size() == kMaxPackedFunctions)
    throw RuntimeError("register_packed_function: there are already " +
                           std::to_string(kMaxPackedFunctions) + " functions",
                       here());
  all.functions.emplace_back(name, made);
  runtime::define_function(name, reinterpret_cast<void*>(kEntryPoints[all.functions.size() - 1]));
}

}  // namespace

RunningCall::RunningCall() {
  const std::scoped_lock lock(packed().mutex);
  ++packed().running_calls;
}

RunningCall::~RunningCall() {
  std::map<int, std::exception_ptr> dropped;  // destroyed after the lock is released
  const std::scoped_lock lock(packed().mutex);
  if (--packed().running_calls == 0) dropped.swap(packed().raised);
}

void rethrow_raised(const std::string& message) {
  const std::size_t place = message.find(kMarker);
  if (place == std::string::npos) return;
  const int number = std::atoi(message.c_str() + place + std::string_view(kMarker).size());
  std::exception_ptr error;
  {
    const std::scoped_lock lock(packed().mutex);
    const auto found = packed().raised.find(number);
    if (found == packed().raised.end()) return;
    error = found->second;
    packed().raised.erase(found);
  }
  std::rethrow_exception(error);
}

void bind_packed(PyModule& m, PyModule& runtime) {
  runtime.def(
      "register_packed_function", &register_packed_function, "name"_a, "function"_a,
      "Lets code that is built from now on call a Python function by this name, with arrays "
      "and numbers. The arrays are valid until the function returns.");
  m.attr("register_packed_function") = runtime.attr("register_packed_function");
}

}  // namespace tenon::python
