#include "tenon/tune/fleet.h"

#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "tenon/s_tir/script.h"
#include "tenon/tune/database.h"
#include "tune/fleet/fleet_messages.h"
#include "tune/search/structural_hash.h"

namespace tenon::tune {

namespace {

/// Starts a thread that sends `sign` to each process from `begin` to `end` (exclusive) once per
/// second until it is destroyed.
std::jthread heartbeat(Channel& channel, int begin, int end, std::string sign) {
  return std::jthread([&channel, begin, end, sign = std::move(sign)](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      for (int n = begin; n < end; ++n) try {
          channel.send(n, sign);
        } catch (const std::exception&) {
          // A failed send is ignored: a process that is lost sends nothing either, and is
          // detected by its silence.
        }
      wake.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
    }
  });
}

}  // namespace

// ---- processes ----------------------------------------------------------------------------------

// The workers as the searching process knows them.

class FleetMembers {
 public:
  using Clock = std::chrono::steady_clock;

  struct Member {
    int number = 0;
    std::string host = {};
    Clock::time_point last_word = {};
    bool is_lost = false;
    /// The tasks whose candidates this worker can measure.
    std::set<int> tasks = {};
    /// The candidate that this worker is building or running.
    std::optional<int> ticket = std::nullopt;

    /// Returns the name for messages: "process 2 on host".
    std::string name() const;
    bool measures(int task) const { return !is_lost && tasks.contains(task); }
  };

  FleetMembers(std::shared_ptr<Channel> channel, const FleetOptions& options);

  std::vector<Member>& all() { return members_; }
  const std::vector<Member>& all() const { return members_; }
  /// Precondition: `number` is at least 1.
  Member& member(int number) { return members_[static_cast<std::size_t>(number) - 1]; }

  /// Sends an order. Returns an empty string on success, otherwise the error.
  std::string send(const Member& to, const Order& order);

  using OnReport = std::function<void(Member&, const Report&)>;
  /// Calls `on_report` with each message that has arrived, except heartbeats. Returns false if no
  /// message has arrived.
  bool receive(const OnReport& on_report);
  /// Returns the members that have been silent for too long and are not yet considered lost. The
  /// silence of a member starts at its last message, but not before `since`, because messages from
  /// before `since` may not have been read.
  std::vector<Member*> silent(Clock::time_point since);

 private:
  std::shared_ptr<Channel> channel_;
  std::chrono::duration<double> silence_;
  std::vector<Member> members_ = {};
  std::jthread heartbeat_;
};

std::string FleetMembers::Member::name() const {
  return "process " + std::to_string(number) + (host.empty() ? "" : " on " + host);
}

FleetMembers::FleetMembers(std::shared_ptr<Channel> channel, const FleetOptions& options)
    : channel_(std::move(channel)),
      silence_(options.silence_s),
      heartbeat_(heartbeat(*channel_, 1, channel_->size(), to_text(Order{}))) {
  for (int n = 1; n < channel_->size(); ++n) members_.push_back({.number = n});
}

