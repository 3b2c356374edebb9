// Programs as text, for tests of single passes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tenon/lower/pipeline.h"

namespace tenon::lowering::test {

/// The text without blank lines and trailing spaces.
std::string normalized(std::string_view text);

/// The only function of the text.
tir::PrimFunc parse_function(std::string_view text);

/// A function of the parameters `A` and `B` (float32, one dimension of the sizes), with the body.
std::string function_text(std::string_view body, int a_size = 1024, int b_size = 1024);

std::string text_of(const tir::PrimFunc& func);
/// Only what stands between the braces of the function, without its indentation of two spaces.
std::string body_text(const tir::PrimFunc& func);

/// The function without the lets that common subexpression elimination makes.
tir::PrimFunc without_lets(tir::PrimFunc func);

/// Runs the pass on the text's function and gives the body's text.
using PassFunction = tir::PrimFunc (*)(const tir::PrimFunc&, const PassOptions&);
std::string run(PassFunction pass, std::string_view function, const PassOptions& options = {});

/// The result of `run` for a body that the pass leaves unchanged.
std::string unchanged(std::string_view body);
/// Options for a processor whose vector registers have so many bits.
PassOptions with_vectors(int bits);

/// A whole text of a known program, and where it comes from.
struct KnownText {
  std::string name;
  std::string text;
};
/// The functions in the TVM 0.9 texts: primitives, ladder, random programs.
std::vector<KnownText> known_functions();

}  // namespace tenon::lowering::test
