#include "frontend/read/read_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "frontend/json/overrides.h"
#include "frontend/keys/fields.h"
#include "frontend/keys/model_keys.h"
#include "frontend/limits.h"
#include "frontend/read/read_parts.h"

namespace heddle::frontend {
namespace {

constexpr std::string_view kFormat = "heddle-model/1";
constexpr std::string_view kNameRule = "names are letters, digits and '_', at most 128, and do not start with a digit";

void check_format(const Json& value) {
  const std::string& text = as_text(value, "'format'");
  if (text == kFormat) return;
  const bool ours = text.rfind("heddle-model/", 0) == 0;
  throw UserError(value.where,
                  ours ? fmt::format("{} is a version this program does not know; it reads {}", quote(text), kFormat)
                       : fmt::format("expected the format \"{}\", found {}", kFormat, quote(text)));
}

void read_let(const Json& object, Scope& scope, Diagnostics& errors) {
  for (const Json& item : object.items) {
    guarded(errors, [&] {
      check_name(item.key, item.key_where, "size");
      scope.names[item.key] = evaluate_number(item, scope, fmt::format("let: '{}'", item.key));
    });
  }
}

void check_shape(const Json& shape, const std::string& what) {
  if (shape.items.empty())
    throw UserError(shape.where, what + " has no dimensions", "the first is the batch, such as \"N\"");
  if (shape.items.size() > kMaxRank)
    throw UserError(shape.where, fmt::format("{} has more than {} dimensions", what, kMaxRank));
}

InputDef read_input(const Json& json, const Scope& scope, Diagnostics& errors) {
  InputDef input;
  input.name = json.key;
  input.where = json.key_where;
  guarded(errors, [&] { check_value_name(json.key, json.key_where, "input"); });
  const Fields fields(json, input_keys(), fmt::format("input {}", quote(json.key)), scope, errors);
  fields.read("shape", [&](const Json& shape) {
    check_shape(shape, fields.named("shape"));
    input.shape = shape;
  });
  fields.read("dtype", [&](const Json& dtype) { input.dtype = read_dtype(dtype, fields.named("dtype")); });
  return input;
}

// The batch dimension: the first of every input, a name that no size has.
void find_batch_dimension(Model& model, Diagnostics& errors) {
  for (const InputDef& input : model.inputs) {
    if (input.shape.items.empty()) continue;
    const Json& first = input.shape.items.front();
    const bool name = first.kind == Json::Kind::text && is_name(first.text);
    if (name && model.let.find(first.text)) {
      errors.error(first.where,
                   fmt::format("input '{}': the first dimension is the batch, and {} is a size of \"let\"", input.name,
                               quote(first.text)),
                   "\"train\": {\"batch\": {NAME: rows}} says how many rows a batch has; take a name that \"let\" does "
                   "not have");
    } else if (!name) {
      errors.error(first.where,
                   fmt::format("input '{}': the first dimension is the batch: expected a name such as \"N\", found {}",
                               input.name, describe(first)));
    } else if (model.batch_dimension.empty()) {
      model.batch_dimension = first.text;
    } else if (model.batch_dimension != first.text) {
      errors.error(first.where,
                   fmt::format("input '{}': the first dimension must be the batch '{}' of the inputs before, is {}",
                               input.name, model.batch_dimension, quote(first.text)));
    }
  }
}

void read_inputs(const Json& object, Model& model, Diagnostics& errors) {
  if (object.items.empty()) errors.error(object.where, "a model needs at least one input");
  for (const Json& item : object.items) model.inputs.push_back(read_input(item, model.let, errors));
  find_batch_dimension(model, errors);
}

void read_block_inputs(const Json& list, const std::string& what, Block& block, Diagnostics& errors) {
  for (const Json& item : list.items) {
    block.inputs.push_back({item.text, item.where});  // counts as one, readable or not
    guarded(errors, [&] { check_value_name(as_text(item, what), item.where, "block input"); });
  }
  if (block.inputs.empty()) throw UserError(list.where, what + " is empty");
}

Block read_block(const Json& json, const Scope& scope, Diagnostics& errors) {
  Block block;
  block.name = json.key;
  block.where = json.key_where;
  guarded(errors, [&] { check_name(json.key, json.key_where, "block"); });
  const Fields fields(json, block_keys(), fmt::format("block {}", quote(json.key)), scope, errors);
  fields.read("inputs", [&](const Json& inputs) { read_block_inputs(inputs, fields.named("inputs"), block, errors); });
  fields.read("nodes", [&](const Json& nodes) { block.nodes = read_nodes(nodes, errors); });
  fields.read("output", [&](const Json& output) { block.output = {output.text, output.where}; });
  fields.read("let", [&](const Json& let) { block.let = let.items; });
  return block;
}

void read_blocks(const Json& object, Model& model, Diagnostics& errors) {
  for (const Json& item : object.items) model.blocks[item.key] = read_block(item, model.let, errors);
}

void read_outputs(const Json& object, Model& model, Diagnostics& errors) {
  for (const Json& item : object.items) {
    guarded(errors, [&] {
      check_name(item.key, item.key_where, "output");
      Reference value;
      value.name = as_text(item, fmt::format("output '{}'", item.key));
      value.where = item.where;
      model.outputs.push_back({item.key, value});
    });
  }
}

// A model's name stands in texts alone, and is no name of a value: "resnet-18".
void check_model_name(const std::string& name, const Location& where) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const bool known = std::ranges::all_of(name, [&](char c) { return is_plain(c) || c == '-' || c == '.'; });
  if (!name.empty() && name.size() <= kMaxNameBytes && is_plain(name.front()) && known) return;
  throw UserError(where, fmt::format("{} cannot name a model", quote(name)),
                  fmt::format("a model's name is letters, digits, '_', '-' and '.', at most {}, and begins with a "
                              "letter, a digit or '_'",
                              kMaxNameBytes));
}

void read_header(const Fields& fields, Model& model, Diagnostics& errors) {
  fields.read("format", check_format);
  fields.read("name", [&](const Json& name) {
    model.name = name.text;
    check_model_name(model.name, name.where);
  });
  std::string layout;
  fields.read("layout", layout);
  model.layout = layout == "NCHW" ? ImageLayout::nchw : ImageLayout::nhwc;
  fields.read("let", [&](const Json& let) { read_let(let, model.let, errors); });
}

// A key whose value is null counts as absent; that the format has it is checked where the object is read.
void set_nulls_apart(Json& json) {
  if (json.kind == Json::Kind::object) {
    const auto null = [](const Json& member) { return member.kind == Json::Kind::null; };
    std::ranges::copy_if(json.items, std::back_inserter(json.nulls), null);
    std::erase_if(json.items, null);
  }
  for (Json& item : json.items) set_nulls_apart(item);
}

// Of a tree without overrides and null members.
Model read_tree(const Json& root, Diagnostics& errors) {
  Model model;
  const Fields fields(root, model_keys(), "the model", model.let, errors);
  read_header(fields, model, errors);
  fields.read("inputs", [&](const Json& inputs) { read_inputs(inputs, model, errors); });
  if (model.inputs.empty()) errors.throw_if_any();  // whatever else the model says is about them
  fields.read("blocks", [&](const Json& blocks) { read_blocks(blocks, model, errors); });
  fields.read("nodes", [&](const Json& nodes) { model.nodes = read_nodes(nodes, errors); });
  take_shares(model, errors);
  fields.read("outputs", [&](const Json& outputs) { read_outputs(outputs, model, errors); });
  fields.read("train", [&](const Json& train) { model.train = read_train(train, model, errors); });
  fields.read("data", [&](const Json& data) { model.data = read_data(data, model, errors); });
  fields.read("weights", [&](const Json& weights) { model.weights = read_weights_table(weights, model, errors); });
  check_references(model, errors);
  return model;
}

// What is a fault at another length alone is told of that length.
void read_shorter(const Json& root, Model& model) {
  const Buckets& buckets = *model.data.buckets;
  for (const int64_t length : buckets.lengths) {
    Diagnostics errors;
    try {
      Model shorter = read_tree(shortened(root, buckets, length), errors);
      errors.throw_if_any();
      shorter.length = length;
      model.shorter.push_back(std::move(shorter));
    } catch (const UserError& error) {
      throw at_length(error, buckets, length);
    }
  }
}

}  // namespace

