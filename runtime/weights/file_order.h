// The order of a state's elements in files, which is that of its shape, and in memory, which its
// layout says.
//
//   param conv1.weight: f32[32,16,3,3] layout [0,2,3,1]
//     -> to_file_order: the bytes of f32[32,3,3,16] as it lies in memory, turned to f32[32,16,3,3]; to_memory_order: back
#pragma once
#include <cstddef>
#include <span>

#include "codegen/program.h"

namespace heddle::runtime {

// Both take all bytes of the buffer and turn them where they are. Without a layout nothing is done.
void to_file_order(const codegen::Buffer& buffer, std::span<std::byte> bytes);
void to_memory_order(const codegen::Buffer& buffer, std::span<std::byte> bytes);

}  // namespace heddle::runtime
