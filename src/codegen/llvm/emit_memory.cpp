#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/llvm_versions.h"
#include "codegen/llvm/types.h"
#include "tenon/codegen/memory_plan.h"
#include "tenon/runtime/c_api.h"
#include "tenon/support/error.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

namespace {

/// Whether a single load of all elements, gaps included, is cheaper than one load per lane.
bool reads_well_with_gaps(std::int64_t stride, int lanes) {
  return stride >= 2 && stride <= 4 && lanes >= 4 && lanes <= 64;
}

constexpr int kLanesOf128Bits = 4;

/// Whether load_column supports a square matrix with rows of `lanes` elements.
bool is_transposed_by_pairs(DataType element, int lanes) {
  if (!element.is_scalar() || element.is_bool()) return false;
  const int bits = element.bits * lanes;
  return element.bits == 32 ? bits == 128 || bits == 256 || bits == 512
                            : element.bits < 32 && (bits == 64 || bits == 128);
}

/// Whether the address points into memory that the function allocates on its stack.
bool is_local(llvm::Value* address) {
  return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address));
}

}  // namespace

// ---- addresses ----

llvm::Value* FunctionEmitter::address(llvm::Value* base, DataType element, llvm::Value* index) {
  if (element.lanes > 1) index = builder_.CreateMul(index, int64(element.lanes), "", false, true);
  return builder_.CreateInBoundsGEP(lane_type_in_memory(module_.context(), element), base, index);
}

llvm::Value* FunctionEmitter::address(const Buffer& buffer, llvm::Value* index) {
  return address(variable(buffer->data), buffer->dtype, index);
}

std::vector<llvm::Value*> FunctionEmitter::lane_positions(const Expr& e) {
  std::vector<llvm::Value*> positions;
  const int lanes = e.dtype().lanes;
  if (const Ramp* ramp = e.as<Ramp>()) {
    llvm::Value* base = index(ramp->base);
    llvm::Value* stride = index(ramp->stride);
    for (int lane = 0; lane < lanes; ++lane)
      positions.push_back(builder_.CreateAdd(
          base, builder_.CreateMul(stride, int64(lane), "", false, true), "", false, true));
    return positions;
  }
  llvm::Value* vector = index(e);
  for (int lane = 0; lane < lanes; ++lane)
    positions.push_back(builder_.CreateExtractElement(vector, static_cast<std::uint64_t>(lane)));
  return positions;
}

// ---- loads ----

llvm::Value* FunctionEmitter::load(const Load& n) {
  const Expr position = flat_index(n.buffer, n.indices);
  const DataType element = n.buffer->dtype;
  const int lanes = position.dtype().lanes;
  auto at = [&](llvm::Value* i) { return address(n.buffer, i); };
  if (lanes_) return load_masked(n.buffer, position, lanes_);
  if (lanes == 1) return load_lanes(at(index(position)), element, element.lanes);
  if (const Broadcast* same = position.as<Broadcast>(); same && same->value.dtype().is_scalar())
    return splat(load_lanes(at(index(same->value)), element, element.lanes), lanes);
  bool is_column = false;
  if (const Ramp* ramp = position.as<Ramp>()) {
    const auto stride = constant_int(ramp->stride);
    // Whether this is a column of a local matrix whose rows are stored as vectors. A load that
    // includes the gaps would overlap several of these stores, and the matrix could then not be
    // kept in registers.
    is_column = stride >= lanes && is_local(at(int64(0)));
    const auto narrowest = narrowest_stores_.find(&n.buffer->data.node());
    const bool has_whole_rows = narrowest != narrowest_stores_.end() && narrowest->second >= lanes;
    if (is_column && stride == lanes && has_whole_rows && is_transposed_by_pairs(element, lanes))
      if (const auto column = constant_int(ramp->base); column && *column >= 0 && *column < lanes)
        return load_column(at(int64(0)), element, lanes, static_cast<int>(*column));
    if (stride == 1) return load_lanes(at(index(ramp->base)), element, lanes * element.lanes);
    if (stride == -1) {
      llvm::Value* last = builder_.CreateSub(index(ramp->base), int64(lanes - 1), "", false, true);
      return reversed(load_lanes(at(last), element, lanes * element.lanes), element.lanes);
    }
    if (stride && element.is_scalar() && !is_column && reads_well_with_gaps(*stride, lanes))
      return load_strided(at(index(ramp->base)), element, static_cast<int>(*stride), lanes,
                          nullptr);
  }
  const std::vector<llvm::Value*> positions = lane_positions(position);
  llvm::Value* picked = is_column ? nullptr : load_picked(n.buffer, positions);
  if (picked) return picked;
  std::vector<llvm::Value*> parts;
  for (llvm::Value* i : positions) parts.push_back(load_lanes(at(i), element, element.lanes));
  return concatenate(parts);
}

