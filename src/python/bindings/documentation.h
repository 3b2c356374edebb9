// Takes Python docstrings from the public headers. A binding without its own docstring gets the
// comment of the C++ declaration with the same name.
//
//    PyClass<te::Stage> stage(te, "Stage");
//    stage.def("fuse", ...);                      // the comment of te::Stage::fuse
//    stage.def("split", ..., "Splits a loop..."); // this text
#pragma once

#include <nanobind/nanobind.h>

#include <type_traits>
#include <utility>

namespace tenon::python {

/// Returns the header comment for a member of a Python module or class. Empty if there is no
/// comment.
const char* header_comment(nanobind::handle scope, const char* name);

// The header comment is passed first. If a definition has several docstrings, nanobind uses the
// last one.

class PyModule : public nanobind::module_ {
 public:
  explicit PyModule(const nanobind::module_& module) : nanobind::module_(module) {}

  template <class F, class... Extra>
  PyModule& def(const char* name, F&& f, const Extra&... extra) {
    nanobind::module_::def(name, std::forward<F>(f), header_comment(*this, name), extra...);
    return *this;
  }
  PyModule def_submodule(const char* name, const char* doc) {
    return PyModule(nanobind::module_::def_submodule(name, doc));
  }
};

template <class T, class... Ts>
class PyClass : public nanobind::class_<T, Ts...> {
  using Base = nanobind::class_<T, Ts...>;

 public:
  template <class... Extra>
  PyClass(const PyModule& module, const char* name, const Extra&... extra)
      : Base(module, name, header_comment(module, name), extra...) {}
  /// Returns a class that was defined before.
  static PyClass existing(nanobind::handle defined) {
    return PyClass(nanobind::borrow<Base>(defined));
  }

  template <class F, class... Extra>
  PyClass& def(const char* name, F&& f, const Extra&... extra) {
    Base::def(name, std::forward<F>(f), header_comment(*this, name), extra...);
    return *this;
  }
  /// Defines a constructor or an operator, which has no header comment.
  template <class Special, class... Extra>
  requires(!std::is_convertible_v<Special, const char*>) PyClass& def(Special&& special,
                                                                      const Extra&... extra) {
    Base::def(std::forward<Special>(special), extra...);
    return *this;
  }
  /// Defines `==`.
  template <class F>
  PyClass& def_equality(F equal) {
    return def("__eq__", equal, nanobind::is_operator(),
               nanobind::sig("def __eq__(self, arg: object, /) -> bool"));
  }
  /// Defines `str()` and `repr()`, which return the same text.
  template <class F>
  PyClass& def_text(F text) {
    return def("__str__", text).def("__repr__", text);
  }
  template <class F, class... Extra>
  PyClass& def_static(const char* name, F&& f, const Extra&... extra) {
    Base::def_static(name, std::forward<F>(f), header_comment(*this, name), extra...);
    return *this;
  }
  template <class Getter, class... Extra>
  PyClass& def_prop_ro(const char* name, Getter&& getter, const Extra&... extra) {
    Base::def_prop_ro(name, std::forward<Getter>(getter), header_comment(*this, name), extra...);
    return *this;
  }
  template <class Member, class... Extra>
  PyClass& def_ro(const char* name, Member member, const Extra&... extra) {
    Base::def_ro(name, member, header_comment(*this, name), extra...);
    return *this;
  }

 private:
  explicit PyClass(Base&& defined) : Base(std::move(defined)) {}
};

}  // namespace tenon::python