std::string FleetMembers::send(const Member& to, const Order& order) {
  try {
    channel_->send(to.number, to_text(order));
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

bool FleetMembers::receive(const OnReport& on_report) {
  bool any = false;
  while (const std::optional<Channel::Message> message = channel_->receive()) {
    any = true;
    Member& from = member(message->from);
    from.last_word = Clock::now();
    const Report report = parse_report(message->text);
    if (report.kind == Report::Kind::Alive) continue;
    // Updates the member even if no batch expects this report. A worker may finish a candidate of a
    // stopped batch during a later batch.
    if (report.kind == Report::Kind::Built || report.kind == Report::Kind::Ran)
      if (from.ticket == report.ticket) from.ticket.reset();
    on_report(from, report);
  }
  return any;
}

std::vector<FleetMembers::Member*> FleetMembers::silent(Clock::time_point since) {
  std::vector<Member*> result;
  for (Member& member : members_)
    if (!member.is_lost && Clock::now() - std::max(member.last_word, since) > silence_)
      result.push_back(&member);
  return result;
}

// ---- candidates in flight -----------------------------------------------------------------------

// The progress of the workers on one batch of candidates.

class FleetLot {
 public:
  /// Candidate n of the batch has the ticket `first_ticket + n`.
  FleetLot(FleetMembers& members, int task, int first_ticket,
           const std::vector<tir::IRModule>& candidates, const Fleet::OnMeasured& on_measured);

  Fleet::Lot run();

 private:
  using Member = FleetMembers::Member;
  using Clock = FleetMembers::Clock;

  /// The state of a candidate.
  enum class State : unsigned char { Waiting, Building, Built, Running, Done };
  struct Slot {
    State state = State::Waiting;
    /// The worker that has built the candidate, or is building or running it.
    int member = 0;

    friend bool operator==(const Slot&, const Slot&) = default;
  };

  int ticket(std::size_t n) const { return first_ticket_ + static_cast<int>(n); }
  /// Whether any candidate is in this state. is_any_on: on the given host.
  bool is_any(State state) const;
  bool is_any_on(const std::string& host, State state);
  bool is_done() const;

  void hear(Member& from, const Report& report);
  void finish(std::size_t n, Measurement measurement);
  void lose(Member& member, const std::string& why);
  void give_work();
  void give(Member& member, std::size_t n, State state, const Order& order);
  /// Tells the workers to discard builds that are no longer needed.
  void drop_rest();

  FleetMembers& members_;
  int task_, first_ticket_;
  const std::vector<tir::IRModule>& candidates_;
  const Fleet::OnMeasured& on_measured_;
  std::vector<Slot> slots_;
  Clock::time_point begun_ = Clock::now();
  bool is_stopped_ = false;
  Fleet::Lot result_;
};

FleetLot::FleetLot(FleetMembers& members, int task, int first_ticket,
                   const std::vector<tir::IRModule>& candidates,
                   const Fleet::OnMeasured& on_measured)
    : members_(members),
      task_(task),
      first_ticket_(first_ticket),
      candidates_(candidates),
      on_measured_(on_measured),
      slots_(candidates.size()) {
  result_.measurements.resize(candidates.size());
}

Fleet::Lot FleetLot::run() {
  while (!is_done() && !is_stopped_) {
    const bool any = members_.receive([&](Member& from, const Report& r) { hear(from, r); });
    for (Member* member : members_.silent(begun_)) lose(*member, "no word from it for too long");
    if (std::ranges::none_of(members_.all(),
                             [&](const Member& member) { return member.measures(task_); }))
      break;
    give_work();
    if (any) continue;
    if (on_measured_ && !on_measured_(std::nullopt, {})) is_stopped_ = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  drop_rest();
  return std::move(result_);
}

bool FleetLot::is_any(State state) const {
  return std::ranges::find(slots_, state, &Slot::state) != slots_.end();
}

bool FleetLot::is_any_on(const std::string& host, State state) {
  return std::ranges::any_of(slots_, [&](const Slot& slot) {
    return slot.state == state && members_.member(slot.member).host == host;
  });
}

bool FleetLot::is_done() const {
  return std::ranges::all_of(
      slots_, [](State state) { return state == State::Done; }, &Slot::state);
}

void FleetLot::hear(Member& from, const Report& report) {
  if (report.kind != Report::Kind::Built && report.kind != Report::Kind::Ran) return;
  const auto n = static_cast<std::size_t>(report.ticket - first_ticket_);
  // Ignores a late report. It is about a batch that was stopped, or from a member that was
  // considered lost.
  if (report.ticket < first_ticket_ || n >= slots_.size() || slots_[n].member != from.number)
    return;
  if (report.kind == Report::Kind::Ran) return finish(n, report.measurement);
  result_.build_cpu_seconds += report.cpu_seconds;
  if (!report.error.empty()) finish(n, {Outcome::BuildFailed, {}, report.error});
  if (report.error.empty()) slots_[n].state = State::Built;
  if (!is_any(State::Waiting) && !is_any(State::Building) && result_.build_seconds == 0)
    result_.build_seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
}

void FleetLot::finish(std::size_t n, Measurement measurement) {
  slots_[n] = {.state = State::Done};
  result_.measurements[n] = measurement;
  if (on_measured_ && !on_measured_(n, measurement)) is_stopped_ = true;
}

void FleetLot::lose(Member& member, const std::string& why) {
  member.is_lost = true;
  result_.notes.push_back(member.name() + " is gone: " + why);
  for (std::size_t n = 0; n < slots_.size(); ++n) {
    if (slots_[n].member != member.number) continue;
    if (slots_[n].state == State::Built)
      slots_[n] = {};
    else
      finish(n, {Outcome::Crashed, {}, member.name() + ", which was working on it, is gone"});
  }
}

void FleetLot::give_work() {
  for (Member& member : members_.all()) {
    if (!member.measures(task_) || member.ticket) continue;
    // While a host runs a candidate, it does not run or compile another one.
    if (is_any_on(member.host, State::Running)) continue;
    const auto find = [&](const Slot& slot) {
      return static_cast<std::size_t>(std::ranges::find(slots_, slot) - slots_.begin());
    };
    if (const std::size_t n = find({}); n < slots_.size())
      give(member, n, State::Building,
           {.kind = Order::Kind::Build,
            .task = task_,
            .ticket = ticket(n),
            .script = s_tir::print_script(candidates_[n]),
            .hash = structural_hash(candidates_[n])});
    else if (const std::size_t built = find({State::Built, member.number});
             built < slots_.size() && !is_any(State::Building))
      give(member, built, State::Running,
           {.kind = Order::Kind::Run, .task = task_, .ticket = ticket(built)});
  }
}

void FleetLot::give(Member& member, std::size_t n, State state, const Order& order) {
  slots_[n] = {.state = state, .member = member.number};
  member.ticket = ticket(n);
  if (const std::string why = members_.send(member, order); !why.empty()) lose(member, why);
}

void FleetLot::drop_rest() {
  for (std::size_t n = 0; n < slots_.size(); ++n)
    if (slots_[n].state == State::Built)
      members_.send(members_.member(slots_[n].member),
                    {.kind = Order::Kind::Drop, .ticket = ticket(n)});
}

using Member = FleetMembers::Member;

Fleet::Fleet(std::shared_ptr<Channel> channel, const FleetOptions& options)
    : members_(std::make_unique<FleetMembers>(std::move(channel), options)) {}

Fleet::~Fleet() {
  const Order end{.kind = Order::Kind::End, .is_whole = is_whole()};
  // The order is also sent to lost members, because they may only have been slow.
  for (const Member& member : members_->all()) members_->send(member, end);
}

bool Fleet::is_whole() const { return std::ranges::none_of(members_->all(), &Member::is_lost); }

int Fleet::workers(const Task& task) const {
  return static_cast<int>(std::ranges::count_if(
      members_->all(), [&](const Member& member) { return member.measures(task.number); }));
}

Fleet::Task Fleet::begin(const tir::IRModule& unscheduled, const Target& target,
                         const MeasureOptions& options) {
  Task task{.number = ++tasks_};
  const auto begun = FleetMembers::Clock::now();
  const Order order{.kind = Order::Kind::Task,
                    .task = task.number,
                    .script = s_tir::print_script(unscheduled),
                    .target = target.str(),
                    .options = options};
  std::set<int> awaited;
  const auto lose = [&](Member& member, const std::string& why) {
    member.is_lost = true;
    awaited.erase(member.number);
    task.notes.push_back(member.name() + " is gone: " + why);
  };
  for (Member& member : members_->all()) {
    if (member.is_lost) continue;
    awaited.insert(member.number);
    if (const std::string why = members_->send(member, order); !why.empty()) lose(member, why);
  }
  std::map<int, std::string> processors;
  while (!awaited.empty()) {
    const bool any = members_->receive([&](Member& from, const Report& report) {
      if (report.task != task.number) return;
      from.host = report.host;
      awaited.erase(from.number);
      if (report.kind == Report::Kind::Ready) processors[from.number] = report.processor;
      if (report.kind == Report::Kind::Unable)
        task.notes.push_back(from.name() + " measures nothing: " + report.error);
    });
    for (Member* member : members_->silent(begun)) lose(*member, "no word from it for too long");
    if (!any) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!processors.empty()) task.processor = processors.begin()->second;
  for (const auto& [n, processor] : processors) {
    Member& member = members_->member(n);
    if (processor == task.processor) member.tasks.insert(task.number);
    task.notes.push_back(member.name() + ": " + processor +
                         (processor == task.processor
                              ? ""
                              : "; measures nothing, as process " +
                                    std::to_string(processors.begin()->first) + " has another"));
  }
  return task;
}

Fleet::Lot Fleet::measure(const Task& task, const std::vector<tir::IRModule>& candidates,
                          const OnMeasured& on_measured) {
  const int first = tickets_ + 1;
  tickets_ += static_cast<int>(candidates.size());
  return FleetLot(*members_, task.number, first, candidates, on_measured).run();
}

// ---- workers ------------------------------------------------------------------------------------

namespace {

constexpr std::chrono::minutes kPatience{1};

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/// Returns the CPU time of this process and its finished children, summed over all processors.
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

// The execution of orders in a worker process. A worker has one measurer per task, and keeps the
// builds that are not yet run, by ticket.

using Measurers = std::map<int, std::unique_ptr<Measurer>>;
using Builds = std::map<int, Build>;

Report begun(const Order& order, Measurers& measurers) {
  try {
    const Target target(order.target);
    MeasureOptions options = order.options;
    options.build_workers = 1;
    measurers[order.task] =
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

Report built(const Order& order, Measurers& measurers, Builds& builds) {
  Report report{.kind = Report::Kind::Built, .task = order.task, .ticket = order.ticket};
  const double before = cpu_seconds();
  try {
    const tir::IRModule candidate = s_tir::parse_script(order.script);
    if (structural_hash(candidate) != order.hash)
      throw RuntimeError("the script of the candidate parses to a different program");
    const Build build = measurers.at(order.task)->build({candidate}).front();
    report.error = build.error;
    if (build.is_fine()) builds[order.ticket] = build;
  } catch (const std::exception& error) {
    report.error = error.what();
  }
  report.cpu_seconds = cpu_seconds() - before;
  return report;
}

Report ran(const Order& order, Measurers& measurers, Builds& builds) {
  const auto build = builds.extract(order.ticket);
  internal_check(!build.empty(), "a candidate is run that was not compiled here");
  return {.kind = Report::Kind::Ran,
          .task = order.task,
          .ticket = order.ticket,
          .measurement = measurers.at(order.task)->run({build.mapped()}).front()};
}

void drop(int ticket, Builds& builds) {
  const auto build = builds.extract(ticket);
  std::error_code ignored;
  if (build) std::filesystem::remove(build.mapped().code, ignored);
}

Report done(const Order& order, Measurers& measurers, Builds& builds) {
  switch (order.kind) {
    case Order::Kind::Task:
      return begun(order, measurers);
    case Order::Kind::Build:
      return built(order, measurers, builds);
    case Order::Kind::Run:
      return ran(order, measurers, builds);
    case Order::Kind::Drop:
      drop(order.ticket, builds);
      return {};
    case Order::Kind::Alive:
    case Order::Kind::End:
      return {};
  }
  internal_error("unknown order");
}

}  // namespace

bool serve(Channel& channel) {
  using Clock = std::chrono::steady_clock;
  Measurers measurers;
  Builds builds;
  const std::jthread beating = heartbeat(channel, 0, 1, to_text(Report{}));
  Clock::time_point last_word = Clock::now();
  while (Clock::now() - last_word < kPatience) {
    const std::optional<Channel::Message> message = channel.receive();
    if (!message) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      continue;
    }
    const Order order = parse_order(message->text);
    if (order.kind == Order::Kind::End) return order.is_whole;
    const Report report = done(order, measurers, builds);
    if (report.kind != Report::Kind::Alive) channel.send(0, to_text(report));
    // The time limit for a silent process 0 starts after the work. Messages may have arrived during
    // the work, but have not been read yet.
    last_word = Clock::now();
  }
  return false;
}

}  // namespace tenon::tune
