// The functions that are compiled, as lines of text, and code that tells which line's statement it
// is of.
#pragma once

#include "tenon/driver/build_watcher.h"
#include "tenon/inspect/loop_view.h"
#include "tenon/tir/listing.h"

namespace tenon {

/// Functions one after the other, as one text.
struct ListedProgram {
  struct Part {
    tir::Listing listing;
    /// How many lines of the text stand before the part's first.
    int lines_before;
  };
  std::vector<std::string> lines;
  std::vector<Part> parts;

  /// Under its name as a heading unless it is the only one.
  const Part& add(const tir::PrimFunc& func, bool has_heading);
};

class ListedBuild : public BuildWatcher {
 public:
  /// Several functions, or kernels, have their names above them.
  explicit ListedBuild(bool has_headings) : has_headings_(has_headings) {}

  tir::PrimFunc add(const tir::PrimFunc&, const tir::PrimFunc& ready) override {
    return listed(ready);
  }
  tir::PrimFunc add_kernel(const tir::PrimFunc& kernel) override { return listed(kernel); }
  void set_up(codegen::CompileOptions& options) override { options.lines = &lines_; }
  const codegen::StatementLines* lines() const override { return &lines_; }

  ListedProgram program;

 private:
  tir::PrimFunc listed(const tir::PrimFunc& func);

  bool has_headings_;
  codegen::StatementLines lines_;
};

}  // namespace tenon
