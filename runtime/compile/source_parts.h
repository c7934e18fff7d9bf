// Splits a program's text so that its kernels compile on several processors, and shows places in it.
//
//   preamble, scalar functions, kernels a b c d
//     ->  {preamble, scalar functions, a b}, {preamble, scalar functions, c d}
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle::runtime {

// Compilers run at the same time for one program.
constexpr int kCompileParts = 2;

// At most `parts` texts, each complete in itself, with whole kernels in their order and about equal bytes. A kernel
// reaches from a line that starts with "HD_KERNEL(", with the comment above it, to one that starts with
// "HD_HOST_ENTRY("; what stands before the first belongs to every part. A text with fewer kernels than kSplitFrom stays
// whole. Persistent kernels are left out.
std::vector<std::string> split_source(const std::string& source, int parts);
constexpr size_t kSplitFrom = 6;

// The text in which persistent kernels are compiled, beside the others as functions that they call; empty where there
// are none.
std::string persistent_source(const std::string& source);
// Whether it is such a text.
bool is_persistent(const std::string& source);

// Lines `line - around` to `line + around` with their numbers, the line itself marked.
std::string numbered_lines(std::string_view source, int line, int around);

}  // namespace heddle::runtime
