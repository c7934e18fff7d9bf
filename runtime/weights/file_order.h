// Converts between the element order of files and that of memory. Files have the order of a state's logical shape;
// memory has the order of its layout.
//
//   param conv1.weight: f32[32,16,3,3] layout [0,2,3,1]
//     -> to_file_order: the bytes of f32[32,3,3,16] as it lies in memory, turned to f32[32,16,3,3]; to_memory_order: back
#pragma once
#include <cstddef>
#include <span>

#include "codegen/program.h"

namespace heddle::runtime {

// Both functions reorder all bytes of the buffer in place. Without a layout they do nothing.
void to_file_order(const codegen::Buffer& buffer, std::span<std::byte> bytes);
void to_memory_order(const codegen::Buffer& buffer, std::span<std::byte> bytes);

}  // namespace heddle::runtime
