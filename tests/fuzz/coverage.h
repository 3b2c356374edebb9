// Counts what random cases cover: every primitive and its options on every kind of operation, every
// kind of operation with every type, and further features of programs and builds. The generator
// notes what it does where it does it (noted_schedule.h does so for primitives); a row of these
// tables that a run leaves empty is a blind spot.
//
//   Notes notes;
//   notes.primitive("split", "by a constant", StageKind::Reduction);
//   Coverage seen;
//   seen.add(notes, /*accepted=*/true);
//   std::cout << seen;
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/support/data_type.h"
#include "tenon/te/operation_kind.h"

namespace tenon::fuzz {

enum class StageKind : std::uint8_t {
  Input,
  Elementwise,
  SeveralOutputs,
  Reduction,
  Tuple,
  Copy,
  Factored,
  Scan,
  Extern,
  /// A tensor_compute.
  Region,
  Group,
};
inline constexpr int kStageKinds = 11;

struct CoverageTable {
  struct Row {
    std::string what, option;
  };
  std::string name;
  std::vector<std::string> columns;
  std::vector<Row> rows;
};
/// The primitives by kinds of operations, the operations by types, and the rest in one column.
const std::vector<CoverageTable>& coverage_tables();

/// A cell of one of the tables.
struct Note {
  std::uint16_t table, row, column;
  friend bool operator==(const Note&, const Note&) = default;
};

/// The features that one case covers. A name that the tables do not have throws std::logic_error.
class Notes {
 public:
  void primitive(std::string_view name, std::string_view option, StageKind kind);
  void operation(std::string_view kind, DataType type);
  void feature(std::string_view what, std::string_view option);

  const std::vector<Note>& all() const { return notes_; }

 private:
  void add(std::uint16_t table, std::string_view what, std::string_view option,
           std::uint16_t column);
  std::vector<Note> notes_;
};

/// How often each cell was met, and accepted: once for a list of notes that has it several times.
class Coverage {
 public:
  Coverage();
  void add(const std::vector<Note>& notes, bool accepted);

  /// The rows that were not met, or if asked those that were never accepted: "split, by a size".
  std::vector<std::string> empty_rows(bool accepted = false) const;
  std::string json() const;
  friend std::ostream& operator<<(std::ostream& out, const Coverage& coverage);

 private:
  struct Count {
    int met = 0, accepted = 0;
  };
  Count row_sum(std::size_t table, std::size_t row) const;
  /// Counts by table, row and column.
  std::vector<std::vector<std::vector<Count>>> counts_;
};

}  // namespace tenon::fuzz
