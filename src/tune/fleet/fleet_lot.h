// One lot of candidates on its way through the processes that measure.
#pragma once

#include "tune/fleet/fleet_members.h"

namespace tenon::tune {

class FleetLot {
 public:
  /// The candidates' tickets are `first_ticket` and following.
  FleetLot(FleetMembers& members, int task, int first_ticket,
           const std::vector<tir::IRModule>& candidates, const Fleet::OnMeasured& on_measured);

  Fleet::Lot run();

 private:
  using Member = FleetMembers::Member;
  using Clock = FleetMembers::Clock;

  /// Where a candidate is.
  enum class State : unsigned char { Waiting, Building, Built, Running, Done };
  struct Slot {
    State state = State::Waiting;
    /// Who has it, unless Waiting or Done.
    int member = 0;
  };

  int ticket(std::size_t n) const { return first_ticket_ + static_cast<int>(n); }
  /// Of whatever host; on the member's host.
  bool is_any(State state) const;
  bool is_any_on(const std::string& host, State state);
  bool is_done() const;

  void hear(Member& from, const Report& report);
  void finish(std::size_t n, Measurement measurement);
  void lose(Member& member, const std::string& why);
  void give_work();
  void give(Member& member, std::size_t n, State state, const Order& order);
  /// What was compiled and is not wanted any more.
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
