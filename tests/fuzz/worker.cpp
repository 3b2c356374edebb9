#include "tests/fuzz/worker.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <iostream>

#ifdef TENON_COVERAGE
extern "C" void __gcov_dump(void);
#endif

namespace tenon::fuzz {

namespace {

// ---- messages: a letter, a length, so many bytes

enum class Tag : char { Phase = 'P', Description = 'D', Result = 'R', Job = 'J', End = 'E' };

void write_all(int to, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(to, bytes.data() + done, bytes.size() - done);
    if (n <= 0) return;
    done += static_cast<std::size_t>(n);
  }
}

void append_number(std::string& bytes, std::uint32_t n) {
  bytes.append(reinterpret_cast<const char*>(&n), sizeof n);
}

void append(std::string& bytes, const std::string& text) {
  append_number(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += text;
}

void append(std::string& bytes, const std::vector<Note>& notes) {
  append_number(bytes, static_cast<std::uint32_t>(notes.size()));
  for (const Note& note : notes)
    for (const std::uint16_t number : {note.table, note.row, note.column})
      append_number(bytes, number);
}

void send(int to, Tag tag, const std::string& body) {
  std::string message(1, static_cast<char>(tag));
  append(message, body);
  write_all(to, message);
}

/// Takes numbers and texts off the front.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::uint32_t number() {
    std::uint32_t n = 0;
    std::memcpy(&n, rest_.data(), sizeof n);
    rest_.remove_prefix(sizeof n);
    return n;
  }
  std::string text() {
    const std::uint32_t length = number();
    std::string result(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return result;
  }

  std::vector<Note> notes() {
    const auto next = [&] { return static_cast<std::uint16_t>(number()); };
    std::vector<Note> result(number());
    for (Note& note : result) {
      note.table = next();
      note.row = next();
      note.column = next();
    }
    return result;
  }

 private:
  std::string_view rest_;
};

std::string packed(const Outcome& outcome) {
  std::string bytes;
  append_number(bytes, static_cast<std::uint32_t>(outcome.kind));
  append(bytes, outcome.text);
  append(bytes, outcome.description);
  append_number(bytes, static_cast<std::uint32_t>(outcome.phases.size()));
  for (const auto& [phase, seconds] : outcome.phases) {
    append(bytes, phase);
    append_number(bytes, static_cast<std::uint32_t>(seconds * 1e6));
  }
  append_number(bytes, static_cast<std::uint32_t>(outcome.parts));
  append_number(bytes, static_cast<std::uint32_t>(outcome.attempts.size()));
  for (const Attempt& attempt : outcome.attempts) {
    append(bytes, attempt.primitive);
    append_number(bytes, static_cast<std::uint32_t>(attempt.kind));
    append_number(bytes, attempt.accepted);
    append(bytes, attempt.text);
    append(bytes, attempt.notes);
  }
  append(bytes, outcome.notes);
  return bytes;
}

Outcome unpacked(std::string_view bytes) {
  Reader in(bytes);
  Outcome outcome;
  outcome.kind = static_cast<Outcome::Kind>(in.number());
  outcome.text = in.text();
  outcome.description = in.text();
  const std::uint32_t phases = in.number();
  for (std::uint32_t n = 0; n < phases; ++n) {
    const std::string phase = in.text();
    outcome.phases[phase] = in.number() * 1e-6;
  }
  outcome.parts = static_cast<int>(in.number());
  const std::uint32_t attempts = in.number();
  for (std::uint32_t n = 0; n < attempts; ++n) {
    Attempt a;
    a.primitive = in.text();
    a.kind = static_cast<StageKind>(in.number());
    a.accepted = in.number() != 0;
    a.text = in.text();
    a.notes = in.notes();
    outcome.attempts.push_back(std::move(a));
  }
  outcome.notes = in.notes();
  return outcome;
}

std::string packed(const Job& job) {
  std::string bytes;
  append_number(bytes, job.seed);
  std::string keep;
  for (bool each : job.keep) keep += each ? '1' : '0';
  append(bytes, keep);
  return bytes;
}

Job unpacked_job(std::string_view bytes) {
  Reader in(bytes);
  Job job{.seed = in.number()};
  for (char each : in.text()) job.keep.push_back(each == '1');
  return job;
}

bool read_all(int from, char* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = read(from, to, bytes);
    if (n <= 0) return false;
    to += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

/// Without what ends a program: it is the parent's.
[[noreturn]] void leave() {
#ifdef TENON_COVERAGE
  __gcov_dump();
#endif
  _exit(0);
}

void limit(decltype(RLIMIT_AS) what, std::size_t bytes) {
  const rlimit value = {bytes, bytes};
  setrlimit(what, &value);
}

}  // namespace

// ---- in the child

void Worker::serve(int jobs, int results) const {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CORE, 0);
  if (limits_.memory_bytes > 0) limit(RLIMIT_AS, limits_.memory_bytes);
  const Reporter reporter = {
      .on_phase = [&](const std::string& phase) { send(results, Tag::Phase, phase); },
      .on_description = [&](const std::string& text) { send(results, Tag::Description, text); }};
  while (true) {
    char head[5];
    std::uint32_t length = 0;
    if (!read_all(jobs, head, sizeof head) || head[0] == static_cast<char>(Tag::End)) leave();
    std::memcpy(&length, head + 1, sizeof length);
    std::string body(length, '\0');
    if (!read_all(jobs, body.data(), length)) leave();
    Outcome outcome;
    std::string description;
    const Reporter noting{.on_phase = reporter.on_phase,
                          .on_description = [&](const std::string& text) {
                            description = text;
                            reporter.on_description(text);
                          }};
    try {
      outcome = run_(unpacked_job(body), noting);
    } catch (const std::exception& error) {
      outcome = {.kind = Outcome::Kind::Wrong,
                 .text = std::string("while making the schedule: ") + error.what(),
                 .description = description};
    }
    send(results, Tag::Result, packed(outcome));
  }
}