/// Loads a column of a square matrix of elements of at most 32 bits. Rows are merged two at a time.
/// x86 has an instruction for each merge, and the merged rows are shared by the loads of all
/// columns. LLVM would insert the elements of each column one by one. Narrow elements take
/// log2(lanes) rounds, each of which interleaves row i with row i + lanes/2. Rows of 32-bit
/// elements are merged by groups of 128 bits, and then within these groups.
llvm::Value* FunctionEmitter::load_column(llvm::Value* matrix, DataType element, int lanes,
                                          int column) {
  constexpr int kGroup = kLanesOf128Bits;
  llvm::Type* in_memory = lane_type_in_memory(module_.context(), element);
  std::vector<llvm::Value*> rows;
  for (int row = 0; row < lanes; ++row)
    rows.push_back(load_lanes(builder_.CreateConstInBoundsGEP1_64(
                                  in_memory, matrix, static_cast<std::uint64_t>(row * lanes)),
                              element, lanes));
  const auto merged = [&](int a, int b, auto lane_of) {
    std::vector<int> picks;
    for (int lane = 0; lane < lanes; ++lane) picks.push_back(lane_of(lane));
    return builder_.CreateShuffleVector(rows[static_cast<std::size_t>(a)],
                                        rows[static_cast<std::size_t>(b)], picks);
  };
  if (element.bits < 32) {
    const auto in_round = [&](const auto& self, int rounds, int row) -> llvm::Value* {
      if (rounds == 0) return rows[static_cast<std::size_t>(row)];
      llvm::Value* a = self(self, rounds - 1, row / 2);
      llvm::Value* b = self(self, rounds - 1, row / 2 + lanes / 2);
      std::vector<int> picks;
      for (int lane = 0; lane < lanes; ++lane)
        picks.push_back(row % 2 * (lanes / 2) + lane / 2 + lane % 2 * lanes);
      return builder_.CreateShuffleVector(a, b, picks);
    };
    return in_round(in_round, std::bit_width(static_cast<unsigned>(lanes)) - 1, column);
  }
  // Every second group of two rows, beginning with `first`.
  const auto groups_from = [&](int first) {
    return [first, lanes](int lane) {
      const int group = first + lane % (lanes / 2) / kGroup * 2;
      return group * kGroup + lane % kGroup + (lane < lanes / 2 ? 0 : lanes);
    };
  };
  int group = column / kGroup;
  for (int distance = kGroup; distance < lanes; distance *= 2, group /= 2)
    for (int row = 0; row < lanes; ++row)
      if (row % (2 * distance) < kGroup)
        rows[static_cast<std::size_t>(row)] = merged(row, row + distance, groups_from(group % 2));
  const int in_group = column % kGroup;
  // Interleaves the elements of two columns: {a0, b0, a1, b1}.
  const auto interleaved = [&](int lane) {
    return lane / kGroup * kGroup + in_group / 2 * 2 + lane % kGroup / 2 + (lane % 2) * lanes;
  };
  rows[0] = merged(0, 1, interleaved);
  rows[1] = merged(2, 3, interleaved);
  return merged(0, 1, [&](int lane) {
    return lane / kGroup * kGroup + in_group % 2 * 2 + lane % 2 + lane % kGroup / 2 * lanes;
  });
}

