#include "tenon/tir/block.h"

#include <atomic>

namespace tenon::tir {

BlockId::BlockId() {
  static std::atomic<std::uint64_t> last{0};
  number_ = ++last;
}

std::optional<std::int64_t> annotation_int(const Annotation& annotation) {
  const Expr* e = std::get_if<Expr>(&annotation.value);
  return e ? constant_int(*e) : std::nullopt;
}

std::optional<std::string> annotation_text(const Annotation& annotation) {
  const Expr* e = std::get_if<Expr>(&annotation.value);
  const StringImm* text = e ? e->as<StringImm>() : nullptr;
  if (!text) return std::nullopt;
  return text->value;
}

const LoopTraits& traits_of(const For& loop) {
  static const LoopTraits kNone;
  return loop.traits ? *loop.traits : kNone;
}

For with_traits(For loop, LoopTraits traits) {
  const bool is_plain = !traits.thread && traits.annotations.empty();
  loop.traits = is_plain ? nullptr : std::make_shared<const LoopTraits>(std::move(traits));
  return loop;
}

Stmt make_block(std::vector<Expr> values, Expr predicate, Block block) {
  return make_stmt(BlockRealize{std::move(values), std::move(predicate),
                                std::make_shared<const Block>(std::move(block))});
}

Stmt make_block(std::vector<Expr> values, Block block) {
  return make_block(std::move(values), make_true(), std::move(block));
}

Stmt make_root_block(std::vector<Buffer> alloc_buffers, Stmt body) {
  return make_block({}, {.iters = {},
                         .reads = {},
                         .writes = {},
                         .name = "root",
                         .init = std::nullopt,
                         .body = std::move(body),
                         .alloc_buffers = std::move(alloc_buffers)});
}

const Block& root_block(const Stmt& body) {
  const BlockRealize* root = body.as<BlockRealize>();
  internal_check(root && root->block->iters.empty(), "a block program without a root block");
  return *root->block;
}

}  // namespace tenon::tir
