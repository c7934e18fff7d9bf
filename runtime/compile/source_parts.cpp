#include "runtime/compile/source_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "codegen/program.h"

namespace heddle::runtime {
namespace {

constexpr std::string_view kKernel = "HD_KERNEL(", kEntry = "HD_HOST_ENTRY(";
const std::string kDefine = "#define HD_PERSISTENT\n";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

struct Sections {
  std::string head;
  std::vector<std::string> kernels;
};

Sections sections_of(const std::string& source) {
  Sections out;
  const std::vector<std::string_view> lines = lines_of(source);
  size_t first = 0;
  while (first < lines.size() && !lines[first].starts_with(kKernel)) ++first;
  while (first > 0 && first < lines.size() && lines[first - 1].starts_with("//")) --first;
  for (size_t i = 0; i < first; ++i) out.head += lines[i];
  bool open = false;
  for (size_t i = first; i < lines.size(); ++i) {
    if (!open) out.kernels.emplace_back();
    out.kernels.back() += lines[i];
    open = !lines[i].starts_with(kEntry);
  }
  // What stands behind the last kernel (blank lines) stays with it.
  if (open && out.kernels.size() > 1 && out.kernels.back().find(kKernel) == std::string::npos) {
    const std::string tail = std::move(out.kernels.back());
    out.kernels.pop_back();
    out.kernels.back() += tail;
  }
  return out;
}

}  // namespace

std::vector<std::string> split_source(const std::string& source, int parts) {
  if (const size_t tail = source.find(codegen::kPersistentKernels); tail != std::string::npos)
    return split_source(source.substr(0, tail + 1), parts);
  const Sections sections = sections_of(source);
  if (parts <= 1 || sections.kernels.size() < kSplitFrom) return {source};
  size_t total = 1, seen = 0;  // 1: never a division by nothing
  for (const std::string& k : sections.kernels) total += k.size();
  std::vector<std::string> out;
  for (const std::string& k : sections.kernels) {
    const size_t part =
        std::min((seen + k.size() / 2) * static_cast<size_t>(parts) / total, static_cast<size_t>(parts) - 1);
    while (out.size() <= part) out.push_back(sections.head);
    out[part] += k;
    seen += k.size();
  }
  return out;
}

std::string persistent_source(const std::string& source) {
  return source.find(codegen::kPersistentKernels) == std::string::npos ? "" : kDefine + source;
}
bool is_persistent(const std::string& source) { return source.starts_with(kDefine); }

std::string numbered_lines(std::string_view source, int line, int around) {
  const std::vector<std::string_view> lines = lines_of(source);
  std::string out;
  for (int i = std::max(1, line - around); i <= std::min(static_cast<int>(lines.size()), line + around); ++i) {
    std::string_view text = lines[static_cast<size_t>(i) - 1];
    if (text.ends_with('\n')) text.remove_suffix(1);
    out += fmt::format("{} {:>5} | {}\n", i == line ? '>' : ' ', i, text);
  }
  return out;
}

}  // namespace heddle::runtime
