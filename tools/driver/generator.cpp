#include "tools/driver/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "codegen/lone_rows.h"
#include "ir/check.h"
#include "ir/scan.h"
#include "runtime/weights/program_weights.h"
#include "tools/driver/decode_text.h"
#include "tools/driver/fit_weights.h"
#include "tools/driver/int8_weights.h"
#include "tools/driver/tokenizers.h"

namespace heddle::driver {
namespace {

// A weights file holds all parameters of its model, also those that no logit depends on: `g` gets them as inputs.
void add_unread_parameters(ir::Graph& g, const ir::Graph& init) {
  for (const ir::ValueId v : init.inputs) {
    const ir::Value& value = init[v];
    const bool is_saved = value.role == ir::Role::param || value.role == ir::Role::buffer;
    if (is_saved && !g.find(value.name).valid()) g.add_input(value.name, value.type, value.role, value.layout);
  }
}

bool scans(const ir::Graph& g) {
  return std::ranges::any_of(g.order, [&](ir::NodeId n) { return ir::is_scan(g[n]); });
}

}  // namespace

int64_t Generator::rows_for(int64_t texts) { return std::max(texts, kFewestRows); }

Generator::Generator(frontend::Model model, runtime::WeightsFile weights, int64_t rows, bool reorders,
                     const CompileOptions& options, runtime::Device& device)
    : rows_(rows), reorders_(reorders), int8_(options.int8) {
  HEDDLE_CHECK(rows == rows_for(rows), "as many rows as rows_for says");
  model.outputs = {logits_of(model)};
  read_as_quantized(model, weights);
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
  put_int8(weights, program_);
  note_ = require_weights(weights, plan_, program_, /*begins=*/false);
  if (const std::string told = told_of_int8_read(program_); !told.empty()) note_ += (note_.empty() ? "" : "; ") + told;
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
  auto [text, source, sizes, chunk, decoded] = decode_text(model, m, *forward);
  text_.name = (*forward)[text].name;
  if (source.valid()) source_ = Source{.name = (*forward)[source].name, .length = (*forward)[source].type.dims[1]};
  if (sizes.valid()) sizes_name_ = (*forward)[sizes].name;
  if (decoded.prefill) chunk_ = chunk;
  vocabulary_ = (*forward)[forward->outputs[0]].type.dims[2];
  context_ = decoded.context;
  first_ = decoded.first;
  const ir::Graph* init = m.find_graph(ir::EntryKind{.phase = ir::Phase::init});
  HEDDLE_CHECK(init != nullptr, "every model has a graph that initialises its parameters");
  add_unread_parameters(decoded.graph, *init);
  m.graphs.clear();
  m.graphs.push_back(std::move(decoded.graph));
  if (decoded.prefill) m.graphs.push_back(std::move(*decoded.prefill));
  for (ir::Graph& body : decoded.bodies) m.bodies.push_back(std::move(body));
  if (decoded.encode) m.graphs.push_back(std::move(*decoded.encode));
  if (decoded.reorder && reorders_) m.graphs.push_back(std::move(*decoded.reorder));
  if (!std::ranges::any_of(m.graphs, scans)) m.bodies.clear();
  use_int8(m, options);
  run_passes(m, options);
  codegen::Program program = lower(m, model.name, options);
  codegen::ask_for_lone_rows(program);
  return program;
}

void Generator::require_writes(frontend::Model model, const CompileOptions& options) {
  model.outputs = {logits_of(model)};
  Planned planned(model);
  Generator(rows_for(1)).compile(planned, options);
}

void Generator::load(runtime::WeightsFile weights) {
  put_int8(weights, program_);
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
    (entry.name == "decode"    ? entry_
     : entry.name == "prefill" ? prefill_
     : entry.name == "encode"  ? encode_
                               : reorder_) = &entry;
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

void Generator::prefill(std::span<const int32_t> tokens, std::span<const int32_t> positions,
                        std::span<const int32_t> counts) {
  HEDDLE_CHECK(prefill_ != nullptr && std::ssize(tokens) == rows_ * chunk_, "a chunk of tokens for each row");
  for (const codegen::Buffer& b : prefill_->inputs)
    write(b, b.name == text_.name ? tokens : b.name == "count" ? counts : positions);
  executable_->run(*prefill_);
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
