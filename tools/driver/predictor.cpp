#include "tools/driver/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "ir/check.h"
#include "passes/fold_norms.h"
#include "runtime/data/hash_rule.h"
#include "runtime/weights/file_order.h"
#include "runtime/weights/program_weights.h"
#include "tools/driver/choose_outputs.h"
#include "tools/driver/class_names.h"
#include "tools/driver/fills.h"
#include "tools/driver/fit_weights.h"
#include "tools/driver/int8_weights.h"
#include "tools/driver/load_data.h"
#include "tools/driver/make_input.h"
#include "tools/driver/prepare_weights.h"
#include "tools/driver/statistics.h"
#include "tools/driver/tokenizers.h"

namespace heddle::driver {
namespace {

using runtime::data::Column;
using runtime::data::ElementType;

const frontend::NodeDef* find_node(const frontend::Model& model, const std::string& name) {
  const auto it = std::ranges::find(model.nodes, name, &frontend::NodeDef::name);
  return it == model.nodes.end() ? nullptr : &*it;
}

// The operation that a node ends with: its activation, else its op.
std::string last_op(const frontend::NodeDef& node) {
  for (const frontend::Json& setting : node.settings)
    if (setting.key == "activation" && setting.kind == frontend::Json::Kind::text) return setting.text;
  return node.op;
}

// What a node reads: by name, or the node before it.
std::string read_by(const frontend::Model& model, const frontend::NodeDef& node) {
  if (!node.in.empty()) return node.in[0].name;
  const auto place = &node - model.nodes.data();
  return place > 0 ? model.nodes[static_cast<size_t>(place) - 1].name : std::string();
}

// The input that a loss or metric compares `value` with, or the value that `value` is the softmax of.
std::string labels_of(const frontend::Model& model, const std::string& value) {
  std::vector<std::string> same = {value};
  if (const frontend::NodeDef* node = find_node(model, value))
    if (node->op == "softmax" || node->op == "log_softmax") same.push_back(read_by(model, *node));
  for (const auto* parts : {&model.train.losses, &model.train.metrics})
    for (const frontend::Part& part : *parts)
      if (part.in.size() == 2 && std::ranges::count(same, part.in[0].name) > 0) return part.in[1].name;
  return {};
}

ElementType result_type(const codegen::Buffer& b) {
  if (b.dtype == "bool") return ElementType::u8;
  if (const auto type = runtime::data::element_type(b.dtype)) return *type;
  throw UserError(ExitCode::failed,
                  fmt::format("output '{}' is {}: no file of results holds that type", b.name, b.dtype),
                  "add a node {\"op\": \"cast\", \"dtype\": \"f32\"} behind it");
}

CompileOptions hearing_of_folds(CompileOptions options, std::set<std::string>& folded) {
  options.remark = [&folded, also = options.remark](const passes::Remark& r) {
    if (r.pass == "fold_norms" && r.reason.starts_with(passes::kFoldedInto)) folded.insert(r.subject);
    if (also) also(r);
  };
  return options;
}

std::string told_of_folds(const std::set<std::string>& folded) {
  if (folded.empty()) return "--fold-norms: no scale and shift of channels goes into a weight";
  return fmt::format("--fold-norms: {} scales and shifts are folded; results equal evaluation's up to rounding",
                     folded.size());
}

}  // namespace

int64_t PredictOutput::row_elements() const {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

Predictor::Predictor(frontend::Model model, runtime::WeightsFile weights, const std::vector<std::string>& outputs,
                     const BatchRequest& batch, const CompileOptions& options, runtime::Device& device) {
  choose_outputs(model, outputs);
  read_as_quantized(model, weights);
  Planned planned(model);
  const ClassNames names = class_names(planned.plan, weights);
  const Tokenizers of_text = tokenizers(planned.plan, weights);
  std::set<std::string> folded;  // of every batch that was tried
  PlannedBatch made = plan_batch(planned, batch, options.fold_norms ? hearing_of_folds(options, folded) : options);
  batch_ = made.rows;
  plan_ = std::move(made.compiled.plan);
  program_ = std::move(made.compiled.program);
  int8_ = options.int8;
  put_int8(weights, program_);
  note_ = require_weights(weights, plan_, program_, /*begins=*/false);
  if (const std::string told = told_of_int8(program_, model); !told.empty())
    note_ += (note_.empty() ? "" : "; ") + told;
  if (options.fold_norms) note_ += (note_.empty() ? "" : "; ") + told_of_folds(folded);
  entry_ = program_.find_entry(ir::Phase::predict);
  HEDDLE_CHECK(entry_ != nullptr, "a program with outputs has an entry 'predict'");
  describe_inputs(names, of_text);
  take_maps(weights);
  describe_outputs(model, names, of_text);
  executable_ = std::make_unique<runtime::Executable>(program_, device);
  put_weights(weights);
}

// Loads the weights, and computes the values that depend only on them.
void Predictor::put_weights(const runtime::WeightsFile& weights) {
  runtime::load_weights(*executable_, weights);
  prepare_weights(*executable_);
}

void Predictor::load(runtime::WeightsFile weights) {
  put_int8(weights, program_);
  note_ = require_weights(weights, plan_, program_, /*begins=*/false);
  take_maps(weights);
  put_weights(weights);
}

void Predictor::allow_nan(bool allow) {
  for (PredictInput& input : inputs_) input.allow_nan = allow;
}

namespace {

// What the readers of tables and lines of JSON say, test before the others; nullptr: there is none.
const frontend::DataReader* table_reader(const frontend::Data& data) {
  for (const auto* reader : {&data.test, &data.validation, &data.train})
    if (reader->has_value() && ((*reader)->op == "csv" || (*reader)->op == "json_lines")) return &**reader;
  return nullptr;
}

}  // namespace

// With the means and deviations that these weights were trained with, and what stands for missing values.
void Predictor::take_maps(const runtime::WeightsFile& weights) {
  frontend::TrainingPlan plan = plan_;
  take_statistics(plan, weights);
  const Fills of_missing = fills(plan_, weights);
  const frontend::DataReader* reader = table_reader(plan_.data);
  for (PredictInput& input : inputs_) {
    const frontend::PlannedInput* planned = frontend::find_input(plan_, input.request.input);
    input.request.fills = of_missing.at(static_cast<size_t>(planned - plan_.inputs.data()));
    if (reader != nullptr) {
      input.missing = runtime::data::missing_rule(reader->settings);
      input.other = runtime::data::class_rule(reader->settings).other;
      input.hash = runtime::data::hash_ids(reader->settings, input.request.input);
    }
    input.maps.clear();
    const auto maps = plan.data.maps.find(input.request.input);
    if (maps == plan.data.maps.end()) continue;
    for (const ir::DataMap& map : maps->second) {
      if (map.waits_for_statistics())
        throw UserError(ExitCode::failed,
                        fmt::format("{}: no mean and deviation of input '{}', which a normalize of the model needs",
                                    weights.name, input.request.input),
                        "train writes them into the weights; or give normalize a 'mean' and a 'std'");
      if (!map.def->first && !map.def->training && !map.def->evaluates) input.maps.push_back(map);
    }
  }
}

void Predictor::describe_inputs(const std::vector<std::vector<std::string>>& names,
                                const std::vector<std::string>& tokenizers) {
  for (const codegen::Buffer& b : entry_->inputs) {
    const frontend::PlannedInput* planned = frontend::find_input(plan_, b.name);
    HEDDLE_CHECK(planned != nullptr, "the plan knows the input '" + b.name + "'");
    PredictInput input;
    const auto number = static_cast<size_t>(planned - plan_.inputs.data());
    input.request = column_request(*planned, number < names.size() ? names[number] : std::vector<std::string>());
    if (number < tokenizers.size()) input.request.tokenizer = tokenizers[number];
    if (!runtime::data::element_type(input.request.dtype))
      throw UserError(ExitCode::failed, fmt::format("input '{}' is {}: files do not fill that type", b.name, b.dtype),
                      "let the input be f32 or i32 and cast it in a node");
    input.row = {.dtype = planned->row.dtype, .dims = planned->row.dims, .channels_first = planned->channels_first};
    inputs_.push_back(std::move(input));
    staged_.emplace_back(static_cast<size_t>(b.bytes));
  }
}

std::optional<SpelledText> Predictor::spelled_by(const frontend::Model& model, const std::string& value,
                                                 const std::vector<std::string>& tokenizers) const {
  for (const frontend::Part& part : model.train.losses) {
    if (part.op != "ctc" || part.in.size() < 2 || part.in[0].name != value) continue;
    SpelledText text{.target = part.in[1].name, .steps = {}, .tokenizer = {}};
    for (const frontend::Json& setting : part.settings)
      if (setting.key == "blank") text.blank = setting.kind == frontend::Json::Kind::integer ? setting.integer : -1;
    if (part.in.size() > 2 && !part.in[2].left_out()) {
      text.counted = std::ranges::count(plan_.inputs, part.in[2].name, &frontend::PlannedInput::name) > 0;
      text.steps = part.in[2].name;
    }
    for (size_t i = 0; i < std::min(plan_.inputs.size(), tokenizers.size()); ++i)
      if (plan_.inputs[i].name == text.target) text.tokenizer = tokenizers[i];
    return text;
  }
  return std::nullopt;
}

void Predictor::describe_outputs(const frontend::Model& model, const std::vector<std::vector<std::string>>& names,
                                 const std::vector<std::string>& tokenizers) {
  for (const codegen::Buffer& b : entry_->outputs) {
    if (b.role == codegen::BufferRole::outside) {
      outside_ = &b;
      continue;
    }
    if (b.dims.empty() || b.dims[0] != batch_)
      throw UserError(ExitCode::failed,
                      fmt::format("output '{}' is one value for the whole batch, not one for each row", b.name),
                      "choose an output whose first axis counts the rows: --output NODE");
    PredictOutput output{
        .name = b.name, .type = result_type(b), .dims = {b.dims.begin() + 1, b.dims.end()}, .classes = {}};
    const auto def = std::ranges::find(model.outputs, b.name, &frontend::OutputDef::name);
    HEDDLE_CHECK(def != model.outputs.end(), "results have the names of the model's outputs");
    const std::string& value = def->value.name;
    if (const frontend::NodeDef* node = find_node(model, value)) {
      const std::string op = last_op(*node);
      output.scores = op == "softmax"       ? Scores::probabilities
                      : op == "log_softmax" ? Scores::logarithms
                                            : Scores::logits;
    }
    const std::string labels = labels_of(model, value);
    for (size_t i = 0; i < names.size(); ++i)
      if (plan_.inputs[i].name == labels && !output.dims.empty() && std::ssize(names[i]) == output.dims.back())
        output.classes = names[i];
    output.spelled = spelled_by(model, value, tokenizers);
    outputs_.push_back(std::move(output));
    results_.emplace_back(static_cast<size_t>(b.bytes));
  }
}

void Predictor::execute() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    runtime::to_memory_order(entry_->inputs[i], staged_[i]);
    executable_->write(entry_->inputs[i], staged_[i].data());
  }
  executable_->run(*entry_);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    executable_->read(entry_->outputs[i], results_[i].data());
    runtime::to_file_order(entry_->outputs[i], results_[i]);
  }
}

