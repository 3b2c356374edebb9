#include "tests/fuzz/block_case.h"

#include <algorithm>

#include "tenon/driver/lower.h"
#include "tenon/driver/target.h"
#include "tenon/s_tir/script.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/verify.h"
#include "tenon/tir/walk.h"
#include "tenon/tooling/check_functions.h"
#include "tests/common/fit_blocks_for_device.h"
#include "tests/fuzz/block_steps.h"
#include "tests/fuzz/program_check.h"
#include "tests/fuzz/random_blocks.h"
#include "tests/fuzz/random_nests.h"

namespace tenon::fuzz {

using s_tir::Schedule;

std::string BlockCase::describe() const {
  return "seed " + std::to_string(seed) + "\n" + s_tir::print_script(before) +
         schedule.trace().text() + "\n";
}

BlockCase make_block_case(unsigned seed, const std::vector<bool>& keep, bool for_device,
                          BlockPrograms programs,
                          const std::function<void(const std::string&)>& on_text) {
  register_block_intrinsics();
  Random random(seed);
  Kept kept(keep);
  Notes notes;
  const tir::IRModule mod = s_tir::parse_script(programs == BlockPrograms::Graphs
                                                    ? random_block_program(random)
                                                    : random_nest_program(random, notes, kept));
  BlockCase result{.before = mod,
                   .schedule = Schedule(mod, {.seed = seed}),
                   .programs = programs,
                   .notes = notes.all(),
                   .seed = seed};
  BlockSteps steps(result.schedule, result.attempts, random);
  for (int n = random.between(2, 10); n > 0; --n) {
    if (on_text) on_text(result.describe());
    steps.try_one(kept.next());
  }
  result.parts = kept.count();
  if (for_device) testing::fit_blocks_for_device(result.schedule);
  return result;
}

namespace {

/// Asserts that each access is in a declared region of the blocks around it. Ignores vectors,
/// matched buffers, pointers, reads that a condition guards, and what a reduction reads of the
/// buffers that it writes.
class RegionAssertions {
 public:
  tir::Stmt stmt(const tir::Stmt& s) {
    const tir::BlockRealize* realize = s.as<tir::BlockRealize>();
    if (realize) blocks_.push_back(realize->block.get());
    tir::Stmt result = tir::map_children(
        s, [](const Expr& e) { return e; }, [&](const tir::Stmt& child) { return stmt(child); });
    if (realize) {
      blocks_.pop_back();
      // Values may be out of bounds where the block does not run.
      condition_ = realize->predicate;
      for (const Expr& value : realize->values) reads(value, result);
      condition_ = tir::make_true();
      return result;
    }
    if (const tir::Store* store = s.as<tir::Store>())
      access(store->buffer, store->indices, true, result);
    tir::for_each_child(
        s, [&](const Expr& e) { reads(e, result); }, [](const tir::Stmt&) {});
    return result;
  }

 private:
  std::vector<const tir::Block*> blocks_;
  /// The condition under which the current statement's expressions are evaluated.
  Expr condition_ = tir::make_true();

  void reads(const Expr& e, tir::Stmt& s) {
    if (e.as<tir::Select>() || e.as<tir::LetExpr>() || e.dtype().is_bool() ||
        tir::as_call(e, tir::Intrin::if_then_else))
      return;
    if (const tir::Load* load = e.as<tir::Load>()) access(load->buffer, load->indices, false, s);
    tir::for_each_child(e, [&](const Expr& child) { reads(child, s); });
  }

  static bool is_own(const tir::Block& block, const tir::Buffer& buffer) {
    const auto is_same = [&](const tir::Buffer& own) { return own.same_as(buffer); };
    return std::ranges::any_of(block.alloc_buffers, is_same) ||
           std::ranges::any_of(block.match_buffers, is_same, &tir::MatchBuffer::buffer);
  }

