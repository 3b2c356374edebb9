// The progress of one batch of candidates through the workers.
#pragma once

#include "tune/fleet/fleet_members.h"

namespace tenon::tune {

class FleetLot {
 public:
  /// The candidates' tickets are consecutive numbers from `first_ticket`.
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
    /// The worker that builds or runs it, or has built it.
    int member = 0;
  };

  int ticket(std::size_t n) const { return first_ticket_ + static_cast<int>(n); }
  /// Whether a candidate has this state: on any host, or on the given one.
  bool is_any(State state) const;
  bool is_any_on(const std::string& host, State state);
  bool is_done() const;

  void hear(Member& from, const Report& report);
  void finish(std::size_t n, Measurement measurement);
  void lose(Member& member, const std::string& why);
  void give_work();
  void give(Member& member, std::size_t n, State state, const Order& order);
  /// Notifies workers to discard builds that are no longer needed.
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

}  // namespace tenon::tune
