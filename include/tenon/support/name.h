// Name: a name or other short text given by the user.
//
//   Tensor placeholder(std::vector<Expr> shape, Name name = "placeholder");
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "tenon/support/error.h"

namespace tenon {

/// A string. Making one from a null pointer is a TypeError with the line of the call.
class Name : public std::string {
 public:
  Name(const char* text, SourceLocation where = SourceLocation::current())
      : std::string(checked(text, where)) {}
  Name(std::string text) : std::string(std::move(text)) {}
  Name(std::string_view text) : std::string(text) {}

  /// Makes the default value of an option; is_given() of the result is false.
  static Name by_default(std::string_view text) {
    Name name(text);
    name.is_given_ = false;
    return name;
  }
  bool is_given() const { return is_given_; }

 private:
  static const char* checked(const char* text, const SourceLocation& where) {
    if (text == nullptr) throw TypeError("a name or text is a null pointer", where);
    return text;
  }

  bool is_given_ = true;
};

}  // namespace tenon