llvm::Value* FunctionEmitter::load_picked(const Buffer& buffer,
                                          const std::vector<llvm::Value*>& positions) {
  // The load includes the gaps between the lanes, so only memory of this function is known to be
  // readable.
  if (!buffer->dtype.is_scalar() || !is_local(address(buffer, int64(0)))) return nullptr;
  std::vector<std::int64_t> places;
  for (llvm::Value* position : positions) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(position);
    if (!constant) return nullptr;
    places.push_back(constant->getSExtValue());
  }
  const auto [first, last] = std::ranges::minmax_element(places);
  const std::int64_t begin = *first, span = *last - begin + 1;
  constexpr std::int64_t kMaxOfALane = 4;
  if (span > kMaxOfALane * static_cast<std::int64_t>(places.size())) return nullptr;
  llvm::Value* all =
      load_lanes(address(buffer, int64(begin)), buffer->dtype, static_cast<int>(span));
  if (span == 1) return splat(all, static_cast<int>(places.size()));
  std::vector<int> picks;
  for (const std::int64_t place : places) picks.push_back(static_cast<int>(place - begin));
  return builder_.CreateShuffleVector(all, picks);
}

llvm::Constant* FunctionEmitter::mask_of_tail(llvm::Value* address, DataType element, int count) {
  const int lanes = module_.traits().vector_bits / (8 * lane_bytes(element));
  const auto tail = static_cast<unsigned>(count % lanes);
  // Without a mask, a tail needs one access per set bit of its length. A power of two needs only
  // one access, so a mask gains nothing.
  if (!module_.traits().lane_masks || tail == 0 || std::has_single_bit(tail)) return nullptr;
  // Masked accesses would prevent LLVM from promoting memory with constant indices to registers.
  if (llvm::isa<llvm::AllocaInst>(address->stripInBoundsConstantOffsets())) return nullptr;
  // An accumulator is loaded again soon, and processors do not forward masked stores to loads.
  if (accumulated_ && llvm::getUnderlyingObject(address) == llvm::getUnderlyingObject(accumulated_))
    return nullptr;
  std::vector<llvm::Constant*> mask(std::bit_ceil(static_cast<unsigned>(count)),
                                    builder_.getFalse());
  std::fill_n(mask.begin(), count, builder_.getTrue());
  return llvm::ConstantVector::get(mask);
}

llvm::Value* FunctionEmitter::load_lanes(llvm::Value* address, DataType element, int count) {
  if (llvm::Constant* mask = mask_of_tail(address, element, count))
    return lanes_of(load_masked_lanes(address, element, mask), 0, count);
  const DataType t = element.element().with_lanes(count);
  // Only the element's own alignment is guaranteed. LLVM increases the alignment where it can prove
  // more.
  llvm::Value* value = builder_.CreateAlignedLoad(memory_type(module_.context(), t), address,
                                                  lane_alignment(element));
  if (!element.is_bool()) return value;
  return builder_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
}

// ---- masked loads ----

llvm::Value* FunctionEmitter::address_outside(const Buffer& buffer, llvm::Value* index) {
  const DataType element = buffer->dtype;
  if (element.lanes > 1)
    index = builder_.CreateMul(index, splat(int64(element.lanes), lane_count(index)));
  return builder_.CreateGEP(lane_type_in_memory(module_.context(), element), variable(buffer->data),
                            index);
}

llvm::Value* FunctionEmitter::load_masked(const Buffer& buffer, const Expr& position,
                                          llvm::Value* mask) {
  const DataType element = buffer->dtype;
  const int lanes = position.dtype().lanes;
  llvm::Type* lane = lane_type_in_memory(module_.context(), element);
  const auto at = [&](llvm::Value* i) { return address_outside(buffer, i); };
  if (lanes == 1) return load_masked_lanes(at(index(position)), element, mask);
  if (const Broadcast* same = position.as<Broadcast>();
      same && same->value.dtype().is_scalar() && element.is_scalar())
    return splat(evaluate_for_any_lane(make_load(buffer, {same->value})), lanes);
  const Ramp* ramp = position.as<Ramp>();
  if (const auto stride = ramp ? constant_int(ramp->stride) : std::nullopt) {
    if (stride == 1) return load_masked_lanes(at(index(ramp->base)), element, mask);
    if (stride == -1) {
      llvm::Value* last = builder_.CreateSub(index(ramp->base), int64(lanes - 1));
      return reversed(load_masked_lanes(at(last), element, reversed(mask, element.lanes)),
                      element.lanes);
    }
    if (element.is_scalar() && element.bits >= 32 && reads_well_with_gaps(*stride, lanes))
      return load_strided(at(index(ramp->base)), element, static_cast<int>(*stride), lanes, mask);
  }
  llvm::Value* addresses = at(index(position));
  if (element.is_scalar()) return load_masked_lanes(addresses, element, mask);
  std::vector<int> element_of;
  std::vector<llvm::Constant*> lane_in;
  for (int n = 0; n < lanes * element.lanes; ++n) {
    element_of.push_back(n / element.lanes);
    lane_in.push_back(int64(n % element.lanes));
  }
  addresses = builder_.CreateGEP(lane, builder_.CreateShuffleVector(addresses, element_of),
                                 llvm::ConstantVector::get(lane_in));
  return load_masked_lanes(addresses, element, mask);
}

