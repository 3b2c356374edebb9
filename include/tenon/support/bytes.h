// Numbers and texts as a string of bytes.
//
//   ByteWriter out;
//   out.number(3);
//   out.text("main");
//   ByteReader in(out.bytes());
//   in.number()                  // 3
//   in.text()                    // "main"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

class ByteWriter {
 public:
  /// Appends a number: seven bits per byte, the lowest first.
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  /// Appends a text and its length.
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads the values that a ByteWriter wrote, in the same order. At the end of the bytes, every read
/// returns nullopt.
class ByteReader {
 public:
  /// `bytes` must outlive the reader.
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::uint64_t> number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }
  std::optional<std::string_view> text() {
    const std::optional<std::uint64_t> size = number();
    if (!size || *size > bytes_.size()) return std::nullopt;
    const std::string_view value = bytes_.substr(0, *size);
    bytes_.remove_prefix(*size);
    return value;
  }

 private:
  std::string_view bytes_;
};

}  // namespace tenon
