// Common steps of starting another program.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tenon {

/// Returns the arguments of a program in the form that exec takes: a null-terminated array, which
/// points into `words`. exec does not change the texts.
std::vector<char*> exec_arguments(const std::vector<std::string>& words);

/// Waits for the process to end and returns its `waitpid` status. `program` is its name in errors.
/// RuntimeError if it is not a child that can be waited for.
int wait_for_end(pid_t child, const std::string& program);

/// Throws a RuntimeError with the system's reason why the program could not be started.
[[noreturn]] void refuse_to_start(const std::string& program, int error);

}  // namespace tenon
