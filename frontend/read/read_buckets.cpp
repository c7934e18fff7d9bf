// data.buckets: the lengths of shorter rows, and the model of each.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/keys/read_key.h"
#include "frontend/keys/settings.h"
#include "frontend/limits.h"
#include "frontend/read/read_parts.h"

namespace heddle::frontend {
namespace {

std::vector<Named> read_by(const Json& value, const std::string& what, const Model& model) {
  std::vector<std::string> inputs;
  for (const InputDef& input : model.inputs) inputs.push_back(input.name);
  std::vector<Named> by;
  const auto add = [&](const Json& item) {
    const std::string& name = as_text(item, what);
    if (std::ranges::find(inputs, name) == inputs.end())
      throw UserError(item.where, fmt::format("{}: there is no input {}", what, quote(name)),
                      suggest_defined(name, inputs));
    if (std::ranges::find(by, name, &Named::text) != by.end())
      throw UserError(item.where, fmt::format("{}: {} is named twice", what, quote(name)));
    by.push_back({name, item.where});
  };
  if (value.kind == Json::Kind::list)
    for (const Json& item : value.items) add(item);
  else
    add(value);
  if (by.empty()) throw UserError(value.where, what + " is empty", "name the input that holds how long a row is");
  return by;
}

// Rising, and shorter than the model's own, which may stand at the end.
std::vector<int64_t> read_lengths(const Json& list, const std::string& what, const Buckets& buckets,
                                  const Model& model) {
  const Key one{.name = "lengths", .range = ir::at_least(1)};
  std::vector<int64_t> lengths;
  for (const Json& item : list.items) {
    const int64_t length = read_integer(item, one, model.let, what);
    if (length > buckets.longest)
      throw UserError(item.where,
                      fmt::format("{}: {} is longer than the model's rows, whose '{}' is {}", what, length,
                                  buckets.let.text, buckets.longest),
                      fmt::format("lengths are below {}", buckets.longest));
    if (!lengths.empty() && length <= lengths.back())
      throw UserError(item.where, fmt::format("{}: lengths rise, and {} follows {}", what, length, lengths.back()));
    lengths.push_back(length);
  }
  if (!lengths.empty() && lengths.back() == buckets.longest) lengths.pop_back();
  if (lengths.empty())
    throw UserError(list.where, fmt::format("{}: no length is below {}, that of all rows", what, buckets.longest),
                    "for example half of it");
  if (lengths.size() > kMostBuckets)
    throw UserError(list.where,
                    fmt::format("{}: more than {} lengths: each is a program of its own", what, kMostBuckets));
  return lengths;
}

}  // namespace

std::optional<Buckets> read_buckets(const Fields& fields, const Model& model, Diagnostics& errors) {
  Buckets buckets;
  buckets.where = fields.json().where;
  fields.read("by", [&](const Json& by) { buckets.by = read_by(by, fields.named("by"), model); });
  fields.read("let", [&](const Json& let) {
    buckets.let = {let.text, let.where};
    const auto size = model.let.names.find(let.text);
    if (size == model.let.names.end()) {
      std::vector<std::string> known;
      for (const auto& [name, value] : model.let.names) known.push_back(name);
      throw UserError(let.where, fmt::format("{}: \"let\" has no {}", fields.named("let"), quote(let.text)),
                      known.empty() ? "give the length of rows a name: \"let\": {\"length\": 64}"
                                    : suggest_defined(let.text, known));
    }
    if (!std::holds_alternative<int64_t>(size->second))
      throw UserError(let.where, fmt::format("{}: {} is {}, no length", fields.named("let"), quote(let.text),
                                             to_string(size->second)));
    buckets.longest = std::get<int64_t>(size->second);
  });
  if (buckets.longest > 0)
    fields.read("lengths", [&](const Json& lengths) {
      buckets.lengths_where = lengths.where;
      buckets.lengths = read_lengths(lengths, fields.named("lengths"), buckets, model);
    });
  if (!errors.empty() || buckets.lengths.empty() || buckets.by.empty()) return std::nullopt;
  return buckets;
}

Json shortened(const Json& root, const Buckets& buckets, int64_t length) {
  Json tree = root;
  Json& size = *tree.find("let")->find(buckets.let.text);
  size.kind = Json::Kind::integer;
  size.integer = length, size.real = static_cast<double>(length);
  std::erase_if(tree.find("data")->items, [](const Json& member) { return member.key != "map"; });
  return tree;
}

UserError at_length(const UserError& error, const Buckets& buckets, int64_t length) {
  std::vector<Diagnostic> list = error.diagnostics();
  for (Diagnostic& d : list)
    d.notes.push_back({Severity::note,
                       buckets.lengths_where,
                       fmt::format("'{}' is {} in the bucket of shorter rows here", buckets.let.text, length),
                       {},
                       {}});
  return UserError(std::move(list), error.code());
}

}  // namespace heddle::frontend
