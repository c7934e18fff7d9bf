// Limits for model files. They are checked with overflow-safe arithmetic before anything of that size is allocated.
#pragma once
#include <cstddef>
#include <cstdint>

namespace heddle::frontend {

inline constexpr size_t kMaxFileBytes = size_t{16} << 20;  // of a model file
inline constexpr size_t kMaxNesting = 256;                 // lists and objects inside one another
inline constexpr size_t kMaxValues = 500'000;              // JSON values in a file
inline constexpr size_t kMaxNameBytes = 128;               // of a node, input, block
inline constexpr size_t kMaxExpressionBytes = 1024;
inline constexpr size_t kMaxExpressionDepth = 64;          // parentheses inside one another
inline constexpr size_t kMaxRank = 8;                      // dimensions of a tensor
inline constexpr int64_t kMaxElements = int64_t{1} << 40;  // of a tensor
inline constexpr int64_t kMaxNodes = 20'000;               // after blocks are instantiated
inline constexpr size_t kMostBuckets = 16;                 // lengths of shorter rows
inline constexpr size_t kMaxJoined = 499;      // inputs of a concat: with its result a kernel of 500 pointers
inline constexpr int64_t kMaxRepeat = 10'000;  // of a block
inline constexpr size_t kMaxBlockDepth = 32;   // blocks inside blocks
inline constexpr int64_t kMaxExactInteger = int64_t{1} << 53;  // integers that the IR's real attributes hold exactly

}  // namespace heddle::frontend