llvm::Value* FunctionEmitter::load_masked_lanes(llvm::Value* address, DataType element,
                                                llvm::Value* mask) {
  llvm::Type* type = memory_type(module_.context(), element.element().with_lanes(lane_count(mask)));
  llvm::Value* zero = llvm::Constant::getNullValue(type);
  const llvm::Align alignment = lane_alignment(element);
  llvm::Value* value = address->getType()->isVectorTy()
                           ? builder_.CreateMaskedGather(type, address, alignment, mask, zero)
                           : builder_.CreateMaskedLoad(type, address, alignment, mask, zero);
  return element.is_bool() ? builder_.CreateICmpNE(value, zero) : value;
}

/// Loads strided lanes as contiguous pieces that do not read out of bounds. Without a `mask`, the
/// last piece ends with the last required element. With a `mask`, only elements of enabled lanes
/// are read.
llvm::Value* FunctionEmitter::load_strided(llvm::Value* first, DataType element, int stride,
                                           int lanes, llvm::Value* mask) {
  const int span = (lanes - 1) * stride + 1;
  const auto width = static_cast<int>(std::bit_ceil(static_cast<unsigned>(lanes)));
  llvm::Type* in_memory = lane_type_in_memory(module_.context(), element);
  llvm::Value* result = nullptr;
  for (int piece = 0; piece * width < span; ++piece) {
    const int begin = mask ? piece * width : std::min(piece * width, span - width);
    std::vector<int> read, picks;
    for (int n = 0; n < width; ++n) {
      const bool is_lane = (begin + n) % stride == 0 && (begin + n) / stride < lanes;
      read.push_back(is_lane ? (begin + n) / stride : lanes);
      const int at = n * stride;
      const bool is_here = n < lanes && at / width == piece;
      picks.push_back(is_here ? (result ? width : 0) + at - begin
                      : result && n < lanes && at / width < piece ? n
                                                                  : -1);
    }
    llvm::Value* part = nullptr;
    if (mask) {
      llvm::Value* none = llvm::Constant::getNullValue(mask->getType());
      part = load_masked_lanes(builder_.CreateGEP(in_memory, first, int64(begin)), element,
                               builder_.CreateShuffleVector(mask, none, read));
    } else {
      part = load_lanes(
          builder_.CreateConstInBoundsGEP1_64(in_memory, first, static_cast<std::uint64_t>(begin)),
          element, width);
    }
    result = result ? builder_.CreateShuffleVector(result, part, picks)
                    : builder_.CreateShuffleVector(part, picks);
  }
  return width == lanes ? result : lanes_of(result, 0, lanes);
}

// ---- stores ----

void FunctionEmitter::store(const Buffer& buffer, const std::vector<Expr>& indices,
                            llvm::Value* value) {
  const Expr position = flat_index(buffer, indices);
  const DataType element = buffer->dtype;
  const int lanes = position.dtype().lanes;
  int& narrowest = narrowest_stores_.try_emplace(&buffer->data.node(), lanes).first->second;
  narrowest = std::min(narrowest, lanes);
  if (stored_lanes_) return store_masked(buffer, position, value);
  if (lanes == 1) return store_lanes(address(buffer, index(position)), element, value);
  if (const Ramp* ramp = position.as<Ramp>()) {
    const auto stride = constant_int(ramp->stride);
    if (stride == 1) return store_lanes(address(buffer, index(ramp->base)), element, value);
    if (stride == -1) {
      llvm::Value* last = builder_.CreateSub(index(ramp->base), int64(lanes - 1), "", false, true);
      return store_lanes(address(buffer, last), element, reversed(value, element.lanes));
    }
  }
  // Stores in lane order: if two lanes address the same element, the last one wins.
  int lane = 0;
  for (llvm::Value* i : lane_positions(position))
    store_lanes(address(buffer, i), element,
                lanes_of(value, lane++ * element.lanes, element.lanes));
}