// ---- in the parent

void Worker::fork_child() {
  int jobs[2], results[2];
  if (pipe(jobs) != 0 || pipe(results) != 0) throw std::runtime_error("fuzz: no more pipes");
  child_ = fork();
  if (child_ < 0) throw std::runtime_error("fuzz: no more processes");
  if (child_ == 0) {
    setpgid(0, 0);
    close(jobs[1]);
    close(results[0]);
    // Warnings of schedules are not findings. Sanitizers do not write there.
    std::cerr.setstate(std::ios::failbit);
    serve(jobs[0], results[1]);
  }
  close(jobs[0]);
  close(results[1]);
  to_child_ = jobs[1];
  from_child_ = results[0];
  cases_ = 0;
}

void Worker::end() {
  if (child_ < 0) return;
  if (busy_) {
    // With the compilers that it started.
    kill(-child_, SIGKILL);
    kill(child_, SIGKILL);
  } else {
    send(to_child_, Tag::End, "");
  }
  waitpid(child_, nullptr, 0);
  close(to_child_);
  close(from_child_);
  child_ = -1;
  busy_ = false;
  received_.clear();
}

double Worker::cpu_seconds() const {
  clockid_t clock;
  timespec time;
  if (clock_getcpuclockid(child_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void Worker::start(const Job& job) {
  if (cases_ >= limits_.cases_per_process) end();
  if (child_ < 0) fork_child();
  ++cases_;
  job_ = job;
  busy_ = true;
  phase_ = "scheduling";
  description_ = "seed " + std::to_string(job.seed) + "\n";
  phase_cpu_ = cpu_seconds();
  phase_start_ = std::chrono::steady_clock::now();
  send(to_child_, Tag::Job, packed(job));
}

Outcome Worker::lost(Outcome::Kind kind, std::string text) {
  end();
  return {.kind = kind, .text = std::move(text), .description = description_};
}

std::optional<std::string> Worker::broken_limit() const {
  const double cpu = cpu_seconds() - phase_cpu_;
  if (cpu > limits_.cpu_seconds)
    return "more than " + std::to_string(static_cast<int>(limits_.cpu_seconds)) +
           " s of processor time while " + phase_;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - phase_start_;
  if (wall.count() > 10 * limits_.cpu_seconds) return "hangs while " + phase_;
  return std::nullopt;
}

std::optional<Outcome> Worker::take_messages() {
  while (received_.size() >= 5) {
    std::uint32_t length = 0;
    std::memcpy(&length, received_.data() + 1, sizeof length);
    if (received_.size() < 5 + length) return std::nullopt;
    const Tag tag = static_cast<Tag>(received_[0]);
    const std::string body = received_.substr(5, length);
    received_.erase(0, 5 + length);
    if (tag == Tag::Result) {
      busy_ = false;
      return unpacked(body);
    }
    if (tag == Tag::Description) {
      description_ = body;
      continue;
    }
    phase_ = body;
    phase_cpu_ = cpu_seconds();
    phase_start_ = std::chrono::steady_clock::now();
  }
  return std::nullopt;
}

std::optional<Outcome> Worker::outcome() {
  if (!busy_) return std::nullopt;
  pollfd ready = {from_child_, POLLIN, 0};
  while (poll(&ready, 1, 0) > 0) {
    char buffer[1 << 14];
    const ssize_t n = read(from_child_, buffer, sizeof buffer);
    if (n > 0) {
      received_.append(buffer, static_cast<std::size_t>(n));
      if (std::optional<Outcome> done = take_messages()) return done;
      continue;
    }
    int status = 0;
    waitpid(child_, &status, 0);
    const std::string how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit";
    const pid_t gone = std::exchange(child_, -1);
    static_cast<void>(gone);
    close(to_child_);
    close(from_child_);
    busy_ = false;
    received_.clear();
    return Outcome{.kind = Outcome::Kind::Crashed,
                   .text = how + " while " + phase_,
                   .description = description_};
  }
  if (std::optional<std::string> broken = broken_limit())
    return lost(Outcome::Kind::TooSlow, *broken);
  return std::nullopt;
}

Outcome Worker::run_now(const Job& job) {
  start(job);
  while (true) {
    if (std::optional<Outcome> done = outcome()) return *done;
    pollfd ready = {from_child_, POLLIN, 0};
    poll(&ready, 1, 100);
  }
}

void wait_for(const std::vector<std::unique_ptr<Worker>>& workers) {
  std::vector<pollfd> ready;
  for (const auto& worker : workers)
    if (worker->is_busy()) ready.push_back({worker->descriptor(), POLLIN, 0});
  poll(ready.data(), ready.size(), 100);
}

}  // namespace tenon::fuzz
