// The interpreter's state: threads in lock step, their variables, and memory.
//
// Threads of a block run in lock step: a statement is executed for all active threads before the
// next one starts, so every statement is a barrier. (With check_races, what two threads do between
// two barriers of the program's own must not depend on that, nor what blocks of a launch do on
// their order.) Blocks run one after another, and a local allocation exists once per thread
// wherever it stands.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <unordered_map>

#include "interp/memory.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::interp {

using namespace tir;

/// Bytes on their way to shared memory (ptx_cp_async).
struct Copy {
  std::shared_ptr<Memory> memory;
  std::int64_t offset;
  std::vector<std::byte> bytes;
  /// Whose memory it is, for messages.
  std::string name;
};

/// Threads of a warp follow one another in a block: x innermost.
inline constexpr std::int64_t kWarpSize = 32;

struct Thread {
  /// Distinct within a block.
  std::int64_t id = 0;
  /// In its block, as hardware counts: x innermost.
  std::int64_t position = 0;
  /// Begun and in no group yet; then the groups, the oldest first.
  std::vector<Copy> copies;
  std::deque<std::vector<Copy>> groups_of_copies;
  std::unordered_map<const void*, Value> values;
  /// The coordinates of the thread axes around, by tag.
  std::vector<std::pair<ThreadTag, std::int64_t>> coordinates;
  /// The id that it had, as a part of fewer threads, before each of the coordinates, and how many
  /// threads there were then for each.
  std::vector<std::int64_t> earlier_ids, extents;

  /// Inside of so many thread axes.
  std::int64_t id_at(std::size_t depth) const {
    return depth < earlier_ids.size() ? earlier_ids[depth] : id;
  }
  /// The same for all virtual threads, inside of so many thread axes, of one hardware thread.
  std::int64_t owner_at(std::size_t depth) const {
    std::int64_t owner = id_at(depth);
    for (std::size_t n = depth; n < coordinates.size(); ++n)
      if (coordinates[n].first.is_thread()) owner = owner * extents[n] + coordinates[n].second;
    return owner;
  }
};

/// Who sees the same memory: all threads, those of a warp, which lies along threadIdx.x, those that
/// hold a fragment of a matrix together, or each its own.
enum class Sharing : std::uint8_t { Block, Warp, Fragment, Thread };
Sharing sharing_of(StorageScope scope);

/// A number for the threads that differ in threadIdx.x alone, which share memory of warps.
std::int64_t row_along_x(const Thread& thread);
/// A number for each warp of such a row. Where no loop is bound to threadIdx.x yet, each thread
/// stands for a whole one.
std::int64_t warp_along_x(const Thread& thread);

/// What a data pointer points to.
struct Storage {
  Sharing sharing = Sharing::Block;
  /// Whether it is a block's own: the threads of a block meet there, and at barriers.
  bool is_shared = false;
  /// Made inside of so many thread axes. Virtual threads further inside are one thread, which has
  /// it.
  std::size_t depth = 0;
  std::int64_t bytes = 0;
  /// Of a fragment: m, n and k of the products that it is for, as soon as it is used.
  std::optional<std::array<std::int64_t, 3>> tile = std::nullopt;
  std::unordered_map<std::int64_t, std::shared_ptr<Memory>> instances;

  /// Which instance the thread sees.
  std::int64_t copy_of(const Thread& thread) const;
  const std::shared_ptr<Memory>& of(const Thread& thread);
};

/// A multi-dimensional buffer in scope.
struct Region {
  std::shared_ptr<Storage> storage;
  /// By the id that threads had where the region was made, inside of so many thread axes; those
  /// that took no part see the first one.
  std::size_t depth = 0;
  std::vector<std::pair<std::int64_t, Layout>> layouts;
  /// Distinct.
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
  /// Evaluates and executes in these lanes only.
  class LaneMask {
   public:
    LaneMask(Machine& machine, std::vector<bool> lanes)
        : machine_(machine), outer_(std::exchange(machine.lanes_, std::move(lanes))) {}
    ~LaneMask() { machine_.lanes_ = std::move(outer_); }
    LaneMask(const LaneMask&) = delete;
    LaneMask& operator=(const LaneMask&) = delete;

   private:
    Machine& machine_;
    std::vector<bool> outer_;
  };

  const EvaluateOptions& options_;
  /// The lanes in which the expression or statement at hand is evaluated; empty: in all of them.
  /// The others have the value 0 and store nothing.
  std::vector<bool> lanes_;
  std::vector<Thread> threads_;
  std::unordered_map<const void*, std::shared_ptr<Storage>> storages_;
  std::unordered_map<const void*, Region> regions_;
  CommReducer reducer_;
  /// What each thread variable is a coordinate of.
  std::unordered_map<const void*, ThreadTag> tags_;
  /// The extents of a block of threads, by dimension.
  std::array<std::int64_t, 3> block_extents_{1, 1, 1};
  std::int64_t steps_ = 0;
  std::int64_t regions_made_ = 0;
  /// Barriers that the threads have come to, ends of blocks and kernels among them.
  std::int64_t barriers_ = 0;
  /// Launches that have begun or ended.
  std::int64_t launches_ = 0;

