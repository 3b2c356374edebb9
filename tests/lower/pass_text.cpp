#include "pass_text.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tenon/tir/parse.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tenon_test_paths.h"

namespace tenon::lowering::test {

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

std::string normalized(std::string_view text) { return joined(lines_of(text)); }

tir::PrimFunc parse_function(std::string_view text) {
  return tir::parse_module(text).functions.begin()->second;
}

std::string function_text(std::string_view body, int a_size, int b_size) {
  const std::string a = std::to_string(a_size), b = std::to_string(b_size);
  return "@main = primfn(A_1: handle, B_1: handle) -> ()\n"
         "  attr = {\"from_legacy_te_schedule\": True, \"global_symbol\": \"main\", \"tir.noalias\": True}\n"
         "  buffers = {A: Buffer(A_2: Pointer(float32), float32, [" +
         a +
         "], []),\n"
         "             B: Buffer(B_2: Pointer(float32), float32, [" +
         b +
         "], [])}\n"
         "  buffer_map = {A_1: A, B_1: B}\n"
         "  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [" +
         a + "], []), B_1: B_3: Buffer(B_2, float32, [" + b + "], [])} {\n" + std::string(body) +
         "}\n";
}

std::string text_of(const tir::PrimFunc& func) { return normalized(tir::print_function(func)); }

std::string body_text(const tir::PrimFunc& func) {
  std::vector<std::string> lines = lines_of(tir::print_function(func));
  const auto header_end = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("  preflattened_buffer_map") || line.starts_with("  buffer_map");
  });
  auto begin = header_end == lines.end() ? lines.begin() : header_end + 1;
  if (begin != lines.end() && begin->starts_with("  preflattened_buffer_map")) ++begin;
  std::vector<std::string> body(begin, lines.end() - 1);
  for (std::string& line : body)
    line.erase(0, std::min<std::size_t>(2, line.find_first_not_of(' ')));
  return joined(body);
}

tir::PrimFunc without_lets(tir::PrimFunc func) {
  using namespace tir;
  VarMap values;
  const std::function<Expr(const Expr&)> expr = [&](const Expr& e) -> Expr {
    if (const LetExpr* let = e.as<LetExpr>(); let && let->var.name().starts_with("cse_var")) {
      set(values, let->var, expr(let->value));
      return expr(let->body);
    }
    if (e.as<VarNode>()) {
      const auto found = values.find(&e.node());
      return found == values.end() ? e : found->second;
    }
    return map_children(e, expr);
  };
  const std::function<Stmt(const Stmt&)> stmt = [&](const Stmt& s) -> Stmt {
    if (const Let* let = s.as<Let>(); let && let->var.name().starts_with("cse_var")) {
      set(values, let->var, expr(let->value));
      return stmt(let->body);
    }
    return map_children(s, expr, stmt);
  };
  func.body = stmt(func.body);
  return func;
}

std::string run(PassFunction pass, std::string_view function, const PassOptions& options) {
  return body_text(pass(parse_function(function), options));
}

std::string unchanged(std::string_view body) {
  return body_text(parse_function(function_text(body)));
}

PassOptions with_vectors(int bits) {
  PassOptions options;
  options.vector_registers = tir::VectorRegisters{.bits = bits, .for_sums = 16};
  return options;
}

std::vector<KnownText> known_functions() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"primitives", "ladder", "random", "probes"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(TENON_GOLDEN_DIR) / folder)) {
      if (entry.path().extension() == ".txt") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<KnownText> result;
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file);
    std::string current;
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("OK @main")) line.erase(0, 3);
      if (line.starts_with("@main")) current.clear();
      if (current.empty() && !line.starts_with("@main")) continue;
      current += line + "\n";
      if (line != "}") continue;
      // One probe cuts its text off inside the header.
      if (current.find("buffer_map") != std::string::npos) {
        result.push_back(
            {file.stem().string() + "/" + std::to_string(number++), normalized(current)});
      }
      current.clear();
    }
  }
  return result;
}

}  // namespace tenon::lowering::test
