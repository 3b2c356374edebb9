#include "tenon/codegen/files.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "tenon/support/error.h"

namespace tenon::codegen {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "tenon-").string();
  // mkdtemp replaces these six characters.
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
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // Opening a folder succeeds, but reading it fails.
  if (!file.is_open() || file.bad()) throw RuntimeError("cannot read `" + path.string() + "`");
  return bytes;
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw RuntimeError("cannot write `" + path.string() + "`");
}

}  // namespace tenon::codegen
