#include "frontend/scan_use.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/keys/fields.h"
#include "frontend/read/read_parts.h"

namespace heddle::frontend {
namespace {

const Json* find(const std::vector<Json>& settings, std::string_view key) {
  const auto at = std::ranges::find(settings, key, &Json::key);
  return at == settings.end() ? nullptr : &*at;
}

Named named(const Json& json, const std::string& what) {
  if (json.kind != Json::Kind::text)
    throw UserError(json.where, fmt::format("{}: expected a name, found {}", what, describe(json)),
                    "a name stands in quotes, and is one of the block's");
  return {json.text, json.where};
}

std::vector<std::string> input_names(const Block& block) {
  std::vector<std::string> names;
  for (const Named& input : block.inputs) names.push_back(input.text);
  return names;
}

// The names of what a block computes, its inputs included.
std::vector<std::string> value_names(const Block& block) {
  std::vector<std::string> names = input_names(block);
  for (const NodeDef& node : block.nodes) {
    for (const Named& result : node.out) names.push_back(result.text);
    if (node.out.empty() && !node.name.empty()) names.push_back(node.name);
  }
  return names;
}

void require_input(const NodeDef& node, const Block& block, const Named& name, const std::string& key) {
  const std::vector<std::string> known = input_names(block);
  if (std::ranges::count(known, name.text) == 0)
    throw UserError(
        name.where,
        fmt::format("{}: '{}': block '{}' has no input {}", title_of(node), key, block.name, quote(name.text)),
        suggest_defined(name.text, known));
}

void require_value(const NodeDef& node, const Block& block, const Named& name, const std::string& key) {
  const std::vector<std::string> known = value_names(block);
  if (std::ranges::count(known, name.text) == 0)
    throw UserError(
        name.where,
        fmt::format("{}: '{}': block '{}' has no node {}", title_of(node), key, block.name, quote(name.text)),
        suggest_defined(name.text, known));
}

std::vector<ScanCarry> carries_of(const NodeDef& node, const Block& block) {
  std::vector<ScanCarry> carries;
  const Json* given = find(node.settings, "carry");
  if (given == nullptr) return carries;
  for (const Json& item : given->items) {
    ScanCarry carry{.input = {item.key, item.key_where}, .start = {}, .shape = {}, .next = block.output};
    require_input(node, block, carry.input, "carry");
    if (item.kind == Json::Kind::text)
      carry.start = Named{item.text, item.where};
    else if (item.kind == Json::Kind::list)
      carry.shape = item;
    else
      throw UserError(
          item.where,
          fmt::format("{}: 'carry': expected a name, or the shape of zeros, found {}", title_of(node), describe(item)),
          fmt::format("for example \"{}\": [\"N\", 128]", item.key));
    carries.push_back(std::move(carry));
  }
  return carries;
}

std::vector<std::string> carry_names(const std::vector<ScanCarry>& carries) {
  std::vector<std::string> names;
  names.reserve(carries.size());
  for (const ScanCarry& carry : carries) names.push_back(carry.input.text);
  return names;
}

void read_nexts(const NodeDef& node, const Block& block, std::vector<ScanCarry>& carries) {
  const Json* given = find(node.settings, "next");
  if (given == nullptr && carries.size() > 1)
    throw UserError(node.op_where,
                    fmt::format("{} has {} carries: 'next' says what each becomes", title_of(node), carries.size()),
                    fmt::format("for example \"next\": {{\"{}\": \"{}\"}}", carries[0].input.text, block.output.text));
  if (given == nullptr) return;
  for (const Json& item : given->items) {
    const auto carry = std::ranges::find_if(carries, [&](const ScanCarry& c) { return c.input.text == item.key; });
    if (carry == carries.end())
      throw UserError(item.key_where, fmt::format("{}: 'next': there is no carry {}", title_of(node), quote(item.key)),
                      carries.empty()
                          ? "a carry goes from one step to the next: for example \"carry\": {\"h\": [\"N\", 128]}"
                          : suggest_defined(item.key, carry_names(carries)));
    carry->next = named(item, fmt::format("{}: 'next'", title_of(node)));
    require_value(node, block, carry->next, "next");
  }
  for (const ScanCarry& c : carries)
    if (find(given->items, c.input.text) == nullptr && carries.size() > 1)
      throw UserError(
          given->where,
          fmt::format("{}: 'next' does not say what the carry {} becomes", title_of(node), quote(c.input.text)),
          fmt::format("for example \"{}\": \"{}\"", c.input.text, block.output.text));
}

std::vector<Named> list_of(const NodeDef& node, const std::string& key) {
  std::vector<Named> names;
  const Json* given = find(node.settings, key);
  if (given == nullptr) return names;
  for (const Json& item : given->items) names.push_back(named(item, fmt::format("{}: '{}'", title_of(node), key)));
  return names;
}

// Each input of the block is one thing: a carry, a slice, the index, or the same in all turns.
void require_parts(const NodeDef& node, const Block& block, const ScanUse& use) {
  const auto given = [&](const std::string& name) {
    return std::ranges::find_if(node.in, [&](const Reference& r) { return r.port == name; }) != node.in.end();
  };
  for (const Named& input : block.inputs) {
    const auto is = [&](const Named& name) { return name.text == input.text; };
    const auto carry = std::ranges::find_if(use.carries, [&](const ScanCarry& c) { return is(c.input); });
    const bool carried = carry != use.carries.end(), sliced = std::ranges::count_if(use.slices, is) > 0;
    const bool index = use.index && is(*use.index);
    if (int{carried} + int{sliced} + int{index} > 1 || std::ranges::count_if(use.slices, is) > 1)
      throw UserError(
          node.op_where,
          fmt::format("{}: the input '{}' is a carry, a slice or the index, not two of them", title_of(node),
                      input.text),
          "a carry goes from one step to the next, a slice is one step of a sequence, the index its number");
    const bool outside = carried ? carry->start.has_value() : !index;
    if (outside && !given(input.text))
      throw UserError(
          node.op_where, fmt::format("{} needs the input '{}'", title_of(node), input.text),
          fmt::format("\"in\": {{\"{}\": ...}}; what goes from one step to the next is a \"carry\"", input.text));
    if (!outside && given(input.text))
      throw UserError(
          node.op_where,
          fmt::format("{}: the input '{}' {}, and is given by 'in', too", title_of(node), input.text,
                      index ? "is the index" : "starts as zeros"),
          index ? "leave it out of 'in'"
                : fmt::format("leave it out of 'in'; \"carry\": {{\"{}\": \"a value\"}} starts with the value",
                              input.text));
  }
}

}  // namespace

bool is_scan(const NodeDef& node) {
  const LayerDef* def = node.block ? nullptr : find_layer(node.op);
  return def != nullptr && def->runs_block;
}

std::optional<Named> block_of(const NodeDef& node) {
  if (node.block) return Named{node.op, node.op_where};
  if (!is_scan(node)) return std::nullopt;
  const Json* block = find(node.settings, "block");
  if (block == nullptr || block->kind != Json::Kind::text) return std::nullopt;  // its key says so
  return Named{block->text, block->where};
}

void read_scan(NodeDef& node) {
  if (node.in_given && !node.in.empty() && node.in.front().port.empty())
    throw UserError(node.in.front().where, fmt::format("{}: 'in' is an object, block input -> value", title_of(node)),
                    "for example \"in\": {\"x\": \"sequence\"}");
  node.in_given = true;
  if (const Json* carry = find(node.settings, "carry"); carry != nullptr && carry->kind == Json::Kind::object)
    for (const Json& item : carry->items) {
      if (item.kind != Json::Kind::text) continue;
      const bool twice = std::ranges::find(node.in, item.key, &Reference::port) != node.in.end();
      if (twice)
        throw UserError(item.where,
                        fmt::format("{}: the input '{}' is given by 'in' and by 'carry'", title_of(node), item.key),
                        "give the start of a carry in \"carry\" only");
      node.in.push_back({.name = item.text, .literal = {}, .port = item.key, .where = item.where});
    }
  if (const Json* with = find(node.settings, "with")) node.with = with->items;
}

std::optional<size_t> scan_results(const std::vector<Json>& settings) {
  const Json *carry = find(settings, "carry"), *stack = find(settings, "stack");
  // Of another kind, as its key says: how many there were meant to be is unknown.
  if (carry != nullptr && carry->kind != Json::Kind::object) return std::nullopt;
  if (stack != nullptr && stack->kind != Json::Kind::list) return std::nullopt;
  const size_t results = (carry == nullptr ? 0 : carry->items.size()) + (stack == nullptr ? 1 : stack->items.size());
  return results == 0 ? std::nullopt : std::optional(results);  // of none, scan_use says what is wrong
}

ScanUse scan_use(const NodeDef& node, const Block& block) {
  ScanUse use;
  use.carries = carries_of(node, block);
  read_nexts(node, block, use.carries);
  use.slices = list_of(node, "slice");
  for (const Named& name : use.slices) require_input(node, block, name, "slice");
  if (const Json* index = find(node.settings, "index")) {
    use.index = named(*index, fmt::format("{}: 'index'", title_of(node)));
    require_input(node, block, *use.index, "index");
  }
  if (find(node.settings, "stack") == nullptr)
    use.stacked = {block.output};
  else
    use.stacked = list_of(node, "stack");
  for (const Named& name : use.stacked) require_value(node, block, name, "stack");
  if (use.carries.empty() && use.stacked.empty())
    throw UserError(node.op_where,
                    fmt::format("{} has no results: it carries nothing and stacks nothing", title_of(node)),
                    "leave \"stack\" out, and the block's output is kept of each step");
  require_parts(node, block, use);
  return use;
}

}  // namespace heddle::frontend
