#include "frontend/metrics/generated.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/keys/check_keys.h"
#include "frontend/keys/settings.h"
#include "frontend/metrics/last_tokens.h"
#include "frontend/training/training_def.h"

namespace heddle::frontend {
namespace {

constexpr const char* kExample =
    "for example {\"op\": \"bleu\", \"in\": [\"logits\", \"next\"], \"end\": 2, \"decode\": {\"op\": \"generate\"}}";
constexpr size_t kLogits = 0, kLabels = 1, kPredictedLengths = 2, kLabelLengths = 3;

// The input's name; where it is none, an error at the place that names it.
std::string input_name(const Model& model, const Reference& in, const std::string& title) {
  const auto input = std::ranges::find(model.inputs, in.name, &InputDef::name);
  if (input == model.inputs.end())
    throw UserError(in.where,
                    fmt::format("{}: '{}' is no input of the model: labels are compared with a text that is written "
                                "outside of it",
                                title, in.name),
                    kExample);
  if (input->dtype != ir::DType::i32 && input->dtype != ir::DType::i64)
    throw UserError(
        in.where, fmt::format("{}: expected '{}' of type i32, found {}", title, in.name, ir::to_string(input->dtype)));
  return input->name;
}

// Weights of what other maps make of rows are not known outside of a step.
void require_as_stored(const Model& model, const Reference& in, const std::string& name, const std::string& title) {
  const auto maps = model.data.maps.find(name);
  if (maps == model.data.maps.end() || maps->second.empty()) return;
  throw UserError(
      in.where,
      fmt::format("{}: a map of the data makes '{}', and a text is compared with rows as they are stored", title, name),
      "give an input without a map");
}

void require_logits(const Model& model, const Reference& in, const std::string& title) {
  if (model.train.losses.empty() || model.train.losses[0].in.empty())
    throw UserError(in.where, fmt::format("{}: the model has no loss that says what its logits are", title));
  const std::string& logits = model.train.losses[0].in[0].name;
  if (in.name != logits)
    throw UserError(
        in.where,
        fmt::format("{}: a model writes by the logits of its loss, '{}', and this is '{}'", title, logits, in.name),
        kExample);
}

GeneratedMetric read_metric(const Model& model, const Part& part) {
  const std::string title = "metric " + part.op;
  const MetricDef& def = *find_metric(part.op);
  const Settings settings(part.settings, def.settings, model.let, title, part.op_where);
  if (part.in.size() < 2 || part.in.size() > 4)
    throw UserError(part.op_where, fmt::format("{} takes 2 to 4 inputs, got {}", title, part.in.size()), kExample);
  require_logits(model, part.in[kLogits], title);
  if (part.in.size() > kPredictedLengths && !part.in[kPredictedLengths].left_out())
    throw UserError(
        part.in[kPredictedLengths].where,
        fmt::format("{}: a text that is written is as long as the model makes it", title),
        "leave predicted_lengths out: \"in\": {\"predicted\": ..., \"labels\": ..., \"label_lengths\": ...}");
  GeneratedMetric metric{.part = &part,
                         .name = {},
                         .labels = input_name(model, part.in[kLabels], title),
                         .lengths = {},
                         .of_last = sliced_logits(model, part.in[kLogits].name).has_value(),
                         .ignore_index = settings.integer("ignore_index"),
                         .end = {},
                         .beams = beams_of(settings)};
  require_as_stored(model, part.in[kLabels], metric.labels, title);
  if (part.in.size() > kLabelLengths && !part.in[kLabelLengths].left_out()) {
    metric.lengths = input_name(model, part.in[kLabelLengths], title);
    require_as_stored(model, part.in[kLabelLengths], metric.lengths, title);
  }
  if (settings.json("end") != nullptr) metric.end = settings.integer("end");
  return metric;
}

}  // namespace

std::vector<GeneratedMetric> generated_metrics(const Model& model) {
  std::vector<GeneratedMetric> metrics;
  std::map<std::string, int> seen;
  for (const Part& part : model.train.metrics) {
    if (!generates(part)) continue;
    metrics.push_back(read_metric(model, part));
    const int count = ++seen[part.op];
    metrics.back().name = part.op + "_generated" + (count == 1 ? "" : fmt::format("_{}", count));
  }
  return metrics;
}

Part measured_part(const GeneratedMetric& metric, std::vector<Reference> in) {
  Part part = *metric.part;
  part.in = std::move(in);
  std::erase_if(part.settings, [](const Json& setting) { return setting.key == "decode"; });
  return part;
}

}  // namespace heddle::frontend
