#include "tenon/inspect/bounds_report.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <ostream>
#include <unordered_set>

#include "tenon/arith/simplify.h"
#include "tenon/driver/text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/support/float16.h"
#include "tenon/te/freeze.h"
#include "tenon/te/graph.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

// Chooses arguments for running the loops of a schedule, if the caller gives none.

/// Returns the scalar arguments of the schedule: `sizes`, and the variables in bodies and ranges
/// that are not axes.
std::vector<Var> scalars_of(const StageGraph& graph, const Bounds& bounds,
                            const std::vector<std::pair<Var, std::int64_t>>& sizes) {
  std::vector<Var> scalars;
  std::unordered_set<const ExprNode*> known;
  for (const auto& [size, value] : sizes) {
    scalars.push_back(size);
    known.insert(&size.node());
  }
  const auto add = [&](const Expr& e) {
    for (const Var& var : free_vars(e))
      if (!var.dtype().is_handle() && known.insert(&var.node()).second) scalars.push_back(var);
  };
  for (const Bounds::Entry& entry : bounds.entries()) known.insert(&entry.axis.var().node());
  for (const StageId id : graph.ids()) {
    const Operation& op = graph.stage(id).op;
    // The variables in the shape of an input are not listed, because the input determines them.
    if (op.as<Placeholder>())
      for (const Expr& extent : op.output(0).shape())
        for (const Var& var : free_vars(extent)) known.insert(&var.node());
  }
  for (const StageId id : graph.ids())
    for (const Expr& body : graph.stage(id).op.body()) add(body);
  for (const Bounds::Entry& entry : bounds.entries()) {
    add(entry.range.min);
    add(entry.range.extent);
  }
  return scalars;
}

/// Returns the arguments of the function: the sizes, all other scalars (see scalars_of), the inputs
/// and the outputs. A scalar that the shape of an input determines is omitted, unless it is one of
/// the sizes.
std::vector<FunctionArgument> report_arguments(
    const StageGraph& graph, const Bounds& bounds,
    const std::vector<std::pair<Var, std::int64_t>>& sizes) {
  std::vector<FunctionArgument> arguments;
  for (const Var& scalar : scalars_of(graph, bounds, sizes)) arguments.emplace_back(scalar);
  for (const StageId id : graph.ids()) {
    const FrozenStage& stage = graph.stage(id);
    const bool is_input = stage.op.as<Placeholder>() && !stage.scan_part(0);
    if (!is_input && !stage.is_output) continue;
    for (int k = 0; k < stage.op.num_outputs(); ++k) arguments.emplace_back(stage.op.output(k));
  }
  return arguments;
}

using Counts = BoundsReport::Counts;
using Index = std::vector<std::int64_t>;

