// The processes that measure for this one, as this one knows them.
#pragma once

#include <set>

#include "tenon/tune/fleet.h"
#include "tune/fleet/fleet_messages.h"
#include "tune/fleet/heartbeat.h"

namespace tenon::tune {

class FleetMembers {
 public:
  using Clock = std::chrono::steady_clock;

  struct Member {
    int number = 0;
    std::string host = {};
    Clock::time_point last_word = {};
    bool is_lost = false;
    /// The tasks for which its times count.
    std::set<int> tasks = {};
    /// The candidate that it is at work on.
    std::optional<int> ticket = std::nullopt;

    /// "process 2 on host"
    std::string name() const;
    bool measures(int task) const { return !is_lost && tasks.contains(task); }
  };

  FleetMembers(std::shared_ptr<Channel> channel, const FleetOptions& options);

  std::vector<Member>& all() { return members_; }
  const std::vector<Member>& all() const { return members_; }
  /// Precondition: `number` is at least 1.
  Member& member(int number) { return members_[static_cast<std::size_t>(number) - 1]; }

  /// Empty, or why it could not be sent.
  std::string send(const Member& to, const Order& order);

  using OnReport = std::function<void(Member&, const Report&)>;
  /// Tells of all that has arrived but signs of life. False: nothing had.
  bool receive(const OnReport& on_report);
  /// Those not lost that have been silent for too long, and at least since `since`: what arrived
  /// before nobody may have looked at.
  std::vector<Member*> silent(Clock::time_point since);

 private:
  std::shared_ptr<Channel> channel_;
  std::chrono::duration<double> silence_;
  std::vector<Member> members_;
  Heartbeat heartbeat_;
};

}  // namespace tenon::tune
