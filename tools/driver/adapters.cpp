#include "tools/driver/adapters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "ir/check.h"
#include "ir/diagnostic.h"
#include "runtime/weights/elements.h"
#include "runtime/weights/quantize.h"
#include "tools/driver/foreign_weights.h"

namespace heddle::driver {

using frontend::AdapterPaths;
using frontend::PlannedAdapters;
using runtime::SavedTensor;
using runtime::WeightsFile;

namespace {

constexpr const char* kAlpha = "heddle.lora_alpha";  // in the metadata of a file of adapters

void copy_tensor(const WeightsFile& from, const SavedTensor& t, const std::string& name, WeightsFile& to) {
  const std::span<const std::byte> bytes = from.bytes(t);
  std::ranges::copy(bytes, to.add(name, t.dtype, t.dims, std::ssize(bytes)).begin());
}

void require_alpha(const WeightsFile& file, const PlannedAdapters& adapters) {
  const auto trained = file.metadata.find(kAlpha);
  const std::string alpha = fmt::format("{}", adapters.alpha);
  if (trained == file.metadata.end() || trained->second == alpha) return;
  throw UserError(ExitCode::failed,
                  fmt::format("{}: the adapters were trained with an alpha of {}, the model has {}", file.name,
                              trained->second, alpha),
                  fmt::format("--set train.lora.alpha={}", trained->second));
}

std::vector<float> numbers_of(const WeightsFile& file, const std::string& name) {
  const SavedTensor* t = file.find(name);
  HEDDLE_CHECK(t != nullptr && t->dtype == "f32", name);
  return runtime::floats_of(file, *t);
}

// b a, or (b a)^T, is added to the weight [out,in], in double precision.
void add_adapter(const WeightsFile& file, const AdapterPaths& paths, double scale, std::span<std::byte> weight) {
  const std::vector<float> a = numbers_of(file, paths.a), b = numbers_of(file, paths.b);
  const SavedTensor &of_weight = *file.find(paths.weight), &of_a = *file.find(paths.a);
  const auto out = static_cast<size_t>(of_weight.dims[0]), in = static_cast<size_t>(of_weight.dims[1]);
  const auto rank = static_cast<size_t>(of_a.dims[0]);
  std::vector<double> row(in);
  for (size_t o = 0; o < out; ++o) {
    std::ranges::fill(row, 0);
    for (size_t r = 0; r < rank; ++r) {
      const double up = paths.lookup ? a[r * out + o] : b[o * rank + r];
      for (size_t i = 0; i < in; ++i) row[i] += up * (paths.lookup ? b[i * rank + r] : a[r * in + i]);
    }
    for (size_t i = 0; i < in; ++i) {
      const auto value = static_cast<float>(runtime::element<float>(weight, o * in + i) + scale * row[i]);
      if (!std::isfinite(value))
        throw UserError(
            ExitCode::failed,
            fmt::format("{}: '{}' with its adapter has a number that is not finite", file.name, paths.weight),
            "look at the training that the adapters come from");
      runtime::set_element(weight, o * in + i, value);
    }
  }
}

}  // namespace

std::set<std::string> adapter_names(const PlannedAdapters& adapters) {
  std::set<std::string> names;
  for (const AdapterPaths& paths : adapters.paths) names.insert({paths.a, paths.b});
  return names;
}

WeightsFile adapters_of(const WeightsFile& all, const PlannedAdapters& adapters) {
  std::set<std::string> kept = adapter_names(adapters);
  kept.insert(adapters.trained.begin(), adapters.trained.end());
  std::vector<std::string> buffers = runtime::buffer_names(all);
  kept.insert(buffers.begin(), buffers.end());
  for (std::string& name : buffers) name.insert(0, kAdapterPrefix);
  WeightsFile file{.name = all.name, .tensors = {}, .metadata = all.metadata, .data = {}};
  for (const SavedTensor& t : all.tensors)
    if (kept.contains(t.name)) copy_tensor(all, t, kAdapterPrefix + t.name, file);
  file.metadata.erase(kOwnNames);  // that is said of names of a base
  file.metadata[kAlpha] = fmt::format("{}", adapters.alpha);
  runtime::set_buffer_names(file, buffers);
  return file;
}

std::vector<SavedTensor> take_adapters(WeightsFile& file, const frontend::TrainingPlan& plan) {
  const std::string_view prefix = kAdapterPrefix;
  const auto is_apart = [&](const SavedTensor& t) { return t.name.starts_with(prefix); };
  if (!plan.adapters && std::ranges::any_of(file.tensors, [&](const SavedTensor& t) {
        return is_apart(t) && t.name.find(".lora_") != std::string::npos;
      }))
    throw UserError(ExitCode::failed,
                    fmt::format("{}: it holds adapters, and the model has no 'train.lora'", file.name),
                    "give the model the 'lora' that they were trained with, or merge them: heddle merge");
  std::vector<SavedTensor> taken;
  if (!plan.adapters) return taken;
  require_alpha(file, *plan.adapters);
  std::ranges::copy_if(file.tensors, std::back_inserter(taken), is_apart);
  std::erase_if(file.tensors, is_apart);
  for (SavedTensor& t : taken) t.name.erase(0, prefix.size());
  std::vector<std::string> buffers = runtime::buffer_names(file);
  for (std::string& name : buffers)
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  std::ranges::sort(buffers);
  buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
  runtime::set_buffer_names(file, buffers);
  return taken;
}

void put_adapters(WeightsFile& file, const std::vector<SavedTensor>& adapters) {
  std::set<std::string> names;
  for (const SavedTensor& t : adapters) names.insert(t.name);
  std::erase_if(file.tensors, [&](const SavedTensor& t) { return names.contains(t.name); });
  file.tensors.insert(file.tensors.end(), adapters.begin(), adapters.end());
}

WeightsFile merged(const WeightsFile& file, const PlannedAdapters& adapters) {
  std::map<std::string, const AdapterPaths*> by_weight;
  for (const AdapterPaths& paths : adapters.paths) by_weight[paths.weight] = &paths;
  const std::set<std::string> left_out = adapter_names(adapters);
  WeightsFile out{.name = file.name, .tensors = {}, .metadata = file.metadata, .data = {}};
  out.metadata.erase(kAlpha);
  runtime::unmark_quantized(out.metadata);
  for (const SavedTensor& t : file.tensors) {
    if (left_out.contains(t.name)) continue;
    copy_tensor(file, t, t.name, out);
    const auto adapted = by_weight.find(t.name);
    if (adapted == by_weight.end()) continue;
    const SavedTensor& to = out.tensors.back();
    add_adapter(
        file, *adapted->second, adapters.scale,
        std::span(out.data.own()).subspan(static_cast<size_t>(to.begin), static_cast<size_t>(to.end - to.begin)));
  }
  return out;
}

}  // namespace heddle::driver
