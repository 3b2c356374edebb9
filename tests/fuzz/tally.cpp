#include "tests/fuzz/tally.h"

#include <algorithm>
#include <iomanip>
#include <iostream>

namespace tenon::fuzz {

std::string kind_of(const std::string& sentence) {
  std::string kind;
  bool quoted = false;
  for (char c : sentence.substr(0, sentence.rfind(" (at "))) {
    if (c == '\n') break;
    if (c == '`') quoted = !quoted;
    const bool is_digit = c >= '0' && c <= '9';
    if (quoted || (is_digit && kind.ends_with('#'))) continue;
    kind += is_digit ? '#' : c;
  }
  return kind;
}

std::string Tally::kind_of_finding(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::Crashed:
      return "crash: " + outcome.text;
    case Outcome::Kind::TooSlow:
      return "too slow: " + outcome.text;
    default:
      break;
  }
  if (outcome.text.find("a read of an element never written") != std::string::npos)
    return "a read of an element that was never written";
  if (const auto symbol = outcome.text.find(", symbol "); symbol != std::string::npos) {
    const bool is_damage = outcome.text.ends_with("its end") || outcome.text.ends_with("its start");
    return (is_damage ? "written outside: " : "wrong numbers: ") + outcome.text.substr(0, symbol);
  }
  // The buffer and the index do not distinguish findings.
  const std::string kind = kind_of(outcome.text);
  return kind.substr(0, std::min<std::size_t>(kind.find("`: "), 160));
}

int Tally::count_of(const Outcome& finding) const {
  const auto found = found_.find(kind_of_finding(finding));
  return found == found_.end() ? 0 : found->second.count;
}

void Tally::add(const Job& job, const Outcome& outcome) {
  ++cases_;
  for (const auto& [name, seconds] : outcome.phases) {
    Phase& phase = phases_[name];
    phase.seconds += seconds;
    if (seconds < phase.slowest) continue;
    phase.slowest = seconds;
    phase.slowest_seed = job.seed;
  }
  for (const Attempt& attempt : outcome.attempts) {
    Count& count = steps_[attempt.primitive][static_cast<std::size_t>(attempt.kind)];
    ++count.tried;
    count.accepted += attempt.accepted;
    if (!attempt.accepted) ++refusals_[kind_of(attempt.text)];
    coverage_.add(attempt.notes, attempt.accepted);
  }
  coverage_.add(outcome.notes, outcome.kind == Outcome::Kind::Right);
  if (outcome.kind == Outcome::Kind::Refused) {
    ++refused_;
    ++refusals_["lower or build: " + kind_of(outcome.text)];
  }
  if (!outcome.is_finding()) return;
  ++findings_;
  Finding& finding = found_[kind_of_finding(outcome)];
  ++finding.count;
  if (finding.seeds.size() < 12) finding.seeds.push_back(job.seed);
}

void Tally::print_summary(std::ostream& out, double seconds) const {
  out << std::fixed << std::setprecision(1) << cases_ << " cases in " << seconds << " s ("
      << cases_ / std::max(seconds, 1e-9) << " per second): " << cases_ - refused_ - findings_
      << " right, " << refused_ << " refused by lower or build, " << findings_ << " findings\n";
  out << std::setprecision(2) << "processor time:";
  const char* comma = " ";
  for (const auto& [name, phase] : phases_)
    out << std::exchange(comma, ", ") << name << " " << phase.seconds << " s (at most "
        << phase.slowest << " s, seed " << phase.slowest_seed << ")";
  out << "\n";
  for (const auto& [kind, finding] : found_) {
    out << "  " << finding.count << "x " << kind << "; seeds";
    for (unsigned seed : finding.seeds) out << " " << seed;
    out << "\n";
  }
  out << "steps, accepted / refused:";
  const char* separator = " ";
  for (const auto& [name, kinds] : steps_) {
    Count all;
    for (const Count& count : kinds) {
      all.tried += count.tried;
      all.accepted += count.accepted;
    }
    out << std::exchange(separator, "; ") << name << " " << all.accepted << " / "
        << all.tried - all.accepted;
  }
  out << "\n";
}

void Tally::print_refusals(std::ostream& out) const {
  for (const auto& [refusal, count] : refusals_) out << count << "x " << refusal << "\n";
}

void Tally::print_steps(std::ostream& out) const {
  constexpr int kNameWidth = 30, kWidth = 11;
  out << "steps: accepted / tried" << std::string(kNameWidth - 23, ' ') << std::right;
  for (int kind = 0; kind < kStageKinds; ++kind)
    out << std::setw(kWidth) << coverage_tables().front().columns[static_cast<std::size_t>(kind)];
  out << "\n";
  for (const auto& [name, kinds] : steps_) {
    out << std::left << std::setw(kNameWidth) << name << std::right;
    for (const Count& count : kinds)
      out << std::setw(kWidth)
          << (count.tried == 0
                  ? "-"
                  : std::to_string(count.accepted) + "/" + std::to_string(count.tried));
    out << "\n";
  }
}

}  // namespace tenon::fuzz
