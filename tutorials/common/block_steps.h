// The steps of a tutorial on block programs: printed as scripts one after the other, or, with
// --emit=html, together as a page for browsers that has their loops and machine code, with
// --profile each stage's time too.
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
  /// Prints the usage and exits with 2 for what is none of the options.
  BlockSteps(int argc, char** argv, std::string title);

  bool is_page() const { return is_page_; }
  /// The module's script under a title, on the standard output; nothing yet where a page is wanted.
  void show(const std::string& title, const tenon::tir::IRModule& mod);
  /// The exit status.
  int print_page() const;

 private:
  std::string title_;
  tenon::Target target_ = tenon::Target("llvm");
  bool is_page_ = false, is_profiled_ = false;
  std::vector<tenon::LoopView> views_;
};
