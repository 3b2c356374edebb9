// Messages about unknown names: the valid names and a similar one.
#pragma once

#include <string>
#include <string_view>

namespace tenon::tir {

/// Returns "`sharedd` is not a storage scope; the scopes are global, shared, ...; did you mean
/// `shared`?"
std::string no_such_scope(std::string_view text);
/// Returns "`threadIdx.w` is not a thread tag; the tags are blockIdx.{x,y,z}, ..."
std::string no_such_thread_tag(std::string_view text);

}  // namespace tenon::tir
