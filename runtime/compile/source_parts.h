// Splits a program's text so that its kernels compile on several processors, and shows places in it.
//
//   preamble, scalar functions, kernels a b c d
//     ->  {preamble, scalar functions, a b}, {preamble, scalar functions, c d}
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle::runtime {

// The number of compilers that run at the same time for one program.
constexpr int kCompileParts = 2;

// Returns at most `parts` texts. Each compiles alone, holds whole kernels in their order, and has about as many bytes
// as the others. A kernel begins with the comment above a line that starts with "HD_KERNEL(", and ends with a line that
// starts with "HD_HOST_ENTRY(". The text before the first kernel is in every part. A text with fewer than kSplitFrom
// kernels is not split. Persistent kernels are left out.
std::vector<std::string> split_source(const std::string& source, int parts);
constexpr size_t kSplitFrom = 6;

// The text from which the persistent kernels are compiled. It holds the other kernels too, as functions that persistent
// kernels call. Empty where the program has no persistent kernels.
std::string persistent_source(const std::string& source);
// Whether the text comes from persistent_source.
bool is_persistent(const std::string& source);

// Lines `line - around` to `line + around` with their numbers; `line` is marked.
std::string numbered_lines(std::string_view source, int line, int around);

}  // namespace heddle::runtime
