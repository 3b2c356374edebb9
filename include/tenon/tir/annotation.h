// Annotations: what users and primitives note at loops, blocks and functions.
#pragma once

#include <map>
#include <variant>

#include "tenon/tir/handles.h"

namespace tenon::tir {

/// A value that a user or a primitive notes at a loop, a block or a function: a constant (number,
/// Bool, text), or a list of values.
struct Annotation {
  std::variant<Expr, std::vector<Annotation>> value = std::vector<Annotation>();

  /// Whether both are written alike.
  friend bool operator==(const Annotation& a, const Annotation& b);
};
/// By key, alphabetical as printed: {"pragma_auto_unroll_max_step": 16}.
using Annotations = std::map<std::string, Annotation>;

/// The number or text of an annotation that is one; nullopt otherwise.
std::optional<std::int64_t> annotation_int(const Annotation& annotation);
std::optional<std::string> annotation_text(const Annotation& annotation);

}  // namespace tenon::tir
