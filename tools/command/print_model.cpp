#include "tools/command/print_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/json_text.h"

namespace heddle::tools {
namespace {

using frontend::Json;

std::string json_text(const Json& value) {
  std::vector<std::string> items;
  switch (value.kind) {
    case Json::Kind::null: return "null";
    case Json::Kind::flag: return value.flag ? "true" : "false";
    case Json::Kind::integer: return std::to_string(value.integer);
    case Json::Kind::big:
    case Json::Kind::real: return runtime::json_number(value.real);
    case Json::Kind::text: return runtime::json_quoted(value.text);
    case Json::Kind::list:
      for (const Json& item : value.items) items.push_back(json_text(item));
      return fmt::format("[{}]", fmt::join(items, ", "));
    case Json::Kind::object: break;
  }
  for (const Json& item : value.items) items.push_back(runtime::json_quoted(item.key) + ": " + json_text(item));
  return fmt::format("{{{}}}", fmt::join(items, ", "));
}

std::string settings_text(const std::vector<Json>& settings) {
  std::string text;
  for (const Json& s : settings) text += fmt::format(" {}={}", s.key, json_text(s));
  return text;
}

std::string references_text(const std::vector<frontend::Reference>& in) {
  std::vector<std::string> names;
  names.reserve(in.size());
  for (const frontend::Reference& r : in) names.push_back(r.name.empty() ? "(number)" : r.name);
  return fmt::format("({})", fmt::join(names, ", "));
}

std::string part_text(const std::string& kind, const frontend::Part& part) {
  return fmt::format("{} {}{}{}\n", kind, part.op, part.in.empty() ? "" : references_text(part.in),
                     (part.weights ? " weights=" + part.weights->name : "") + settings_text(part.settings));
}

std::string nodes_text(const std::vector<frontend::NodeDef>& nodes, const std::string& indent) {
  std::string text;
  for (const frontend::NodeDef& n : nodes) {
    text += fmt::format("{}{} = {}{}{}", indent, n.name.empty() ? "-" : n.name, n.block ? "block:" : "", n.op,
                        references_text(n.in));
    if (n.repeat) text += " repeat=" + json_text(*n.repeat);
    text += settings_text(n.with) + settings_text(n.settings) + "\n";
  }
  return text;
}

std::string value_text(const runtime::data::ReaderValue& value) {
  struct Text {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return runtime::json_number(v); }
    std::string operator()(const std::vector<std::string>& words) const {
      std::vector<std::string> quoted;
      quoted.reserve(words.size());
      for (const std::string& word : words) quoted.push_back(runtime::json_quoted(word));
      return quoted.size() == 1 ? quoted[0] : fmt::format("[{}]", fmt::join(quoted, ", "));
    }
    std::string operator()(const runtime::data::ClassNames& names) const {
      std::vector<std::string> items;
      for (const auto& [input, list] : names)
        items.push_back(fmt::format("{}: {}", input, list.empty() ? "sorted" : (*this)(list)));
      return fmt::format("{{{}}}", fmt::join(items, ", "));
    }
  };
  return std::visit(Text{}, value);
}

std::string reader_text(const std::string& split, const std::optional<frontend::DataReader>& reader) {
  if (!reader) return {};
  std::string text = fmt::format("data {} {}", split, reader->op);
  for (const auto& setting : reader->settings) text += fmt::format(" {}={}", setting.key, value_text(setting.value));
  for (const auto& [input, words] : reader->columns) {
    std::vector<std::string> sources;
    for (const frontend::Named& word : words) sources.push_back(word.text);
    text += fmt::format(" {}={}", input, value_text(sources));
  }
  return text + "\n";
}

}  // namespace

std::string print_model(const frontend::Model& m) {
  std::string text = fmt::format("model {} {}\n", m.name, m.layout == frontend::Layout::nhwc ? "NHWC" : "NCHW");
  for (const frontend::InputDef& input : m.inputs)
    text += fmt::format("input {}: {}{}\n", input.name, ir::to_string(input.dtype), json_text(input.shape));
  for (const auto& [name, block] : m.blocks) text += fmt::format("block {}\n{}", name, nodes_text(block.nodes, "  "));
  text += nodes_text(m.nodes, "");
  for (const frontend::OutputDef& output : m.outputs)
    text += fmt::format("output {} = {}\n", output.name, output.value.name);
  for (const auto& [name, size] : m.train.sizes) text += fmt::format("size {} = {}\n", name, size);
  if (m.train.epochs) text += fmt::format("epochs {}\n", *m.train.epochs);
  if (m.train.steps) text += fmt::format("steps {}\n", *m.train.steps);
  text += fmt::format("seed {}\n", m.train.seed);
  for (const frontend::Part& loss : m.train.losses) text += part_text("loss", loss);
  for (const frontend::Part& metric : m.train.metrics) text += part_text("metric", metric);
  if (m.train.optimizer) text += part_text("optimizer", *m.train.optimizer);
  if (m.train.clip_norm) text += fmt::format("clip_norm {}\n", *m.train.clip_norm);
  if (m.train.gradient_norm) text += "gradient_norm\n";
  text += reader_text("train", m.data.train) + reader_text("validation", m.data.validation) +
          reader_text("test", m.data.test);
  if (m.data.validation_fraction > 0) text += fmt::format("data validation fraction={}\n", m.data.validation_fraction);
  return text;
}

}  // namespace heddle::tools
