#include "tools/driver/decode_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/metrics/last_tokens.h"
#include "passes/decode/lone_text.h"

namespace heddle::driver {
namespace {

constexpr const char* kWhatGenerates =
    "a model that generates reads a text, [N, T] integers, and makes of each token the logits of the next one, "
    "[N, T, vocabulary]; beside it it may read a source, [N, S], and its length, [N]";

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

// What the model's readers have of a row in this input, "" where they do not say it.
std::string word_of(const frontend::Data& data, const std::string& input) {
  for (const auto* split : {&data.train, &data.validation, &data.test}) {
    if (!split->has_value()) continue;
    const auto found = (*split)->columns.find(input);
    if (found != (*split)->columns.end()) return found->second.at(0).text;
  }
  return {};
}

// Rows of a training hold several documents of a window, and say which and where each token is. A row that is written
// holds one.
ir::Graph with_lone_texts(const frontend::Model& model, ir::Graph g) {
  std::map<std::string, std::vector<ir::ValueId>> said;
  for (const ir::ValueId v : g.inputs)
    if (g[v].role == ir::Role::input && g[v].type.rank() == 2 && is_integer(g[v].type))
      said[word_of(model.data, g[v].name)].push_back(v);
  if (!said["window"].empty()) passes::take_lone_text(g, said["document"], said["position"]);
  return g;
}

// What the inputs of a model that generates are.
struct Roles {
  std::vector<ir::ValueId> texts;               // the one that is written may be any of these
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
    throw UserError(place_of_input(model, g[roles.texts[0]].name), "a text of one token has nothing to continue from",
                    "let the model read two tokens or more");
}

// Tokens that a prompt goes through at once, of texts of so many. A source's text begins with a single one.
int64_t chunk_of(int64_t tokens, bool has_source) {
  if (!has_source)
    for (const int64_t chunk : {24, 12, 6})
      if (2 * chunk <= tokens) return chunk;
  return 1;
}

}  // namespace

// What the loss compares with the next tokens, or what it is the last part of; else the only output.
frontend::OutputDef logits_of(const frontend::Model& model) {
  if (!model.train.losses.empty() && !model.train.losses[0].in.empty()) {
    const std::string& loss = model.train.losses[0].in[0].name;
    const frontend::Reference read = frontend::sliced_logits(model, loss).value_or(model.train.losses[0].in[0]);
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

DecodedText decode_text(const frontend::Model& model, const ir::Module& m, const ir::Graph& forward) {
  const frontend::OutputDef& output = model.outputs[0];
  const ir::Graph g = with_lone_texts(model, forward);
  const Roles roles = roles_of_inputs(model, output, g);
  require_logits(model, output, g, roles);
  std::vector<DecodedText> found;
  std::optional<UserError> fault;
  for (const ir::ValueId text : roles.texts) {
    try {
      const int64_t chunk = chunk_of(g[text].type.dims[1], roles.sequences.size() > 1);
      found.push_back(
          {.text = text, .source = {}, .sizes = {}, .chunk = chunk, .decoded = passes::decode(m, g, 0, text, chunk)});
    } catch (const UserError& error) {
      fault = error;
    }
  }
  if (found.empty()) throw UserError(*fault);
  const auto refuse_two = [&](ir::ValueId one, ir::ValueId two) {
    throw UserError(
        place_of_input(model, g[two].name),
        fmt::format("output '{}' depends on '{}' and on '{}': it is unknown what the latter is for the tokens "
                    "that follow",
                    output.name, g[one].name, g[two].name),
        "leave the second input out of the model that generates: parameters stay the same");
  };
  if (found.size() > 1) refuse_two(found[0].text, found[1].text);
  DecodedText& only = found[0];
  for (const ir::ValueId v : roles.sequences) {
    if (v == only.text) continue;
    if (only.source.valid()) refuse_two(only.source, v);
    only.source = v;
  }
  for (const ir::ValueId v : roles.numbers) {
    if (!only.source.valid() || only.sizes.valid()) refuse_two(only.text, v);
    only.sizes = v;
  }
  return std::move(only);
}

}  // namespace heddle::driver
