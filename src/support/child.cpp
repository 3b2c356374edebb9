#include "tenon/support/child.h"

#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "tenon/support/error.h"

namespace tenon {

std::vector<char*> exec_arguments(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
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
