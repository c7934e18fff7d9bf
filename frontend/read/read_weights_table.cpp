// The section `weights`: the names of parameters in files of other programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/keys/fields.h"
#include "frontend/keys/model_keys.h"
#include "frontend/read/read_parts.h"

namespace heddle::frontend {
namespace {

// The parameter's name holds what the tensor's holds, so that either tells the other.
NamePattern read_target(const Named& to, const RenamedTensor& of, const std::string& title) {
  NamePattern pattern = read_name_pattern(to.text, to.where, title);
  const std::vector<std::string> here = held_words(pattern), there = held_words(of.from_pattern);
  if (here == there) return pattern;
  const auto listed = [](const std::vector<std::string>& words) {
    return words.empty() ? std::string("nothing") : fmt::format("{{{}}}", fmt::join(words, "} and {"));
  };
  throw UserError(to.where, fmt::format("{}: {} holds {}, expected {}, as the tensor's name", title, quote(to.text),
                                        listed(here), listed(there)));
}

// "name" or {"to": "name", "transpose": true}
RenamedTensor read_renamed(const Json& json, const Model& model, Diagnostics& errors) {
  const std::string title = fmt::format("weights: {}", quote(json.key));
  RenamedTensor renamed;
  renamed.from = {json.key, json.key_where};
  if (json.kind == Json::Kind::text) {
    renamed.to = {{json.text, json.where}};
  } else {
    if (json.kind != Json::Kind::object)
      throw UserError(json.where, fmt::format("{}: expected a name or an object, found {}", title, describe(json)),
                      renamed_keys().front().hint);
    const Fields fields(json, renamed_keys(), title, model.let, errors);
    fields.read("to", [&](const Json& to) { renamed.to = read_globs(to, fields.named("to")); });
    fields.read("transpose", renamed.transpose);
    fields.read("part", renamed.part);
    if (renamed.part && renamed.to.size() > 1)
      throw UserError(json.find("part")->key_where, fmt::format("{}: a tensor is cut, or is a part", title),
                      "give one name in 'to', or leave out 'part'");
  }
  renamed.from_pattern = read_name_pattern(json.key, json.key_where, "weights");
  for (const Named& to : renamed.to) renamed.to_patterns.push_back(read_target(to, renamed, title));
  return renamed;
}

}  // namespace

// {"prefix": "transformer.", "names": {"h.{i}.mlp.{p}": "h.{i}.fc.{p}"}, "ignore": ["*.mask"], "missing": ["head.*"]}
WeightsTable read_weights_table(const Json& json, const Model& model, Diagnostics& errors) {
  WeightsTable table;
  table.where = json.key_where;
  const Fields fields(json, weights_keys(), "weights", model.let, errors);
  if (!fields.is_object()) return table;
  const auto globs = [&](const char* key, std::vector<Named>& to) {
    fields.read(key, [&](const Json& value) { to = read_globs(value, fields.named(key)); });
  };
  globs("prefix", table.prefix);
  globs("ignore", table.ignore);
  globs("missing", table.missing);
  for (const Named& prefix : table.prefix)
    if (prefix.text.empty()) errors.error(prefix.where, "weights: 'prefix' is empty", "leave it out");
  fields.read("names", [&](const Json& names) {
    for (const Json& item : names.items)
      guarded(errors, [&] { table.names.push_back(read_renamed(item, model, errors)); });
  });
  return table;
}

}  // namespace heddle::frontend
