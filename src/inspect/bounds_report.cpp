#include "tenon/inspect/bounds_report.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <numeric>
#include <ostream>
#include <unordered_set>

#include "tenon/arith/simplify.h"
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

struct IndexHash {
  std::size_t operator()(const Index& index) const {
    std::size_t hash = 0;
    for (const std::int64_t i : index) hash = hash * 1'000'003 + static_cast<std::size_t>(i);
    return hash;
  }
};

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
    std::unordered_set<Index, IndexHash> stored;

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
  std::unordered_set<Index, IndexHash> points_;
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

class Run {
 public:
  Run(const StageGraph& graph, const PrimFunc& func, const TensorBuffers& buffers,
      const BoundsReportOptions& options)
      : graph_(graph), func_(func), options_(options) {
    for (const auto& [output, buffer] : buffers)
      watches_.emplace(buffer.get(), Watch(is_reduction(output)));
    // Excludes the buffers of intrinsics and extern operations, because these access the memory
    // through other buffers.
    walk(func.body, [&](const BufferView& view) { watches_.erase(view.source.get()); });
  }

  void run() {
    if (options_.most_steps <= 0) throw RuntimeError("most_steps is 0");
    std::vector<HostValue> values;
    for (const Var& param : func_.params) {
      if (const BufferParam* array = func_.buffer_of(param)) {
        values.emplace_back(make_array(array->declared));
      } else {
        values.emplace_back(value_of(param));
      }
    }
    const std::unordered_set<const Load*> own = own_reads(func_.body);
    EvaluateOptions evaluation{.step_limit = options_.most_steps};
    evaluation.on_access = [&](const Access& access) {
      const auto watch = watches_.find(access.buffer);
      if (watch != watches_.end()) watch->second.see(access, own.contains(access.load));
    };
    evaluate(func_, values, evaluation);
  }

  std::optional<Counts> counts(const Buffer& buffer, bool is_output) {
    const auto watch = watches_.find(buffer.get());
    if (watch == watches_.end()) return std::nullopt;
    return watch->second.counts(is_output);
  }

 private:
  bool is_reduction(const OutputId& output) const {
    const Compute* compute = graph_.stage(output.stage).op.as<Compute>();
    return compute && compute->reduction() != nullptr;
  }

  HostValue value_of(const Var& scalar) const {
    if (scalar.dtype().is_int() || scalar.dtype().is_uint()) return size_of(scalar);
    return 1.0;
  }

  std::int64_t size_of(const Var& var) const {
    for (const auto& [size, value] : options_.sizes)
      if (size.same_as(var)) return value;
    throw RuntimeError("`" + var.name() + "` has no value; give it one: {.sizes = {{" + var.name() +
                       ", 64}}}");
  }

  HostArray make_array(const Buffer& buffer) {
    std::int64_t bytes = buffer->dtype.bytes();
    Index shape;
    for (const Expr& extent : buffer->shape) {
      shape.push_back(evaluate_int(extent, [&](const Var& var) { return size_of(var); }));
      if (__builtin_mul_overflow(bytes, shape.back(), &bytes)) bytes = kMaxBytes + 1;
    }
    bytes_ += bytes;
    if (bytes > kMaxBytes || bytes_ > kMaxBytes)
      throw RuntimeError("the arguments are too large to run with");
    std::vector<std::byte>& memory = arrays_.emplace_back(static_cast<std::size_t>(bytes));
    fill_with_ones(memory, buffer->dtype);
    Index strides;
    if (!buffer->strides.empty()) {
      strides.assign(shape.size(), 1);
      for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
    }
    return {memory.data(), buffer->dtype, std::move(shape), std::move(strides)};
  }

  const StageGraph& graph_;
  const PrimFunc& func_;
  const BoundsReportOptions& options_;
  std::unordered_map<const BufferNode*, Watch> watches_;
  std::vector<std::vector<std::byte>> arrays_;
  std::int64_t bytes_ = 0;
};

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

/// Returns the text of an expression. A number is printed without its type.
std::string plain_text(const Expr& e) {
  const std::optional<std::int64_t> value = constant_int(e);
  return value ? std::to_string(*value) : print_expr(e);
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
  Run run(graph, func, buffers, options);
  try {
    run.run();
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
    if (report.not_counted.empty()) report.rows.back().counts = run.counts(buffer, stage.is_output);
  }
  return report;
}

// ---- the table ----------------------------------------------------------------------------------

namespace {

std::string join(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

std::string required_text(const BoundsReport::Row& row) {
  std::vector<std::string> parts;
  std::vector<Expr> extents;
  for (const BoundsReport::Dimension& dimension : row.dimensions) {
    const std::string readers = join(dimension.decided_by, " and ");
    parts.push_back(print_expr(dimension.required.extent) + (readers.empty() ? "" : " by ") +
                    readers);
    extents.push_back(dimension.required.extent);
  }
  return "[" + join(parts, ", ") + "] = " + plain_text(wide_product(1, extents));
}

std::string allocated_text(const BoundsReport::Row& row) {
  std::vector<std::string> parts;
  for (const BoundsReport::Dimension& dimension : row.dimensions)
    parts.push_back(print_expr(dimension.allocated.extent));
  return "[" + join(parts, ", ") + "]";
}

std::string hundredths(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << value;
  return out.str();
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const BoundsReport& report) {
  std::vector<std::array<std::string, 8>> lines = {
      {"stage", "scope", "computed at", "required", "allocated", "bytes", "used", "computed"}};
  for (const BoundsReport::Row& row : report.rows)
    lines.push_back({row.stage, std::string(to_string(row.scope)), row.place, required_text(row),
                     allocated_text(row), plain_text(row.bytes),
                     row.counts ? hundredths(row.counts->used()) : "-",
                     row.counts ? hundredths(row.counts->computed()) : "-"});
  std::array<std::size_t, 7> widths = {};
  for (const auto& line : lines)
    for (std::size_t n = 0; n < widths.size(); ++n) widths[n] = std::max(widths[n], line[n].size());
  for (const auto& line : lines) {
    for (std::size_t n = 0; n < widths.size(); ++n)
      out << std::left << std::setw(static_cast<int>(widths[n]) + 2) << line[n];
    out << line.back() << '\n';
  }
  if (!report.not_counted.empty()) out << "not counted: " << report.not_counted << '\n';
  return out;
}

}  // namespace tenon::te
