// Each name of another framework where it is written: the message is the table's, and what it says
// to write instead is accepted in its place. tests/unit/Inputs/foreign_places.txt holds the places.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "frontend/read/foreign_names.h"
#include "frontend/training/training_plan.h"
#include "tests/support/source_dir.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

// A line of the file.
struct ForeignPlace {
  std::string place, text;
  std::string instead;  // what follows the advice; "" where the name alone is another
};
using Key = std::pair<std::string, std::string>;  // the row's first name, and what is meant

std::vector<std::string> split(const std::string& line, const std::string& between) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t at = 0; (at = line.find(between, begin)) != std::string::npos; begin = at + between.size())
    parts.push_back(line.substr(begin, at - begin));
  parts.push_back(line.substr(begin));
  return parts;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

std::map<Key, std::vector<ForeignPlace>> read_places() {
  std::map<Key, std::vector<ForeignPlace>> places;
  std::ifstream in(testing::source_dir() / "tests/unit/Inputs/foreign_places.txt");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> parts = split(line, " | ");
    const std::vector<std::string> key = split(parts.at(1), " > ");
    places[{key.at(0), key.at(1)}].push_back({parts[0], parts.at(2), parts.size() > 3 ? parts[3] : ""});
  }
  return places;
}

// What parts of models read, each where it is named.
const std::vector<std::pair<std::string, std::string>> kInputs = {
    {"x", R"({"shape": ["N", 6]})"},
    {"t", R"({"shape": ["N", 6]})"},
    {"image", R"({"shape": ["N", 8, 8, 4]})"},
    {"colours", R"({"shape": ["N", 8, 8, 3]})"},
    {"sequence", R"({"shape": ["N", 8, 4]})"},
    {"volume", R"({"shape": ["N", 4, 4, 4, 2]})"},
    {"ids", R"({"shape": ["N", 3], "dtype": "i32"})"},
    {"label", R"({"shape": ["N"], "dtype": "i32"})"},
    {"flag", R"({"shape": ["N", 1], "dtype": "i32"})"},
    {"pairs", R"({"shape": ["N", 5, 2], "dtype": "i32"})"},
    {"singles", R"({"shape": ["N", 5, 1], "dtype": "i32"})"},
    {"fives", R"({"shape": ["N", 5]})"}};
const std::vector<std::pair<std::string, std::string>> kNodes = {
    {"table", R"("op": "param", "shape": [3, 6])"},
    {"place", R"("op": "constant", "value": 1, "dtype": "i32", "shape": [2])"},
    {"updates", R"("op": "param", "shape": [2, 6])"},
    {"mask", R"("op": "gt", "in": ["x", 0.5])"},
    {"fc", R"("op": "dense", "in": "x", "units": 3)"},
    {"one", R"("op": "dense", "in": "x", "units": 1)"},
    {"logs", R"("op": "log_softmax", "in": "fc")"},
    {"probabilities", R"("op": "softmax", "in": "fc")"},
    {"six", R"("op": "dense", "in": "x", "units": 6)"},
    {"steps", R"("op": "embedding", "in": "ids", "vocab": 3, "units": 3)"},
    {"boxes", R"("op": "dense", "in": "image", "units": 4)"},
    {"number", R"("op": "mean", "in": "fc")"}};

struct Parts {
  std::string nodes, train, top, input, data, reads;
  std::string loss = R"({"op": "value", "in": "number"})", optimizer = R"("sgd")", metrics, init;
};

std::string whole(const Parts& p) {
  const std::string reads = p.nodes + p.loss + p.metrics + R"("x" "number" "fc" )" + p.reads;
  const auto named = [&](const std::string& name) { return reads.find('"' + name + '"') != std::string::npos; };
  std::string inputs, nodes;
  for (const auto& [name, text] : kInputs)
    if (named(name)) inputs += fmt::format("{}\"{}\": {}", inputs.empty() ? "" : ", ", name, text);
  if (!p.input.empty()) inputs += ", \"z\": " + p.input;
  for (const auto& [name, text] : kNodes)
    if (named(name)) nodes += fmt::format("{}{{\"name\": \"{}\", {}}}", nodes.empty() ? "" : ", ", name, text);
  if (!p.init.empty()) nodes += R"(, {"name": "h", "op": "dense", "in": "x", "units": 6, "init": )" + p.init + "}";
  if (!p.nodes.empty()) nodes += ", " + p.nodes;
  const std::string data = p.input.empty() ? p.data : replaced(p.data, R"("x": "x")", R"("x": "x", "z": "z")");
  const bool lasts = p.train.find("\"steps\"") != std::string::npos || p.train.find("\"epochs\"") != std::string::npos;
  const std::string batch = p.train.find("\"batch\"") == std::string::npos ? R"("batch": {"N": 4}, )" : "";
  return fmt::format(
      R"({{"format": "heddle-model/1", "name": "m", "inputs": {{{}}}, "nodes": [{}], {}{}"train": {{{}{}"loss": [{}], "optimizer": {}{}{}}}}})",
      inputs, nodes, data.empty() ? "" : data + ", ", p.top.empty() ? "" : p.top + ", ", batch,
      lasts ? "" : R"("steps": 100, )", p.loss, p.optimizer,
      p.metrics.empty() ? "" : ", \"metrics\": [" + p.metrics + "]", p.train.empty() ? "" : ", " + p.train);
}

