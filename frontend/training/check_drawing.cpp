#include "frontend/training/check_drawing.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/json/json.h"
#include "frontend/row_drawing.h"

namespace heddle::frontend {
namespace {

bool is_one_number(const PlannedInput& input) {
  return std::ranges::all_of(input.stored, [](int64_t size) { return size == 1; });
}

// Of what is no input only readers of columns know something.
void require_column(const TrainingPlan& plan, const Named& word, const char* key) {
  const runtime::data::ReaderDef* reader = runtime::data::find_reader(plan.data.train->op);
  if (reader != nullptr && reader->values) return;
  std::vector<std::string> inputs;
  for (const PlannedInput& input : plan.inputs) inputs.push_back(input.name);
  std::string help = suggest_defined(word.text, inputs);
  if (std::ranges::none_of(plan.inputs, is_one_number))
    help = fmt::format("the rows of '{}' have no number each: they are drawn alike", plan.data.train->op);
  throw UserError(word.where,
                  fmt::format("data: draw: '{}': there is no input {}, and '{}' has no columns beside the inputs", key,
                              quote(word.text), plan.data.train->op),
                  help);
}

}  // namespace

void check_drawing(const TrainingPlan& plan) {
  const std::optional<RowDrawing> drawing = row_drawing(plan.data);
  if (!drawing) return;
  const bool balances = drawing->balances;
  const Named& word = drawing->source;
  if (plan.in_order)
    throw UserError(word.where,
                    "data: draw: a stateful layer goes on where a row stopped, so rows stay in order and none is drawn",
                    "leave 'draw' out, or \"stateful\"");
  const char* key = balances ? "balance" : "weights";
  const auto input = std::ranges::find(plan.inputs, word.text, &PlannedInput::name);
  if (input == plan.inputs.end()) return require_column(plan, word, key);
  const bool whole = input->one_hot > 0 || !ir::is_floating(input->row.dtype);
  if (is_one_number(*input) && (whole || !balances)) return;
  throw UserError(
      word.where,
      fmt::format("data: draw: '{}': a row of '{}' is {}, and {}", key, word.text, ir::to_string(input->row),
                  balances ? "a class is one whole number" : "a weight is one number"),
      balances ? "an input of \"shape\": [\"N\"] and \"dtype\": \"i32\", such as the labels"
               : "an input of \"shape\": [\"N\"], or a column of the file");
}

}  // namespace heddle::frontend
