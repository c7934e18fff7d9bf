#include "tools/command/model_schema.h"

#include <fmt/format.h>

#include <functional>

#include "frontend/reference.h"
#include "ir/type.h"
#include "runtime/data/reader_def.h"
#include "runtime/json_text.h"
#include "tools/command/key_schema.h"

namespace heddle::tools {
namespace {

using frontend::Keys;
using frontend::ReferenceEntry;
using namespace schema;  // NOLINT: this file writes little else

// The names of a family, and what follows from each.
struct Family {
  std::vector<std::string> names, rules;
};

Family family(const std::string& kind, const std::function<std::string(const ReferenceEntry&)>& rule) {
  Family all;
  for (const ReferenceEntry& e : frontend::reference_entries())
    if (e.kind == kind) all.names.push_back(e.name), all.rules.push_back(rule(e));
  return all;
}

// What the op of the entry has: what all of its family have, and its settings; `others` and `instead` as schema::when.
std::string rule(const ReferenceEntry& e, Keys common, const std::string& others = {},
                 const std::string& instead = {}) {
  Properties all{{{"op", "{}"}}, {}};
  for (const ir::Key& key : common)
    if (key.name != "op") all.add({&key, 1});
  all.add(e.settings);
  return when_op(e.name, e.doc, all.members, all.required, others, instead);
}

// Every kind of part that may be a bare name, but nodes.
std::string part(const std::string& kind) {
  const Family all = family(kind, [](const ReferenceEntry& e) { return rule(e, {}); });
  return named(all.names, all.rules);
}

// A loss or a metric, which says what it reads, or a rule of parameters, which says of which: no bare name stands for it.
std::string measure(const std::string& kind, Keys common) {
  const Family all = family(kind, [&](const ReferenceEntry& e) { return rule(e, common); });
  return by_op(object({{"enum", words(all.names)}}), all.rules);
}

std::string node() {
  Family all =
      family("layer", [](const ReferenceEntry& e) { return rule(e, frontend::node_keys(), {}, /*instead=*/"share"); });
  const std::string pattern = object({{"pattern", "\"^block:\""}});
  Properties use;
  use.add(frontend::node_keys()).add(frontend::use_keys());
  all.rules.push_back(when(pattern, {}, use.members, {}));
  const std::string block = object({{"type", "\"string\""}, {"pattern", "\"^block:\""}});
  const std::string op = one_of({object({{"enum", words(all.names)}}), block});
  return one_of({op, by_op(op, all.rules)});
}

// Other keys than those of the reader are the model's inputs, which only the model knows; what they say has a type.
std::string reader() {
  const Family all = family("reader", [](const ReferenceEntry& e) {
    return rule(e, {}, of_key(runtime::data::find_reader(e.name)->column));
  });
  return by_op(object({{"enum", words(all.names)}}), all.rules);
}

// The optimizer, whose groups have its settings and say which parameters they are for.
std::string optimizer() {
  const Family all = family("optimizer", [](const ReferenceEntry& e) {
    Properties group, own{{{"op", "{}"}}, {}};
    group.add(frontend::group_keys()).add(e.settings);
    const ir::Key& groups = frontend::optimizer_keys().front();
    own.members.emplace_back(groups.name, described(list_of(closed(group.members, group.required)), groups.doc));
    own.add(e.settings);
    return when_op(e.name, e.doc, own.members, own.required);
  });
  return named(all.names, all.rules);
}

std::string definitions() {
  std::vector<std::string> types;
  for (const ir::DType dtype : ir::all_dtypes()) types.push_back(ir::to_string(dtype));
  // A name or a number, a list of them, or an object that maps the names of the op's inputs to them.
  const std::string read = type({"string", "number"});
  return object({{"in", one_of({read, list_of(read), map_of(read)})},
                 {"node", node()},
                 {"block", closed_object(frontend::block_keys())},
                 {"input", closed_object(frontend::input_keys())},
                 {"loss", measure("loss", frontend::loss_keys())},
                 {"metric", measure("metric", frontend::metric_keys())},
                 {"regularizer", measure("regularizer", frontend::rule_keys())},
                 {"constraint", measure("constraint", frontend::rule_keys())},
                 {"optimizer", optimizer()},
                 {"schedule", part("schedule")},
                 {"initializer", part("initializer")},
                 {"activation", part("layer")},
                 {"dtype", object({{"enum", words(types)}})},
                 {"share", type({"string", "boolean"})},
                 {"reader", reader()},
                 {"map", part("map")},
                 {"train", closed_object(frontend::train_keys())},
                 {"phase", closed_object(frontend::phase_keys())},
                 {"validation", one_of({closed_object(frontend::fraction_keys()), ref("reader")})},
                 {"data", closed_object(frontend::data_keys())},
                 {"weights", closed_object(frontend::weights_keys())},
                 {"loss_scale", one_of({type({"number", "string"}), closed_object(frontend::loss_scale_keys())})},
                 {"pruned", type({"number", "string"})},
                 {"renamed", one_of({type({"string"}), closed_object(frontend::renamed_keys())})}});
}

}  // namespace

std::string model_schema() {
  std::string text = closed_object(frontend::model_keys());
  text.pop_back();
  return text + fmt::format(
                    ", \"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"title\": \"heddle-model/1\", "
                    "\"$defs\": {}}}\n",
                    definitions());
}

}  // namespace heddle::tools
