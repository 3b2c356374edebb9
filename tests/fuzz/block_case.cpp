#include "tests/fuzz/block_case.h"

#include <algorithm>

#include "tenon/driver/target.h"
#include "tenon/s_tir/script.h"
#include "tenon/tooling/check_functions.h"
#include "tests/fuzz/random_blocks.h"

namespace tenon::fuzz {

namespace {

using s_tir::BlockRV;
using s_tir::LoopRV;
using s_tir::Schedule;

/// One random step after another; a step that is refused leaves no trace.
class Steps {
 public:
  Steps(BlockCase& c, Random& random) : case_(c), sch_(c.schedule), random_(random) {}

  void try_one(bool is_kept) {
    // What is drawn must not depend on what is kept.
    const unsigned seed = static_cast<unsigned>(random_.between(0, 1 << 30));
    if (!is_kept) return;
    const Schedule before = sch_;
    Random own(seed);
    std::string name = "none";
    try {
      name = step(own);
      ++case_.attempts[name].first;
      ++case_.attempts[name].second;
    } catch (const ScheduleError& error) {
      const std::string sentence = error.sentence();
      ++case_.attempts[sentence.substr(0, sentence.find(':'))].first;
      sch_ = before;
    }
  }

 private:
  std::vector<std::string> block_names() const {
    const s_tir::Program program(sch_.mod().functions.at("main"));
    std::vector<std::string> names;
    for (int n = 1; n < program.size(); ++n)
      if (program.is_block(n)) names.push_back(program.block(n).name);
    return names;
  }

  std::string step(Random& random) {
    const std::vector<std::string> names = block_names();
    const BlockRV block = sch_.get_block(random.pick(names));
    const int kind = random.between(0, 21);
    if (kind <= 5) return memory(random, block, kind);
    const std::vector<LoopRV> loops = sch_.get_loops(block);
    if (loops.empty()) return "none";
    if (kind <= 12) return loop_step(random, loops, kind);
    if (kind <= 16) {
      const std::vector<LoopRV> targets = sch_.get_loops(sch_.get_block(random.pick(names)));
      if (targets.empty()) return "none";
      const s_tir::ComputeAtOptions options{.preserve_unit_loops = random.one_in(2)};
      if (kind <= 14) {
        sch_.compute_at(block, random.pick(targets), options);
        return "compute_at";
      }
      sch_.reverse_compute_at(block, random.pick(targets), options);
      return "reverse_compute_at";
    }
    return reduction(random, block, loops, kind);
  }

  std::string memory(Random& random, BlockRV block, int kind) {
    const char* const scopes[] = {"global", "local", "shared"};
    const char* const scope = scopes[random.between(0, 2)];
    switch (kind) {
      case 0:
      case 1:
        sch_.cache_read(block, random.between(0, 1), scope);
        return "cache_read";
      case 2:
        sch_.cache_write(block, 0, scope);
        return "cache_write";
      case 3:
        sch_.compute_inline(block);
        return "compute_inline";
      case 4:
        sch_.reverse_compute_inline(block);
        return "reverse_compute_inline";
      default:
        sch_.set_scope(block, 0, scope);
        return "set_scope";
    }
  }

  std::string loop_step(Random& random, const std::vector<LoopRV>& loops, int kind) {
    const LoopRV loop = random.pick(loops);
    switch (kind) {
      case 6:
      case 7:
        if (random.one_in(3))
          sch_.split(loop, {std::nullopt, random.between(1, 4), random.between(1, 3)});
        else
          sch_.split(loop, {random.between(1, 5), std::nullopt});
        return "split";
      case 8: {
        const int first = random.between(0, std::max(0, static_cast<int>(loops.size()) - 2));
        std::vector<LoopRV> two(loops.begin() + first,
                                loops.begin() + std::min<int>(first + 2, loops.size()));
        sch_.fuse(two);
        return "fuse";
      }
      case 9:
      case 10: {
        std::vector<LoopRV> some = loops;
        random.shuffle(some);
        some.erase(some.begin() + std::min<int>(random.between(2, 4), some.size()), some.end());
        sch_.reorder(some);
        return "reorder";
      }
      case 11:
        sch_.parallel(loop);
        return "parallel";
      default:
        random.one_in(2) ? sch_.vectorize(loop) : sch_.unroll(loop);
        return "vectorize, unroll";
    }
  }

  std::string reduction(Random& random, BlockRV block, const std::vector<LoopRV>& loops, int kind) {
    const LoopRV loop = random.pick(loops);
    switch (kind) {
      case 17:
      case 18:
        sch_.decompose_reduction(block, loop);
        return "decompose_reduction";
      case 19:
        sch_.rfactor(loop, random.between(0, 2));
        return "rfactor";
      case 20:
        sch_.blockize(loop);
        return "blockize";
      default:
        sch_.annotate(loop, "note", std::int64_t{random.between(0, 9)});
        return "annotate";
    }
  }

  BlockCase& case_;
  Schedule& sch_;
  Random& random_;
};

}  // namespace

std::string BlockCase::describe() const {
  return "seed " + std::to_string(seed) + "\n" + s_tir::print_script(before) +
         schedule.trace().text() + "\n";
}

BlockCase make_block_case(unsigned seed, const std::vector<bool>& keep) {
  Random random(seed);
  const tir::IRModule mod = s_tir::parse_script(random_block_program(random));
  BlockCase result{.before = mod, .schedule = Schedule(mod, {.seed = seed}), .seed = seed};
  Steps steps(result, random);
  result.tried = random.between(2, 10);
  for (int n = 0; n < result.tried; ++n)
    steps.try_one(keep.empty() || keep[static_cast<std::size_t>(n)]);
  return result;
}

std::string check_block_case(const BlockCase& c, bool compile) {
  const tir::PrimFunc& before = c.before.functions.at("main");
  const tir::PrimFunc& after = c.schedule.mod().functions.at("main");
  const auto verdict = [](const CheckReport& report) {
    return report.fine() ? std::string()
                         : "wrong numbers in `" + report.argument +
                               "`: " + std::to_string(report.worst.wrong) + " elements";
  };
  if (std::string wrong = verdict(check_functions(before, after)); !wrong.empty()) return wrong;
  const std::string script = s_tir::print_script(c.schedule.mod());
  if (s_tir::print_script(s_tir::parse_script(script)) != script)
    return "the script does not parse to itself";
  for (const std::string& text : {c.schedule.trace().text(), c.schedule.trace().json()}) {
    Schedule again(c.before);
    again.apply_trace(s_tir::parse_trace(text));
    if (s_tir::print_script(again.mod()) != script) return "the trace gives another program";
  }
  if (!compile) return "";
  std::string wrong = verdict(check_functions(before, after, {.target = Target("llvm")}));
  return wrong.empty() ? "" : "compiled: " + wrong;
}

}  // namespace tenon::fuzz