void FunctionEmitter::store_masked(const Buffer& buffer, const Expr& position, llvm::Value* value) {
  const llvm::Align alignment = lane_alignment(buffer->dtype);
  const int lanes = position.dtype().lanes;
  value = bools_as_bytes(value, buffer->dtype);
  const Ramp* ramp = position.as<Ramp>();
  const auto stride = ramp ? constant_int(ramp->stride) : std::nullopt;
  if (stride == 1) {
    builder_.CreateMaskedStore(value, address_outside(buffer, index(ramp->base)), alignment,
                               stored_lanes_);
  } else if (stride == -1) {
    llvm::Value* last = builder_.CreateSub(index(ramp->base), int64(lanes - 1));
    builder_.CreateMaskedStore(reversed(value, 1), address_outside(buffer, last), alignment,
                               reversed(stored_lanes_, 1));
  } else {
    // A scatter stores in lane order: if two lanes address the same element, the last one wins.
    builder_.CreateMaskedScatter(value, address_outside(buffer, index(position)), alignment,
                                 stored_lanes_);
  }
}

llvm::Value* FunctionEmitter::bools_as_bytes(llvm::Value* value, DataType element) {
  if (!element.is_bool()) return value;
  return builder_.CreateZExt(value, with_lanes(builder_.getInt8Ty(), lane_count(value)));
}

void FunctionEmitter::store_lanes(llvm::Value* address, DataType element, llvm::Value* value) {
  value = bools_as_bytes(value, element);
  const llvm::Align alignment = lane_alignment(element);
  const bool is_vector = value->getType()->isVectorTy();
  // Masked stores are never emitted as non-temporal stores.
  if (llvm::Constant* mask = is_vector && !streams_stores_
                                 ? mask_of_tail(address, element, lane_count(value))
                                 : nullptr) {
    std::vector<int> picks(static_cast<std::size_t>(lane_count(mask)), -1);
    std::iota(picks.begin(), picks.begin() + lane_count(value), 0);
    builder_.CreateMaskedStore(builder_.CreateShuffleVector(value, picks), address, alignment,
                               mask);
    return;
  }
  llvm::StoreInst* store = builder_.CreateAlignedStore(value, address, alignment);
  // A non-temporal store of a single element would write a whole cache line to memory.
  if (streams_stores_ && !is_local(address) && is_vector)
    store->setMetadata(
        llvm::LLVMContext::MD_nontemporal,
        llvm::MDNode::get(module_.context(), llvm::ConstantAsMetadata::get(int32(1))));
}

void FunctionEmitter::stream_stores(const Stmt& body) {
  const llvm::Triple triple(module_.module().getTargetTriple());
  const bool is_x86 = triple.getArch() == llvm::Triple::x86_64;
  const bool outer = std::exchange(streams_stores_, is_x86 || triple.isAArch64());
  stmt(body);
  streams_stores_ = outer;
  // Without a fence, other threads could see later stores before the non-temporal ones.
  if (!outer && is_x86)
    builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, llvm::ArrayRef<llvm::Type*>(),
                             llvm::ArrayRef<llvm::Value*>());
}

// ---- lanes ----

llvm::Value* FunctionEmitter::lanes_of(llvm::Value* vector, int first, int count) {
  if (count == 1) return builder_.CreateExtractElement(vector, static_cast<std::uint64_t>(first));
  std::vector<int> picks;
  for (int lane = 0; lane < count; ++lane) picks.push_back(first + lane);
  return builder_.CreateShuffleVector(vector, picks);
}

