#include "tools/command/random_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/diagnostic.h"
#include "runtime/data/element.h"
#include "runtime/data/keyed_random.h"

namespace heddle::tools {
namespace {

using runtime::data::KeyedRandom;

// Box and Muller's method.
double normal(KeyedRandom& random) {
  const auto unit = [&] { return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53; };
  const double radius = std::sqrt(-2 * std::log(unit()));
  return radius * std::cos(6.283185307179586 * unit());
}

std::vector<std::byte> random_bytes(const codegen::Buffer& input, int64_t below, KeyedRandom& random) {
  const auto type = runtime::data::element_type(input.dtype);
  if (!type)
    throw UserError(ExitCode::failed,
                    fmt::format("input '{}' is {}: no random batches of that type", input.name, input.dtype));
  std::vector<std::byte> bytes(static_cast<size_t>(input.bytes));
  runtime::data::visit(*type, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
      T value;
      if constexpr (std::is_floating_point_v<T>)
        value = static_cast<T>(normal(random));
      else
        value = static_cast<T>(random.below(static_cast<uint64_t>(below > 0 ? below : 2)));
      std::memcpy(bytes.data() + i, &value, sizeof(T));
    }
  });
  return bytes;
}

int64_t below_of(const frontend::TrainingPlan& plan, const std::string& name) {
  const frontend::PlannedInput* input = frontend::find_input(plan, name);
  return input == nullptr ? -1 : input->below;
}

int64_t batches_of(const codegen::Entry& entry) {
  constexpr int64_t kMostBatches = 64, kMostBytes = int64_t{32} << 20;
  int64_t bytes = 1;
  for (const codegen::Buffer& input : entry.inputs) bytes += input.bytes;
  return std::clamp<int64_t>(kMostBytes / bytes, 1, kMostBatches);
}

}  // namespace

runtime::data::Table random_table(const codegen::Entry& entry, const frontend::TrainingPlan& plan) {
  KeyedRandom random(/*seed=*/1, /*position=*/0);
  const int64_t batches = batches_of(entry);
  runtime::data::Table table{.rows = batches * entry.fed_rows, .columns = {}};
  for (const codegen::Buffer& input : entry.inputs) {
    codegen::Buffer all = input;
    all.bytes *= batches;
    std::vector<std::byte> bytes = random_bytes(all, below_of(plan, input.name), random);
    table.columns.push_back({.input = input.name,
                             .type = *runtime::data::element_type(input.dtype),
                             .dims = {input.dims.begin() + 1, input.dims.end()},
                             .bytes = std::move(bytes)});
  }
  return table;
}

InputRing::InputRing(const codegen::Entry& entry, const frontend::TrainingPlan& plan) : entry_(entry) {
  KeyedRandom random(/*seed=*/1, /*position=*/0);
  for (int64_t b = 0; b < batches_of(entry); ++b) {
    batches_.emplace_back();
    for (const codegen::Buffer& input : entry.inputs)
      batches_.back().push_back(random_bytes(input, below_of(plan, input.name), random));
  }
}

void InputRing::write_next(runtime::Executable& executable) {
  const auto& batch = batches_[next_];
  next_ = (next_ + 1) % batches_.size();
  for (size_t i = 0; i < batch.size(); ++i) executable.write(entry_.inputs[i], batch[i].data());
}

}  // namespace heddle::tools
