// A build that lists the compiled functions as lines of text. The code's debug lines refer to that
// text.
#pragma once

#include "tenon/driver/build_watcher.h"
#include "tenon/inspect/loop_view.h"
#include "tenon/tir/listing.h"

namespace tenon {

/// The listings of several functions, concatenated to one text.
struct ListedProgram {
  struct Part {
    tir::Listing listing;
    /// The number of lines of the text before the part.
    int lines_before;
  };
  std::vector<std::string> lines;
  std::vector<Part> parts;

  /// Appends a function, with its name as a heading if `has_heading`.
  const Part& add(const tir::PrimFunc& func, bool has_heading);
};

class ListedBuild : public BuildWatcher {
 public:
  /// `has_headings`: whether function names precede the listings, as for several functions or
  /// kernels.
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
