// Steps that are printed, arrays, and a check, for the tutorials on block programs.
//
//   BlockSteps steps(argc, argv, "mm_relu");
//   steps.show("original", mod);
//   ...
//   const ReluProduct product(128);
//   product.is_right(build(mod, Target("llvm"))["mm_relu"])
//   if (steps.is_page()) return steps.print_page();
#pragma once

#include <tenon/tenon.h>

#include <tenon/inspect/loop_page.h>

/// Random arrays for the parameters of the module's only function.
std::vector<tenon::runtime::NDArray> random_arrays(const tenon::tir::IRModule& mod);

/// Random matrices, and max(A B, 0) as plain C++ computes it from them.
struct ReluProduct {
  explicit ReluProduct(int size);

  /// Whether a function of A, B and C stores the expected result in C.
  bool is_right(const tenon::runtime::Function& function) const;

  tenon::runtime::NDArray a, b, expected;
};

/// The steps of a tutorial. They are printed as scripts, one after the other. With --emit=html they
/// become one page with loops and machine code; with --profile the page has times as well.
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
