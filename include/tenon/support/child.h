// The parts of starting another program that all who start one share.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tenon {

/// Words in the form in which the system takes a program's arguments.
class ArgumentVector {
 public:
  explicit ArgumentVector(std::vector<std::string> words);
  ArgumentVector(const ArgumentVector&) = delete;
  ArgumentVector& operator=(const ArgumentVector&) = delete;

  /// Ends with a null pointer. Points into this object.
  char* const* get() { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

/// Waits until the process has ended; its status as `waitpid` gives it. `program` is what it is
/// called in errors. RuntimeError: it is no child of ours that can be waited for.
int wait_for_end(pid_t child, const std::string& program);

/// RuntimeError: the program could not be started, with the system's reason.
[[noreturn]] void refuse_to_start(const std::string& program, int error);

}  // namespace tenon
