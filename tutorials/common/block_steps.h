// The steps of a tutorial on block programs. They are printed as scripts, one after the other. With
// --emit=html they become one page with loops and machine code; with --profile the page has times
// as well.
//
//   BlockSteps steps(argc, argv, "mm_relu");
//   steps.show("original", mod);
//   ...
//   if (steps.is_page()) return steps.print_page();
#pragma once

#include <tenon/tenon.h>

#include <tenon/inspect/loop_page.h>

class BlockSteps {
 public:
  /// Prints the usage and exits with status 2 if an option is unknown.
  BlockSteps(int argc, char** argv, std::string title);

  bool is_page() const { return is_page_; }
  /// Prints the module's script under a title, or keeps the module for the page.
  void show(const std::string& title, const tenon::tir::IRModule& mod);
  /// Returns the exit status.
  int print_page() const;

 private:
  std::string title_;
  tenon::Target target_ = tenon::Target("llvm");
  bool is_page_ = false, is_profiled_ = false;
  std::vector<tenon::LoopView> views_;
};
