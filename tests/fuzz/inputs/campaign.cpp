#include "tests/fuzz/inputs/campaign.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

namespace tenon::fuzz {

namespace {

/// The memory that the child writes and the parent reads after the child's end.
struct Shared {
  std::atomic<std::uint64_t> seed;
  std::atomic<bool> has_finding;
  char what[4096];
};

void limit_time(int seconds) {
  const itimerval limit = {{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

/// From the seed on, up to the end or the first finding.
void work(const Campaign& campaign, const std::vector<std::string>& seeds, std::uint64_t end,
          Shared& shared) {
  const rlimit memory = {campaign.memory_mb << 20, campaign.memory_mb << 20};
  setrlimit(RLIMIT_AS, &memory);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO), dup2(nowhere, STDERR_FILENO);
  for (; shared.seed < end; ++shared.seed) {
    limit_time(campaign.limit_s);
    const auto found = try_input(campaign.kind, mutated(seeds, shared.seed));
    if (!found) continue;
    std::strncpy(shared.what, found->c_str(), sizeof shared.what - 1);
    shared.has_finding = true;
    _exit(1);
  }
  _exit(0);
}

std::string reason_of(int status, const Shared& shared) {
  if (shared.has_finding) return shared.what;
  if (!WIFSIGNALED(status))
    return "the process ended with status " + std::to_string(WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGPROF) return "it takes too long";
  return std::string("signal ") + strsignal(WTERMSIG(status));
}

}  // namespace

void run(const Campaign& campaign, const std::function<void(const Finding&)>& on_finding) {
  const std::vector<std::string> seeds = seeds_of(campaign.kind);
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Shared& shared = *new (memory) Shared{};
  const std::uint64_t end = campaign.first_seed + campaign.count;
  // A new process after this many inputs keeps leaks from filling the memory.
  constexpr std::uint64_t kInputsOfAProcess = 500;
  for (shared.seed = campaign.first_seed; shared.seed < end;) {
    shared.has_finding = false;
    const std::uint64_t last = std::min(end, shared.seed + kInputsOfAProcess);
    const pid_t child = fork();
    if (child == 0) work(campaign, seeds, last, shared);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    on_finding({shared.seed, mutated(seeds, shared.seed), reason_of(status, shared)});
    ++shared.seed;
  }
  munmap(memory, sizeof(Shared));
}

}  // namespace tenon::fuzz
