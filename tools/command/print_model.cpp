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

std::string list_text(const std::vector<frontend::Named>& words) {
  std::vector<std::string> texts;
  texts.reserve(words.size());
  for (const frontend::Named& word : words) texts.push_back(word.text);
  return fmt::format("({})", fmt::join(texts, ", "));
}

std::string references_text(const std::vector<frontend::Reference>& in) {
  std::vector<std::string> names;
  names.reserve(in.size());
  for (const frontend::Reference& r : in)
    if (!r.left_out())
      names.push_back((r.port.empty() ? "" : r.port + "=") + (r.literal ? frontend::to_string(*r.literal) : r.name));
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
    text += settings_text(n.with) + settings_text(n.settings);
    if (!n.out.empty()) text += " -> " + list_text(n.out);
    text += "\n";
  }
  return text;
}

std::string block_text(const frontend::Block& block) {
  std::string text = fmt::format("block {}{} -> {}\n", block.name, list_text(block.inputs), block.output.text);
  for (const Json& size : block.let) text += fmt::format("  let {} = {}\n", size.key, json_text(size));
  return text + nodes_text(block.nodes, "  ");
}

std::string value_text(const runtime::data::ReaderValue& value) {
  struct Text {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return runtime::json_number(v); }
    std::string operator()(const std::vector<double>& numbers) const {
      return fmt::format("[{}]", fmt::join(numbers, ", "));
    }
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

std::string draw_text(const std::optional<frontend::ValidationDraw>& draw) {
  if (!draw) return {};
  std::string text = fmt::format(" draw={}", draw->seed);
  if (!draw->by.text.empty()) text += " by=" + draw->by.text;
  if (!draw->group.text.empty()) text += " group=" + draw->group.text;
  return text;
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

std::string map_text(const std::string& input, const ir::DataMap& map) {
  std::string text = fmt::format("map {} {}", input, map.def->name);
  for (const auto& [key, numbers] : map.numbers) {
    std::vector<std::string> texts;
    texts.reserve(numbers.size());
    for (const double number : numbers) texts.push_back(runtime::json_number(number));
    text +=
        texts.size() == 1 ? fmt::format(" {}={}", key, texts[0]) : fmt::format(" {}=[{}]", key, fmt::join(texts, ", "));
  }
  for (const auto& [key, word] : map.words) text += fmt::format(" {}={}", key, runtime::json_quoted(word));
  return text + "\n";
}

std::string optimizer_text(const frontend::Optimizer& optimizer) {
  std::string text = part_text("optimizer", optimizer);
  for (const frontend::OptimizerGroup& group : optimizer.groups)
    text += fmt::format("  group {}{}\n", list_text(group.match), settings_text(group.settings));
  return text;
}

std::string rules_text(const std::string& key, const std::vector<frontend::WeightRule>& rules) {
  std::string text;
  for (const frontend::WeightRule& rule : rules)
    text += fmt::format("{} {} {}{}\n", key, rule.op, list_text(rule.match), settings_text(rule.settings));
  return text;
}

std::string early_stop_text(const frontend::EarlyStop& e) {
  return fmt::format("early_stop on={}{} patience={} min_delta={} restore_best={}\n", e.on,
                     e.mode.empty() ? "" : " mode=" + e.mode, e.patience, e.min_delta, e.restore_best);
}

// What a training does beside its steps; defaults are left out.
std::string training_text(const frontend::Train& t) {
  std::string text;
  if (t.drop_last) text += "drop_last\n";
  if (t.precision != "f32") text += fmt::format("precision {}\n", t.precision);
  if (t.init) text += part_text("init", *t.init);
  if (!t.freeze.empty()) text += fmt::format("freeze {}\n", list_text(t.freeze));
  if (t.lora)
    text += fmt::format("lora rank={} alpha={} dropout={} {}{}\n", t.lora->rank, t.lora->alpha, t.lora->dropout,
                        list_text(t.lora->match), t.lora->train.empty() ? "" : " train=" + list_text(t.lora->train));
  if (t.prune)
    text += fmt::format("prune amount={} begin={} end={} every={} {}\n",
                        t.prune->two_of_four ? "2:4" : fmt::format("{}", t.prune->amount), t.prune->begin, t.prune->end,
                        t.prune->every, list_text(t.prune->match));
  if (t.average) text += fmt::format("average decay={} start={}\n", t.average->decay, t.average->start);
  text += rules_text("regularize", t.regularize) + rules_text("constrain", t.constrain);
  const frontend::CheckpointRule& c = t.checkpoint;
  if (c.steps) text += fmt::format("checkpoint steps={} keep={}\n", *c.steps, c.keep);
  if (c.epochs) text += fmt::format("checkpoint epochs={} keep={}\n", *c.epochs, c.keep);
  if (c.minutes) text += fmt::format("checkpoint minutes={} keep={}\n", *c.minutes, c.keep);
  return t.early_stop ? text + early_stop_text(*t.early_stop) : text;
}

std::string buckets_text(const frontend::Buckets& buckets) {
  std::vector<std::string> by;
  for (const frontend::Named& input : buckets.by) by.push_back(input.text);
  return fmt::format("data buckets by={} let={} lengths={}\n", fmt::join(by, ","), buckets.let.text,
                     fmt::join(buckets.lengths, ","));
}

}  // namespace

std::string print_model(const frontend::Model& m) {
  std::string text = fmt::format("model {} {}\n", m.name, m.layout == frontend::ImageLayout::nhwc ? "NHWC" : "NCHW");
  for (const auto& [name, size] : m.let.names) text += fmt::format("let {} = {}\n", name, frontend::to_string(size));
  for (const frontend::InputDef& input : m.inputs)
    text += fmt::format("input {}: {}{}\n", input.name, ir::to_string(input.dtype), json_text(input.shape));
  for (const auto& [name, block] : m.blocks) text += block_text(block);
  text += nodes_text(m.nodes, "");
  for (const frontend::OutputDef& output : m.outputs)
    text += fmt::format("output {} = {}\n", output.name, output.value.name);
  for (const auto& [name, size] : m.train.sizes) text += fmt::format("size {} = {}\n", name, size);
  if (m.train.epochs) text += fmt::format("epochs {}\n", *m.train.epochs);
  if (m.train.steps) text += fmt::format("steps {}\n", *m.train.steps);
  text += fmt::format("seed {}\n", m.train.seed);
  for (const frontend::Part& loss : m.train.losses) text += part_text("loss", loss);
  for (const frontend::Part& metric : m.train.metrics) text += part_text("metric", metric);
  if (m.train.optimizer) text += optimizer_text(*m.train.optimizer);
  for (const frontend::TrainPhase& phase : m.train.phases) {
    text += fmt::format("phase {} losses={} parameters={} every={}{}\n", phase.name, phase.losses,
                        list_text(phase.parameters), phase.every,
                        phase.clip_norm ? fmt::format(" clip_norm={}", *phase.clip_norm) : "");
    if (phase.optimizer) text += optimizer_text(*phase.optimizer);
  }
  if (m.train.clip_norm) text += fmt::format("clip_norm {}\n", *m.train.clip_norm);
  if (m.train.gradient_norm) text += "gradient_norm\n";
  text += training_text(m.train);
  text += reader_text("train", m.data.train) + reader_text("validation", m.data.validation) +
          reader_text("test", m.data.test);
  if (m.data.validation_fraction > 0)
    text += fmt::format("data validation fraction={}{}\n", m.data.validation_fraction, draw_text(m.data.draw));
  if (m.data.buckets) text += buckets_text(*m.data.buckets);
  for (const auto& [input, maps] : m.data.maps)
    for (const ir::DataMap& map : maps) text += map_text(input, map);
  return text;
}

}  // namespace heddle::tools
