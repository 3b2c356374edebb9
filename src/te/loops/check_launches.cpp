#include "te/loops/check_launches.h"

#include <algorithm>

#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

class LaunchChecker {
 public:
  explicit LaunchChecker(const Program& program) : program_(program) {}

  void stmt(const Stmt& s) {
    const Attr* attr = s.as<Attr>();
    if (attr && attr->kind == AttrKind::ThreadExtent && !launch_) {
      launch_ = &std::get<IterVar>(attr->subject);
      children(s);
      launch_ = nullptr;
      return;
    }
    if (const Realize* n = s.as<Realize>(); n && !launch_ && belongs_to_launch(*n)) {
      outside_.emplace(&n->buffer->data.node(), n->buffer);
      children(s);
      outside_.erase(&n->buffer->data.node());
      return;
    }
    if (const Store* n = s.as<Store>()) use(n->buffer->data);
    if (const Prefetch* n = s.as<Prefetch>()) use(n->buffer->data);
    if (const BufferView* n = s.as<BufferView>()) view(*n);
    children(s);
  }

 private:
  /// Outside threads, a scope that is still to be inferred is global.
  static bool belongs_to_launch(const Realize& n) {
    return n.traits.scope_is_set && n.buffer->scope() != StorageScope::Global;
  }

  void children(const Stmt& s) {
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& child) { stmt(child); });
  }

  void expr(const Expr& e) {
    if (!launch_ || outside_.empty()) return;
    if (const Load* n = e.as<Load>()) use(n->buffer->data);
    if (e.as<VarNode>()) use(e);
    for_each_child(e, [&](const Expr& child) { expr(child); });
  }

  void view(const BufferView& n) {
    const auto source = outside_.find(&n.source->data.node());
    if (source == outside_.end()) return;
    use(n.source->data);
    outside_.insert_or_assign(&n.view->data.node(), source->second);
  }

  void use(const Expr& data) {
    if (!launch_) return;
    if (const auto found = outside_.find(&data.node()); found != outside_.end())
      refuse(found->second);
  }

  [[noreturn]] void refuse(const Buffer& buffer) const {
    const StageGraph& graph = program_.graph;
    for (StageId id : graph.ids()) {
      const FrozenStage& stage = graph.stage(id);
      for (int n = 0; n < stage.op.num_outputs(); ++n)
        if (program_.buffers.buffer_of(stage.op.output(n)).same_as(buffer)) refuse(stage);
    }
    internal_error("memory `" + buffer->name + "` of no stage");
  }

  [[noreturn]] void refuse(const FrozenStage& stage) const {
    const std::string place =
        stage.place
            ? "in " + describe(program_.graph.stage(stage.place->stage), stage.place->axis) +
                  ", outside of the launch"
            : "at root, outside of the launch";
    throw ScheduleError(describe(stage) + " is kept in " + std::string(to_string(stage.scope)) +
                            " memory, which is private to a launch of threads, but is computed " +
                            place + " of `" + launch_->name() +
                            "` that uses it; compute_at a loop inside of that thread axis, or "
                            "set_scope(\"global\")",
                        stage.place ? stage.attach_where : stage.scope_where);
  }

  const Program& program_;
  /// The outermost thread axis around the current statement.
  const IterVar* launch_ = nullptr;
  /// Buffers that were allocated before the current launch, by data pointer.
  std::unordered_map<const ExprNode*, Buffer> outside_;
};

}  // namespace

void check_launches(const Program& program, const Stmt& body) {
  const StageGraph& graph = program.graph;
  const bool has_scopes = std::ranges::any_of(graph.ids(), [&](StageId id) {
    return graph.stage(id).scope_is_set && graph.stage(id).scope != StorageScope::Global;
  });
  if (has_scopes) LaunchChecker(program).stmt(body);
}

}  // namespace tenon::te
