#include "tune/fleet/fleet_lot.h"

#include <algorithm>
#include <thread>

#include "tenon/s_tir/script.h"
#include "tune/search/structural_hash.h"

namespace tenon::tune {

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
    if (std::none_of(members_.all().begin(), members_.all().end(),
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
  return std::any_of(slots_.begin(), slots_.end(),
                     [&](const Slot& slot) { return slot.state == state; });
}

bool FleetLot::is_any_on(const std::string& host, State state) {
  return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return slot.state == state && members_.member(slot.member).host == host;
  });
}

bool FleetLot::is_done() const {
  return std::all_of(slots_.begin(), slots_.end(),
                     [](const Slot& slot) { return slot.state == State::Done; });
}

void FleetLot::hear(Member& from, const Report& report) {
  if (report.kind != Report::Kind::Built && report.kind != Report::Kind::Ran) return;
  const auto n = static_cast<std::size_t>(report.ticket - first_ticket_);
  // Ignores a late report: for a batch that was stopped, or from a member that was considered lost.
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
    // While a candidate runs, its host neither runs another one nor compiles.
    if (is_any_on(member.host, State::Running)) continue;
    const auto find = [&](State state) {
      return static_cast<std::size_t>(std::find_if(slots_.begin(), slots_.end(),
                                                   [&](const Slot& slot) {
                                                     return slot.state == state &&
                                                            (state == State::Waiting ||
                                                             slot.member == member.number);
                                                   }) -
                                      slots_.begin());
    };
    if (const std::size_t n = find(State::Waiting); n < slots_.size())
      give(member, n, State::Building,
           {.kind = Order::Kind::Build,
            .task = task_,
            .ticket = ticket(n),
            .script = s_tir::print_script(candidates_[n]),
            .hash = structural_hash(candidates_[n])});
    else if (const std::size_t built = find(State::Built);
             built < slots_.size() && !is_any(State::Building))
      give(member, built, State::Running, {.kind = Order::Kind::Run, .ticket = ticket(built)});
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

}  // namespace tenon::tune
