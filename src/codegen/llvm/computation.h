// Analyses of a whole computation, before it is emitted as one function or several.
#pragma once

#include "codegen/llvm/tiles.h"
#include "tenon/codegen/index_uses.h"
#include "tenon/codegen/stmt_sizes.h"

namespace tenon::codegen {

struct Computation {
  explicit Computation(const tir::Stmt& body)
      : used_as_data(data_variables(body)), sizes(body), fragments(body) {}

  VarSet used_as_data;
  StmtSizes sizes;
  Fragments fragments;
};

}  // namespace tenon::codegen