void Predictor::require_inside(int64_t first) const {
  if (outside_ == nullptr) return;
  std::vector<int64_t> found(static_cast<size_t>(outside_->bytes) / sizeof(int64_t));
  executable_->read(*outside_, found.data());
  for (size_t check = 0; 2 * check < found.size(); ++check) {
    const CheckedIndices& checked = plan_.indices.at(check);
    const OutsideIndex outside{.check = check, .place = found[2 * check], .index = found[2 * check + 1]};
    if (outside.place < 0) continue;
    const int64_t row = outside.place / std::max<int64_t>(checked.of_row, 1);
    throw index_error(checked, outside, fmt::format("row {}", first + row), batch_);
  }
}

// Where rows are missing, copies of the last one stand: an index that is computed of zeros might be
// outside, of which nobody asked.
void Predictor::fill_batch(int64_t rows) {
  for (std::vector<std::byte>& bytes : staged_) {
    const size_t row = bytes.size() / static_cast<size_t>(batch_), end = static_cast<size_t>(rows) * row;
    for (size_t at = end; at < bytes.size(); at += row) std::memcpy(bytes.data() + at, bytes.data() + end - row, row);
  }
}

Predictor::Bad Predictor::run(const std::vector<Column>& columns, int64_t rows, int64_t first) {
  HEDDLE_CHECK(columns.size() == inputs_.size() && rows > 0 && rows <= batch_, "rows of a batch");
  for (size_t i = 0; i < inputs_.size(); ++i) {
    std::ranges::fill(staged_[i], std::byte{0});
    if (const auto fault = make_input(inputs_[i], columns[i], rows, staged_[i]))
      return {.input = i, .row = fault->row, .value = fault->value};
  }
  if (!checked_) require_rows_apart(rows);
  checked_ = true;
  fill_batch(rows);
  execute();
  require_inside(first);
  return {};
}

}  // namespace heddle::driver
