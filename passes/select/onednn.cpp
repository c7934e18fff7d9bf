#include "passes/select/onednn.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "ir/kernel/cost.h"
#include "ir/op_def.h"

namespace heddle::passes {
namespace {

using namespace ir;

// A cast of u8 or i8 to i32, which is exact.
bool widens_bytes(const Graph& g, const Node& n) {
  const auto type = [&](ValueId v) { return g[v].type.dtype; };
  return n.op->traits.converts && type(n.results[0]) == DType::i32 &&
         (type(n.operands[0]) == DType::i8 || type(n.operands[0]) == DType::u8);
}

// A product of bytes, the second i8, with sums of i32 (passes/int8_products.h).
bool multiplies_bytes(const Graph& g, const Node& n) {
  if (n.operands.size() != 2) return false;
  const Node *a = g.def(n.operands[0]), *b = g.def(n.operands[1]);
  if (n.op->traits.convolution && n.op->traits.convolution->result != ConvolutionRoles::kMade) return false;
  return a != nullptr && b != nullptr && widens_bytes(g, *a) && widens_bytes(g, *b) &&
         g[b->operands[0]].type.dtype == DType::i8;
}

// A cast of an int8 weight to f32 (passes/int8_products.h).
bool widens_weight(const Graph& g, const Node& n) {
  if (!n.op->traits.converts) return false;  // other nodes may have no operand
  const Value& from = g[n.operands[0]];
  return from.role == Role::param && from.type.dtype == DType::i8 && g[n.results[0]].type.dtype == DType::f32;
}

// A product of f32 by an int8 weight.
bool reads_int8_weight(const Graph& g, const Node& n) {
  if (!n.op->traits.matrix_product || g[n.operands[1]].type.rank() != 2) return false;
  const Signature s = signature(g, n);
  const Node* b = g.def(n.operands[1]);
  return !s.flag("transpose_a") && s.flag("transpose_b") && b != nullptr && widens_weight(g, *b);
}

bool widens(const Graph& g, const Node& n) { return widens_bytes(g, n) || widens_weight(g, n); }

std::string refusal(const Graph& g, const Node& n, const Target& target) {
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  if (!n.op->traits.matrix_product && !n.op->traits.convolution)
    return "used for matrix products and convolutions only";
  if (target.gpu) return "runs on the host only, not on " + target.name;
  std::vector<ValueId> values = n.operands;
  values.insert(values.end(), n.results.begin(), n.results.end());
  for (const ValueId v : values) {
    const Type& type = g[v].type;
    if (n.op->traits.convolution && type.rank() > 5) return "used for convolutions of images and volumes only";
    if (type.dtype != DType::f32 && !multiplies_bytes(g, n)) return "used for f32 only, not " + to_string(type.dtype);
    // The interface takes int64_t sizes, but kernels compute with int: 8589934592 columns led to a division by 0.
    for (const int64_t size : type.dims)
      if (size > kLargest) return fmt::format("a size of {} is beyond its kernels' int", size);
  }
  return {};
}

bool is_convolution_that_makes(const Node& n, int ConvolutionRoles::*array) {
  const std::optional<ConvolutionRoles>& roles = n.op->traits.convolution;
  return roles && (*roles).*array == ConvolutionRoles::kMade;
}

// The runtime applies max(x, 0) in its own loop, which keeps nan (runtime/host/onednn_parts.h).
bool is_relu(const OpDef& op) { return op.traits.at_least == 0.0; }

std::vector<EpilogueStep> epilogue(const Graph& g, const Node& n) {
  if (reads_int8_weight(g, n)) return {Scale{}, Bias{}, Activation{is_relu}};
  if (n.op->traits.matrix_product || is_convolution_that_makes(n, &ConvolutionRoles::result))
    return {Bias{}, Activation{is_relu}};
  return {};
}

// About 16 images a slice, so that activations stay in one core's cache.
int64_t image_slices(const Graph& kernel, const Node& n, int64_t by_flops) {
  constexpr int64_t kImages = 16;
  const bool filter = is_convolution_that_makes(n, &ConvolutionRoles::filter);
  const int64_t images = kernel[filter ? n.operands[0] : n.results[0]].type.dims[0];
  return std::min(by_flops, std::max((images + kImages - 1) / kImages, std::min<int64_t>(images, 8)));
}

// A power of two, with at least 16 rows per slice. A batch of matrices is cut between matrices.
int64_t row_slices(const Dims& result, int64_t by_flops, int64_t most) {
  constexpr int64_t kRows = 16;
  int64_t rows = 1;  // of all matrices of the batch
  for (size_t i = 0; i + 1 < result.size(); ++i) rows *= result[i];
  int64_t slices = std::clamp<int64_t>(std::min(by_flops, rows / kRows), 1, most);
  if (result.size() > 2) slices = std::min(slices, rows / result[result.size() - 2]);
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(slices)));
}

// How many slices pay off for a number of operations. A slice should have at least 4 million operations; otherwise its
// start costs more than it gains. If that leaves threads idle, smaller slices pay: 2 slices from 2 million operations
// on, 4 from 8 million (measured on two threads: an LSTM of width 64 takes 0.82 of the time, the smallest convolutions
// 0.92). This does not hold for columns by rows, a weight's gradient: with few columns oneDNN then chooses an
// implementation that allocates in each call.
double worth(double flops, bool columns_by_rows) {
  const double large = flops / 4e6;
  return columns_by_rows ? large : std::max({large, std::min(2.0, flops / 1e6), std::min(4.0, flops / 2e6)});
}

// An int8 weight is cut by its size: where few rows are multiplied, reading it takes the time.
std::optional<int64_t> weight_slices(const Graph& kernel, const Node& n, int64_t most) {
  constexpr int64_t kWholes = int64_t{1} << 16;
  const Node* cast = kernel.def(n.operands[1]);
  if (cast == nullptr || kernel[n.operands[1]].type.dtype != DType::f32) return std::nullopt;
  return std::clamp<int64_t>(kernel[n.operands[1]].type.elements() / kWholes, 1, most);
}

LibraryPlan plan(const Graph& kernel, const Target& /*target*/) {
  constexpr int64_t kMost = 64;
  const Node& n = head_of(kernel);
  if (const std::optional<int64_t> slices = weight_slices(kernel, n, kMost)) return {.slices = *slices};
  const bool columns_by_rows = n.op->traits.matrix_product && signature(kernel, n).flag("transpose_a");
  const double slices = worth(moved_and_computed(kernel).flops, columns_by_rows);
  // Host processors have units for bf16, but none for tf32.
  const std::string& precision = std::get<std::string>(attribute(*n.op, n.attrs, "precision"));
  const ProductPrecision rounded = precision == "bf16" ? ProductPrecision::bf16 : ProductPrecision::f32;
  const auto by_flops = static_cast<int64_t>(std::min(slices, static_cast<double>(kMost)));
  if (n.op->traits.matrix_product)
    return {.slices = row_slices(kernel[n.results[0]].type.dims, by_flops, kMost), .precision = rounded};
  return {.slices = std::clamp<int64_t>(image_slices(kernel, n, by_flops), 1, kMost), .precision = rounded};
}

}  // namespace

const Library& onednn() {
  static const Library kLibrary{
      .name = "onednn", .refusal = refusal, .prologue = widens, .epilogue = epilogue, .plan = plan};
  return kLibrary;
}

}  // namespace heddle::passes
