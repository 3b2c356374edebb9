// The tag that an operation gets where it is declared.
#pragma once

#include <string>

#include "tenon/te/tag_scope.h"

namespace tenon::te {

/// The operation's own tag, or, if that is empty, the one of the thread's open scope. For the
/// makers that users call: what primitives make has the tag of what it is made of.
std::string declared_tag(std::string own);

}  // namespace tenon::te
