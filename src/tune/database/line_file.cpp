#include "tune/database/line_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tenon/codegen/files.h"

namespace tenon::tune {

namespace {

class File {
 public:
  explicit File(const std::filesystem::path& path)
      : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);  // also unlocks it
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::string reason() { return std::strerror(errno); }

/// Whether the file ends in the middle of a line, without a newline. False for files without a
/// readable end (devices, pipes).
bool lacks_final_newline(int file, off_t size) {
  char last = '\n';
  return size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

std::vector<Line> read_lines(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return {};
  const std::string text = codegen::read_file(path);
  std::vector<Line> lines;
  for (std::size_t begin = 0, number = 1; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back({number, text.substr(begin, end - begin)});
    begin = end + 1;
  }
  return lines;
}

std::string append_line(const std::filesystem::path& path, const std::string& line) {
  const File file(path);
  if (file.get() < 0) return reason();
  while (flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR) return reason();
  const off_t size = lseek(file.get(), 0, SEEK_END);
  const std::string bytes = (lacks_final_newline(file.get(), size) ? "\n" : "") + line + "\n";
  const ssize_t written = write(file.get(), bytes.data(), bytes.size());
  if (written == static_cast<ssize_t>(bytes.size())) return "";
  const std::string why = written < 0 ? reason() : "the disk is full";
  // Removes the partial line, which readers would skip anyway.
  if (written > 0 && ftruncate(file.get(), size) != 0) return why;
  return why;
}

}  // namespace tenon::tune
