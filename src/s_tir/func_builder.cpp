#include "tenon/s_tir/func_builder.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "s_tir/context.h"
#include "tenon/arith/block_access.h"
#include "tenon/support/match.h"

namespace tenon::s_tir {

using namespace tir;

struct FuncBuilder::State {
  PrimFunc func{{}, {}, make_nop()};
  IRBuilder ir;
  /// Buffers that the root block allocates.
  std::vector<Buffer> allocated;
  /// The enclosing blocks with their predicates, innermost last.
  std::vector<std::pair<Block, Expr>> open;
  std::unordered_map<const void*, Range> loops;
  std::unordered_set<std::string> names;

  explicit State(const std::string& name) {
    func.attrs = {.global_symbol = name, .noalias = true, .from_legacy_te_schedule = false};
    func.form = Form::Blocks;
  }

  std::string unique(const std::string& kind, const std::string& hint) {
    std::string name = hint;
    for (int n = 1; !names.insert(kind + name).second; ++n) name = hint + "_" + std::to_string(n);
    return name;
  }

  std::pair<Block, Expr>& innermost(const char* what, const SourceLocation& where) {
    if (open.empty())
      throw LowerError(std::string("FuncBuilder: ") + what + " belongs in a block", where);
    return open.back();
  }

  std::vector<Buffer> visible() const {
    std::vector<Buffer> result = allocated;
    for (const BufferParam& b : func.buffers) result.push_back(b.declared);
    for (const auto& [block, predicate] : open)
      result.insert(result.end(), block.alloc_buffers.begin(), block.alloc_buffers.end());
    return result;
  }
};

namespace {

void check_count(const std::string& what, std::size_t count, const BodyOfVars& body,
                 const SourceLocation& where) {
  if (body.arity() < 0 || static_cast<std::size_t>(body.arity()) == count) return;
  throw TypeError(what + " has " + std::to_string(count) + " variables, and its body takes " +
                      std::to_string(body.arity()),
                  where);
}

BlockAxis axis(IterKind kind, const Expr& extent, const Expr& value, const Name& name) {
  Range dom = Range::from_extent(as_index(extent));
  const DataType type = dom.extent.dtype();
  return {kind, std::move(dom), cast(type, as_index(value)), name};
}

}  // namespace

FuncBuilder::FuncBuilder(Name name) : state_(std::make_shared<State>(name)) {}

BufferRef FuncBuilder::param(std::vector<Expr> shape, Name name, DataType dtype,
                             BufferOptions options) {
  options.name = name;
  if (options.scope.empty()) options.scope = "global";
  const Buffer buffer = decl_buffer(std::move(shape), dtype, std::move(options));
  const Var handle(name + "_handle", Handle());
  state_->func.params.push_back(handle);
  state_->func.buffers.push_back({handle, buffer, buffer});
  return state_->ir.buffer_ptr(buffer);
}

Var FuncBuilder::scalar(Name name, DataType dtype) {
  const Var var(std::move(name), dtype);
  state_->func.params.push_back(var);
  return var;
}

BufferRef FuncBuilder::alloc(std::vector<Expr> shape, Name name, DataType dtype, Name scope) {
  const Buffer buffer = decl_buffer(std::move(shape), dtype,
                                    {.name = state_->unique("buffer ", name), .scope = scope});
  std::vector<Buffer>& all =
      state_->open.empty() ? state_->allocated : state_->open.back().first.alloc_buffers;
  all.push_back(buffer);
  return state_->ir.buffer_ptr(buffer);
}

void FuncBuilder::grid(std::vector<Expr> extents, std::vector<std::string> names,
                       const BodyOfVars& body, SourceLocation where) {
  if (names.size() != extents.size())
    throw TypeError("FuncBuilder: a grid has " + std::to_string(extents.size()) + " extents and " +
                        std::to_string(names.size()) + " names",
                    where);
  check_count("FuncBuilder: a grid", extents.size(), body, where);
  std::ranges::transform(extents, extents.begin(), as_index);
  std::vector<Var> vars;
  std::vector<LoopDomain> loops;
  for (std::size_t n = 0; n < extents.size(); ++n) {
    vars.emplace_back(names[n], extents[n].dtype());
    state_->loops.insert_or_assign(&vars.back().node(), Range::from_extent(extents[n]));
    loops.push_back({vars.back(), make_int(extents[n].dtype(), 0), extents[n]});
  }
  const Stmt inner = state_->ir.nested([&] { body(vars); }, vars);
  state_->ir.emit(in_loops(loops, inner));
}

void FuncBuilder::loop(const Expr& begin, const Expr& end, Name name, const BodyOfVars& body,
                       LoopOptions options, SourceLocation where) {
  check_count("FuncBuilder: loop `" + name + "`", 1, body, where);
  LoopTraits traits{.thread = std::nullopt, .annotations = std::move(options.annotations)};
  ForKind kind = options.kind;
  if (!options.thread.empty()) {
    traits.thread = ThreadTag::parse(options.thread, where);
    kind = ForKind::ThreadBinding;
  } else if (kind == ForKind::ThreadBinding) {
    throw TypeError(
        "FuncBuilder: loop `" + name + "` is bound to a thread, but names no thread axis", where);
  }
  const Expr extent = as_index(is_zero(begin) ? end : end - begin);
  const Var var(name, extent.dtype());
  const Expr min = cast(extent.dtype(), as_index(begin));
  state_->loops.insert_or_assign(&var.node(), Range::from_min_extent(min, extent));
  const std::vector<Var> vars = {var};
  Stmt inner = state_->ir.nested([&] { body(vars); }, vars);
  state_->ir.emit(
      make_stmt(with_traits(For{var, min, extent, kind, std::move(inner)}, std::move(traits))));
}

BlockAxis FuncBuilder::spatial(Expr extent, Expr value, Name name) {
  return axis(IterKind::DataParallel, std::move(extent), std::move(value), name);
}
BlockAxis FuncBuilder::reduce(Expr extent, Expr value, Name name) {
  return axis(IterKind::Reduce, std::move(extent), std::move(value), name);
}
BlockAxis FuncBuilder::scan(Expr extent, Expr value, Name name) {
  return axis(IterKind::Ordered, std::move(extent), std::move(value), name);
}
BlockAxis FuncBuilder::opaque(Expr extent, Expr value, Name name) {
  return axis(IterKind::Opaque, std::move(extent), std::move(value), name);
}

std::vector<BlockAxis> FuncBuilder::remap(std::string_view kinds, const std::vector<Var>& loops,
                                          const std::vector<std::string>& names,
                                          SourceLocation where) const {
  if (kinds.size() != loops.size() || names.size() != loops.size())
    throw TypeError("FuncBuilder: remap takes the same number of kinds, loops and names, got " +
                        std::to_string(kinds.size()) + ", " + std::to_string(loops.size()) +
                        " and " + std::to_string(names.size()),
                    where);
  std::vector<BlockAxis> result;
  for (std::size_t n = 0; n < loops.size(); ++n) {
    if (kinds[n] != 'S' && kinds[n] != 'R')
      throw TypeError(
          std::string("FuncBuilder: remap knows the kinds S and R, got `") + kinds[n] + "`", where);
    const auto range = state_->loops.find(&loops[n].node());
    if (range == state_->loops.end())
      throw TypeError(
          "FuncBuilder: remap takes variables of loops, but `" + loops[n].name() + "` is not one",
          where);
    result.push_back({kinds[n] == 'S' ? IterKind::DataParallel : IterKind::Reduce, range->second,
                      loops[n], names[n]});
  }
  return result;
}

void FuncBuilder::block(Name name, const std::vector<BlockAxis>& axes, const BodyOfVars& body,
                        SourceLocation where) {
  check_count("FuncBuilder: block `" + name + "`", axes.size(), body, where);
  Block opened = plain_block(state_->unique("block ", name), make_nop());
  std::vector<Expr> values;
  std::vector<Var> vars;
  for (const BlockAxis& axis : axes) {
    vars.emplace_back(axis.name, axis.dom.extent.dtype());
    opened.iters.emplace_back(axis.dom, vars.back(), axis.kind);
    values.push_back(cast(vars.back().dtype(), axis.value));
  }
  state_->open.emplace_back(std::move(opened), make_true());
  Stmt inner = make_nop();
  try {
    inner = state_->ir.nested([&] { body(vars); }, vars);
  } catch (...) {
    state_->open.pop_back();
    throw;
  }
  auto [block, predicate] = std::move(state_->open.back());
  state_->open.pop_back();
  block.body = std::move(inner);
  const std::vector<Buffer> visible = state_->visible();
  state_->ir.emit(make_block(std::move(values), std::move(predicate),
                             arith::with_found_access(std::move(block), visible)));
}

void FuncBuilder::init(const std::function<void()>& body, SourceLocation where) {
  const Block& block = state_->innermost("init", where).first;
  if (block.init)
    throw LowerError("FuncBuilder: block `" + block.name + "` has an init already", where);
  const Stmt init = state_->ir.nested(body);
  state_->innermost("init", where).first.init = init;
}

void FuncBuilder::where(const Expr& predicate, SourceLocation where) {
  auto& [block, condition] = state_->innermost("where", where);
  if (predicate.dtype() != Bool())
    throw TypeError("FuncBuilder: the predicate of block `" + block.name + "` must be bool, got " +
                        predicate.dtype().str(),
                    where);
  const Expr guard = as_guard(predicate);
  condition = is_true(condition) ? guard : condition && guard;
}

void FuncBuilder::annotate(Name key, Annotation value, SourceLocation where) {
  state_->innermost("annotate", where).first.annotations.insert_or_assign(key, std::move(value));
}

BufferRef FuncBuilder::match(const BufferRef& buffer, std::vector<Range> region, Name name,
                             SourceLocation where) {
  Block& block = state_->innermost("match", where).first;
  const Buffer& source = buffer.buffer();
  if (region.size() != source->shape.size())
    throw TypeError("FuncBuilder: buffer `" + source->name + "` has " +
                        std::to_string(source->rank()) + " dimensions, and the region " +
                        std::to_string(region.size()),
                    where);
  std::vector<Expr> shape;
  for (const Range& range : region) shape.push_back(range.extent);
  const Buffer view = decl_buffer(shape, source->dtype,
                                  {.name = state_->unique("buffer ", name),
                                   .scope = std::string(to_string(source->scope())),
                                   .offset_factor = 1});
  block.match_buffers.push_back({view, {source, std::move(region)}});
  return state_->ir.buffer_ptr(view);
}

IRBuilder& FuncBuilder::ir() { return state_->ir; }

PrimFunc FuncBuilder::get(SourceLocation where) {
  PrimFunc result = state_->func;
  result.body = make_root_block(state_->allocated, state_->ir.get(where));
  *state_ = State(result.attrs.global_symbol);
  return result;
}

}  // namespace tenon::s_tir