std::int64_t point_count(const Index& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::size_t hash_of(const Index& index) {
  std::size_t hash = 0;
  for (const std::int64_t i : index) hash = hash * 1'000'003 + static_cast<std::size_t>(i);
  return hash;
}
using IndexSet = std::unordered_set<Index, decltype([](const Index& i) { return hash_of(i); })>;

// ---- one tensor, while the loops run ------------------------------------------------------------

/// Counts the accesses to the memory of one tensor. Each realization is counted separately.
class Watch {
 public:
  /// `is_reduction`: each element is stored many times, but counts as computed once.
  explicit Watch(bool is_reduction) : is_reduction_(is_reduction) {}

  void see(const Access& access, bool is_own) {
    if (access.realization != realization_) {
      leave();
      realization_ = access.realization;
    }
    Piece& piece = pieces_[access.copy];
    if (piece.extents.empty()) piece.extents.assign(access.extents.begin(), access.extents.end());
    // A reduction's reads of its own tensor are not counted, because they read partial results. A
    // scan's reads are counted, because they read the results of earlier steps.
    if (!access.is_write && !(is_own && is_reduction_)) piece.read(access.indices);
    if (!access.is_write) return;
    ++piece.stores;
    Index index(access.indices.begin(), access.indices.end());
    if (is_reduction_) piece.stored.insert(index);
    points_.insert(std::move(index));
  }

  Counts counts(bool is_output) {
    leave();
    counts_.points = static_cast<std::int64_t>(points_.size());
    if (is_output) counts_.touched = counts_.allocated;
    return counts_;
  }

 private:
  struct Piece {
    Index extents, min, max;
    std::int64_t stores = 0;
    IndexSet stored;

    void read(std::span<const std::int64_t> index) {
      if (min.empty()) min = max = Index(index.begin(), index.end());
      for (std::size_t d = 0; d < index.size(); ++d) {
        min[d] = std::min(min[d], index[d]);
        max[d] = std::max(max[d], index[d]);
      }
    }
  };

  void leave() {
    for (const auto& [copy, piece] : pieces_) {
      counts_.evaluations +=
          is_reduction_ ? static_cast<std::int64_t>(piece.stored.size()) : piece.stores;
      counts_.allocated.resize(piece.extents.size(), 0);
      counts_.touched.resize(piece.extents.size(), 0);
      for (std::size_t d = 0; d < piece.extents.size(); ++d) {
        counts_.allocated[d] = std::max(counts_.allocated[d], piece.extents[d]);
        if (!piece.min.empty())
          counts_.touched[d] = std::max(counts_.touched[d], piece.max[d] - piece.min[d] + 1);
      }
    }
    pieces_.clear();
  }

  bool is_reduction_;
  std::int64_t realization_ = -1;
  std::map<std::int64_t, Piece> pieces_;
  IndexSet points_;
  Counts counts_;
};

/// Returns the loads from buffers that the same statement stores to. They read partial results.
std::unordered_set<const Load*> own_reads(const Stmt& loops) {
  std::unordered_set<const Load*> own;
  auto add = [&](const Expr& value, const std::unordered_set<const BufferNode*>& stored) {
    walk(value, [&](const Load& load) {
      if (stored.contains(load.buffer.get())) own.insert(&load);
    });
  };
  walk(
      loops, [&](const Store& store) { add(store.value, {store.buffer.get()}); },
      [&](const Let& let) {
        std::unordered_set<const BufferNode*> stored;
        walk(let.body, [&](const Store& store) { stored.insert(store.buffer.get()); });
        add(let.value, stored);
      });
  return own;
}

// ---- the run ------------------------------------------------------------------------------------

constexpr std::int64_t kMaxBytes = std::int64_t{256} << 20;

void fill_with_ones(std::vector<std::byte>& memory, DataType type) {
  auto fill = [&](auto one) {
    for (std::size_t at = 0; at + sizeof one <= memory.size(); at += sizeof one)
      std::memcpy(memory.data() + at, &one, sizeof one);
  };
  if (type.is_bfloat()) return fill(BFloat16(1).bits);
  if (type.is_float() && type.bits == 16) return fill(Float16(1).bits);
  if (type.is_float()) return type.bits == 32 ? fill(1.0f) : fill(1.0);
  switch (type.element().bytes()) {
    case 1:
      return fill(std::int8_t{1});
    case 2:
      return fill(std::int16_t{1});
    case 4:
      return fill(std::int32_t{1});
    default:
      return fill(std::int64_t{1});
  }
}

/// Runs the loops on arrays of ones, and watches the memory of each tensor. Does not watch tensors
/// that intrinsics and extern operations access, because these use other buffers for the memory.
/// RuntimeError if the loops cannot run.
std::unordered_map<const BufferNode*, Watch> watched_run(const StageGraph& graph,
                                                         const PrimFunc& func,
                                                         const TensorBuffers& buffers,
                                                         const BoundsReportOptions& options) {
  if (options.most_steps <= 0) throw RuntimeError("most_steps is 0");
  std::unordered_map<const BufferNode*, Watch> watches;
  for (const auto& [output, buffer] : buffers) {
    const Compute* compute = graph.stage(output.stage).op.as<Compute>();
    watches.emplace(buffer.get(), Watch(compute && compute->reduction()));
  }
  walk(func.body, [&](const BufferView& view) { watches.erase(view.source.get()); });

  const auto size_of = [&](const Var& var) {
    for (const auto& [size, value] : options.sizes)
      if (size.same_as(var)) return value;
    throw RuntimeError("`" + var.name() + "` has no value; give it one: {.sizes = {{" + var.name() +
                       ", 64}}}");
  };
  std::vector<std::vector<std::byte>> arrays;
  std::int64_t all_bytes = 0;
  const auto array_of = [&](const Buffer& buffer) -> HostArray {
    std::int64_t bytes = buffer->dtype.bytes();
    Index shape;
    for (const Expr& extent : buffer->shape) {
      shape.push_back(evaluate_int(extent, size_of));
      if (__builtin_mul_overflow(bytes, shape.back(), &bytes)) bytes = kMaxBytes + 1;
    }
    all_bytes += bytes;
    if (bytes > kMaxBytes || all_bytes > kMaxBytes)
      throw RuntimeError("the arguments are too large to run with");
    std::vector<std::byte>& memory = arrays.emplace_back(static_cast<std::size_t>(bytes));
    fill_with_ones(memory, buffer->dtype);
    Index strides;
    if (!buffer->strides.empty()) {
      strides.assign(shape.size(), 1);
      for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
    }
    return {memory.data(), buffer->dtype, std::move(shape), std::move(strides)};
  };
  std::vector<HostValue> values;
  for (const Var& param : func.params) {
    if (const BufferParam* array = func.buffer_of(param)) {
      values.emplace_back(array_of(array->declared));
    } else if (param.dtype().is_int() || param.dtype().is_uint()) {
      values.emplace_back(size_of(param));
    } else {
      values.emplace_back(1.0);
    }
  }
  const std::unordered_set<const Load*> own = own_reads(func.body);
  EvaluateOptions evaluation{.step_limit = options.most_steps};
  evaluation.on_access = [&](const Access& access) {
    const auto watch = watches.find(access.buffer);
    if (watch != watches.end()) watch->second.see(access, own.contains(access.load));
  };
  evaluate(func, values, evaluation);
  return watches;
}

// ---- the rows -----------------------------------------------------------------------------------

/// Returns the product of a number and extents. It has 64 bits if its constant part does not fit 32
/// bits.
Expr wide_product(std::int64_t number, const std::vector<Expr>& extents) {
  Expr sizes = 1;
  for (const Expr& extent : extents) {
    const std::optional<std::int64_t> constant = constant_int(extent);
    if (constant && !__builtin_mul_overflow(number, *constant, &number)) continue;
    sizes = sizes * extent;
  }
  const DataType type = std::in_range<std::int32_t>(number) ? sizes.dtype() : Int(64);
  return arith::simplify(cast(type, sizes) * make_int(type, number));
}

std::string place_of(const StageGraph& graph, const FrozenStage& stage) {
  if (!stage.place) return "root";
  return graph.stage(stage.place->stage).origin_op.name() + ", at " + stage.place->axis.name();
}

BoundsReport::Row row_of(const StageGraph& graph, const OutputId& output, const RequiredBox& needed,
                         const std::vector<Range>& allocated) {
  const FrozenStage& stage = graph.stage(output.stage);
  BoundsReport::Row row{.stage = stage.origin_op.output(output.index).name(),
                        .scope = stage.scope,
                        .place = place_of(graph, stage),
                        .dimensions = {},
                        .bytes = 0,
                        .counts = std::nullopt};
  std::vector<Expr> extents;
  for (std::size_t dim = 0; dim < needed.size(); ++dim) {
    BoundsReport::Dimension dimension{needed[dim].range, {}, allocated[dim]};
    for (const StageId reader : needed[dim].decided_by)
      dimension.decided_by.push_back(graph.stage(reader).origin_op.name());
    extents.push_back(allocated[dim].extent);
    row.dimensions.push_back(std::move(dimension));
  }
  row.bytes = wide_product(stage.op.output(output.index).dtype().bytes(), extents);
  return row;
}

}  // namespace

