#include "tools/driver/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

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
    "[N, T, vocabulary]; beside it it may read a source, [N, S], and its length, [N]";

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

bool is_integer(const ir::Type& type) { return type.dtype == ir::DType::i32 || type.dtype == ir::DType::i64; }

// What the inputs of a model that generates are.
struct Roles {
  ir::Values texts;                             // the one that is written may be any of these
  std::vector<ir::ValueId> sequences, numbers;  // [N, T]; [N]
};

// Throws UserError at an input that is no text and no length of one.
Roles roles_of_inputs(const frontend::Model& model, const frontend::OutputDef& output, const ir::Graph& g) {
  Roles roles;
  const ir::Type& made = g[g.outputs[0]].type;
  for (const ir::ValueId v : g.inputs) {
    if (g[v].role != ir::Role::input) continue;
    const ir::Type& type = g[v].type;
    if (!is_integer(type) || type.rank() > 2)
      throw UserError(
          place_of_input(model, g[v].name),
          fmt::format("output '{}' depends on '{}', {}: that is no text", output.name, g[v].name, type_of(type)),
          kWhatGenerates);
    (type.rank() == 2 ? roles.sequences : roles.numbers).push_back(v);
    if (made.rank() == 3 && type.rank() == 2 && made.dims[0] == type.dims[0] && made.dims[1] == type.dims[1])
      roles.texts.push_back(v);
  }
  if (roles.sequences.empty())
    throw UserError(output.value.where, fmt::format("output '{}' reads no text", output.name), kWhatGenerates);
  return roles;
}

void require_logits(const frontend::Model& model, const frontend::OutputDef& output, const ir::Graph& g,
                    const Roles& roles) {
  const Location at_output = output.value.where;
  const ir::Type& made = g[g.outputs[0]].type;
  if (roles.texts.empty())
    throw UserError(at_output,
                    fmt::format("output '{}' is {}, expected {} and a number for each token of the vocabulary",
                                output.name, type_of(made), type_of({made.dtype, g[roles.sequences.back()].type.dims})),
                    kWhatGenerates);
  if (made.dtype != ir::DType::f32)
    throw UserError(at_output, fmt::format("output '{}' is {}: logits are f32", output.name, ir::to_string(made.dtype)),
                    "add a node {\"op\": \"cast\", \"dtype\": \"f32\"} behind it");
  if (made.dims[1] < 2)
    throw UserError(place_of_input(model, g[roles.texts[0]].name), "texts of one token have nothing to go on from",
                    "let the model read two tokens or more");
}

bool scans(const ir::Graph& g) {
  return std::ranges::any_of(g.order, [&](ir::NodeId n) { return ir::is_scan(g[n]); });
}

struct DecodedText {
  ir::ValueId text;
  passes::Decoded decoded;
};

// Of several texts the one is written of which the model makes the tokens one after the other. An encoder does not: it
// reads a source as a whole.
DecodedText decode_text(const frontend::Model& model, const frontend::OutputDef& output, const ir::Module& m,
                        const ir::Graph& g, const Roles& roles) {
  std::vector<DecodedText> found;
  std::optional<UserError> fault;
  for (const ir::ValueId text : roles.texts) {
    try {
      found.push_back({text, passes::decode(m, g, 0, text)});
    } catch (const UserError& error) {
      fault = error;
    }
  }
  if (found.empty()) throw UserError(*fault);
  const auto other = [&](const std::vector<ir::ValueId>& list, ir::ValueId than) {
    return *std::ranges::find_if(list, [&](ir::ValueId v) { return v != than; });
  };
  const auto refuse_two = [&](ir::ValueId one, ir::ValueId two) {
    throw UserError(place_of_input(model, g[two].name),
                    fmt::format("output '{}' depends on '{}' and on '{}': nobody says what the latter is of the tokens "
                                "that follow",
                                output.name, g[one].name, g[two].name),
                    "leave the second input out of the model that generates: parameters stay the same");
  };
  if (found.size() > 1) refuse_two(found[0].text, found[1].text);
  const ir::ValueId text = found[0].text;
  if (roles.sequences.size() > 2) refuse_two(text, other(roles.sequences, text));
  if (roles.numbers.size() > 1) refuse_two(roles.numbers[0], roles.numbers[1]);
  if (!roles.numbers.empty() && roles.sequences.size() < 2) refuse_two(text, roles.numbers[0]);
  return std::move(found[0]);
}

}  // namespace