  // Binding of arguments.
  void bind_array(const BufferParam& param, const HostArray& array);
  void bind_size(const Expr& declared, std::int64_t given, const std::string& what);

  // Expressions.
  Value eval(const Expr& e, Thread& t);
  std::int64_t eval_int(const Expr& e, Thread& t) { return eval(e, t).integer(); }
  Value eval_unmasked(const Expr& e, Thread& t);
  /// The side that is chosen, and of vectors each lane's.
  Value choose(const Expr& condition, const Expr& if_true, const Expr& if_false, Thread& t);
  /// The lanes that are evaluated and where the condition is as wanted.
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
    std::int64_t offset;  // bytes into memory
    bool is_shared;       // by the threads of a block
  };
  /// `load`: what reads, where a load does.
  Place locate(const Buffer& buffer, std::span<const std::int64_t> indices, Thread& t,
               bool is_write, const Load* load = nullptr);
  [[noreturn]] void out_of_bounds(const Buffer& buffer, std::span<const std::int64_t> indices,
                                  bool is_write);
  void store(const Store& n, const Active& active);
  void store(const Store& n, const Value& value, Thread& t);
  void write(const Place& place, std::span<const Scalar> elements, const Buffer& buffer,
             std::span<const std::int64_t> indices, Thread& t);
  /// Throws if the access called `name()`, which `note(user)` adds to its memory, races with
  /// another thread of the block or with another block of the launch.
  template <class Name, class Note>
  void check_order(const Thread& t, const Name& name, bool is_write, const Note& note) const;
  /// An element behind an address (tvm_access_ptr), so many behind the one that it names.
  Place locate(const Call& address, std::int64_t element, Thread& t, bool is_write);
  void note_write(const Place& place, std::int64_t bytes, bool changes, const std::string& name,
                  Thread& t);
  /// Calls f(lane, indices) for every lane of the last index.
  template <class F>
  void for_each_lane(const std::vector<Expr>& indices, Thread& t, F f);

  // Statements, for the threads in `active`.
  void exec(const Stmt& s, const Active& active);
  void loop(const For& n, const Active& active);
  void branch(const If& n, const Active& active);
  void branch_by_lanes(const If& n, const Active& active);
  void while_loop(const While& n, Active active);
  void attr(const Attr& n, const Active& active);
  /// A body that the coordinates of a launch dimension run, each with its own value of `var`: the
  /// coordinate, counted from `min`.
  struct Launch {
    const Var& var;
    ThreadTag tag;
    const Expr& min;
    const Expr& extent;
    const Stmt& body;
  };
  void launch(const Launch& n, const Active& active);
  void threads(const Launch& n, const Active& active);
  void blocks(const Launch& n, const Active& active);
  void set_coordinate(const Launch& n, Thread& t, std::int64_t at);
  void realize(const Realize& n, const Active& active);
  void view(const BufferView& n, const Active& active);
  /// Memory for a buffer over these bounds, from here on.
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

  // What the threads of a warp do together (warps.cpp).
  void begin_copy(const Call& n, Thread& t);
  void end_copies(std::size_t groups_left, Thread& t);
  /// What copies bring that nobody has waited for, by where.
  std::map<std::pair<const Memory*, std::int64_t>, std::vector<std::byte>> begun_copies_;
  /// Notes what one thread moves by one access; `offsets` are those of lanes of so many bytes.
  void note_warp_access(const void* node, const Buffer& buffer, bool is_write, const Thread& t,
                        std::span<const std::int64_t> offsets, int lane_bytes);
  /// Reports what the threads of each warp have moved since the last call.
  void report_warp_accesses();
  struct WarpUse {
    const BufferNode* buffer;
    bool is_write;
    int bytes;
    /// By position in the block.
    std::vector<std::pair<std::int64_t, std::int64_t>> offsets = {};
  };
  std::vector<WarpUse> warp_uses_;
  /// Look-up only: which use the n-th evaluation of a node by a thread belongs to, and how often a
  /// thread has evaluated it.
  std::map<std::tuple<const void*, int, std::size_t>, std::size_t> use_of_evaluation_;
  std::map<std::pair<const void*, std::int64_t>, int> evaluations_;

  // Tensor cores (fragments.cpp).
  struct Fragment;
  /// So many rows of so many elements that lie one after another.
  struct MatrixPlace {
    std::int64_t rows, length, stride;
  };
  void matrix_operation(Intrin intrin, const Call& n, const Active& active);
  void one_matrix_operation(Intrin intrin, const Call& n, Thread& t);
  Fragment fragment(const Expr& data, const Expr& index, Thread& t);
  void move_matrix(const Call& n, bool is_load, Thread& t);
  void note_matrix_load(const Call& address, const MatrixPlace& matrix, Thread& t);
  void multiply_matrices(const Call& n, Thread& t);
  /// Buffers of warp_uses_ that no load or store of the program names.
  std::vector<Buffer> kept_buffers_;
};

}  // namespace tenon::interp