double BoundsReport::Counts::used() const {
  return share(point_count(touched), point_count(allocated));
}
double BoundsReport::Counts::computed() const { return share(evaluations, points); }

BoundsReport bounds_report(const Schedule& schedule, const BoundsReportOptions& options,
                           SourceLocation where) {
  const StageGraph graph = freeze(schedule, where);
  const Bounds bounds = options.exact ? infer_exact_bound(graph) : infer_bound(graph);
  const auto needed = required_boxes(graph, options.exact);
  const auto [func, buffers] =
      make_loop_program(graph, bounds, report_arguments(graph, bounds, options.sizes), where);
  std::unordered_map<const BufferNode*, std::vector<Range>> allocated;
  walk(func.body, [&](const Realize& realize) {
    std::vector<Range>& box = allocated[realize.buffer.get()];
    for (const Range& range : realize.bounds) box.push_back(arith::simplify(range));
  });

  BoundsReport report;
  std::unordered_map<const BufferNode*, Watch> watches;
  try {
    watches = watched_run(graph, func, buffers, options);
  } catch (const RuntimeError& error) {
    report.not_counted = error.what();
  }
  for (const auto& [output, buffer] : buffers) {
    const FrozenStage& stage = graph.stage(output.stage);
    if (stage.op.as<Placeholder>()) continue;
    const RequiredBox& box = needed[output.stage.index()][static_cast<std::size_t>(output.index)];
    std::vector<Range> whole;
    for (const Expr& extent : buffer->shape) whole.push_back(Range(0, extent));
    const auto found = allocated.find(buffer.get());
    report.rows.push_back(
        row_of(graph, output, box, found == allocated.end() ? whole : found->second));
    if (const auto watch = watches.find(buffer.get()); watch != watches.end())
      report.rows.back().counts = watch->second.counts(stage.is_output);
  }
  return report;
}

