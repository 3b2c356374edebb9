#include "tune/measure/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "tenon/support/child.h"
#include "tenon/support/error.h"
#include "tune/measure/job.h"

namespace tenon::tune {

namespace {

using Clock = std::chrono::steady_clock;

/// A pipe. Both ends are closed on exec, so that programs started by other threads do not inherit
/// them.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0)
      throw RuntimeError(std::string("no pipe to the worker program: ") + std::strerror(errno));
  }
  ~Pipe() {
    close(ends_[0]);
    close_write_end();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_write_end() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

class Spawning {
 public:
  explicit Spawning(int answer_to) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, answer_to, kAnswerDescriptor);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  }
  ~Spawning() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Spawning(const Spawning&) = delete;
  Spawning& operator=(const Spawning&) = delete;

  pid_t start(const std::vector<std::string>& command) const {
    ArgumentVector arguments(command);
    pid_t child = 0;
    const int error =
        posix_spawn(&child, command[0].c_str(), &actions_, &attributes_, arguments.get(), environ);
    if (error != 0) refuse_to_start(command[0], error);
    return child;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// Reads until the other end is closed, which happens at the latest when the child ends. Returns
/// false if the time limit is reached first.
bool read_until(int pipe, Clock::time_point limit, std::string& text) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now());
    if (left.count() <= 0) return false;
    pollfd wait{.fd = pipe, .events = POLLIN, .revents = 0};
    constexpr std::int64_t kLongest = 1 << 30;
    const int ready =
        poll(&wait, 1, static_cast<int>(std::min<std::int64_t>(left.count() + 1, kLongest)));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    char buffer[4096];
    const ssize_t count = read(pipe, buffer, sizeof buffer);
    if (count == 0) return true;
    if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) return true;
  }
}

}  // namespace

EndedChild run_child(const std::vector<std::string>& command, std::chrono::duration<double> limit) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  Pipe pipe;
  const pid_t child = Spawning(pipe.write_end()).start(command);
  pipe.close_write_end();
  EndedChild result;
  result.timed_out = !read_until(pipe.read_end(), end, result.answer);
  if (result.timed_out) kill(-child, SIGKILL);
  const int state = wait_for_end(child, command[0]);
  if (WIFSIGNALED(state) && !result.timed_out) result.signal = WTERMSIG(state);
  if (WIFEXITED(state)) result.status = WEXITSTATUS(state);
  return result;
}

}  // namespace tenon::tune
