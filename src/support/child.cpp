#include "tenon/support/child.h"

#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tenon/support/error.h"

namespace tenon {

ArgumentVector::ArgumentVector(std::vector<std::string> words) : words_(std::move(words)) {
  for (std::string& word : words_) pointers_.push_back(word.data());
  pointers_.push_back(nullptr);
}

int wait_for_end(pid_t child, const std::string& program) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw RuntimeError("cannot wait for `" + program + "`: " + std::strerror(errno));
  return status;
}

void refuse_to_start(const std::string& program, int error) {
  throw RuntimeError("cannot run `" + program + "`: " + std::strerror(error));
}

}  // namespace tenon
