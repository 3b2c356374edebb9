// A file descriptor that is closed with the object.
#pragma once

#include <unistd.h>

namespace tenon::tune {

class FileDescriptor {
 public:
  /// Takes ownership of the descriptor, which is negative if opening it has failed.
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return descriptor_; }
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_;
};

}  // namespace tenon::tune
