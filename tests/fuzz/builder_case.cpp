#include "tests/fuzz/builder_case.h"

#include <algorithm>
#include <sstream>

#include "tenon/tir/make.h"
#include "tenon/tir/walk.h"
#include "tests/common/special_numbers.h"
#include "tests/common/ways_to_run.h"
#include "tests/definition/program.h"
#include "tests/fuzz/kept.h"

namespace tenon::fuzz {

namespace {

using tir::ForKind;

struct Loop {
  Var var;
  int extent;
  bool is_concurrent = false;
};

/// The statements of one external operation: first every output in full, then a few nests of loops.
class BodyWriter {
 public:
  BodyWriter(Random& random, Notes& notes, Kept& kept, std::span<const tir::Buffer> ins,
             std::span<const tir::Buffer> outs, int extent)
      : random_(random),
        notes_(notes),
        kept_(kept),
        extent_(extent),
        is_careful_(random.one_in(2)) {
    for (const tir::Buffer& buffer : ins) ins_.push_back(ib_.buffer_ptr(buffer));
    for (const tir::Buffer& buffer : outs) outs_.push_back(ib_.buffer_ptr(buffer));
    // A condition on the bits of the indices only.
    type_ = outs[0]->dtype;
  }

  tir::Stmt write() {
    for (const tir::BufferRef& out : outs_)
      ib_.for_range(0, extent_, "i", [&](Var i) { out[i] = ins_[0][i]; });
    for (int n = random_.between(1, 3); n > 0; --n) random_.one_in(8) ? region() : nest(0);
    return ib_.get();
  }

 private:
  /// Writes rounds in which tasks share loops, with a barrier after some loops.
  void region() {
    noted("region of tasks");
    const int rounds = random_.between(2, 3);
    // A loop of one iteration ends the scope of a pragma.
    ib_.for_range(0, 1, "r", [&](const Var&) {
      ib_.scope_attr("parallel_launch_point", 1);
      ib_.for_range(0, rounds, "t", [&](const Var& t) {
        loops_.push_back({t, rounds});
        is_in_region_ = true;
        for (int n = random_.one_in(3) ? 2 : 1; n > 0; --n)
          ib_.for_range(0, 1, "s", [&](const Var&) {
            if (random_.one_in(3)) {
              noted("barrier");
              ib_.scope_attr("parallel_barrier_when_finish", 1);
            }
            nest(0, true);
          });
        is_in_region_ = false;
        loops_.pop_back();
      });
    });
  }

  int random_extent() {
    if (random_.one_in(20)) return random_.between(0, 1);
    const int extent = random_.pick(std::vector<int>{2, 3, 4, 8, 8, 16, extent_});
    // A nest has at most this many iterations, so that the interpreter finishes in time.
    constexpr int kMaxIterations = 1 << 14;
    int enclosing = 1;
    for (const auto& loop : loops_) enclosing *= std::max(loop.extent, 1);
    const int most = std::max(kMaxIterations / enclosing, 1);
    return std::min({extent, most, is_careful_ ? extent_ : extent});
  }

  /// `is_shared`: the tasks of a region share the outermost loop.
  void nest(int depth, bool is_shared = false) {
    const bool is_parallel = is_shared || (depth == 0 && random_.one_in(2));
    // A loop whose variable nothing uses: the same again and again, so that tasks meet.
    const bool repeats = depth == 1 && random_.one_in(6);
    const int extent = repeats ? random_.between(50, 300) : random_extent();
    ForKind kind = is_parallel ? ForKind::Parallel : ForKind::Serial;
    if (!repeats && !is_parallel && !(is_careful_ && runs_concurrently()) && random_.one_in(3))
      kind = random_.one_in(3) ? ForKind::Unrolled : ForKind::Vectorized;
    if (kind == ForKind::Unrolled && extent > 16) kind = ForKind::Serial;
    noted(kind == ForKind::Parallel     ? "parallel loop"
          : kind == ForKind::Vectorized ? "vectorized loop"
          : kind == ForKind::Unrolled   ? "unrolled loop"
                                        : "serial loop");
    const bool is_concurrent = kind == ForKind::Parallel || kind == ForKind::Vectorized;
    // A vector has no loops inside; a loop that repeats has none, so that it ends in time.
    const bool is_innermost =
        kind == ForKind::Vectorized || depth == 2 || repeats || random_.one_in(2);
    Expr range = extent;
    if (!repeats && kind == ForKind::Serial && extent > 0 && random_.one_in(12)) {
      noted("range of data");
      range = element_in(random_.pick(outs_), extent) + 1;
    }
    ib_.for_range(0, range, std::string(1, "ijk"[depth]),
                  [&](Var i) {
                    if (!repeats) loops_.push_back({i, extent, is_concurrent});
                    if (is_innermost) {
                      for (int n = random_.between(1, 3); n > 0; --n) statement();
                    } else {
                      if (random_.one_in(4)) statement();
                      nest(depth + 1);
                    }
                    if (!repeats) loops_.pop_back();
                  },
                  {.kind = kind});
  }

