// The interpreter's state: threads in lockstep, their variables, and memory.
//
// The threads of a block run in lockstep: a statement is executed for all active threads before the
// next one starts, so every statement acts as a barrier. (With check_races, no result may depend on
// this order unless explicit barriers establish it. No barrier orders the blocks of a launch.)
// Blocks run one after another. A local allocation exists once per thread, wherever it is in the
// program.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <unordered_map>

#include "interp/memory.h"
#include "tenon/interp/evaluate.h"
#include "tenon/support/function_ref.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::interp {

using namespace tir;

/// Bytes of an asynchronous copy to shared memory (ptx_cp_async).
struct Copy {
  std::shared_ptr<Memory> memory;
  std::int64_t offset;
  std::vector<std::byte> bytes;
  /// The name of the memory's owner, for messages.
  std::string name;
};

/// The threads of a warp are consecutive in a block, with x innermost.
inline constexpr std::int64_t kWarpSize = 32;

struct Thread {
  /// The thread's id, unique within a block.
  std::int64_t id = 0;
  /// Position of the thread in its block in hardware order, with x innermost.
  std::int64_t position = 0;
  /// Asynchronous copies that no group contains yet, and the groups, oldest first.
  std::vector<Copy> copies;
  std::deque<std::vector<Copy>> groups_of_copies;
  std::unordered_map<const void*, Value> values;
  /// The coordinates of the enclosing thread axes, by tag.
  std::vector<std::pair<ThreadTag, std::int64_t>> coordinates;
  /// For each entry of `coordinates`: the id that the thread had outside that axis, and the axis's
  /// extent.
  std::vector<std::int64_t> earlier_ids, extents;

  /// Returns the id that the thread has inside its first `depth` thread axes.
  std::int64_t id_at(std::size_t depth) const {
    return depth < earlier_ids.size() ? earlier_ids[depth] : id;
  }
  /// Returns an id that all virtual threads of a hardware thread share, inside their first `depth`
  /// thread axes.
  std::int64_t owner_at(std::size_t depth) const {
    std::int64_t owner = id_at(depth);
    for (std::size_t n = depth; n < coordinates.size(); ++n)
      if (coordinates[n].first.is_thread()) owner = owner * extents[n] + coordinates[n].second;
    return owner;
  }
};

/// Returns the number of the thread's row. The threads of a row differ only in threadIdx.x and
/// share memory of scope `warp`.
std::int64_t row_along_x(const Thread& thread);
/// Returns the number of the thread's warp. A warp is a part of a row (the threads that differ only
/// in threadIdx.x). Outside the loop that is bound to threadIdx.x, each thread represents a whole
/// warp.
std::int64_t warp_along_x(const Thread& thread);

/// The target of a data pointer.
struct Storage {
  /// Determines the threads that share a memory: all threads of a block, the threads of a warp
  /// (along threadIdx.x), the threads that hold a fragment together, or a single thread.
  StorageScope scope = StorageScope::Global;
  /// Whether the memory is shared memory of a block, which its threads access concurrently between
  /// barriers.
  bool is_shared = false;
  /// Number of thread axes around the allocation. Virtual threads of inner axes share the memory of
  /// the thread that contains them.
  std::size_t depth = 0;
  std::int64_t bytes = 0;
  /// The shape m, n and k of a fragment's products, set at the first use.
  std::optional<std::array<std::int64_t, 3>> tile = std::nullopt;
  std::unordered_map<std::int64_t, std::shared_ptr<Memory>> instances;

  /// Returns the key in `instances` of the thread's copy of the memory.
  std::int64_t copy_of(const Thread& thread) const;
  const std::shared_ptr<Memory>& of(const Thread& thread);
};

/// A multi-dimensional buffer in scope.
struct Region {
  std::shared_ptr<Storage> storage;
  /// The layout of the region for each thread that executed the allocation. The key is the thread's
  /// id inside `depth` thread axes. Other threads use the first layout.
  std::size_t depth = 0;
  std::vector<std::pair<std::int64_t, Layout>> layouts;
  /// A unique number of the region.
  std::int64_t number = 0;

  const Layout& of(const Thread& thread) const;
};

