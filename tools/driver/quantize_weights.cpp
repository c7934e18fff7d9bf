#include "tools/driver/quantize_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "frontend/name_pattern.h"
#include "ir/diagnostic.h"
#include "ir/int8.h"
#include "runtime/weights/elements.h"

namespace heddle::driver {
namespace {

constexpr int64_t kFewestNumbers = 256;  // of a weight that becomes smaller
constexpr int64_t kFewestOfScale = 8;    // which takes as much as they do

int64_t elements(const runtime::SavedTensor& t) { return (t.end - t.begin) / static_cast<int64_t>(sizeof(float)); }

bool is_large(const runtime::SavedTensor& t, const frontend::ProductWeight& weight) {
  const int64_t all = elements(t), scales = t.dims[static_cast<size_t>(weight.axis)];
  return all >= kFewestNumbers && all / scales >= kFewestOfScale;
}

bool may_become_smaller(const runtime::SavedTensor& t, const frontend::ProductWeight& weight,
                        const QuantizeRequest& request) {
  return request.trained ? request.ranges.contains(weight.name) : is_large(t, weight);
}

runtime::Quantization quantization(const frontend::ProductWeight& weight, const runtime::SavedTensor& t,
                                   const QuantizeRequest& request) {
  runtime::StoredAs type = request.type;
  const bool rows = weight.use == frontend::WeightUse::matrix && weight.axis == 0 && t.dims.size() == 2;
  if (type == runtime::StoredAs::int4 && !rows) type = runtime::StoredAs::int8;
  const auto range = request.ranges.find(weight.name);
  const bool known = type == runtime::StoredAs::int8 && range != request.ranges.end();
  return {.as = type, .axis = weight.axis, .range = known ? range->second : std::vector<float>()};
}

void require_matches(const std::vector<std::string>& patterns, const std::vector<std::string>& names) {
  for (const std::string& pattern : patterns) {
    if (std::ranges::any_of(names, [&](const std::string& name) { return frontend::glob(pattern, name); })) continue;
    const std::string near = did_you_mean(pattern, names);
    throw UserError(ExitCode::usage, fmt::format("--keep: no weight that becomes smaller is called '{}'", pattern),
                    near.empty() ? fmt::format("these do: {}", fmt::join(names, ", ")) : near);
  }
}

}  // namespace

std::map<std::string, std::vector<float>> trained_ranges(const runtime::WeightsFile& weights,
                                                         const std::vector<std::string>& names) {
  std::map<std::string, std::vector<float>> ranges;
  for (const std::string& weight : names) {
    std::vector<float>& range = ranges[weight];
    for (const std::string& name : {ir::observed_low_name(weight), ir::observed_high_name(weight)})
      if (const runtime::SavedTensor* t = weights.find(name); t != nullptr)
        for (const float value : runtime::floats_of(weights, *t)) range.push_back(value);
    if (range.size() != 2 || !std::isfinite(range[0]) || !std::isfinite(range[1]) || range[0] > 0 || range[1] < 0)
      throw UserError(
          ExitCode::failed,
          fmt::format("{}: '{}' and its upper end are no range around 0", weights.name, ir::observed_low_name(weight)),
          "give the weights that a training with train.quantize has saved");
    if (range[0] == 0 && range[1] == 0) range[1] = ir::kLeastScale;  // zeros alone were seen: the same step
  }
  return ranges;
}

QuantizedWeights quantize_weights(const runtime::WeightsFile& weights,
                                  const std::vector<frontend::ProductWeight>& products,
                                  const QuantizeRequest& request) {
  std::map<std::string, runtime::Quantization> chosen;
  std::vector<std::string> names;
  for (const frontend::ProductWeight& weight : products) {
    const runtime::SavedTensor* t = weights.find(weight.name);
    if (t == nullptr || !may_become_smaller(*t, weight, request)) continue;
    names.push_back(weight.name);
    if (std::ranges::none_of(request.keep, [&](const auto& pattern) { return frontend::glob(pattern, weight.name); }))
      chosen.emplace(weight.name, quantization(weight, *t, request));
  }
  if (!names.empty()) require_matches(request.keep, names);
  if (chosen.empty())
    throw UserError(ExitCode::failed,
                    fmt::format("{}: nothing would become smaller: no matrix, filter or table of {} numbers or more is "
                                "left",
                                weights.name, kFewestNumbers),
                    names.empty() ? "use the weights as they are" : "leave out --keep");
  QuantizedWeights out{.file = {.name = weights.name, .tensors = {}, .metadata = weights.metadata, .data = {}},
                       .tensors = std::ssize(chosen)};
  for (const runtime::SavedTensor& t : weights.tensors) {
    const auto how = chosen.find(t.name);
    if (how != chosen.end()) {
      runtime::add_quantized(out.file, weights, t, how->second);
      continue;
    }
    const std::span<const std::byte> bytes = weights.bytes(t);
    std::ranges::copy(bytes, out.file.add(t.name, t.dtype, t.dims, std::ssize(bytes)).begin());
  }
  runtime::mark_quantized(out.file, request.type, request.model);
  return out;
}

}  // namespace heddle::driver