  void noted(const char* what) { notes_.feature("builder", what); }

  void statement() {
    // Drawn statements do not depend on which statements are kept.
    Random own(static_cast<unsigned>(random_.between(0, 1 << 30)));
    std::swap(own, random_);
    if (kept_.next()) kept_statement();
    std::swap(own, random_);
  }

  void kept_statement() {
    if (random_.one_in(12) && may_conflict()) return bind_twice();
    if (random_.one_in(16) && !runs_concurrently()) return store_shuffled();
    if (random_.one_in(3)) {
      noted("guarded store");
      const Expr c = condition();
      ib_.if_scope(c, [&] {
        store();
        if (random_.one_in(3)) store();
      });
      if (random_.one_in(4)) ib_.else_scope([&] { store(); });
      return;
    }
    if (random_.one_in(12)) {
      noted("allocated memory");
      tir::BufferRef local = ib_.allocate(type_, {4}, "local");
      ib_.for_range(0, 4, "l", [&](Var l) { local[l] = value(); });
      const Expr at = stored_position();
      random_.pick(outs_)[at] = local[floormod(at, 4)] + local[0];
      return;
    }
    store();
  }

  void bind_twice() {
    noted("variable bound twice");
    const Var at("at");
    for (const Expr& bound : {Expr(random_.between(0, extent_ - 1)), position()}) {
      // The builder takes a variable once.
      const Var own = at.fresh();
      const auto body = [&] {
        random_.pick(outs_)[random_.one_in(2) ? Expr(own) : max(own - 1, 0)] = value();
      };
      tir::VarMap renamed;
      tir::set(renamed, own, at);
      ib_.emit(
          tir::make_stmt(tir::Let{at, bound, tir::substitute(ib_.nested(body, {own}), renamed)}));
    }
  }

  void store() {
    const tir::BufferRef& out = random_.pick(outs_);
    const Expr at = stored_position();
    const int kind = random_.between(0, 5);
    const bool accesses_others = kind == 2 || kind == 3;
    switch (accesses_others && !may_conflict() ? 4 : kind) {
      case 0:
      case 1:
        noted("update in place");
        out[at] = Expr(out[at]) + value();
        break;
      case 2: {
        // The element that another iteration stores, or its neighbour.
        noted("carried dependence");
        const Expr before = min(at + random_.between(1, 2), extent_ - 1);
        out[at] = Expr(out[random_.one_in(2) ? before : max(at - 1, 0)]) + value();
        break;
      }
      case 3: {
        noted("exchange of two elements");
        const Expr old = ib_.let("old", out[at]);
        const Expr other = extent_ - 1 - at;
        out[at] = Expr(out[other]);
        out[other] = old;
        break;
      }
      default:
        noted("plain store");
        out[narrowed(at)] = value();
    }
  }

  /// Sometimes the position as a sum that wraps in a narrow type: 12 as 20 + 248 in uint8.
  Expr narrowed(const Expr& at) {
    if (!random_.one_in(8)) return at;
    noted("index that wraps");
    static const std::vector<DataType> kNarrow = {Int(8), Int(16), UInt(8), UInt(16)};
    const DataType type = random_.pick(kNarrow);
    const int offset = random_.between(1, (1 << type.bits) - 1);
    const testing::Number back = testing::wrapped(-offset, type);
    return cast(type, at + offset) + testing::constant_of(back, type);
  }

  /// Stores elements in another order, in the lanes that a condition chooses.
  void store_shuffled() {
    noted("shuffled vector");
    constexpr int kLanes = 4;
    const auto vector = [&] {
      const Expr base = min(position(), extent_ - kLanes);
      return tir::make_ramp(base, 1, kLanes);
    };
    std::vector<Expr> picks;
    for (int n = 0; n < kLanes; ++n) picks.emplace_back(random_.between(0, kLanes - 1));
    const tir::BufferRef& in = random_.pick(ins_);
    const Expr read = tir::make_shuffle({tir::make_load(in.buffer(), {vector()})}, picks);
    const Expr last = loops_.empty() ? Expr(2) : Expr(random_.pick(loops_).var);
    const Expr chosen =
        tir::make_binary(random_.one_in(2) ? tir::BinaryOp::Le : tir::BinaryOp::Gt,
                         tir::make_ramp(0, 1, kLanes), tir::make_broadcast(last, kLanes));
    const Expr other = tir::make_broadcast(make_const(type_, random_.between(0, 3)), kLanes);
    ib_.emit(
        tir::make_store(random_.pick(outs_).buffer(), select(chosen, read, other), {vector()}));
  }