Generator::Generator(frontend::Model model, runtime::WeightsFile weights, int64_t rows, bool reorders,
                     const CompileOptions& options, runtime::Device& device)
    : rows_(std::max(rows, kFewestRows)), reorders_(reorders) {
  model.outputs = {logits_of(model)};
  Planned planned(model);
  plan_ = planned.plan;
  program_ = compile(planned, options);
  const Tokenizers of_texts = tokenizers(plan_, weights);
  const auto describe = [&](auto& text) {
    for (size_t i = 0; i < of_texts.size(); ++i)
      if (plan_.inputs[i].name == text.name) text.tokenizer = of_texts[i];
    if (const frontend::PlannedInput* input = frontend::find_input(plan_, text.name)) text.below = input->below;
  };
  describe(text_);
  if (source_) describe(*source_);
  find_buffers();
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
  const frontend::OutputDef& output = model.outputs[0];
  const Roles roles = roles_of_inputs(model, output, *forward);
  require_logits(model, output, *forward, roles);
  auto [text, decoded] = decode_text(model, output, m, *forward, roles);
  text_.name = (*forward)[text].name;
  for (const ir::ValueId v : roles.sequences)
    if (v != text) source_ = Source{.name = (*forward)[v].name, .length = (*forward)[v].type.dims[1]};
  if (!roles.numbers.empty()) sizes_name_ = (*forward)[roles.numbers[0]].name;
  vocabulary_ = (*forward)[forward->outputs[0]].type.dims[2];
  context_ = decoded.context;
  m.graphs.clear();
  m.graphs.push_back(std::move(decoded.graph));
  if (decoded.encode) m.graphs.push_back(std::move(*decoded.encode));
  if (decoded.reorder && reorders_) m.graphs.push_back(std::move(*decoded.reorder));
  if (!std::ranges::any_of(m.graphs, scans)) m.bodies.clear();
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

void Generator::find_buffers() {
  for (const codegen::Entry& entry : program_.entries)
    (entry.name == "decode" ? entry_ : entry.name == "encode" ? encode_ : reorder_) = &entry;
  for (const codegen::Buffer& b : entry_->inputs) (b.name == text_.name ? tokens_ : positions_) = &b;
  HEDDLE_CHECK(tokens_ != nullptr && positions_ != nullptr && entry_->outputs.size() == 1, "tokens, positions, logits");
  result_ = entry_->outputs.data();
  HEDDLE_CHECK(result_->layout.empty() && result_->dtype == "f32", "logits lie as they are read");
  if (encode_ == nullptr) return;
  for (const codegen::Buffer& b : encode_->inputs) (b.name == sizes_name_ ? sizes_ : source_tokens_) = &b;
}

void Generator::write(const codegen::Buffer& b, std::span<const int32_t> numbers) {
  if (b.dtype != "i64") return executable_->write(b, numbers.data());
  wide_.assign(numbers.begin(), numbers.end());
  executable_->write(b, wide_.data());
}

void Generator::encode(std::span<const int32_t> tokens, std::span<const int32_t> sizes) {
  HEDDLE_CHECK(source_ && std::ssize(tokens) == rows_ * source_->length && std::ssize(sizes) == rows_,
               "a source for each row");
  if (encode_ == nullptr) return;
  if (source_tokens_ != nullptr) write(*source_tokens_, tokens);
  if (sizes_ != nullptr) write(*sizes_, sizes);
  executable_->run(*encode_);
}

void Generator::step(std::span<const int32_t> tokens, std::span<const int32_t> positions) {
  HEDDLE_CHECK(std::ssize(tokens) == rows_ && std::ssize(positions) == rows_, "a token and a position for each row");
  write(*tokens_, tokens);
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
