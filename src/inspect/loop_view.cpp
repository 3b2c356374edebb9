#include "tenon/inspect/loop_view.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <unordered_map>

#include "inspect/instruction_places.h"
#include "inspect/listed_build.h"
#include "inspect/view_buffers.h"
#include "tenon/codegen/assembler_listing.h"
#include "tenon/codegen/source_listing.h"
#include "tenon/inspect/draw.h"
#include "tenon/te/freeze.h"
#include "tenon/tir/listing.h"
#include "tenon/tir/stage_lines.h"
#include "tenon/tir/stored_stages.h"

namespace tenon {

namespace {

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

/// Returns the user's source line without surrounding spaces.
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

/// Returns the source lines of the user's declarations, by keys such as "C, matmul.cpp:14".
std::map<std::string, std::string> source_lines(const te::StageGraph& graph) {
  std::map<std::string, std::string> lines;
  for (const te::StageId id : graph.ids()) {
    const te::Operation& op = graph.stage(id).op;
    lines.emplace(op.name() + ", " + to_string(op.where()), source_line(op.where()));
  }
  return lines;
}

class Viewer {
 public:
  explicit Viewer(const std::optional<Profile>& profile) : profile_(profile) {}

  /// Reads the source lines of the stages' declarations.
  void read_sources(const te::Schedule& schedule, const SourceLocation& where) {
    sources_ = source_lines(te::freeze(schedule, where));
  }

  void show(const ListedProgram& program, LoopView& view) const {
    view.lines = program.lines;
    for (const ListedProgram::Part& part : program.parts) show(part, view);
  }

 private:
  void show(const ListedProgram::Part& part, LoopView& view) const {
    tir::StoredStages stored(part.listing.func);
    std::vector<int> numbers;
    for (const tir::NotedStage& stage : stored.stages()) numbers.push_back(number_of(stage, view));
    // StoredStages::of must see the outermost statement first.
    stored.of(part.listing.func.body);
    const int before = static_cast<int>(view.stmts.size());
    for (const tir::ListedStmt& each : part.listing.stmts) {
      const std::vector<int>& stages = stored.of(each.stmt);
      const int parent = each.parent < 0 ? -1 : before + each.parent;
      const int around = parent < 0 ? -1 : view.stmts[static_cast<std::size_t>(parent)].stage;
      const Kind kind = kind_of(each.stmt);
      // Memory that several stages use, or a condition around them, belongs to no stage.
      const bool is_shared = kind == Kind::Other && stages.size() > 1;
      const int stage = is_shared        ? -1
                        : stages.empty() ? around
                                         : numbers[static_cast<std::size_t>(stages.back())];
      view.stmts.push_back(
          {kind, part.lines_before + each.first, part.lines_before + each.last, parent, stage});
    }
  }

  /// Returns the number of a stage; functions that compute parts of one stage share it.
  int number_of(const tir::NotedStage& noted, LoopView& view) const {
    const auto known = std::ranges::find_if(view.stages, [&](const LoopView::Stage& each) {
      return each.name == noted.name && each.line == noted.line;
    });
    if (known != view.stages.end()) return static_cast<int>(known - view.stages.begin());
    view.stages.push_back(stage_of(noted));
    return static_cast<int>(view.stages.size()) - 1;
  }

  LoopView::Stage stage_of(const tir::NotedStage& noted) const {
    LoopView::Stage stage{noted.name, noted.line, ""};
    const auto source = sources_.find(noted.name + ", " + noted.line);
    if (source != sources_.end()) stage.source = source->second;
    if (!profile_) return stage;
    for (const StageProfile& each : profile_->stages) {
      if (each.name != stage.name || each.line != stage.line) continue;
      stage.counted_in = each.counted_in;
      if (!each.counted_in) {
        stage.seconds = each.seconds / calls_of(each.function);
        stage.share = each.share;
      }
    }
    return stage;
  }

  double calls_of(const std::string& function) const {
    for (const FunctionProfile& each : profile_->functions)
      if (each.name == function) return static_cast<double>(std::max<std::int64_t>(each.calls, 1));
    return 1;
  }