  void access(const tir::Buffer& buffer, const std::vector<Expr>& indices, bool is_write,
              tir::Stmt& s) {
    if (std::ranges::any_of(indices, [](const Expr& e) { return e.dtype().is_vector(); })) return;
    // The root declares nothing.
    for (std::size_t n = blocks_.size(); n-- > 1 && !is_own(*blocks_[n], buffer);) {
      const tir::Block& block = *blocks_[n];
      const auto is_same = [&](const tir::BufferRegion& own) { return own.buffer.same_as(buffer); };
      // Neither a reduction nor the blocks around it read the sums that begin inside.
      if (!is_write && (block.init || n + 1 < blocks_.size()) &&
          std::ranges::any_of(block.writes, is_same))
        return;
      // A region is meant as the block begins.
      const auto changes = [&](const Expr& end) {
        return tir::any_node(end, [&](const tir::Load& load) {
          return std::ranges::any_of(block.writes, [&](const tir::BufferRegion& written) {
            return written.buffer->data.same_as(load.buffer->data);
          });
        });
      };
      Expr is_declared = !condition_;
      for (const tir::BufferRegion& region : is_write ? block.writes : block.reads) {
        if (!is_same(region)) continue;
        Expr is_inside = tir::make_true();
        for (std::size_t d = 0; d < indices.size(); ++d) {
          const Range& range = region.region[d];
          if (changes(range.min) || changes(range.extent)) continue;
          is_inside = is_inside && range.min <= indices[d] && indices[d] < range.min + range.extent;
        }
        is_declared = is_declared || is_inside;
      }
      s = tir::make_stmt(tir::Assert{is_declared,
                                     "block `" + block.name + "` accesses elements of `" +
                                         buffer->name + "` that it does not declare",
                                     s});
    }
  }
};

tir::PrimFunc with_region_assertions(tir::PrimFunc func) {
  func.body = RegionAssertions().stmt(func.body);
  return func;
}

/// That the program and its trace can be written down and read back, and the program scheduled
/// further.
std::string check_texts(const BlockCase& c) {
  const tir::IRModule& mod = c.schedule.mod();
  try {
    const Schedule further(mod);
  } catch (const ScheduleError& error) {
    return "the steps leave what no schedule accepts: " + error.sentence();
  }
  const std::string script = s_tir::print_script(mod);
  for (const s_tir::ScriptStyle style : {s_tir::ScriptStyle::V09, s_tir::ScriptStyle::Modern}) {
    const tir::IRModule read = s_tir::parse_script(s_tir::print_script(mod, style));
    if (!tir::structural_equal(read.functions.at("main"), mod.functions.at("main")))
      return "the script does not parse to the program that it was printed from";
    if (s_tir::print_script(read) != script) return "the script does not parse to itself";
  }
  const s_tir::Trace& trace = c.schedule.trace();
  for (const std::string& text : {trace.text(), trace.text(s_tir::TraceStyle::V17), trace.json(),
                                  trace.simplified().text()}) {
    Schedule again(c.before);
    again.apply_trace(s_tir::parse_trace(text));
    if (s_tir::print_script(again.mod()) != script) return "the trace gives another program";
  }
  return "";
}

std::string verdict(const CheckReport& report) {
  return report.fine() ? std::string()
                       : "wrong numbers in `" + report.argument +
                             "`: " + std::to_string(report.worst.wrong) + " elements";
}

/// Loops bound to threads, lowered, in the interpreter. What cannot be lowered is refused there.
std::string check_threads(const tir::PrimFunc& before, const tir::PrimFunc& after) {
  try {
    return verdict(check_functions(
        before, lower(after, {.passes = {.verify_each_pass = true}}).functions.at("main")));
  } catch (const LowerError&) {
    return "";
  }
}

}  // namespace

namespace {

bool has_threads(const tir::PrimFunc& func) {
  bool found = false;
  tir::walk(func.body, [&](const tir::For& loop) {
    found = found || loop.kind == tir::ForKind::ThreadBinding;
  });
  return found;
}

std::string prefixed(const char* way, const std::string& wrong) {
  return wrong.empty() ? "" : std::string(way) + ": " + wrong;
}

/// Against the definition of the program before any step.
std::string check_nest(const BlockCase& c, bool compile) {
  const tir::PrimFunc& before = c.before.functions.at("main");
  const tir::PrimFunc& after = c.schedule.mod().functions.at("main");
  const auto check = [&]() -> std::optional<ProgramCheck> {
    try {
      return ProgramCheck(before, testing::Data::Unordered);
    } catch (const testing::NoOpinion&) {  // A read of what no block wrote.
      return std::nullopt;
    }
  }();
  if (!check) return "";
  if (std::string wrong = check->interpreted(before); !wrong.empty())
    return "before any step, symbol 7: " + wrong;
  try {
    if (std::string wrong = check->interpreted(with_region_assertions(after)); !wrong.empty())
      return "after the steps, symbol 7: " + wrong;
  } catch (const RuntimeError& error) {
    // A block that is computed again and again in loops inside of loops.
    if (std::string_view(error.what()).find("gave up") == std::string_view::npos) throw;
    return "";
  }
  if (std::string wrong = check_texts(c); !wrong.empty()) return wrong;
  if (has_threads(after) || !compile) return "";
  try {
    return prefixed("compiled, symbol 7", check->compiled(after, Target("llvm")));
  } catch (const LowerError&) {
    // Loops that are not proved to be independent.
    return "";
  }
}

}  // namespace

std::string check_block_case(const BlockCase& c, bool compile,
                             const std::optional<Target>& target) {
  const tir::PrimFunc& before = c.before.functions.at("main");
  const tir::PrimFunc& after = c.schedule.mod().functions.at("main");
  for (const tir::Violation& violation : tir::verify(after, tir::Form::Blocks))
    return "malformed: " + violation.what + " (" + violation.where + ")";
  if (c.programs == BlockPrograms::Nests) return check_nest(c, compile);
  if (std::string wrong = ProgramCheck(before).interpreted(before); !wrong.empty())
    return "before any step, symbol 7: " + wrong;
  if (std::string wrong = verdict(check_functions(before, with_region_assertions(after)));
      !wrong.empty())
    return wrong;
  if (std::string wrong = check_texts(c); !wrong.empty()) return wrong;
  if (target && target->facts().is_gpu()) {
    std::string wrong = verdict(check_functions(before, after, {.target = target}));
    return wrong.empty() ? "" : "on the device: " + wrong;
  }
  // Threads of a GPU are not for processors.
  if (has_threads(after)) return prefixed("as threads", check_threads(before, after));
  if (!compile) return "";
  return prefixed("compiled", verdict(check_functions(before, after, {.target = Target("llvm")})));
}

}  // namespace tenon::fuzz