// ---- the table ----------------------------------------------------------------------------------

namespace {

std::string required_text(const BoundsReport::Row& row) {
  std::vector<std::string> parts;
  std::vector<Expr> extents;
  for (const BoundsReport::Dimension& dimension : row.dimensions) {
    const std::string readers = joined(dimension.decided_by, " and ");
    parts.push_back(print_expr(dimension.required.extent) + (readers.empty() ? "" : " by ") +
                    readers);
    extents.push_back(dimension.required.extent);
  }
  return "[" + joined(parts, ", ") + "] = " + plain_text(wide_product(1, extents));
}

std::string allocated_text(const BoundsReport::Row& row) {
  std::vector<Expr> extents;
  for (const BoundsReport::Dimension& dimension : row.dimensions)
    extents.push_back(dimension.allocated.extent);
  return shape_text(extents);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const BoundsReport& report) {
  std::vector<std::vector<std::string>> lines = {
      {"stage", "scope", "computed at", "required", "allocated", "bytes", "used", "computed"}};
  for (const BoundsReport::Row& row : report.rows)
    lines.push_back({row.stage, std::string(to_string(row.scope)), row.place, required_text(row),
                     allocated_text(row), plain_text(row.bytes),
                     row.counts ? formatted("%.2f", row.counts->used()) : "-",
                     row.counts ? formatted("%.2f", row.counts->computed()) : "-"});
  print_table(out, lines, lines.front().size());
  if (!report.not_counted.empty()) out << "not counted: " << report.not_counted << '\n';
  return out;
}

}  // namespace tenon::te
