#include "tenon/support/error.h"

namespace tenon {

std::string to_string(const SourceLocation& where) {
  std::string_view file = where.file_name();
  if (auto slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return std::string(file) + ":" + std::to_string(where.line());
}

void internal_error(std::string_view what, SourceLocation where) {
  throw InternalError("internal error in Tenon, please report it: " + std::string(what), where);
}

}  // namespace tenon
