#include "frontend/read_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "frontend/fields.h"
#include "frontend/limits.h"
#include "frontend/overrides.h"
#include "frontend/read_parts.h"

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
  guarded(errors, [&] { as_object(object, "'let'"); });
  if (object.kind != Json::Kind::object) return;
  for (const Json& item : object.items) {
    guarded(errors, [&] {
      check_name(item.key, item.key_where, "size");
      scope.names[item.key] = evaluate_number(item, scope, fmt::format("let: '{}'", item.key));
    });
  }
}

InputDef read_input(const Json& json, Diagnostics& errors) {
  InputDef input;
  input.name = json.key;
  input.where = json.key_where;
  guarded(errors, [&] { check_value_name(json.key, json.key_where, "input"); });
  Fields fields(json, fmt::format("input {}", quote(json.key)), errors);
  if (const Json* shape = fields.require("shape")) {
    guarded(errors, [&] {
      as_list(*shape, fields.named("shape"));
      if (shape->items.empty()) {
        throw UserError(shape->where, fields.named("shape") + " has no dimensions",
                        "the first is the batch, such as \"N\"");
      }
      if (shape->items.size() > kMaxRank) {
        throw UserError(shape->where, fmt::format("{} has more than {} dimensions", fields.named("shape"), kMaxRank));
      }
      input.shape = *shape;
    });
  }
  if (const Json* dtype = fields.take("dtype")) {
    guarded(errors, [&] { input.dtype = read_dtype(*dtype, fields.named("dtype")); });
  }
  fields.finish();
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
  guarded(errors, [&] { as_object(object, "'inputs'"); });
  if (object.kind != Json::Kind::object) return;
  if (object.items.empty()) errors.error(object.where, "a model needs at least one input");
  for (const Json& item : object.items) model.inputs.push_back(read_input(item, errors));
  find_batch_dimension(model, errors);
}

Block read_block(const Json& json, Diagnostics& errors) {
  Block block;
  block.name = json.key;
  block.where = json.key_where;
  guarded(errors, [&] { check_name(json.key, json.key_where, "block"); });
  Fields fields(json, fmt::format("block {}", quote(json.key)), errors);
  if (const Json* inputs = fields.require("inputs")) {
    guarded(errors, [&] {
      for (const Json& item : as_list(*inputs, fields.named("inputs")).items) {
        block.inputs.push_back({item.text, item.where});  // counts as one, readable or not
        guarded(errors, [&] { check_value_name(as_text(item, fields.named("inputs")), item.where, "block input"); });
      }
      if (block.inputs.empty()) throw UserError(inputs->where, fields.named("inputs") + " is empty");
    });
  }
  if (const Json* nodes = fields.require("nodes")) block.nodes = read_nodes(*nodes, errors);
  if (const Json* output = fields.require("output")) {
    guarded(errors, [&] { block.output = {as_text(*output, fields.named("output")), output->where}; });
  }
  if (const Json* let = fields.take("let")) {
    guarded(errors, [&] { block.let = as_object(*let, fields.named("let")).items; });
  }
  fields.finish();
  return block;
}

void read_blocks(const Json& object, Model& model, Diagnostics& errors) {
  guarded(errors, [&] { as_object(object, "'blocks'"); });
  if (object.kind != Json::Kind::object) return;
  for (const Json& item : object.items) model.blocks[item.key] = read_block(item, errors);
}

void read_outputs(const Json& object, Model& model, Diagnostics& errors) {
  guarded(errors, [&] { as_object(object, "'outputs'"); });
  if (object.kind != Json::Kind::object) return;
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

void read_layout(const Json& json, Model& model) {
  require_word(json, {"NHWC", "NCHW"}, "'layout'");
  model.layout = json.text == "NHWC" ? Layout::nhwc : Layout::nchw;
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

void read_header(Fields& fields, Model& model) {
  if (const Json* format = fields.require("format", fmt::format("write \"format\": \"{}\"", kFormat))) {
    fields.guard([&] { check_format(*format); });
  }
  fields.take("$schema");
  fields.take("small");
  if (const Json* name = fields.require("name", "for example \"name\": \"mnist\"")) {
    fields.guard([&] {
      model.name = as_text(*name, "'name'");
      check_model_name(model.name, name->where);
    });
  }
  if (const Json* layout = fields.take("layout")) fields.guard([&] { read_layout(*layout, model); });
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
  return model;
}

Model read_model(Sources& sources, Json root, const ReadOptions& options) {
  Diagnostics errors;
  apply_overrides(root, options, sources, errors);
  errors.throw_if_any();
  set_nulls_apart(root);

  Model model;
  Fields fields(root, "the model", errors);
  read_header(fields, model);
  if (const Json* let = fields.take("let")) read_let(*let, model.let, errors);
  if (const Json* inputs = fields.require("inputs", R"(for example "inputs": {"x": {"shape": ["N", 4]}})"))
    read_inputs(*inputs, model, errors);
  // Whatever else the model says is about them.
  if (model.inputs.empty()) {
    fields.require("nodes");
    for (const char* key : {"blocks", "outputs", "train", "data"}) fields.take(key);
    fields.finish();
    errors.throw_if_any();
  }
  if (const Json* blocks = fields.take("blocks")) read_blocks(*blocks, model, errors);
  if (const Json* nodes = fields.require("nodes")) model.nodes = read_nodes(*nodes, errors);
  if (const Json* outputs = fields.take("outputs")) read_outputs(*outputs, model, errors);
  if (const Json* train = fields.take("train")) model.train = read_train(*train, model, errors);
  if (const Json* data = fields.take("data")) model.data = read_data(*data, model, errors);
  fields.finish();
  check_references(model, errors);
  errors.throw_if_any();
  return model;
}

Model read_model(Sources& sources, const std::string& path, const ReadOptions& options) {
  return read_model(sources, sources.open(path), options);
}

}  // namespace heddle::frontend
