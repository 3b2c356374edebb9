// Makes a random program, one operation after the other: sizes and indices and values
// (random_values.cpp), reads behind conditions (random_guards.cpp), reductions
// (random_reductions.cpp), graphs that have names (random_graphs.cpp), operations that are not
// computes and tensors without elements (random_others.cpp), and the choice among them
// (random_program.cpp). Notes each choice.
#pragma once

#include "tests/fuzz/exact_value.h"
#include "tests/fuzz/random_program.h"

namespace tenon::fuzz {

/// times_n * n + plus, for any n >= 1.
struct Size {
  int plus;
  int times_n = 0;

  int least() const { return plus + times_n; }
  bool operator==(const Size&) const = default;
  /// Whether this is at most `other`, whatever n is.
  bool fits(const Size& other) const {
    return times_n <= other.times_n && least() <= other.least();
  }
};
using Shape = std::vector<Size>;

struct Axis {
  /// In [0, extent).
  Expr index;
  Size extent;
};
using Axes = std::vector<Axis>;

struct KnownTensor {
  te::Tensor tensor;
  Shape shape;
  Magnitude magnitude;
};

class ProgramMaker {
 public:
  ProgramMaker(Random& random, testing::Data data);

  RandomProgram run();

 private:
  struct Reduction {
    std::vector<te::IterVar> axes;
    Axes indices;
    int points = 1;
  };

  /// An index that is one where the conditions hold.
  struct Guarded {
    Expr index;
    std::vector<Expr> conditions;
  };

  // ---- random_values.cpp
  Size random_size();
  void note_extent(const Size& size);
  Shape random_shape();
  Expr value(const Size& size) const;
  std::vector<Expr> extents(const Shape& shape) const;
  Expr noted(const char* kind, Expr index);
  /// An index into a dimension, in bounds for every value of the axes.
  Expr index(const Size& extent, const Axes& axes);
  std::optional<Expr> sum_of_two_axes(const Size& extent, const Axes& axes);
  /// A large multiple of the axis, that its type just holds, around the extent.
  Expr wrapped_multiple(const Size& extent, const Axis& axis);
  Expr index_of_axis(const Size& extent, const Axis& axis);
  /// The lesser or the greater of two multiples, counted from the beginning or from the end.
  std::optional<Expr> extreme_of_two(const Size& extent, const Axes& axes);
  /// One of two multiples, as it is or divided.
  std::optional<Expr> choice_of_two(const Size& extent, const Axes& axes);
  /// An index that is read from a tensor of integers.
  std::optional<Expr> looked_up_index(const Size& extent, const Axes& axes);
  /// One that can be read as the type.
  const KnownTensor& random_tensor(DataType type);
  ExactValue read(const Axes& axes, DataType type);
  Expr comparison(const Axes& axes);
  ExactValue element(const Axes& axes, DataType type);
  /// For what jumps, such as where the greatest is.
  ExactValue exact_element(const Axes& axes, DataType type);

  // ---- random_guards.cpp
  Guarded padded_index(const Size& extent, const Axis& axis);
  ExactValue guarded(const std::vector<Expr>& conditions, const ExactValue& inside);
  static ExactValue load(const KnownTensor& from, const std::vector<Expr>& at, DataType type);
  std::optional<ExactValue> padded_read(const Axes& axes, DataType type);
  std::optional<ExactValue> both_neighbours(const Axes& axes, DataType type);
  const Axis& random_axis(const Axes& axes);

  // ---- random_reductions.cpp
  Reduction random_reduction(const Shape& shape);
  Expr random_begin(const Size& extent);
  te::ReduceOptions random_condition(const Axes& own, const Reduction& over);
  void add_reduction(const std::string& name, DataType type);
  Expr reduction_by_an_axis(const Expr& e, const Expr& index, const Reduction& over,
                            const te::ReduceOptions& options);
  Expr simple_reduction(const ExactValue& e, const Reduction& over, te::ReduceOptions options,
                        Magnitude& magnitude);
  void add_tuple_reduction(const std::string& name, DataType type);
  void add_extreme_place(const std::string& name, DataType type);
  void add_extreme_of_unique_keys(const std::string& name, DataType type);
  void add_moments(const std::string& name, DataType type);
  void add_complex_product(const std::string& name, DataType type);
  void add_range(const std::string& name, DataType type);

  // ---- random_graphs.cpp
  bool add_graph(const std::string& name);
  bool noted(const char* graph, bool is_made);
  /// Notes a scan over `rows`, of which the first `first` are given.
  void note_scan(const char* kind, DataType type, const Size& rows, int first);
  bool add_scan(const std::string& name);
  bool add_scan_of_two(const std::string& name);
  void add_readers_of_states(const std::string& name, const std::vector<te::Tensor>& states,
                             int steps, int columns, Magnitude magnitude);
  bool add_softmax(const std::string& name);
  bool add_layer_norm(const std::string& name);
  bool add_row_sum(const std::string& name);
  bool add_product(const std::string& name);
  bool add_stencil(const std::string& name);
  bool add_distant_part(const std::string& name);

  // ---- random_others.cpp
  bool add_extern(const std::string& name);
  bool add_extern_sums(const std::string& name);
  bool add_region(const std::string& name);
  bool add_nothing(const std::string& name);
  void add_rows_of_any_number();
  /// A tensor of rank 2, of a floating type if `floating`; nullptr if no tensor is one.
  const KnownTensor* random_matrix(bool floating);

  // ---- random_program.cpp
  DataType type_of_size();
  void add_input(const std::string& name);
  void add_stages(int count);
  void add_stage(const std::string& name);
  void add_elementwise(const std::string& name, DataType type);
  void add_several_outputs(const std::string& name, DataType type);
  void add_output(const te::Tensor& t, const Shape& shape, Magnitude magnitude);
  /// A compute of the shape; the body says how large it gets.
  te::Tensor add_compute(const std::string& name, const Shape& shape,
                         const std::function<ExactValue(const Axes& axes)>& body);

  static Axes axes_of(std::span<const Var> vars, const Shape& shape);
  static Axes inside(Axes a, const Axes& b);

  Random& random_;
  DataType type_;
  /// Extents that are constants are of int64, and axes with them.
  bool counts_in_64_bits_ = false;
  /// Maximum number of elements of a tensor: enough for extents above vector widths. Less if there
  /// are many stages.
  int most_elements_ = 1200;
  RandomProgram program_;
  std::vector<KnownTensor> tensors_;
};

}  // namespace tenon::fuzz