llvm::Value* FunctionEmitter::reversed(llvm::Value* vector, int group) {
  const int count = lane_count(vector);
  std::vector<int> picks;
  for (int lane = 0; lane < count; ++lane)
    picks.push_back(count - group - lane / group * group + lane % group);
  return builder_.CreateShuffleVector(vector, picks);
}

llvm::Value* FunctionEmitter::concatenate(const std::vector<llvm::Value*>& parts) {
  if (parts.size() == 1) return parts[0];
  const auto is_vector = [](llvm::Value* v) { return v->getType()->isVectorTy(); };
  const auto same_type = [&](llvm::Value* v) { return v->getType() == parts[0]->getType(); };
  if (is_vector(parts[0]) && std::ranges::all_of(parts, same_type))
    return llvm::concatenateVectors(builder_, parts);
  std::vector<llvm::Value*> lanes;
  for (llvm::Value* part : parts) {
    if (!is_vector(part)) {
      lanes.push_back(part);
      continue;
    }
    for (int lane = 0; lane < lane_count(part); ++lane) lanes.push_back(lanes_of(part, lane, 1));
  }
  llvm::Value* result = llvm::PoisonValue::get(
      llvm::FixedVectorType::get(lanes[0]->getType(), static_cast<unsigned>(lanes.size())));
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    result = builder_.CreateInsertElement(result, lanes[lane], lane);
  return result;
}

// ---- temporaries ----

llvm::AllocaInst* FunctionEmitter::entry_alloca(llvm::Type* type, llvm::Value* count, int alignment,
                                                const std::string& name) {
  llvm::IRBuilder<> at_entry(entry_);
  llvm::AllocaInst* memory = at_entry.CreateAlloca(type, count, name);
  memory->setAlignment(llvm::Align(static_cast<std::uint64_t>(alignment)));
  return memory;
}

void FunctionEmitter::emit(const Allocate& n) {
  if (computation_.fragments.contains(n.data)) {
    if (module_.traits().tile_products == TileProducts{}) refuse_fragment(n.data);
    return stmt(n.body);
  }
  const int lane = lane_bytes(n.dtype);
  if (!device_id_ && stack_->contains(&n.data.node())) {
    const std::int64_t bytes = std::max<std::int64_t>(*constant_bytes(n), lane);
    const int alignment =
        bytes >= 64 ? 64 : static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
    llvm::Type* memory = llvm::ArrayType::get(lane_type_in_memory(module_.context(), n.dtype),
                                              static_cast<std::uint64_t>(bytes / lane));
    define(n.data, entry_alloca(memory, nullptr, alignment, n.data.name()));
    return stmt(n.body);
  }

  llvm::Value* bytes = int64(n.dtype.bytes());
  for (const Expr& extent : n.extents) {
    llvm::Value* count =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, index(extent), int64(0));
    llvm::Value* product =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smul_with_overflow, bytes, count);
    // A size that exceeds 64 bits saturates, so that the allocation fails.
    bytes = builder_.CreateSelect(builder_.CreateExtractValue(product, 1),
                                  int64(std::numeric_limits<std::int64_t>::max()),
                                  builder_.CreateExtractValue(product, 0));
  }
  llvm::CallInst* memory =
      builder_.CreateCall(module_.runtime_function("tenon_workspace_alloc"),
                          {int32(device_id_ ? static_cast<int>(module_.kernels()->device) : kDLCPU),
                           device_id_ ? device_id_ : int32(0), bytes, int32(kWorkspaceAlignment)});
  // Device memory is represented by an opaque handle.
  if (!device_id_)
    memory->addRetAttr(
        llvm::Attribute::getWithAlignment(module_.context(), llvm::Align(kWorkspaceAlignment)));
  llvm::Value* failed = builder_.CreateIsNull(memory);
  llvm::BasicBlock* on_failure = new_block("no_memory");
  llvm::BasicBlock* after = new_block("allocated");
  builder_.CreateCondBr(failed, on_failure, after);
  builder_.SetInsertPoint(on_failure);
  leave(int32(kTenonOutOfMemory));
  builder_.SetInsertPoint(after);

  define(n.data, memory);
  workspaces_.enter(memory);
  stmt(n.body);
  workspaces_.exit(builder_);
}

}  // namespace tenon::codegen
