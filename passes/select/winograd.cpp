#include "passes/select/winograd.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/kernel/winograd.h"
#include "ir/op_def.h"
#include "ir/wholes.h"
#include "passes/select/onednn.h"

namespace heddle::passes {
namespace {

using namespace ir;

// The same figures as in runtime/host/winograd.h.
constexpr int64_t kChannels = 16;
// The limit of a transformed filter. A larger one is evicted from the second-level cache between two groups of tiles:
// with 256 x 256 channels it took as long as oneDNN.
constexpr int64_t kMostPairs = 128 * 128;

bool all_are(const Node& n, const char* attribute_name, int64_t wanted) {
  const auto& list = std::get<std::vector<int64_t>>(attribute(*n.op, n.attrs, attribute_name));
  return std::ranges::all_of(list, [&](int64_t x) { return x == wanted; });
}

std::string refusal_of_types(const Graph& g, const Node& n) {
  std::vector<ValueId> values = n.operands;
  values.insert(values.end(), n.results.begin(), n.results.end());
  for (const ValueId v : values) {
    if (g[v].type.rank() != 4) return "used for convolutions of images only";
    if (g[v].type.dtype != DType::f32) return "used for f32 only, not " + to_string(g[v].type.dtype);
    for (const int64_t size : g[v].type.dims)
      if (size == 0) return "an empty array";
  }
  if (std::get<std::string>(attribute(*n.op, n.attrs, "precision")) != "f32") return "its products are of f32";
  return {};
}

bool makes_images(const Node& n) {
  const auto& roles = n.op->traits.convolution;
  return roles && roles->filter != ConvolutionRoles::kMade;
}

std::string refusal(const Graph& g, const Node& n, const Target& target) {
  const auto& roles = n.op->traits.convolution;
  if (target.gpu) return "runs on the host only, not on " + target.name;
  if (std::string reason = refusal_of_types(g, n); !reason.empty()) return reason;
  const Dims& filter = g[n.operands[static_cast<size_t>(roles->filter)]].type.dims;
  if (filter[1] != 3 || filter[2] != 3) return fmt::format("a window of {} x {}, not 3 x 3", filter[1], filter[2]);
  if (!all_are(n, "strides", 1) || !all_are(n, "dilations", 1)) return "a stride or a dilation other than 1";
  if (std::get<int64_t>(attribute(*n.op, n.attrs, "groups")) != 1) return "groups of channels";
  const int64_t in = filter.back(), out = filter.front();
  if (in % kChannels != 0 || out % kChannels != 0)
    return fmt::format("{} and {} channels are not both multiples of {}", in, out, kChannels);
  if (in * out > kMostPairs) return fmt::format("{} x {} channels: the transformed filter leaves the cache", in, out);
  if (reads_wholes(g, n)) return "sums of whole numbers are exact, and stay so";
  // The estimate is for two images, whatever the batch size, so that a row of a prediction has the same bits in every
  // batch.
  const WinogradWork work = winograd_work(g, n, 2);
  if (work.as_products > work.direct) return "the transforms would take longer than they save";
  return {};
}

std::vector<EpilogueStep> epilogue(const Graph& g, const Node& n) { return onednn().epilogue(g, n); }

LibraryPlan plan(const Graph& kernel, const Target& target) { return {.slices = onednn().plan(kernel, target).slices}; }

}  // namespace

const Library& winograd() {
  static const Library kLibrary{
      .name = kWinograd, .concerns = makes_images, .refusal = refusal, .epilogue = epilogue, .plan = plan};
  return kLibrary;
}

}  // namespace heddle::passes
