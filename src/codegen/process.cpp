#include "tenon/codegen/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tenon/codegen/files.h"
#include "tenon/support/child.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

/// In C libraries whose posix_spawn does not report a failed exec, the child exits with this
/// status.
constexpr int kNoSuchProgram = 127;

}  // namespace

std::optional<FinishedProcess> run_process(const std::vector<std::string>& command) {
  internal_check(!command.empty(), "a process without a program");
  const TemporaryFolder folder;
  const std::string log = folder.file("output").string();
  const std::vector<char*> arguments = exec_arguments(command);
  // The files of the process: an empty standard input, and a file for all of its output.
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, command[0].c_str(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error == ENOENT || error == EACCES || error == ENOTDIR) return std::nullopt;
  if (error != 0) refuse_to_start(command[0], error);
  const int state = wait_for_end(child, command[0]);
  const int status = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  if (status == kNoSuchProgram) return std::nullopt;
  return FinishedProcess{.status = status, .output = read_file(log)};
}

}  // namespace tenon::codegen
