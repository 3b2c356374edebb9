// The rows of the device kit's tables: large programs whose speed is measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/support/data_type.h"

namespace tenon::device_kit {

enum class RowKind : std::uint8_t {
  /// C = A + B of `n` elements.
  Add,
  /// `n` threads with kChain dependent multiply-adds each: the device's peak.
  MultiplyAdds,
  /// C = A B for row-major n x n matrices, accumulated in float32 or int32.
  Product,
  /// 3 x 3, stride 1, padding 1: `n` images of `channels` x `size` x `size`, as many filters.
  Convolution,
  /// These take a kRows x kColumns matrix.
  Softmax,
  SumsOfRows,
  SumsOfColumns,
  Transpose,
  Relu,
};

/// The elements of "table_add_small", which the runtime checks launch as well.
inline constexpr int kSmall = 1 << 22;
inline constexpr int kChain = 8192, kRows = 16384, kColumns = 4096;

struct Row {
  std::string name;
  RowKind kind;
  int n = 0;
  DataType type = Float(32);
  int channels = 0, size = 0;
};

inline std::vector<Row> table_rows() {
  std::vector<Row> rows = {{"table_add", RowKind::Add, 1 << 26},
                           {"table_add_small", RowKind::Add, kSmall},
                           {"table_multiply_adds", RowKind::MultiplyAdds, 1 << 19}};
  for (const int n : {1024, 2048, 4096, 8192})
    for (const DataType type : {Float(32), Float(16), BFloat(16), Int(8)})
      if (type.bits > 8 || n == 4096)
        rows.push_back(
            {"table_product_" + type.str() + "_" + std::to_string(n), RowKind::Product, n, type});
  rows.push_back({"table_conv2d_64", RowKind::Convolution, 16, Float(32), 64, 56});
  rows.push_back({"table_conv2d_128", RowKind::Convolution, 16, Float(32), 128, 28});
  rows.push_back({"table_softmax", RowKind::Softmax});
  rows.push_back({"table_sums_of_rows", RowKind::SumsOfRows});
  rows.push_back({"table_sums_of_columns", RowKind::SumsOfColumns});
  rows.push_back({"table_transpose", RowKind::Transpose});
  rows.push_back({"table_relu", RowKind::Relu});
  return rows;
}

}  // namespace tenon::device_kit
