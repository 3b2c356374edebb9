#include "known_programs.h"

#include <fstream>

#include "tenon_test_paths.h"

namespace tenon::known_programs {

std::vector<Program> programs_a();
std::vector<Program> programs_b();
std::vector<Program> programs_c();
std::vector<Program> programs_d();
std::vector<Program> topi_programs_cpu();
std::vector<Program> topi_programs_gpu();

namespace {

std::vector<Lowered>& recorded() {
  static std::vector<Lowered> list;
  return list;
}

/// Captures std::cout during its lifetime.
class Console {
 public:
  Console() : screen_(std::cout.rdbuf(text_.rdbuf())) {}
  ~Console() { std::cout.rdbuf(screen_); }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* screen_;
};

/// Without blank lines and trailing spaces.
std::string normalized(std::istream& in) {
  std::string text, line;
  while (std::getline(in, line)) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) text.append(line).append("\n");
  }
  return text;
}

std::vector<Program> joined(std::initializer_list<std::vector<Program>> parts) {
  std::vector<Program> all;
  for (const std::vector<Program>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

tir::IRModule harness::lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                             const LowerOptions& options) {
  recorded().push_back({schedule.copy(), args});
  return tenon::lower(schedule, args, options);
}

std::vector<Program> random_programs() {
  return joined({programs_a(), programs_b(), programs_c(), programs_d()});
}
std::vector<Program> topi_programs() { return joined({topi_programs_cpu(), topi_programs_gpu()}); }

std::string printed_by(const Program& program) {
  const Console console;
  std::string error;
  try {
    program.run();
  } catch (const std::exception& e) {
    error = std::string("error: ") + e.what() + "\n";
  }
  recorded().clear();
  std::istringstream text(console.text() + error);
  return normalized(text);
}

std::vector<Lowered> lowered_by(const Program& program) {
  const Console console;
  recorded().clear();
  program.run();
  return std::exchange(recorded(), {});
}

std::string text_of(std::string_view folder, const Program& program) {
  std::string path = TENON_GOLDEN_DIR "/";
  path.append(folder).append("/").append(program.name).append(".txt");
  std::ifstream file(path);
  internal_check(file.good(), "there is no " + path);
  return normalized(file);
}

}  // namespace tenon::known_programs
