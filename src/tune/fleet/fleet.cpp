#include "tenon/tune/fleet.h"

#include <algorithm>
#include <map>
#include <thread>

#include "tenon/s_tir/script.h"
#include "tune/fleet/fleet_lot.h"

namespace tenon::tune {

using Member = FleetMembers::Member;

struct Fleet::State {
  FleetMembers members;
  int tasks = 0, tickets = 0;
};

Fleet::Fleet(std::shared_ptr<Channel> channel, const FleetOptions& options)
    : state_(new State{.members = FleetMembers(std::move(channel), options)}) {}

Fleet::~Fleet() {
  const Order end{.kind = Order::Kind::End, .is_whole = is_whole()};
  // Lost members are included, because they may only have been slow.
  for (const Member& member : state_->members.all()) state_->members.send(member, end);
}

bool Fleet::is_whole() const {
  return std::none_of(state_->members.all().begin(), state_->members.all().end(),
                      [](const Member& member) { return member.is_lost; });
}

int Fleet::workers(const Task& task) const {
  return static_cast<int>(
      std::count_if(state_->members.all().begin(), state_->members.all().end(),
                    [&](const Member& member) { return member.measures(task.number); }));
}

Fleet::Task Fleet::begin(const tir::IRModule& unscheduled, const Target& target,
                         const MeasureOptions& options) {
  FleetMembers& members = state_->members;
  Task task{.number = ++state_->tasks};
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
  for (Member& member : members.all()) {
    if (member.is_lost) continue;
    awaited.insert(member.number);
    if (const std::string why = members.send(member, order); !why.empty()) lose(member, why);
  }
  std::map<int, std::string> processors;
  while (!awaited.empty()) {
    const bool any = members.receive([&](Member& from, const Report& report) {
      if (report.task != task.number) return;
      from.host = report.host;
      awaited.erase(from.number);
      if (report.kind == Report::Kind::Ready) processors[from.number] = report.processor;
      if (report.kind == Report::Kind::Unable)
        task.notes.push_back(from.name() + " measures nothing: " + report.error);
    });
    for (Member* member : members.silent(begun)) lose(*member, "no word from it for too long");
    if (!any) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!processors.empty()) task.processor = processors.begin()->second;
  for (const auto& [n, processor] : processors) {
    Member& member = members.member(n);
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
  const int first = state_->tickets + 1;
  state_->tickets += static_cast<int>(candidates.size());
  return FleetLot(state_->members, task.number, first, candidates, on_measured).run();
}

}  // namespace tenon::tune
