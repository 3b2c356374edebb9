// Words of C and C++ that cannot be names in generated text.
#pragma once

#include <array>
#include <string_view>

namespace tenon::codegen {

/// Reserved words of C, and names that every program defines, such as `main`.
inline constexpr auto kWordsOfC = std::to_array<std::string_view>(
    {"_Alignas", "_Bool",  "asm",      "auto",     "bool",     "break",    "case",
     "char",     "const",  "continue", "default",  "do",       "double",   "else",
     "enum",     "extern", "false",    "float",    "for",      "goto",     "if",
     "inline",   "int",    "long",     "main",     "register", "restrict", "return",
     "short",    "signed", "sizeof",   "static",   "struct",   "switch",   "true",
     "typedef",  "typeof", "union",    "unsigned", "void",     "volatile", "while"});

/// Reserved words of C++ that are not reserved in C, and the namespaces of the headers.
inline constexpr auto kWordsOfCpp = std::to_array<std::string_view>(
    {"alignas",  "alignof",       "and",          "and_eq",    "bitand",
     "bitor",    "catch",         "char16_t",     "char32_t",  "char8_t",
     "class",    "co_await",      "co_return",    "co_yield",  "compl",
     "concept",  "const_cast",    "consteval",    "constexpr", "constinit",
     "decltype", "delete",        "dynamic_cast", "explicit",  "export",
     "friend",   "mutable",       "namespace",    "new",       "noexcept",
     "not",      "not_eq",        "nullptr",      "operator",  "or",
     "or_eq",    "private",       "protected",    "public",    "reinterpret_cast",
     "requires", "static_assert", "static_cast",  "std",       "template",
     "tenon",    "this",          "thread_local", "throw",     "try",
     "typeid",   "typename",      "using",        "virtual",   "wchar_t",
     "xor",      "xor_eq"});

}  // namespace tenon::codegen