void put(Parts& p, const std::string& place, const std::string& text) {
  if (place == "node") p.nodes = text;
  if (place == "loss") p.loss = text;
  if (place == "metric") p.metrics = text;
  if (place == "optimizer") p.optimizer = text;
  if (place == "schedule") p.optimizer = R"({"op": "sgd", "lr": )" + text + "}";
  if (place == "initializer") p.init = text;
  if (place == "train") p.train = text;
  if (place == "top") p.top = text;
  if (place == "input") p.input = text;
  if (place == "reader") p.data = R"("data": {"train": )" + text + "}";
  if (place != "map") return;
  static const std::regex of_pictures(
      "flip|crop|cutout|resize|eras|mix|pad|rotat|affine|perspective|jitter|blur|augment");
  const std::string picture = text.find("gray") != std::string::npos ? "colours"
                              : std::regex_search(text, of_pictures) ? "image"
                                                                     : "";
  if (!picture.empty()) p.reads = "\"" + picture + "\"";
  p.data = fmt::format(R"("data": {{"train": {{"op": "npz", "file": "a.npz", "x": "x"{}}}, "map": {{"{}": [{}]}}}})",
                       picture.empty() ? "" : fmt::format(R"(, "{0}": "{0}")", picture),
                       picture.empty() ? "x" : picture, text);
}

// Texts with their places, as one model.
std::string model_at(const std::vector<std::pair<std::string, std::string>>& texts) {
  Parts p;
  for (const auto& [place, text] : texts) {
    const std::string full = replaced(text, "Y:", R"("name": "y", "op":)");
    if (place == "whole") return full;
    put(p, place, full);
  }
  return whole(p);
}

std::string errors_of(const std::string& text) {
  try {
    Sources sources;
    const Model model = read_model(sources, sources.add("m.json", text), {});
    (void)plan_training(model);
    build(text);
  } catch (const UserError& error) {
    std::string all;
    for (const Diagnostic& d : error.diagnostics()) all += d.message + "\nhelp: " + d.help + "\n";
    return all;
  }
  return "";
}

// "TEXT ; train: TEXT" -> each with its place: the line's where none is said.
std::vector<std::pair<std::string, std::string>> parts_of(const ForeignPlace& p) {
  static const std::vector<std::string> kPlaces = {"node",   "loss", "metric", "optimizer", "schedule", "initializer",
                                                   "reader", "map",  "input",  "train",     "top"};
  std::vector<std::pair<std::string, std::string>> parts;
  for (const std::string& text : split(p.instead, " ; ")) {
    const auto place =
        std::ranges::find_if(kPlaces, [&](const std::string& name) { return text.starts_with(name + ": "); });
    if (place == kPlaces.end())
      parts.emplace_back(p.place, text);
    else
      parts.emplace_back(*place, text.substr(place->size() + 2));
  }
  return parts;
}

// Keys, operations and values of settings that the advice shows in quotes are in the model that follows it.
void expect_follows(std::string_view advice, const std::string& model, const std::string& name) {
  const std::string all(advice);
  static const std::regex quoted("\"[a-z_]+\"");
  for (std::sregex_iterator it(all.begin(), all.end(), quoted), end; it != end; ++it)
    EXPECT_NE(model.find(it->str()), std::string::npos)
        << name << ": the advice has " << it->str() << ", not " << model;
}

class ForeignPlaces : public ::testing::Test {
 protected:
  const std::map<Key, std::vector<ForeignPlace>> places_ = read_places();
};

TEST_F(ForeignPlaces, AreThereForEachRow) {
  std::set<Key> rows;
  for (const ForeignName& row : foreign_names())
    for (const std::string_view ours : row.ours) {
      const Key key{std::string(row.names.front()), std::string(ours)};
      rows.insert(key);
      EXPECT_EQ(places_.count(key), 1U) << "no line for " << key.first << " > " << key.second;
    }
  for (const auto& [key, list] : places_)
    EXPECT_EQ(rows.count(key), 1U) << "no row " << key.first << " > " << key.second;
}

TEST_F(ForeignPlaces, AreAnsweredByTheTable) {
  for (const ForeignName& row : foreign_names())
    for (const std::string_view ours : row.ours) {
      const auto found = places_.find({std::string(row.names.front()), std::string(ours)});
      if (found == places_.end()) continue;
      for (const ForeignPlace& p : found->second)
        for (const std::string_view name : row.names) {
          const std::string hint =
              row.advice.empty() ? fmt::format("'{}' is called '{}' here", name, ours) : std::string(row.advice);
          const std::string errors = errors_of(model_at({{p.place, replaced(p.text, "@", std::string(name))}}));
          EXPECT_NE(errors.find("help: " + hint), std::string::npos) << name << " in " << p.text << "\n" << errors;
        }
    }
}

TEST_F(ForeignPlaces, TakeWhatIsSaid) {
  for (const ForeignName& row : foreign_names())
    for (const std::string_view ours : row.ours) {
      const auto found = places_.find({std::string(row.names.front()), std::string(ours)});
      if (found == places_.end()) continue;
      for (const ForeignPlace& p : found->second) {
        EXPECT_EQ(row.advice.empty(), p.instead.empty()) << row.names.front();
        const std::string model = model_at(
            row.advice.empty()
                ? std::vector<std::pair<std::string, std::string>>{{p.place, replaced(p.text, "@", std::string(ours))}}
                : parts_of(p));
        expect_follows(row.advice, model, std::string(row.names.front()));
        EXPECT_EQ(errors_of(model), "") << row.names.front() << " > " << ours << ": " << model;
      }
    }
}

}  // namespace
}  // namespace heddle::frontend
