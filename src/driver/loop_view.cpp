#include "tenon/driver/loop_view.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <unordered_map>

#include "driver/build_watcher.h"
#include "driver/instruction_places.h"
#include "driver/view_buffers.h"
#include "tenon/codegen/assembler_listing.h"
#include "tenon/te/draw.h"
#include "tenon/te/freeze.h"
#include "tenon/tir/listing.h"
#include "tenon/tir/stored_stages.h"

namespace tenon {

namespace {

using Kind = LoopView::Stmt::Kind;

/// Lists the function that is compiled, and has its code tell of the lines.
class ListedBuild : public BuildWatcher {
 public:
  tir::PrimFunc add(const tir::PrimFunc&, const tir::PrimFunc& ready) override {
    listing = tir::list_statements(ready);
    return listing->func;
  }
  void set_up(codegen::CompileOptions& options) override {
    if (!listing) return;
    for (const tir::ListedStmt& each : listing->stmts)
      lines_.emplace(&each.stmt.node(), each.first);
    options.lines = &lines_;
  }

  std::optional<tir::Listing> listing;

 private:
  codegen::StatementLines lines_;
};

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

/// Compilers may be given names relative to the folder in which they run: often one that the
/// program lies in.
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

/// The user's line, without the spaces around it.
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

/// The places of the user's declarations, by "C, matmul.cpp:14".
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
  Viewer(const te::Schedule& schedule, const std::optional<Profile>& profile,
         const SourceLocation& where)
      : profile_(profile), sources_(source_lines(te::freeze(schedule, where))) {}

  void show(const tir::Listing& listing, LoopView& view) {
    tir::StoredStages stored(listing.func);
    for (const tir::NotedStage& stage : stored.stages()) view.stages.push_back(stage_of(stage));
    view.lines = listing.lines;
    // Outermost first, as `of` wants to be asked.
    stored.of(listing.func.body);
    for (const tir::ListedStmt& each : listing.stmts) {
      const std::vector<int>& stages = stored.of(each.stmt);
      const int around =
          each.parent < 0 ? -1 : view.stmts[static_cast<std::size_t>(each.parent)].stage;
      const Kind kind = kind_of(each.stmt);
      // Memory that several stages use, or a condition around them, is of none.
      const bool is_shared = kind == Kind::Other && stages.size() > 1;
      const int stage = is_shared ? -1 : stages.empty() ? around : stages.back();
      view.stmts.push_back({kind, each.first, each.last, each.parent, stage});
    }
  }

 private:
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
  std::map<std::string, std::string> sources_;
};

/// What lower makes, for what has no code for a CPU.
tir::Listing lowered_listing(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                             const BuildOptions& options, const SourceLocation& where) {
  LowerOptions how{.name = options.name,
                   .binds = options.binds,
                   .instrument_bounds = options.instrument_bounds,
                   .bounds = options.bounds,
                   .check_intrinsics = options.check_intrinsics,
                   .passes = options.passes};
  how.passes.on_pass = {};  // The build has told of its passes.
  const tir::IRModule module = lower(schedule, args, how, where);
  return tir::list_statements(module.functions.begin()->second);
}

}  // namespace

LoopView view_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const Target& target, const BuildOptions& options,
                    const std::optional<Profile>& profile, SourceLocation where) {
  LoopView view;
  view.name = options.name;
  view.target = target.describe();
  view.outline = te::print_loops(schedule, where);
  view.buffers = view_buffers(schedule, args, options, where);
  BuildOptions how = options;
  how.profile = false;
  how.on_step = {};
  ListedBuild build;
  try {
    const codegen::Artifact artifact = compile_watched(schedule, args, target, how, where, build);
    if (build.listing && target.facts().kind == tir::TargetKind::Llvm) {
      Viewer(schedule, profile, where).show(*build.listing, view);
      view.code = place_instructions(codegen::list_assembler(artifact.source("asm")), view.stmts);
      return view;
    }
    view.source = artifact.source(artifact.source_kinds().front());
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    view.refused = error.what();
  }
  Viewer(schedule, profile, where).show(lowered_listing(schedule, args, options, where), view);
  return view;
}

}  // namespace tenon
