// What may be said to the library, and what not.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tests/fake_cublaslt/objects.h"
#include "tests/fake_cuda/place.h"

namespace heddle::fake_cuda {
namespace {

constexpr int kF32 = 0, kF16 = 2, kBf16 = 14;
constexpr uint32_t kBias = 4, kRelu = 2;

std::string wrong_layout(const std::string& name, const MatrixLayout& l) {
  if (l.type != kF32 && l.type != kF16 && l.type != kBf16) return fmt::format("type {} of {}", l.type, name);
  if (l.order != 0) return fmt::format("order {} of {}: elements lie by columns", l.order, name);
  if (l.rows == 0 || l.columns == 0) return fmt::format("{} is empty", name);
  if (l.ld < static_cast<int64_t>(l.rows))
    return fmt::format("leading dimension {} of {} is less than its {} rows", l.ld, name, l.rows);
  if (l.batch < 1) return fmt::format("a batch of {} of {}", l.batch, name);
  if (l.batch > 1 && l.apart < 0) return fmt::format("matrices of {} lie {} apart", name, l.apart);
  return {};
}

std::string wrong_types(const Problem& p) {
  if (p.a.type != p.b.type) return fmt::format("A is of type {} and B of {}", p.a.type, p.b.type);
  if (p.c.type != p.d.type) return fmt::format("C is of type {} and D of {}", p.c.type, p.d.type);
  if (p.d.type != p.a.type && p.d.type != kF32) return fmt::format("D of type {} of A of {}", p.d.type, p.a.type);
  const std::vector<int> computes = p.a.type == kF32 ? std::vector<int>{68, 69, 74, 75, 77} : std::vector<int>{68, 69};
  if (std::ranges::find(computes, p.operation.compute) == computes.end())
    return fmt::format("compute type {} of operands of type {}", p.operation.compute, p.a.type);
  if (p.operation.scale != kF32) return fmt::format("scale type {}", p.operation.scale);
  if (p.operation.pointer_mode != 0)
    return fmt::format("pointer mode {}: alpha is the host's", p.operation.pointer_mode);
  return {};
}

std::string wrong_sizes(const Problem& p) {
  const bool ta = p.operation.transpose_a == 1, tb = p.operation.transpose_b == 1;
  const uint64_t m = ta ? p.a.columns : p.a.rows, ka = ta ? p.a.rows : p.a.columns;
  const uint64_t kb = tb ? p.b.columns : p.b.rows, n = tb ? p.b.rows : p.b.columns;
  if (ka != kb) return fmt::format("inner dimensions differ: {} and {}", ka, kb);
  if (p.d.rows != m || p.d.columns != n)
    return fmt::format("D is {} x {}, and the product is {} x {}", p.d.rows, p.d.columns, m, n);
  if (!(p.c == p.d)) return "C and D are one array, and lie otherwise";
  for (const MatrixLayout* l : {&p.a, &p.b})
    if (l->batch != p.d.batch) return fmt::format("batches of {} and {}", l->batch, p.d.batch);
  const auto one = p.d.ld * static_cast<int64_t>(p.d.columns - 1) + static_cast<int64_t>(p.d.rows);
  if (p.d.batch > 1 && p.d.apart < one)
    return fmt::format("matrices of D lie {} apart, and one takes {}", p.d.apart, one);
  return {};
}

}  // namespace

uint64_t element_bytes(int type) { return type == kF32 ? 4 : 2; }

uint64_t bytes_of(const MatrixLayout& l) {
  const uint64_t one = static_cast<uint64_t>(l.ld) * (l.columns - 1) + l.rows;
  return (static_cast<uint64_t>(l.apart) * static_cast<uint64_t>(l.batch - 1) + one) * element_bytes(l.type);
}

std::string wrong_shapes(const Problem& p) {
  for (const auto& [name, layout] :
       {std::pair{"A", p.a}, std::pair{"B", p.b}, std::pair{"C", p.c}, std::pair{"D", p.d}})
    if (std::string wrong = wrong_layout(name, layout); !wrong.empty()) return wrong;
  for (const int32_t t : {p.operation.transpose_a, p.operation.transpose_b})
    if (t != 0 && t != 1) return fmt::format("operation {} of a matrix", t);
  if (std::string wrong = wrong_types(p); !wrong.empty()) return wrong;
  if (std::string wrong = wrong_sizes(p); !wrong.empty()) return wrong;
  const std::vector<uint32_t> epilogues = {1, kRelu, kBias, kRelu | kBias};
  if (std::ranges::find(epilogues, p.operation.epilogue) == epilogues.end())
    return fmt::format("epilogue {}", p.operation.epilogue);
  return {};
}

std::string wrong_arrays(const Problem& p, const Arrays& at) {
  const std::vector<Place> parts = {
      {"A", at.a, bytes_of(p.a)}, {"B", at.b, bytes_of(p.b)}, {"C", at.c, bytes_of(p.c)}, {"D", at.d, bytes_of(p.d)}};
  for (size_t i = 0; i < parts.size(); ++i)
    if (std::string wrong = wrong_place(parts[i], p.preference.alignment[i]); !wrong.empty()) return wrong;
  if (at.c != at.d) return "C and D are two arrays";
  std::vector<Place> read = {parts[0], parts[1]};
  if ((p.operation.epilogue & kBias) != 0) {
    constexpr uint64_t kPacket = 16;
    read.push_back({"the bias", p.operation.bias, p.d.rows * element_bytes(p.d.type)});
    if (std::string wrong = wrong_place(read.back(), kPacket); !wrong.empty()) return wrong;
  }
  if (at.workspace_bytes < p.workspace)
    return fmt::format("a workspace of {} bytes, and the algorithm takes {}", at.workspace_bytes, p.workspace);
  if (at.workspace_bytes > 0) {
    constexpr uint64_t kLine = 256;
    read.push_back({"the workspace", at.workspace, at.workspace_bytes});
    if (std::string wrong = wrong_place(read.back(), kLine); !wrong.empty()) return wrong;
    for (const Place& operand : {parts[0], parts[1]})
      if (overlap(operand, read.back())) return fmt::format("the workspace lies over {}", operand.name);
  }
  for (const Place& other : read)
    if (overlap(parts[3], other)) return fmt::format("D lies over {}", other.name);
  return {};
}

}  // namespace heddle::fake_cuda
