// Annotations: key-value notes that users and schedule primitives attach to loops, blocks and
// functions.
#pragma once

#include <map>
#include <variant>

#include "tenon/tir/handles.h"

namespace tenon::tir {

/// The value of an annotation: a constant (number, Bool or string) or a list of values.
struct Annotation {
  std::variant<Expr, std::vector<Annotation>> value = std::vector<Annotation>();

  /// Structural equality.
  friend bool operator==(const Annotation& a, const Annotation& b);
};
/// Annotations by key, in alphabetical order, which is also the printed order:
/// {"pragma_auto_unroll_max_step": 16}.
using Annotations = std::map<std::string, Annotation>;

/// Returns the number, or the string, that the annotation holds; nullopt if it holds something
/// else.
std::optional<std::int64_t> annotation_int(const Annotation& annotation);
std::optional<std::string> annotation_text(const Annotation& annotation);

}  // namespace tenon::tir
