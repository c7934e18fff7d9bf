#include "tools/driver/fit_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "ir/diagnostic.h"
#include "runtime/weights/match.h"
#include "tools/driver/foreign_weights.h"

namespace heddle::driver {
namespace {

// The first number of the row that is not 0.
std::optional<float> number_in_row(const runtime::WeightsFile& file, const frontend::PaddingRow& row) {
  const runtime::SavedTensor* t = file.find(row.parameter);
  if (t == nullptr || t->dtype != "f32" || t->dims.empty() || row.row >= t->dims[0]) return {};
  const std::span<const std::byte> all = file.bytes(*t);
  const size_t bytes = all.size() / static_cast<size_t>(t->dims[0]);
  const std::span<const std::byte> of_row = all.subspan(static_cast<size_t>(row.row) * bytes, bytes);
  for (size_t i = 0; i + sizeof(float) <= bytes; i += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, of_row.data() + i, sizeof value);
    if (value != 0) return value;
  }
  return {};
}

}  // namespace

std::string require_weights(runtime::WeightsFile& file, const frontend::TrainingPlan& plan,
                            const codegen::Program& program, bool begins) {
  Translated translated;
  if (plan.weights) translated = translate(file, *plan.weights, program);
  if (!translated.missing.empty() && !begins)
    throw UserError(
        plan.weights->missing.front().where,
        fmt::format("{}: no tensor becomes '{}'", file.name, *translated.missing.begin()),
        "only a training may start without missing parameters: train first, and give the weights that it saves");
  runtime::require_match(file, program, translated.missing);
  runtime::require_values(file, program);
  std::string told = translated.note;
  std::vector<Diagnostic> errors;
  for (const frontend::PaddingRow& row : plan.padding) {
    const std::optional<float> number = number_in_row(file, row);
    if (!number) continue;
    const std::string message = fmt::format(
        "{}: row {} of '{}' holds {}, and the embedding reads zeros there: it is its "
        "'padding'",
        file.name, row.row, row.parameter, *number);
    if (row.shared)
      told += (told.empty() ? "" : "; ") + message + ", which other nodes read as it is";
    else
      errors.push_back({Severity::error,
                        {},
                        message,
                        {{Severity::note, row.where, "the embedding is here", {}, {}}},
                        fmt::format("make the row zero in the file; or leave out \"padding\": then row {} is read, and "
                                    "trained, as any other",
                                    row.row)});
  }
  if (!errors.empty()) throw UserError(std::move(errors));
  return told;
}

}  // namespace heddle::driver
