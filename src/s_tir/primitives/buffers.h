// What the primitives that change buffers share.
#pragma once

#include "s_tir/context.h"

namespace tenon::s_tir {

/// A buffer like this one under another name, in a scope.
tir::Buffer in_scope(const tir::Buffer& buffer, const std::string& name, tir::StorageScope scope);

/// The accesses of a buffer to replace by accesses of another.
enum class Replaced : bool { All, Writes };

/// Every access, region, matched and allocated buffer of one as of the other.
tir::Stmt with_buffer(const tir::Stmt& s, const tir::Buffer& old, const tir::Buffer& with,
                      Replaced replaced = Replaced::All);
std::vector<tir::BufferRegion> with_buffer(std::vector<tir::BufferRegion> regions,
                                           const tir::Buffer& old, const tir::Buffer& with);

/// The region of that number; refuses where there is none. `verb`: "reads", "writes".
const tir::BufferRegion& region_at(const Caller& caller, const Program& program, int block,
                                   const std::vector<tir::BufferRegion>& regions, int index,
                                   const char* verb);

}  // namespace tenon::s_tir
