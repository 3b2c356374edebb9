// The tag of a new operation.
#pragma once

#include <string>

#include "tenon/te/tag_scope.h"

namespace tenon::te {

/// Returns the explicit tag, or if it is empty, that of the thread's open TagScope. For
/// constructors that users call; operations created by primitives inherit the tag of their origin.
std::string declared_tag(std::string own);

}  // namespace tenon::te
