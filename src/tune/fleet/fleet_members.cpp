#include "tune/fleet/fleet_members.h"

#include <algorithm>

namespace tenon::tune {

namespace {

std::vector<FleetMembers::Member> of(const Channel& channel) {
  std::vector<FleetMembers::Member> result;
  for (int n = 1; n < channel.size(); ++n) result.push_back({.number = n});
  return result;
}

std::vector<int> numbers_of(const std::vector<FleetMembers::Member>& members) {
  std::vector<int> result;
  for (const FleetMembers::Member& member : members) result.push_back(member.number);
  return result;
}

}  // namespace

std::string FleetMembers::Member::name() const {
  return "process " + std::to_string(number) + (host.empty() ? "" : " on " + host);
}

FleetMembers::FleetMembers(std::shared_ptr<Channel> channel, const FleetOptions& options)
    : channel_(std::move(channel)),
      silence_(options.silence_s),
      members_(of(*channel_)),
      heartbeat_(*channel_, numbers_of(members_), to_text(Order{})) {}

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
    // Updates the member even if no batch waits for the report: work of a stopped batch may end
    // during a later one.
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

}  // namespace tenon::tune