void check_name(const std::string& name, const Location& where, const std::string& what) {
  if (is_name(name)) return;
  throw UserError(
      where, fmt::format("{} cannot name a{} {}", quote(name), what == "input" || what == "output" ? "n" : "", what),
      std::string(kNameRule));
}

void check_value_name(const std::string& name, const Location& where, const std::string& what) {
  check_name(name, where, what);
  static const std::set<std::string, std::less<>> reserved = {"loss", "lr", "seed", "step"};
  if (reserved.count(name) != 0) throw UserError(where, fmt::format("'{}' is reserved for the training step", name));
}

Number evaluate_number(const Json& value, const Scope& scope, const std::string& what) {
  if (value.kind == Json::Kind::text) return evaluate(value.text, scope, value.where);
  if (value.kind == Json::Kind::integer) return value.integer;
  return as_real(value, what);
}

ir::DType read_dtype(const Json& value, const std::string& what) {
  const std::string& text = as_text(value, what);
  std::vector<std::string> known;
  for (const ir::DType dtype : ir::all_dtypes()) known.push_back(ir::to_string(dtype));
  const auto dtype = ir::parse_dtype(text);
  if (!dtype)
    throw UserError(value.where, fmt::format("{}: {} is not a type", what, quote(text)), suggest(text, known));
  return *dtype;
}

Model read_model(Sources& sources, const SourceFile& file, const ReadOptions& options) {
  Model model = read_model(sources, parse_json(file), options);
  model.file = &file;
  for (Model& shorter : model.shorter) shorter.file = &file;
  return model;
}

Model read_model(Sources& sources, Json root, const ReadOptions& options) {
  Diagnostics errors;
  apply_overrides(root, options, sources, errors);
  errors.throw_if_any();
  set_nulls_apart(root);

  Model model = read_tree(root, errors);
  // Of the model as it is written: an override may take away what "small" changes.
  if (errors.empty() && !options.small && options.set.empty()) check_small(root, errors);
  errors.throw_if_any();
  if (model.data.buckets) read_shorter(root, model);
  return model;
}

Model read_model(Sources& sources, const std::string& path, const ReadOptions& options) {
  return read_model(sources, sources.open(path), options);
}

}  // namespace heddle::frontend