  /// An element as a number in [0, extent).
  Expr element_in(const tir::BufferRef& array, int extent) {
    const Expr at = !may_conflict()  ? own_position()
                    : loops_.empty() ? Expr(0)
                                     : floormod(random_.pick(loops_).var, extent_);
    return cast(Int(32), floormod(cast(Int(64), Expr(array[at])), make_const(Int(64), extent)));
  }

  bool runs_concurrently() const { return std::ranges::any_of(loops_, &Loop::is_concurrent); }

  /// Whether an access may conflict with one of another iteration that runs at the same time. Few
  /// do in half of the programs, so that one pair of accesses decides whether a program is built.
  bool may_conflict() { return !runs_concurrently() || !is_careful_ || random_.one_in(8); }

  /// A position for each iteration of the loops that run theirs at the same time.
  Expr own_position() const {
    Expr at = 0;
    int last = 0;
    for (const Loop& loop : loops_) {
      if (!loop.is_concurrent) continue;
      at = is_zero(at) ? Expr(loop.var) : at * loop.extent + loop.var;
      last = (last + 1) * loop.extent - 1;
    }
    return last < extent_ ? at : floormod(at, extent_);
  }

  Expr stored_position() {
    if (!may_conflict()) return own_position();
    // Another task's element in every round.
    if (is_in_region_ && random_.one_in(2))
      return floormod(own_position() + loops_[0].var, extent_);
    return position();
  }

  /// In [0, extent_).
  Expr position() {
    if (loops_.empty() || random_.one_in(16)) return random_.between(0, extent_ - 1);
    const Loop &a = random_.pick(loops_), &b = random_.pick(loops_);
    const auto inside = [&](const Expr& e, int most) {
      return most < extent_ ? e : floormod(e, extent_);
    };
    switch (random_.between(0, 11)) {
      case 11:
        return inside(a.var + b.var, a.extent + b.extent - 2);
      case 10:
        noted("index of written data");
        return element_in(random_.pick(outs_), extent_);
      case 0:
        return inside(a.var + 1, a.extent);
      case 1:
        return inside(a.var * 2, 2 * a.extent - 2);
      case 2:
        return inside(a.var * b.extent + b.var, a.extent * b.extent - 1);
      case 3:
        noted("index of a product");
        return inside(a.var * b.var, (a.extent - 1) * (b.extent - 1));
      case 4:
        return floormod(a.var, std::min(4, extent_));
      case 5:
        noted("index of data");
        return cast(Int(32), floormod(cast(Int(64), Expr(ins_[0][inside(a.var, a.extent - 1)])),
                                      make_const(Int(64), extent_)));
      case 6:
        return a.extent <= extent_ ? a.extent - 1 - a.var : inside(a.var, a.extent - 1);
      default:
        return inside(a.var, a.extent - 1);
    }
  }

  Expr value() {
    const bool is_written = random_.one_in(4);
    const Expr at = is_written && !may_conflict() ? own_position() : narrowed(position());
    const Expr e = random_.pick(is_written ? outs_ : ins_)[at];
    return random_.one_in(3) ? e + make_const(type_, random_.between(1, 3)) : e;
  }

  Expr condition() {
    if (loops_.empty()) return ins_[0][0] > make_const(type_, 0);
    const Loop &a = random_.pick(loops_), &b = random_.pick(loops_);
    switch (random_.between(0, 5)) {
      case 5:
        noted("condition of written data");
        return random_.pick(outs_)[may_conflict() ? floormod(a.var, extent_) : own_position()] >
               make_const(type_, 1);
      case 0:
        return a.var < random_.between(0, a.extent);
      case 1:
        noted("condition that tells tasks apart");
        return floormod(a.var, std::max(1, b.extent)) == b.var;
      case 2:
        noted("condition of data");
        return ins_[0][position()] > make_const(type_, 0);
      case 3:
        // The element that the second operand reads exists where the first holds.
        return a.var >= 1 && a.var <= extent_ && ins_[0][a.var - 1] > make_const(type_, 0);
      default:
        return floormod(a.var, 2) == 0 || a.var == b.var;
    }
  }

