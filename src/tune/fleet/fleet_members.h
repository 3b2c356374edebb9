// The workers, from the point of view of the process that searches.
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
    /// The tasks whose candidates it can measure.
    std::set<int> tasks = {};
    /// The candidate that it is building or running.
    std::optional<int> ticket = std::nullopt;

    /// Returns "process 2 on host".
    std::string name() const;
    bool measures(int task) const { return !is_lost && tasks.contains(task); }
  };

  FleetMembers(std::shared_ptr<Channel> channel, const FleetOptions& options);

  std::vector<Member>& all() { return members_; }
  const std::vector<Member>& all() const { return members_; }
  /// Precondition: `number` is at least 1.
  Member& member(int number) { return members_[static_cast<std::size_t>(number) - 1]; }

  /// Sends an order. Returns the error; empty on success.
  std::string send(const Member& to, const Order& order);

  using OnReport = std::function<void(Member&, const Report&)>;
  /// Passes all messages that have arrived, except heartbeats, to `on_report`. Returns false if
  /// no message had arrived.
  bool receive(const OnReport& on_report);
  /// Returns the members that are not lost and have been silent for too long, counted from the last
  /// message or from `since`, whichever is later: messages from before `since` may not have been
  /// read.
  std::vector<Member*> silent(Clock::time_point since);

 private:
  std::shared_ptr<Channel> channel_;
  std::chrono::duration<double> silence_;
  std::vector<Member> members_;
  Heartbeat heartbeat_;
};

}  // namespace tenon::tune
