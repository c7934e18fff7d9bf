#include "runtime/weights/read_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "ir/diagnostic.h"
#include "runtime/weights/dequantize.h"
#include "runtime/weights/elements.h"
#include "runtime/weights/half_floats.h"
#include "runtime/weights/safetensors_header.h"
#include "runtime/weights/weights_index.h"

namespace heddle::runtime {
namespace {

// Rounded to the nearest; nothing where a finite number would become infinite.
std::optional<float> from_f64(double value) {
  constexpr double kMax = std::numeric_limits<float>::max();
  constexpr double kFirstBeyond = 0x1.ffffffp127;  // half a unit above the largest: ties go to what no f32 holds
  if (!std::isfinite(value)) return static_cast<float>(value);
  if (std::abs(value) >= kFirstBeyond) return std::nullopt;
  return static_cast<float>(std::clamp(value, -kMax, kMax));
}

// How many numbers of f64 became 0.
int64_t convert(const WeightsFile& file, const SavedTensor& t, std::span<std::byte> to) {
  int64_t vanished = 0;
  const std::span<const std::byte> bytes = file.bytes(t);
  const size_t count = to.size() / sizeof(float);
  for (size_t i = 0; i < count; ++i) {
    float value = 0;
    if (t.dtype == "f64") {
      const auto stored = element<double>(bytes, i);
      const auto rounded = from_f64(stored);
      if (!rounded)
        throw UserError(
            ExitCode::failed,
            fmt::format("{}: '{}': element {} is {:g}, which f32 does not hold", file.name, t.name, i, stored),
            "the largest f32 is 3.4e38: look at the training that these weights come from");
      value = *rounded;
      if (value == 0 && stored != 0) ++vanished;
    } else {
      const auto stored = element<uint16_t>(bytes, i);
      value = t.dtype == "f16" ? from_f16(stored) : from_bf16(stored);
    }
    set_element(to, i, value);
  }
  return vanished;
}

// What a tensor was in its file, for its copy.
void keep_history(const SavedTensor& from, SavedTensor& to) {
  to.was = from.was;
  to.scales = from.scales, to.range = from.range;
  to.scaled_axis = from.scaled_axis;
}

bool becomes_f32(const SavedTensor& t) { return t.dtype == "f16" || t.dtype == "bf16" || t.dtype == "f64"; }

// The type in the file of what is f32 now, or becomes it; "" of other tensors.
const std::string& other_type(const SavedTensor& t) { return becomes_f32(t) ? t.dtype : t.was; }

// "62 tensors become f32: 60 from bf16 (a, b, c, ...), 2 from f64 (d, e)"
std::string told(const WeightsFile& file, bool stores_bf16) {
  std::vector<std::string> kinds;
  int64_t all = 0;
  bool int8 = false;  // what the compiler makes of these it says itself (passes/int8_products.h)
  for (const char* dtype : {"f16", "bf16", "f64", "int8", "int4"}) {
    constexpr size_t kMostNamed = 3;
    std::vector<std::string> names;
    int64_t count = 0;
    for (const SavedTensor& t : file.tensors) {
      if (other_type(t) != dtype || (stores_bf16 && other_type(t) == "bf16")) continue;
      if (++count <= static_cast<int64_t>(kMostNamed)) names.push_back(t.name);
    }
    if (count > static_cast<int64_t>(kMostNamed)) names.emplace_back("...");
    if (count == 0) continue;
    kinds.push_back(fmt::format("{} from {} ({})", count, dtype, fmt::join(names, ", ")));
    all += count;
    int8 = int8 || std::string_view(dtype) == "int8";
  }
  if (kinds.empty()) return {};
  return fmt::format("{}: {} become{} f32{}: {}", file.name, all == 1 ? "1 tensor" : fmt::format("{} tensors", all),
                     all == 1 ? "s" : "", int8 ? " except where int8 is used" : "", fmt::join(kinds, ", "));
}

// With what is lost told in `note`.
WeightsFile converted(const WeightsFile& file, std::string& note) {
  WeightsFile out{.name = file.name, .tensors = {}, .metadata = file.metadata, .data = {}};
  for (const SavedTensor& t : file.tensors) {
    const std::span<const std::byte> bytes = file.bytes(t);
    if (!becomes_f32(t)) {
      const std::span<std::byte> to = out.add(t.name, t.dtype, t.dims, std::ssize(bytes));
      if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
      keep_history(t, out.tensors.back());
      continue;
    }
    const auto elements = static_cast<int64_t>(bytes.size() / (t.dtype == "f64" ? sizeof(double) : sizeof(uint16_t)));
    const int64_t vanished =
        convert(file, t, out.add(t.name, "f32", t.dims, elements * static_cast<int64_t>(sizeof(float))));
    out.tensors.back().was = t.dtype;
    if (vanished > 0) note += fmt::format("; too small for f32, and so 0: {} of '{}'", vanished, t.name);
  }
  return out;
}

void take_prefix_off(WeightsFile& file, const std::string& prefix) {
  std::set<std::string> names;
  bool any = false;
  for (SavedTensor& t : file.tensors) {
    if (t.name.starts_with(prefix)) {
      any = true;
      t.name.erase(0, prefix.size());
      if (t.name.empty())
        throw UserError(ExitCode::failed,
                        fmt::format("{}: the prefix '{}' is the whole name of a tensor", file.name, prefix),
                        "give the prefix of the names that the model has");
    }
    if (!names.insert(t.name).second)
      throw UserError(ExitCode::failed,
                      fmt::format("{}: there are a '{}{}' and a '{}': without the prefix they are one", file.name,
                                  prefix, t.name, t.name),
                      "leave the other tensors out of the file");
  }
  if (!any)
    throw UserError(
        ExitCode::failed, fmt::format("{}: the name of no tensor begins with '{}'", file.name, prefix),
        file.tensors.empty() ? "the file holds no tensor" : fmt::format("one is '{}'", file.tensors[0].name));
  std::vector<std::string> buffers = buffer_names(file);
  for (std::string& name : buffers)
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  set_buffer_names(file, buffers);
}

}  // namespace

ReadWeights read_weights(const std::string& path, const std::string& prefix, bool stores_bf16) {
  ReadWeights read{.file = is_weights_index(path) ? read_weights_index(path) : read_safetensors(path), .note = {}};
  if (read.file.metadata.contains(kCheckpointMark))
    throw UserError(
        ExitCode::failed,
        fmt::format("{}: a checkpoint of a run, not weights alone: it holds the states of the optimizer, too", path),
        "best.safetensors and last.safetensors in the run's folder hold weights; train --run FOLDER --resume "
        "continues from a checkpoint");
  if (read.file.metadata.contains(kPackageMark))
    throw UserError(ExitCode::failed, fmt::format("{}: a package of a model, not weights", path),
                    "name it in the place of the model, and weights that a training has saved");
  if (!prefix.empty()) take_prefix_off(read.file, prefix);
  return converted_weights(std::move(read.file), stores_bf16);
}

ReadWeights converted_weights(WeightsFile file, bool stores_bf16) {
  ReadWeights read{.file = dequantized(std::move(file)), .note = {}};
  if (std::ranges::all_of(read.file.tensors, [](const SavedTensor& t) { return other_type(t).empty(); })) return read;
  read.note = told(read.file, stores_bf16);
  if (std::ranges::any_of(read.file.tensors, becomes_f32)) read.file = converted(read.file, read.note);
  return read;
}

namespace {

void join(WeightsFile& file, const WeightsFile& more) {
  std::vector<std::string> buffers = buffer_names(file);
  for (const std::string& name : buffer_names(more)) buffers.push_back(name);
  for (const SavedTensor& t : more.tensors) {
    if (file.find(t.name) != nullptr)
      throw UserError(ExitCode::failed, fmt::format("{}: '{}' is in {}, too", more.name, t.name, file.name),
                      "several files are a base and its adapters: give each once");
    const std::span<const std::byte> bytes = more.bytes(t);
    std::ranges::copy(bytes, file.add(t.name, t.dtype, t.dims, std::ssize(bytes)).begin());
    keep_history(t, file.tensors.back());
  }
  for (const auto& [key, value] : more.metadata) file.metadata[key] = value;
  set_buffer_names(file, buffers);
  file.name += ", " + more.name;
}

}  // namespace

ReadWeights read_weights(const std::vector<std::string>& paths, const std::string& prefix, bool stores_bf16) {
  ReadWeights read = read_weights(paths.at(0), prefix, stores_bf16);
  for (size_t i = 1; i < paths.size(); ++i) {
    const ReadWeights more = read_weights(paths[i], {}, stores_bf16);
    join(read.file, more.file);
    if (!more.note.empty()) read.note += (read.note.empty() ? "" : "; ") + more.note;
  }
  return read;
}

}  // namespace heddle::runtime