  Random& random_;
  Notes& notes_;
  Kept& kept_;
  int extent_;
  DataType type_;
  tir::IRBuilder ib_;
  std::vector<tir::BufferRef> ins_, outs_;
  std::vector<Loop> loops_;
  /// The outermost loop is then that of the rounds.
  bool is_in_region_ = false;
  /// Whether few accesses may conflict.
  bool is_careful_;
};

}  // namespace

BuilderCase make_builder_case(unsigned seed, const std::vector<bool>& keep) {
  Random random(seed);
  Kept kept(keep);
  static const std::vector<DataType> kTypes = {Int(32), Int(32), Int(16),
                                               UInt(8), Int(64), Float(32)};
  const DataType type = random.pick(kTypes);
  const int extent = random.pick(std::vector<int>{8, 16, 32, 64, 17});
  Notes notes;
  std::vector<te::Tensor> inputs;
  for (int n = random.between(1, 2); n > 0; --n)
    inputs.push_back(te::placeholder({extent}, std::string(1, static_cast<char>('A' + n)), type));
  std::vector<tir::Buffer> buffers;
  tir::Stmt body = tir::make_nop();
  const std::vector<std::vector<Expr>> shapes(static_cast<std::size_t>(random.between(1, 2)),
                                              {Expr(extent)});
  const std::vector<te::Tensor> outputs = te::extern_multi(
      shapes, inputs,
      [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        buffers.assign(ins.begin(), ins.end());
        buffers.insert(buffers.end(), outs.begin(), outs.end());
        body = BodyWriter(random, notes, kept, ins, outs, extent).write();
        return body;
      },
      "T", {.dtype = type});
  std::vector<LowerArgument> args(inputs.begin(), inputs.end());
  args.insert(args.end(), outputs.begin(), outputs.end());
  return {.seed = seed,
          .schedule = te::create_schedule(outputs),
          .args = std::move(args),
          .buffers = std::move(buffers),
          .body = std::move(body),
          .target = Target("llvm"),
          .data = testing::Data::Unordered,
          .parts = kept.count(),
          .notes = notes.all()};
}

std::string BuilderCase::describe() const {
  std::ostringstream out;
  out << "seed " << seed << "\n" << body << "\n";
  return out.str();
}

namespace {

/// Fills the outputs among the arrays with the result of the statements; the element that races, or
/// "".
std::string define(const BuilderCase& c, testing::Arguments& arrays) {
  testing::ProgramDefinition program;
  std::vector<std::shared_ptr<testing::BufferMemory>> memory;
  for (std::size_t n = 0; n < c.buffers.size(); ++n) {
    const testing::Arguments::Array& array = *arrays.arrays[n];
    memory.push_back(program.bind(c.buffers[n]));
    for (std::size_t e = 0; !array.is_output && e < memory[n]->elements.size(); ++e)
      memory[n]->elements[e] =
          testing::element_of(array.data(), static_cast<std::int64_t>(e), array.dtype);
  }
  program.run(c.body);
  for (std::size_t n = 0; n < c.buffers.size(); ++n) {
    testing::Arguments::Array& array = *arrays.arrays[n];
    for (std::size_t e = 0; array.is_output && e < memory[n]->elements.size(); ++e)
      testing::store_element(array, static_cast<std::int64_t>(e), memory[n]->elements[e].value());
  }
  return program.race();
}

Verdict check_race(const BuilderCase& c, const std::string& racing, const Target& target) {
  try {
    build(c.schedule, c.args, target);
  } catch (const LowerError&) {
    return {};
  } catch (const ScheduleError&) {
    return {};
  }
  return {.wrong = "a parallel loop is built whose iterations race for `" + racing + "`"};
}

}  // namespace

bool is_racing(const BuilderCase& c) {
  testing::Arguments arrays = testing::make_arguments(c.args, {.data = c.data});
  return !define(c, arrays).empty();
}

Verdict check(const BuilderCase& c, const CheckOptions& options) {
  try {
    testing::Arguments right = testing::make_arguments(c.args, {.data = c.data});
    const std::string racing = define(c, right);
    const Target target = options.target.value_or(c.target);
    if (!racing.empty()) return check_race(c, racing, target);
    testing::Arguments found = testing::make_arguments(c.args, {.data = c.data});
    tir::evaluate(lower_to_loops(c.schedule, c.args), found.values);
    if (std::string wrong = testing::first_difference(right, found, 0); !wrong.empty())
      return {.wrong = "the interpreter, symbol 7: " + wrong};
    testing::WaysToRun ways;
    ways.compile = options.compile;
    ways.compile_c = false;
    ways.interpret = options.interpret || !options.compile;
    ways.run_on_device = false;
    ways.tolerance = 0;
    ways.data = c.data;
    ways.target = target;
    // Several times, since what tasks do at the same time differs.
    ways.symbols = {7, 8, 9};
    ways.on_phase = options.on_phase;
    return {.wrong = testing::compare_with_default(c.schedule, c.args, ways)};
  } catch (const testing::NoOpinion& reason) {
    return {.wrong = std::string("the definition has no opinion: ") + reason.what()};
  } catch (const LowerError& error) {
    return {.refused = error.what()};
  } catch (const ScheduleError& error) {
    return {.refused = error.what()};
  } catch (const std::exception& error) {
    return {.wrong = std::string("error: ") + error.what()};
  }
}

}  // namespace tenon::fuzz