class Machine {
 public:
  explicit Machine(const EvaluateOptions& options) : options_(options), threads_(1) {}

  void run(const PrimFunc& func, std::span<const HostValue> args);
  Value value_of(const Expr& e) { return eval(e, threads_.front()); }
  void set_value(const Var& var, Scalar value) {
    threads_.front().values.insert_or_assign(&var.node(), value);
  }

 private:
  using Active = std::vector<std::size_t>;

  const EvaluateOptions& options_;
  /// The lanes in which the current expression or statement is evaluated; empty means all. Other
  /// lanes have the value 0 and store nothing.
  std::vector<bool> lanes_;
  std::vector<Thread> threads_;
  std::unordered_map<const void*, std::shared_ptr<Storage>> storages_;
  std::unordered_map<const void*, Region> regions_;
  CommReducer reducer_;
  /// The tag of each thread variable.
  std::unordered_map<const void*, ThreadTag> tags_;
  /// The extents of a block of threads, by dimension.
  std::array<std::int64_t, 3> block_extents_{1, 1, 1};
  std::int64_t steps_ = 0;
  std::int64_t regions_made_ = 0;
  /// Number of past barriers, including the ends of blocks and kernels.
  std::int64_t barriers_ = 0;
  /// Number of launches that have begun or ended.
  std::int64_t launches_ = 0;

  // Binding of arguments.
  void bind_array(const BufferParam& param, const HostArray& array);
  void bind_size(const Expr& declared, std::int64_t given, const std::string& what);

  // Expressions.
  Value eval(const Expr& e, Thread& t);
  std::int64_t eval_int(const Expr& e, Thread& t) { return eval(e, t).integer(); }
  std::vector<std::int64_t> eval_ints(const std::vector<Expr>& list, Thread& t);
  /// Evaluates an expression in these lanes only.
  Value eval_in(const Expr& e, std::vector<bool> lanes, Thread& t);
  Value eval_unmasked(const Expr& e, Thread& t);
  /// Evaluates the operand that the condition chooses. If the condition is a vector, chooses per
  /// lane.
  Value choose(const Expr& condition, const Expr& if_true, const Expr& if_false, Thread& t);
  /// Returns the evaluated lanes in which the condition has the wanted value.
  std::vector<bool> lanes_where(const Value& condition, bool wanted) const;
  std::vector<bool> lanes_picked(const std::vector<std::int64_t>& picks, std::size_t begin,
                                 int lanes) const;
  Value choose_lanes(const Value& condition, const Expr& if_true, const Expr& if_false, Thread& t);
  Value binary(const Expr& e, const Binary& n, Thread& t);
  Value call(const Expr& e, const Call& n, Thread& t);
  Value extern_call(const Expr& e, const ExternCallee& callee, const std::vector<Expr>& args,
                    Thread& t);
  Value sums_of_products(const Call& n, Thread& t);
  Value shuffle(Intrin intrin, const Call& n, Thread& t);
  [[noreturn]] void packed_call(const Call& n, Thread& t);
  Value load(const Load& n, Thread& t);
  std::int64_t address_of_pointer(const Expr& data, Thread& t);

  // Memory.
  struct Place {
    Memory* memory;  // null for a raw address
    std::byte* address;
    std::int64_t offset;  // offset in bytes
    bool is_shared;       // shared by the threads of a block
  };
  /// Returns the address of an element. `load` is the load that reads it, if any.
  Place locate(const Buffer& buffer, std::span<const std::int64_t> indices, Thread& t,
               bool is_write, const Load* load = nullptr);
  [[noreturn]] void out_of_bounds(const Buffer& buffer, std::span<const std::int64_t> indices,
                                  bool is_write);
  void store(const Store& n, const Active& active);
  void store(const Store& n, const Value& value, Thread& t);
  void write(const Place& place, std::span<const Scalar> elements, const Buffer& buffer,
             std::span<const std::int64_t> indices, Thread& t);
  /// Describes an accessed element in messages.
  using ElementName = FunctionRef<std::string()>;
  /// Throws if the access races with another thread of the block or with another block of the
  /// launch. Calls `note` once with the current thread and once with the current block as the user.
  /// `note` records the access in the accessed memory, and returns false if the access races.
  void check_order(const Thread& t, ElementName name, bool is_write,
                   FunctionRef<bool(const User&)> note) const;
  /// Returns the address of an element at an offset from an address (tvm_access_ptr).
  Place locate(const Call& address, std::int64_t element, Thread& t, bool is_write);
  /// Checks and records a read or write of bytes that are in bounds.
  void note_read(const Place& place, std::int64_t bytes, const Thread& t, ElementName name);
  void note_write(const Place& place, std::int64_t bytes, bool changes, const Thread& t,
                  ElementName name);
  /// Calls f(lane, indices) for every lane of the last index, which may be a vector.
  template <class F>
  void for_each_lane(const std::vector<Expr>& indices, Thread& t, F f);