  const std::optional<Profile>& profile_;
  std::map<std::string, std::string> sources_ = {};
};

/// Returns the listing of lowered functions, for modules that do not compile.
ListedProgram listed(const tir::IRModule& module) {
  ListedProgram program;
  for (const auto& [name, func] : module.functions) program.add(func, module.functions.size() > 1);
  return program;
}

/// Notes the buffers that the function stores to as its stages, if it has no notes. Otherwise
/// buffers that passes add, such as sums in registers, would become stages.
tir::PrimFunc with_stages(tir::PrimFunc func) {
  const std::vector<tir::NotedStage> stages = tir::StoredStages(func).stages();
  std::vector<tir::StageLine> lines(stages.size());
  for (std::size_t n = 0; n < stages.size(); ++n) {
    lines[n].buffer = stages[n].buffer;
    lines[n].line = stages[n].name;
  }
  if (tir::stage_lines(func.attrs).empty()) tir::note_stage_lines(func.attrs, lines);
  return func;
}

/// Returns the lines of source code with the statements that their marks (`//@3`) refer to.
std::vector<LoopView::Instruction> place_source(std::string_view text,
                                                const std::vector<LoopView::Stmt>& stmts) {
  // The last of several statements that begin on one line is the innermost one; it owns the code.
  std::unordered_map<int, int> by_line;
  for (std::size_t n = 0; n < stmts.size(); ++n) by_line[stmts[n].first] = static_cast<int>(n);
  std::vector<LoopView::Instruction> code;
  for (codegen::SourceLine& line : codegen::list_source(text)) {
    const auto found = by_line.find(line.line);
    code.push_back({LoopView::Instruction::Kind::Instruction, std::move(line.text),
                    found == by_line.end() ? -1 : found->second, false});
  }
  return code;
}

/// Fills the view with the code. `compile` receives the options and the build that lists the
/// functions. If it throws, the view shows the result of `lower_only` instead.
template <class Compile, class LowerOnly>
void view_code(LoopView& view, const Target& target, const BuildOptions& options,
               const Viewer& viewer, bool has_headings, const Compile& compile,
               const LowerOnly& lower_only) {
  BuildOptions how = options;
  how.profile = false;
  how.on_step = {};
  const bool is_llvm = target.facts().kind == tir::TargetKind::Llvm;
  ListedBuild build(has_headings || target.facts().is_gpu());
  try {
    const codegen::Artifact artifact = compile(how, build);
    view.language = is_llvm ? "asm" : artifact.source_kinds().front();
    viewer.show(build.program, view);
    const std::string text = artifact.source(view.language);
    view.code = is_llvm ? place_instructions(codegen::list_assembler(text), view.stmts)
                        : place_source(text, view.stmts);
    return;
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    view.refused = error.what();
  }
  how.passes.on_pass = {};  // The build has already reported its passes.
  viewer.show(listed(lower_only(how)), view);
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
  Viewer viewer(profile);
  viewer.read_sources(schedule, where);
  view_code(
      view, target, options, viewer, false,
      [&](const BuildOptions& how, BuildWatcher& watcher) {
        return compile_watched(schedule, args, target, how, where, watcher);
      },
      [&](const BuildOptions& how) { return lower(schedule, args, how, where); });
  return view;
}

LoopView view_loops(const tir::IRModule& module, const Target& target, const BuildOptions& options,
                    const std::optional<Profile>& profile, SourceLocation where) {
  LoopView view;
  view.name = options.name;
  view.target = target.describe();
  tir::IRModule lowered;
  for (const auto& [name, func] : module.functions) {
    const bool is_done = func.form != tir::Form::MultiDimensional && func.form != tir::Form::Blocks;
    lowered.functions.emplace(
        name, with_stages(is_done ? func
                                  : lower(func,
                                          {.name = name,
                                           .instrument_bounds = options.instrument_bounds,
                                           .passes = options.passes},
                                          where)
                                        .functions.at(name)));
    view_buffers(lowered.functions.at(name), view.buffers);
  }
  view_code(
      view, target, options, Viewer(profile), module.functions.size() > 1,
      [&](const BuildOptions& how, BuildWatcher& watcher) {
        return compile_watched(lowered, target, how, where, watcher);
      },
      [&](const BuildOptions&) { return lowered; });
  return view;
}

}  // namespace tenon
