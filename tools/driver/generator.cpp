#include "tools/driver/generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/check.h"
#include "ir/scan.h"
#include "passes/decode/decode.h"
#include "runtime/weights/program_weights.h"
#include "tools/driver/fit_weights.h"
#include "tools/driver/tokenizers.h"

namespace heddle::driver {
namespace {

constexpr const char* kWhatGenerates =
    "a model that generates reads a text, [N, T] integers, and makes of each token the logits of the next one, "
    "[N, T, vocabulary]";

// What the loss compares with the next tokens; else the only output.
frontend::OutputDef logits_of(const frontend::Model& model) {
  if (!model.train.losses.empty() && !model.train.losses[0].in.empty()) {
    const frontend::Reference& read = model.train.losses[0].in[0];
    const auto is_read = [&](const frontend::OutputDef& o) { return o.value.name == read.name; };
    const auto output = std::ranges::find_if(model.outputs, is_read);
    return output != model.outputs.end() ? *output : frontend::OutputDef{read.name, read};
  }
  if (model.outputs.size() != 1)
    throw UserError(model.train.where,
                    fmt::format("the model has no loss and {} outputs: which of them are the logits of the next token?",
                                model.outputs.size()),
                    kWhatGenerates);
  return model.outputs[0];
}

Location place_of_input(const frontend::Model& model, const std::string& name) {
  const auto input = std::ranges::find(model.inputs, name, &frontend::InputDef::name);
  return input == model.inputs.end() ? model.train.where : input->where;
}

std::string type_of(const ir::Type& type) {
  std::string text = ir::to_string(type.dtype) + "[N";
  for (size_t d = 1; d < type.dims.size(); ++d) text += fmt::format(",{}", type.dims[d]);
  return text + "]";
}

// The input of the text, where the graph is one of a model that generates.
ir::ValueId require_text(const frontend::Model& model, const frontend::OutputDef& output, const ir::Graph& g) {
  ir::Values inputs;
  for (const ir::ValueId v : g.inputs)
    if (g[v].role == ir::Role::input) inputs.push_back(v);
  const Location at_output = output.value.where;
  if (inputs.empty()) throw UserError(at_output, fmt::format("output '{}' reads no text", output.name), kWhatGenerates);
  for (const ir::ValueId v : inputs) {
    const ir::Type& type = g[v].type;
    const bool text = type.rank() == 2 && (type.dtype == ir::DType::i32 || type.dtype == ir::DType::i64);
    if (!text)
      throw UserError(
          place_of_input(model, g[v].name),
          fmt::format("output '{}' depends on '{}', {}: that is no text", output.name, g[v].name, type_of(type)),
          kWhatGenerates);
  }
  if (inputs.size() > 1)
    throw UserError(place_of_input(model, g[inputs[1]].name),
                    fmt::format("output '{}' depends on '{}' and on '{}': nobody says what the latter is of the tokens "
                                "that follow",
                                output.name, g[inputs[0]].name, g[inputs[1]].name),
                    "leave the second input out of the model that generates: parameters stay the same");
  const ir::Type &text = g[inputs[0]].type, &made = g[g.outputs[0]].type;
  if (made.rank() != 3 || made.dims[0] != text.dims[0] || made.dims[1] != text.dims[1])
    throw UserError(at_output,
                    fmt::format("output '{}' is {}, expected {} and a number for each token of the vocabulary",
                                output.name, type_of(made), type_of({made.dtype, text.dims})),
                    kWhatGenerates);
  if (made.dtype != ir::DType::f32)
    throw UserError(at_output, fmt::format("output '{}' is {}: logits are f32", output.name, ir::to_string(made.dtype)),
                    "add a node {\"op\": \"cast\", \"dtype\": \"f32\"} behind it");
  if (text.dims[1] < 2)
    throw UserError(place_of_input(model, g[inputs[0]].name), "texts of one token have nothing to go on from",
                    "let the model read two tokens or more");
  return inputs[0];
}

}  // namespace

int64_t Generator::rows_for(int64_t texts) {
  constexpr int64_t kAtATime = 6, kThen = 4;
  const int64_t last = std::max(texts, kFewestRows) % kAtATime;
  return std::max(texts, kFewestRows) + (last == 0 ? 0 : std::max<int64_t>(kThen - last, 0));
}

Generator::Generator(frontend::Model model, runtime::WeightsFile weights, int64_t rows, bool reorders,
                     const CompileOptions& options, runtime::Device& device)
    : rows_(rows), reorders_(reorders) {
  HEDDLE_CHECK(rows == rows_for(rows), "as many rows as rows_for says");
  model.outputs = {logits_of(model)};
  Planned planned(model);
  plan_ = planned.plan;
  program_ = compile(planned, options);
  const Tokenizers of_text = tokenizers(plan_, weights);
  for (size_t i = 0; i < of_text.size(); ++i)
    if (plan_.inputs[i].name == input_) tokenizer_ = of_text[i];
  if (const frontend::PlannedInput* input = frontend::find_input(plan_, input_)) below_ = input->below;
  for (const codegen::Entry& entry : program_.entries) (entry.name == "decode" ? entry_ : reorder_) = &entry;
  for (const codegen::Buffer& b : entry_->inputs) (b.name == input_ ? tokens_ : positions_) = &b;
  HEDDLE_CHECK(tokens_ != nullptr && positions_ != nullptr && entry_->outputs.size() == 1, "tokens, positions, logits");
  result_ = entry_->outputs.data();
  HEDDLE_CHECK(result_->layout.empty() && result_->dtype == "f32", "logits lie as they are read");
  logits_.resize(static_cast<size_t>(rows_ * vocabulary_));
  note_ = require_weights(weights, plan_, program_, /*begins=*/false);
  executable_ = std::make_unique<runtime::Executable>(program_, device);
  runtime::load_weights(*executable_, weights);
  clear_states();
}

codegen::Program Generator::compile(Planned& planned, const CompileOptions& options) {
  constexpr int64_t kAnySteps = 1'000'000;  // nothing is trained: schedules may believe what they like
  const frontend::Model& model = planned.model();
  ir::Module m = frontend::build_module(planned.instances,
                                        {.predict = rows_, .total_steps = model.train.steps.value_or(kAnySteps)});
  planned.instances.clear();
  const ir::Graph* forward = m.find_graph(ir::EntryKind{.phase = ir::Phase::predict});
  HEDDLE_CHECK(forward != nullptr, "a model with outputs has a graph of predictions");
  const ir::ValueId text = require_text(model, model.outputs[0], *forward);
  input_ = (*forward)[text].name;
  vocabulary_ = (*forward)[forward->outputs[0]].type.dims[2];
  passes::Decoded decoded = passes::decode(m, *forward, 0);
  context_ = decoded.context;
  const bool scans =
      std::ranges::any_of(decoded.graph.order, [&](ir::NodeId n) { return ir::is_scan(decoded.graph[n]); });
  if (!scans) m.bodies.clear();
  m.graphs.clear();
  m.graphs.push_back(std::move(decoded.graph));
  if (decoded.reorder && reorders_) m.graphs.push_back(std::move(*decoded.reorder));
  run_passes(m, options);
  return lower(m, model.name, options);
}

void Generator::load(runtime::WeightsFile weights) {
  note_ = require_weights(weights, plan_, program_, /*begins=*/false);
  runtime::load_weights(*executable_, weights);
}

// Nothing of a cache is read before it was written; that a product of 0 and what lies there is 0 needs a finite number.
void Generator::clear_states() {
  for (const codegen::Buffer& b : program_.states)
    if (!codegen::is_saved(b)) executable_->write(b, std::vector<std::byte>(static_cast<size_t>(b.bytes)).data());
}

void Generator::step(std::span<const int32_t> tokens, std::span<const int32_t> positions) {
  HEDDLE_CHECK(std::ssize(tokens) == rows_ && std::ssize(positions) == rows_, "a token and a position for each row");
  if (tokens_->dtype == "i64") {
    wide_.assign(tokens.begin(), tokens.end());
    executable_->write(*tokens_, wide_.data());
  } else {
    executable_->write(*tokens_, tokens.data());
  }
  executable_->write(*positions_, positions.data());
  executable_->run(*entry_);
  executable_->read(*result_, logits_.data());
}

void Generator::reorder(std::span<const int32_t> from) {
  HEDDLE_CHECK(reorders_ && std::ssize(from) == rows_, "a row for each row of a generator that reorders");
  if (reorder_ == nullptr) return;
  executable_->write(reorder_->inputs.at(0), from.data());
  executable_->run(*reorder_);
}

std::span<const float> Generator::logits(int64_t row) const {
  return std::span(logits_).subspan(static_cast<size_t>(row * vocabulary_), static_cast<size_t>(vocabulary_));
}

}  // namespace heddle::driver
