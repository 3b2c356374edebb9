// A parsed form of C, OpenCL C or CUDA C text that was generated with CompileOptions::lines: each
// line with the statement to which it belongs. In the text, a comment at the end of a line marks
// the statement. The parsed form omits these comments.
//
//   list_source("for (int i = 0; i < 8; ++i) { //@3\n")      // {{"for (int i = 0; i < 8; ++i) {", 3}}
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen {

/// A line of source.
struct SourceLine {
  std::string text;
  /// The line of its statement in the listing (tir/listing.h), the first line if there are several.
  /// 0 if it belongs to no statement.
  int line = 0;
};

std::vector<SourceLine> list_source(std::string_view text);

/// Returns the comment that marks a line of source as part of the statement at `line`.
std::string line_mark(int line);

}  // namespace tenon::codegen
