// The bindings of tenon/tir: types, expressions, buffers, statements and functions.
#pragma once

#include "bindings/arguments.h"
#include "tenon/tir/stmt.h"

namespace tenon::python {

void bind_types(PyModule& m);
void bind_expressions(PyModule& m);
void bind_nodes(PyModule& tir);
void bind_statements(PyModule& m, PyModule& tir);

/// Returns the node of an expression or statement as an object of its Python class.
nb::object node_of(const tir::Expr& e);
nb::object node_of(const tir::Stmt& s);
/// Returns the statement for a node object. Throws Python's TypeError for any other object.
tir::Stmt to_stmt(nb::handle object);
/// Returns the loop kind with the given name, for example "parallel". Throws TypeError for an
/// unknown name. Its message lists the known names.
tir::ForKind to_for_kind(const std::string& text, const char* what);

/// Converts a dict, or a list of pairs, to a list of pairs. Throws Python's TypeError with the
/// message `what`.
template <class Key, class Value>
std::vector<std::pair<Key, Value>> pairs_from(nb::handle object, const char* what) {
  if (object.is_none()) return {};
  nb::object items =
      PyDict_Check(object.ptr()) ? nb::steal(PyMapping_Items(object.ptr())) : nb::borrow(object);
  std::vector<std::pair<Key, Value>> pairs;
  if (!nb::try_cast(items, pairs)) throw nb::type_error(what);
  return pairs;
}

}  // namespace tenon::python
