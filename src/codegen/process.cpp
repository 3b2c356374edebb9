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

/// The files of a process: an empty standard input, and a file for all of its output.
class Redirections {
 public:
  explicit Redirections(const std::string& output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
  }
  ~Redirections() { posix_spawn_file_actions_destroy(&actions_); }
  Redirections(const Redirections&) = delete;
  Redirections& operator=(const Redirections&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// In C libraries whose posix_spawn does not report a failed exec, the child exits with this
/// status.
constexpr int kNoSuchProgram = 127;

}  // namespace

std::optional<FinishedProcess> run_process(const std::vector<std::string>& command) {
  internal_check(!command.empty(), "a process without a program");
  const TemporaryFolder folder;
  const std::string log = folder.file("output").string();
  const Redirections redirections(log);
  const std::vector<char*> arguments = exec_arguments(command);
  pid_t child = 0;
  const int error = posix_spawnp(&child, command[0].c_str(), redirections.get(), nullptr,
                                 arguments.data(), environ);
  if (error == ENOENT || error == EACCES || error == ENOTDIR) return std::nullopt;
  if (error != 0) refuse_to_start(command[0], error);
  const int state = wait_for_end(child, command[0]);
  const int status = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  if (status == kNoSuchProgram) return std::nullopt;
  return FinishedProcess{.status = status, .output = read_file(log)};
}

}  // namespace tenon::codegen
