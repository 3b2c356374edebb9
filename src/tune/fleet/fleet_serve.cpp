#include <sys/resource.h>
#include <unistd.h>

#include <limits.h>
#include <map>
#include <thread>

#include "tenon/s_tir/script.h"
#include "tenon/tune/database.h"
#include "tenon/tune/fleet.h"
#include "tune/fleet/fleet_messages.h"
#include "tune/fleet/heartbeat.h"
#include "tune/search/structural_hash.h"

namespace tenon::tune {

namespace {

constexpr std::chrono::minutes kPatience{1};

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/// Returns the CPU time, over all processors, of this process and its finished children.
double cpu_seconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& part : {used.ru_utime, used.ru_stime})
      seconds += static_cast<double>(part.tv_sec) + 1e-6 * static_cast<double>(part.tv_usec);
  }
  return seconds;
}

/// A worker: its measurers by task, and the builds that wait to be run.
class Server {
 public:
  Report done(const Order& order) {
    switch (order.kind) {
      case Order::Kind::Task:
        return begun(order);
      case Order::Kind::Build:
        return built(order);
      case Order::Kind::Run:
        return ran(order);
      case Order::Kind::Drop:
        drop(order.ticket);
        return {};
      case Order::Kind::Alive:
      case Order::Kind::End:
        return {};
    }
    internal_error("unknown order");
  }

 private:
  struct Waiting {
    int task;
    Build build;
  };

  Report begun(const Order& order) {
    try {
      const Target target(order.target);
      MeasureOptions options = order.options;
      options.build_workers = 1;
      measurers_[order.task] =
          std::make_unique<Measurer>(s_tir::parse_script(order.script), target, options);
      return {.kind = Report::Kind::Ready,
              .task = order.task,
              .host = host_name(),
              .processor = Conditions::of(target).processor};
    } catch (const std::exception& error) {
      return {.kind = Report::Kind::Unable,
              .task = order.task,
              .host = host_name(),
              .error = error.what()};
    }
  }

  Report built(const Order& order) {
    Report report{.kind = Report::Kind::Built, .task = order.task, .ticket = order.ticket};
    const double before = cpu_seconds();
    try {
      const tir::IRModule candidate = s_tir::parse_script(order.script);
      if (structural_hash(candidate) != order.hash)
        throw RuntimeError("the script of the candidate parses to a different program");
      const Build build = measurers_.at(order.task)->build({candidate}).front();
      report.error = build.error;
      if (build.is_fine()) builds_[order.ticket] = {order.task, build};
    } catch (const std::exception& error) {
      report.error = error.what();
    }
    report.cpu_seconds = cpu_seconds() - before;
    return report;
  }

  void drop(int ticket) {
    const auto waiting = builds_.find(ticket);
    if (waiting == builds_.end()) return;
    std::error_code ignored;
    std::filesystem::remove(waiting->second.build.code, ignored);
    builds_.erase(waiting);
  }

  Report ran(const Order& order) {
    Report report{.kind = Report::Kind::Ran, .ticket = order.ticket};
    const auto waiting = builds_.find(order.ticket);
    internal_check(waiting != builds_.end(), "a candidate is run that was not compiled here");
    report.task = waiting->second.task;
    report.measurement = measurers_.at(report.task)->run({waiting->second.build}).front();
    builds_.erase(waiting);
    return report;
  }

  std::map<int, std::unique_ptr<Measurer>> measurers_ = {};
  std::map<int, Waiting> builds_ = {};
};

}  // namespace

bool serve(Channel& channel) {
  using Clock = std::chrono::steady_clock;
  Server server;
  const Heartbeat heartbeat(channel, {0}, to_text(Report{}));
  Clock::time_point last_word = Clock::now();
  while (Clock::now() - last_word < kPatience) {
    const std::optional<Channel::Message> message = channel.receive();
    if (!message) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      continue;
    }
    const Order order = parse_order(message->text);
    if (order.kind == Order::Kind::End) return order.is_whole;
    const Report report = server.done(order);
    if (report.kind != Report::Kind::Alive) channel.send(0, to_text(report));
    // The time limit for a silent process 0 starts after the work, because messages that arrived
    // during the work have not been read yet.
    last_word = Clock::now();
  }
  return false;
}

}  // namespace tenon::tune
