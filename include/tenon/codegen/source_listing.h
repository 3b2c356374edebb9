// Text in C, OpenCL C or CUDA C that was made with CompileOptions::lines, as a list: each line with
// the statement that it is part of. The text says so in comments at the ends of its lines, which
// the list leaves out.
//
//   list_source("for (int i = 0; i < 8; ++i) { //@3\n")      // {{"for (int i = 0; i < 8; ++i) {", 3}}
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen {

/// One line of source.
struct SourceLine {
  std::string text;
  /// The line of a listing (tir/listing.h) that its statement begins on; 0: of no statement.
  int line = 0;
};

std::vector<SourceLine> list_source(std::string_view text);

/// The comment that says which line's statement a line of source is part of.
std::string line_mark(int line);

}  // namespace tenon::codegen