  // Execution of statements by the threads in `active`.
  void exec(const Stmt& s, const Active& active);
  void loop(const For& n, const Active& active);
  void branch(const If& n, const Active& active);
  void branch_by_lanes(const If& n, const Active& active);
  void while_loop(const While& n, Active active);
  void attr(const Attr& n, const Active& active);
  /// Executes a loop over the threads of an axis.
  void launch(const For& n, ThreadTag tag, const Active& active);
  void threads(const For& n, ThreadTag tag, const Active& active);
  void blocks(const For& n, ThreadTag tag, const Active& active);
  void set_coordinate(const For& n, Thread& t, std::int64_t at);
  /// Allocates memory for a buffer that has these bounds.
  void make_region(const Buffer& buffer, const std::vector<Range>& bounds, bool scope_is_set,
                   const Active& active);
  void make_view(const Buffer& view, const Buffer& source, const std::vector<Range>& region,
                 const Active& active);
  void block(const BlockRealize& n, const Active& active);
  void allocate(const Allocate& n, const Active& active);
  void evaluate_statement(const Expr& e, const Active& active);
  void barrier(const Active& active);
  void allreduce(const Call& n, const Active& active);
  std::vector<Scalar> combine(const std::vector<Scalar>& a, const std::vector<Scalar>& b,
                              Thread& t);
  Active where(const Expr& condition, const Active& active, bool wanted);
  void count_step();

  // Operations of a warp (warps.cpp).
  void begin_copy(const Call& n, Thread& t);
  void end_copies(std::size_t groups_left, Thread& t);
  /// Data of asynchronous copies that have not completed, by destination (memory and offset).
  std::map<std::pair<const Memory*, std::int64_t>, std::vector<std::byte>> begun_copies_;
  /// Records one access by a thread. `offsets` are the offsets of lanes of `lane_bytes` bytes.
  void note_warp_access(const void* node, const Buffer& buffer, bool is_write, const Thread& t,
                        std::span<const std::int64_t> offsets, int lane_bytes);
  /// Reports the accesses of each warp since the last call.
  void report_warp_accesses();
  /// Pairs of a thread's position in its block and the byte offset that it accesses.
  using WarpOffsets = std::vector<std::pair<std::int64_t, std::int64_t>>;
  std::vector<std::pair<WarpAccess, WarpOffsets>> warp_uses_;
  /// `evaluations_` counts the evaluations of a node by each thread. `use_of_evaluation_` maps
  /// (node, count, part of the access) to an index in `warp_uses_`. The threads that execute an
  /// access together thus share one entry.
  std::map<std::tuple<const void*, int, std::size_t>, std::size_t> use_of_evaluation_;
  std::map<std::pair<const void*, std::int64_t>, int> evaluations_;

  // Tensor cores (fragments.cpp).
  struct Fragment;
  void matrix_operation(Intrin intrin, const Call& n, const Active& active);
  void one_matrix_operation(Intrin intrin, const Call& n, Thread& t);
  Fragment fragment(const Expr& data, const Expr& index, Thread& t);
  void move_matrix(const Call& n, bool is_load, Thread& t);
  void note_matrix_load(const Call& address, const Fragment& tile, bool by_rows,
                        std::int64_t stride, Thread& t);
  void multiply_matrices(const Call& n, Thread& t);
  /// Keeps alive the buffers in warp_uses_ that no load or store of the program refers to.
  std::vector<Buffer> kept_buffers_;
};

}  // namespace tenon::interp
