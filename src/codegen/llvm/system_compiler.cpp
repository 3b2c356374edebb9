#include "codegen/llvm/system_compiler.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "tenon/support/error.h"

namespace tenon::codegen {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "tenon-").string();
  // mkdtemp puts six characters of its own in their place.
  name.append(6, 'X');
  if (!mkdtemp(name.data()))
    throw RuntimeError("cannot make a temporary folder `" + name + "`: " + std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (!file || !(bytes << file.rdbuf())) throw RuntimeError("cannot read `" + path.string() + "`");
  return std::move(bytes).str();
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw RuntimeError("cannot write `" + path.string() + "`");
}

namespace {

/// As one word of the shell.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// The shell's status for a command that is not there, or that it may not run.
constexpr int kNotFound = 127, kNotExecutable = 126;

}  // namespace

void run_c_compiler(const std::vector<std::string>& arguments, const std::string& purpose) {
  const TemporaryFolder folder;
  const std::filesystem::path log = folder.file("log");
  std::string command = "cc";
  for (const std::string& argument : arguments) command += " " + quoted(argument);
  const int status = std::system((command + " > " + quoted(log.string()) + " 2>&1").c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 0) return;
  if (code == kNotFound || code == kNotExecutable)
    throw RuntimeError("the system's C compiler `cc` is needed " + purpose +
                       ", and there is none; install one (Debian: gcc), or save to .o or .a");
  throw RuntimeError("the system's C compiler `cc`, run " + purpose + ", failed:\n" +
                     read_file(log));
}

}  // namespace tenon::codegen
