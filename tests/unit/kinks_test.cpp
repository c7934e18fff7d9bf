// Gradients at kinks, ties and limits: the evaluator's, beside PyTorch's of
// tests/training/reference/kinks.json (see make_kinks.py there), are the table of
// docs/gradients.md.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <regex>
#include <sstream>

#include "frontend/json/json.h"
#include "tests/support/source_dir.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(testing::source_dir() / file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

const Json& member(const Json& object, const std::string& key) {
  for (const Json& item : object.items)
    if (item.key == key) return item;
  static const Json none;
  ADD_FAILURE() << "no " << key;
  return none;
}

double number(const Json& json) {
  if (json.kind == Json::Kind::integer) return static_cast<double>(json.integer);
  if (json.kind == Json::Kind::real) return json.real;
  return json.text == "nan" ? std::nan("") : json.text == "inf" ? HUGE_VAL : -HUGE_VAL;
}
std::vector<double> numbers(const Json& list) {
  std::vector<double> out;
  for (const Json& item : list.items) out.push_back(number(item));
  return out;
}

struct Kink {
  std::string operation, node;
  std::vector<double> x, torch;
};

// The node's text as it stands in the file, with the name "y".
std::vector<Kink> kinks() {
  static Sources sources;
  static const Json all = parse_json(sources.add("kinks.json", text_of("tests/training/reference/kinks.json")));
  std::vector<Kink> list;
  for (const Json& row : all.items) {
    const Json& node = member(row, "node");
    const std::string text = node.where.file->text.substr(node.where.begin, node.where.end - node.where.begin);
    const bool has_results = text.find("\"out\"") != std::string::npos;
    list.push_back({member(row, "operation").text, has_results ? text : R"({"name": "y", )" + text.substr(1),
                    numbers(member(row, "x")), numbers(member(row, "torch"))});
  }
  return list;
}

// By x, of the sum of the result: the step of a descent with rate 1 from a parameter of zeros that is added to x.
std::vector<double> gradient(const Kink& kink) {
  const auto size = std::ssize(kink.x);
  std::string nodes = fmt::format(
      R"({{"name": "p", "op": "param", "shape": [{0}], "init": "zeros"}}, {{"name": "v", "op": "add", "in": ["x", "p"]}}, )",
      size);
  if (kink.node.find("\"a\"") != std::string::npos)
    nodes += R"({"name": "a", "op": "slice", "in": "v", "axis": 1, "stop": 1},
                {"name": "b", "op": "slice", "in": "v", "axis": 1, "start": 1}, )";
  if (kink.node.find("pool1d") != std::string::npos)
    nodes += fmt::format(R"({{"op": "reshape", "shape": ["N", {}, 1]}}, )", size);
  const bool is_loss = kink.node.find("\"loss\"") != std::string::npos;
  nodes += is_loss ? R"({"name": "y", "op": "sub", "in": ["a", "b"]})" : kink.node;
  nodes += R"(, {"name": "loss_of_all", "op": "sum", "in": "y"})";
  const std::string loss = is_loss ? std::regex_replace(kink.node, std::regex(R"("name": "y", "loss")"), R"("op")")
                                   : R"({"op": "value", "in": "loss_of_all"})";
  Training training(model(
      fmt::format(R"("x": {{"shape": ["N", {}]}})", size), nodes,
      fmt::format(R"(, "train": {{"batch": {{"N": 1}}, "loss": {}, "optimizer": {{"op": "sgd", "lr": 1}}}})", loss)));
  ir::Tensor x({ir::DType::f32, {1, size}});
  x.real = kink.x;
  training.step({{"x", x}});
  std::vector<double> out;
  for (const double v : training.states["p"].real) out.push_back(v == 0 ? 0 : -v);
  return out;
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool equal = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    if (!equal && !(std::abs(a[i] - b[i]) <= 1e-12 * std::abs(b[i]))) return false;
  }
  return true;
}

std::string shown(const std::vector<double>& numbers) {
  std::vector<std::string> words;
  for (const double v : numbers) words.push_back(fmt::format("{:.6g}", std::isnan(v) ? std::abs(v) : v));
  return fmt::format("{}", fmt::join(words, ", "));
}

TEST(Kinks, AreThoseOfTheDocument) {
  std::string table;
  for (const Kink& kink : kinks()) {
    const std::vector<double> ours = gradient(kink);
    table += fmt::format("| {} | {} | {} | {} |\n", kink.operation, shown(kink.x), shown(ours),
                         same(ours, kink.torch) ? "the same" : "**" + shown(kink.torch) + "**");
  }
  EXPECT_GE(kinks().size(), 45U);
  EXPECT_NE(text_of("docs/gradients.md").find(table), std::string::npos)
      << "docs/gradients.md does not hold this table:\n"
      << table;
}

}  // namespace
}  // namespace heddle::frontend
