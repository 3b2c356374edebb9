#include "tenon/inspect/loop_view.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "inspect/instruction_places.h"
#include "tenon/arith/simplify.h"
#include "tenon/codegen/assembler_listing.h"
#include "tenon/codegen/source_listing.h"
#include "tenon/driver/build_watcher.h"
#include "tenon/driver/checks.h"
#include "tenon/driver/text.h"
#include "tenon/inspect/bounds_report.h"
#include "tenon/inspect/buffer_sizes.h"
#include "tenon/inspect/draw.h"
#include "tenon/support/match.h"
#include "tenon/te/freeze.h"
#include "tenon/tir/listing.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stage_lines.h"
#include "tenon/tir/stored_stages.h"
#include "tenon/tir/walk.h"

namespace tenon {

using tir::Expr;

namespace {

/// Appends the listing of a function. Its lines are numbered in the text that consists of all
/// listings. The function's name precedes it as a heading if `has_heading`.
const tir::Listing& add_listing(const tir::PrimFunc& func, bool has_heading,
                                std::vector<tir::Listing>& program) {
  tir::Listing listing = tir::list_statements(func);
  int lines_before = has_heading ? 1 : 0;
  for (const tir::Listing& each : program) lines_before += static_cast<int>(each.lines.size());
  for (tir::ListedStmt& each : listing.stmts) {
    each.first += lines_before;
    each.last += lines_before;
  }
  if (has_heading)
    listing.lines.insert(listing.lines.begin(), "@" + func.attrs.global_symbol + ":");
  return program.emplace_back(std::move(listing));
}

// The buffers that a page shows for a schedule, with their required and allocated sizes.

std::string plain_shape(const std::vector<Expr>& extents) {
  std::vector<std::string> parts;
  for (const Expr& extent : extents) parts.push_back(plain_text(extent));
  return "[" + joined(parts, ", ") + "]";
}

Expr in_bytes(Expr elements, DataType type) {
  return arith::simplify(tir::cast(Int(64), elements) * tir::make_int(Int(64), type.bytes()));
}

Expr element_count(const std::vector<Expr>& extents) {
  Expr result = tir::make_int(Int(64), 1);
  for (const Expr& extent : extents) result = result * tir::cast(Int(64), extent);
  return arith::simplify(result);
}

LoopView::Buffer argument(const std::string& name, const std::vector<Expr>& shape, DataType type) {
  return {.name = name,
          .scope = "global",
          .place = "argument",
          .required = "",
          .allocated = plain_shape(shape),
          .bytes = plain_text(in_bytes(element_count(shape), type)),
          .memory_bytes = ""};
}

LoopView::Buffer of_row(const te::BoundsReport::Row& row) {
  std::vector<std::string> required;
  std::vector<Expr> allocated;
  for (const te::BoundsReport::Dimension& dimension : row.dimensions) {
    const std::string readers = joined(dimension.decided_by, " and ");
    required.push_back(plain_text(dimension.required.extent) + (readers.empty() ? "" : " by ") +
                       readers);
    allocated.push_back(dimension.allocated.extent);
  }
  return {.name = row.stage,
          .scope = std::string(to_string(row.scope)),
          .place = row.place,
          .required = "[" + joined(required, ", ") + "]",
          .allocated = plain_shape(allocated),
          .bytes = plain_text(row.bytes),
          .memory_bytes = ""};
}

/// Returns the arguments, and then the buffers that the program allocates or stores to. Producers
/// precede consumers.
std::vector<LoopView::Buffer> view_buffers(const te::Schedule& schedule,
                                           const std::vector<LowerArgument>& args,
                                           const BuildOptions& options,
                                           const SourceLocation& where) {
  std::vector<LoopView::Buffer> buffers;
  for (const LowerArgument& each : args)
    match(
        each,
        [&](const te::Tensor& t) { buffers.push_back(argument(t.name(), t.shape(), t.dtype())); },
        [&](const tir::Buffer& b) { buffers.push_back(argument(b->name, b->shape, b->dtype)); },
        [](const tir::Var&) {});
  const std::size_t arguments = buffers.size();
  te::BoundsReportOptions asked{.most_steps = 0, .exact = options.bounds == Bounds::Exact};
  // Gives each scalar argument a value, because bounds_report requires it. The value has no effect
  // on the result.
  for (const LowerArgument& each : args)
    if (const auto* scalar = std::get_if<tir::Var>(&each)) asked.sizes.emplace_back(*scalar, 1);
  const te::BoundsReport report = te::bounds_report(schedule, asked, where);
  for (const te::BoundsReport::Row& row : report.rows) {
    LoopView::Buffer made = of_row(row);
    // An output is already listed as an argument.
    bool is_argument = false;
    for (std::size_t n = 0; n < arguments; ++n) {
      if (buffers[n].name != made.name) continue;
      is_argument = true;
      buffers[n].required = made.required;
    }
    if (!is_argument) buffers.push_back(std::move(made));
  }
  LowerOptions how = options;
  how.instrument_bounds = how.check_intrinsics = false;
  // The listeners are only called by the main build, not by this additional lowering.
  how.on_step = {};
  how.passes.on_pass = {};
  for (const BufferSize& size : buffer_sizes(schedule, args, how, where))
    for (LoopView::Buffer& buffer : buffers)
      if (buffer.name == size.buffer && buffer.memory_bytes.empty()) {
        buffer.memory_bytes = plain_text(in_bytes(size.allocated, size.dtype));
        break;
      }
  return buffers;
}

void view_buffers(const tir::PrimFunc& func, std::vector<LoopView::Buffer>& buffers) {
  for (const tir::BufferParam& each : func.buffers)
    buffers.push_back(argument(each.declared->name, each.declared->shape, each.declared->dtype));
  tir::walk(func.body, [&](const tir::Allocate& n) {
    const auto& pointer = n.data.as<tir::VarNode>()->pointer;
    const tir::StorageScope scope =
        pointer && pointer->scope ? *pointer->scope : tir::StorageScope::Global;
    const std::string bytes = plain_text(in_bytes(element_count(n.extents), n.dtype));
    buffers.push_back({.name = n.data.name(),
                       .scope = std::string(tir::to_string(scope)),
                       .place = "in " + func.attrs.global_symbol,
                       .required = "",
                       .allocated = plain_shape(n.extents),
                       .bytes = bytes,
                       .memory_bytes = n.double_buffer ? "" : bytes});
  });
}

using Kind = LoopView::Stmt::Kind;

Kind kind_of(const tir::Stmt& stmt) {
  if (const auto* attr = stmt.as<tir::Attr>())
    return attr->kind == tir::AttrKind::ThreadExtent ? Kind::Thread : Kind::Other;
  const auto* loop = stmt.as<tir::For>();
  if (!loop) return stmt.as<tir::While>() ? Kind::Serial : Kind::Other;
  switch (loop->kind) {
    case tir::ForKind::Serial:
      return Kind::Serial;
    case tir::ForKind::Parallel:
      return Kind::Parallel;
    case tir::ForKind::Vectorized:
      return Kind::Vectorized;
    case tir::ForKind::Unrolled:
      return Kind::Unrolled;
    case tir::ForKind::ThreadBinding:
      return Kind::Thread;
  }
  internal_error("a loop of no kind");
}

/// Resolves a file name that may be relative to the compiler's working directory, which often is an
/// ancestor of the folder of the executable.
std::filesystem::path found(const std::filesystem::path& file) {
  std::error_code ignored;
  if (file.is_absolute() || std::filesystem::exists(file, ignored)) return file;
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", ignored);
  for (int up = 0; up < 3 && folder.has_relative_path(); ++up) {
    folder = folder.parent_path();
    if (std::filesystem::exists(folder / file, ignored)) return folder / file;
  }
  return file;
}

/// Returns the line of the user's source code, without surrounding spaces.
std::string source_line(const SourceLocation& where) {
  std::ifstream file(found(where.file_name()));
  std::string text;
  for (unsigned n = 0; n < where.line() && std::getline(file, text);) ++n;
  if (!file) return "";
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos
             ? ""
             : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Returns the number of a stage in the view. If several functions compute parts of a stage, they
/// share its number.
int number_of(const tir::StageLine& noted, LoopView& view) {
  const auto known = std::ranges::find_if(view.stages, [&](const LoopView::Stage& each) {
    return each.name == noted.name && each.line == noted.line;
  });
  if (known != view.stages.end()) return static_cast<int>(known - view.stages.begin());
  view.stages.push_back({noted.name, noted.line, ""});
  return static_cast<int>(view.stages.size()) - 1;
}

void show(const tir::Listing& listing, LoopView& view) {
  view.lines.insert(view.lines.end(), listing.lines.begin(), listing.lines.end());
  tir::StoredStages stored(listing.func);
  std::vector<int> numbers;
  for (const tir::StageLine& stage : stored.stages()) numbers.push_back(number_of(stage, view));
  // StoredStages requires that its first query is for the outermost statement.
  stored.of(listing.func.body);
  const int before = static_cast<int>(view.stmts.size());
  for (const tir::ListedStmt& each : listing.stmts) {
    const std::vector<int>& stages = stored.of(each.stmt);
    const int parent = each.parent < 0 ? -1 : before + each.parent;
    const int around = parent < 0 ? -1 : view.stmts[static_cast<std::size_t>(parent)].stage;
    const Kind kind = kind_of(each.stmt);
    // An allocation that several stages use, or a condition around several stages, does not belong
    // to a single stage.
    const bool is_shared = kind == Kind::Other && stages.size() > 1;
    const int stage = is_shared        ? -1
                      : stages.empty() ? around
                                       : numbers[static_cast<std::size_t>(stages.back())];
    view.stmts.push_back({kind, each.first, each.last, parent, stage});
  }
}

void add_sources(const te::StageGraph& graph, std::vector<LoopView::Stage>& stages) {
  for (LoopView::Stage& stage : stages)
    for (const te::StageId id : graph.ids()) {
      const te::Operation& op = graph.stage(id).op;
      if (op.name() + ", " + to_string(op.where()) != stage.name + ", " + stage.line) continue;
      stage.source = source_line(op.where());
      break;
    }
}

void add_times(const Profile& profile, std::vector<LoopView::Stage>& stages) {
  const auto calls_of = [&](const std::string& function) {
    for (const FunctionProfile& each : profile.functions)
      if (each.name == function) return static_cast<double>(std::max<std::int64_t>(each.calls, 1));
    return 1.0;
  };
  for (LoopView::Stage& stage : stages)
    for (const StageProfile& each : profile.stages) {
      if (each.name != stage.name || each.line != stage.line) continue;
      stage.counted_in = each.counted_in;
      if (each.counted_in) continue;
      stage.seconds = each.seconds / calls_of(each.function);
      stage.share = each.share;
    }
}

/// Records the stages of the function as notes, if it has none. Otherwise, buffers that later
/// passes add, such as accumulators in registers, would also count as stages.
tir::PrimFunc with_stages(tir::PrimFunc func) {
  if (tir::stage_lines(func.attrs).empty())
    tir::note_stage_lines(func.attrs, tir::StoredStages(func).stages());
  return func;
}

/// Fills the view with the compiled code. `compile` compiles with the given options and observer.
/// If it throws, the view shows the error and the result of `lower_only`. `has_headings`: whether
/// function names precede the listings.
template <class Compile, class LowerOnly>
void view_code(LoopView& view, const Target& target, const BuildOptions& options, bool has_headings,
               const Compile& compile, const LowerOnly& lower_only) {
  BuildOptions how = options;
  how.profile = false;
  how.on_step = {};
  const bool is_llvm = target.facts().kind == tir::TargetKind::Llvm;
  const bool has_kernels = target.facts().is_gpu();
  // Lists the compiled functions. The debug lines of the code are line numbers of the listing.
  std::vector<tir::Listing> program;
  codegen::StatementLines lines;
  const auto listed = [&](const tir::PrimFunc& func) {
    const tir::Listing& listing = add_listing(func, has_headings || has_kernels, program);
    for (const tir::ListedStmt& each : listing.stmts) lines.emplace(&each.stmt.node(), each.first);
    return listing.func;
  };
  const BuildWatcher watcher{
      .add = [&](const tir::PrimFunc&, const tir::PrimFunc& ready) { return listed(ready); },
      .add_kernel = listed,
      .lines = &lines};
  try {
    const codegen::Artifact artifact = compile(how, watcher);
    view.language = is_llvm ? "asm" : artifact.source_kinds().front();
    for (const tir::Listing& listing : program) show(listing, view);
    const std::string text = artifact.source(view.language);
    view.code = is_llvm ? place_instructions(codegen::list_assembler(text), view.stmts)
                        : place_source(codegen::list_source(text), view.stmts);
    return;
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    view.refused = error.what();
  }
  how.passes.on_pass = {};  // the build has already called it
  const tir::IRModule lowered = lower_only(how);
  program.clear();
  view.lines.clear();
  for (const auto& [name, func] : lowered.functions)
    show(add_listing(func, lowered.functions.size() > 1, program), view);
}

}  // namespace

LoopView view_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const Target& target, const BuildOptions& options,
                    const std::optional<Profile>& profile, SourceLocation where) {
  LoopView view;
  view.name = options.name;
  view.target = target.describe();
  view.outline = schedule.print_loops(where);
  view.buffers = view_buffers(schedule, args, options, where);
  view_code(
      view, target, options, false,
      [&](const BuildOptions& how, const BuildWatcher& watcher) {
        return compile_watched(schedule, args, target, how, where, watcher);
      },
      [&](const BuildOptions& how) { return lower(schedule, args, how, where); });
  add_sources(te::freeze(schedule, where), view.stages);
  if (profile) add_times(*profile, view.stages);
  return view;
}

LoopView view_loops(const tir::IRModule& module, const Target& target, const BuildOptions& options,
                    const std::optional<Profile>& profile, SourceLocation where) {
  LoopView view;
  view.name = options.name;
  view.target = target.describe();
  tir::IRModule lowered;
  for (const auto& [name, func] : module.functions) {
    const LowerOptions how{
        .name = name, .instrument_bounds = options.instrument_bounds, .passes = options.passes};
    lowered.functions.emplace(
        name, with_stages(is_unlowered(func) ? lower(func, how, where).functions.at(name) : func));
    view_buffers(lowered.functions.at(name), view.buffers);
  }
  view_code(
      view, target, options, module.functions.size() > 1,
      [&](const BuildOptions& how, const BuildWatcher& watcher) {
        return compile_watched(lowered, target, how, where, watcher);
      },
      [&](const BuildOptions&) { return lowered; });
  if (profile) add_times(*profile, view.stages);
  return view;
}

}  // namespace tenon
