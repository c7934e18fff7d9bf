// Shares: a node that shares the parameters of an earlier node is a second use of that node, with other inputs.
//
//   {"name": "a", "op": "dense", "in": "x", "units": 4}
//   {"name": "b", "op": "dense", "in": "y", "share": "a"}   ->   b: units 4, whose parameters are those of a
//
// A setting that the second node gives must equal that of the first one. Instantiation gives the second node the
// parameters or, with "average" or "copy", separate parameters that follow them. A node that shares with such a node
// uses its copies.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontend/layer_def.h"
#include "frontend/read/read_parts.h"
#include "frontend/scan_use.h"

namespace heddle::frontend {
namespace {

bool is_number(const Json& json) { return json.kind == Json::Kind::integer || json.kind == Json::Kind::real; }

// Whether two values are written in the same way. Expressions are not evaluated.
bool same(const Json& a, const Json& b) {
  if (is_number(a) && is_number(b)) return a.real == b.real;
  if (a.kind != b.kind || a.flag != b.flag || a.text != b.text || a.items.size() != b.items.size()) return false;
  if (a.kind != Json::Kind::object)
    return std::equal(a.items.begin(), a.items.end(), b.items.begin(),
                      [](const Json& x, const Json& y) { return same(x, y); });
  return std::ranges::all_of(a.items, [&](const Json& x) {
    const Json* y = b.find(x.key);
    return y != nullptr && same(x, *y);
  });
}

struct IsDefault {
  const Json& json;
  bool operator()(bool flag) const { return json.kind == Json::Kind::flag && json.flag == flag; }
  bool operator()(int64_t number) const { return is_number(json) && json.real == static_cast<double>(number); }
  bool operator()(double number) const { return is_number(json) && json.real == number; }
  bool operator()(const std::string& text) const { return json.kind == Json::Kind::text && json.text == text; }
  bool operator()(const std::vector<int64_t>& list) const {
    const bool alone = list.size() == 1 && (*this)(list.front());
    return alone || (json.kind == Json::Kind::list &&
                     std::ranges::equal(json.items, list, [](const Json& x, int64_t n) { return IsDefault{x}(n); }));
  }
  bool operator()(const ir::ScalarName&) const { return false; }
};

const Json* find(const std::vector<Json>& values, std::string_view key) {
  const auto at = std::ranges::find(values, key, &Json::key);
  return at == values.end() ? nullptr : &*at;
}

std::string op_text(const NodeDef& node) { return node.block ? "block:" + node.op : node.op; }

class ShareTaking {
 public:
  ShareTaking(std::vector<NodeDef>& nodes, const Model& model, Diagnostics& errors)
      : nodes_(nodes), model_(model), errors_(errors) {
    for (size_t i = 0; i < nodes.size(); ++i)
      if (!nodes[i].name.empty()) places_.emplace(nodes[i].name, i);
  }

  void run() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].share) continue;
      faulty_.insert(i);
      guarded(errors_, [&] {
        if (take(i)) faulty_.erase(i);
      });
      // Without its settings nobody can tell what it lacks.
      if (faulty_.contains(i) && !nodes_[i].block) nodes_[i].op.clear();
    }
  }

 private:
  std::string title(const NodeDef& node) const { return fmt::format("{}: 'share'", title_of(node)); }

  // False where the fault is that of the other node.
  bool take(size_t i) {
    NodeDef& node = nodes_[i];
    const Named name = *node.share;
    const auto at = places_.find(name.text);
    if (at == places_.end()) throw unknown(node, i);
    const NodeDef& from = nodes_[at->second];
    if (at->second == i)
      throw UserError(name.where, fmt::format("{}: a node cannot share with itself", title(node)),
                      "name the node before it that has the parameters");
    if (at->second > i)
      throw UserError(name.where,
                      fmt::format("{}: '{}' comes later: a node shares with an earlier one", title(node), name.text),
                      "the first of them has the settings, and the others say \"share\"",
                      {{Severity::note, from.name_where, "defined here", {}, {}}});
    if (faulty_.contains(at->second) || from.op.empty()) return false;
    if (from.op != node.op || from.block != node.block)
      throw UserError(
          name.where, fmt::format("{}: '{}' is {}, and not {}", title(node), name.text, op_text(from), op_text(node)),
          fmt::format("nodes of one op share; a node may read one parameter by its path, for example \"in\": "
                      "[\"h\", \"{}.weight\"]",
                      name.text),
          {{Severity::note, from.op_where, "defined here", {}, {}}});
    const bool again = from.share && !from.copies();  // its parameters are those of a node before it
    const NodeDef& first = again ? nodes_[places_.find(from.share->text)->second] : from;
    if (node.copies() && first.copies() && first.share) throw copy_of_copy(node, first);
    node.block ? take_block(node, from) : take_layer(node, from);
    node.share->text = first.name;
    return true;
  }

  UserError copy_of_copy(const NodeDef& node, const NodeDef& first) const {
    const Json& given = node.average ? *node.average : *node.copy;
    return {given.key_where,
            fmt::format("{}: '{}': the parameters of '{}' are copies themselves, of those of '{}'", title_of(node),
                        given.key, node.share->text, first.share->text),
            fmt::format("\"share\": \"{}\"", first.share->text),
            {{Severity::note, (first.average ? *first.average : *first.copy).where, "copies are made here", {}, {}}}};
  }

  void take_block(NodeDef& node, const NodeDef& from) {
    for (const Json& given : node.with) require_same(node, from, given, find(from.with, given.key), nullptr);
    for (const Json& value : from.with)
      if (find(node.with, value.key) == nullptr) node.with.push_back(value);
    if (node.repeat) require_same(node, from, *node.repeat, from.repeat ? &*from.repeat : nullptr, nullptr);
    if (!node.repeat) node.repeat = from.repeat;
    node.shares_repeats = from.shares_repeats;
  }

  void take_layer(NodeDef& node, const NodeDef& from) {
    const LayerDef* def = find_layer(node.op);
    if (def == nullptr) return;
    // What a scan carries starts as a value around it: that is what it reads.
    const auto is_read = [&](const Json& value) { return def->runs_block && value.key == "carry"; };
    for (const Json& given : node.settings)
      if (const Key* key = ir::find_key(def->settings, given.key); key != nullptr && !is_read(given))
        require_same(node, from, given, find(from.settings, given.key), key);
    for (const Json& value : from.settings)
      if (find(node.settings, value.key) == nullptr) node.settings.push_back(value);
    if (def->runs_block) read_scan(node);
  }

  // `other` is nullptr where the first node leaves it out.
  void require_same(const NodeDef& node, const NodeDef& from, const Json& given, const Json* other,
                    const Key* key) const {
    const bool has_default = key != nullptr && key->fallback;
    if (other != nullptr ? same(given, *other) : has_default && std::visit(IsDefault{given}, *key->fallback)) return;
    throw UserError(
        given.where,
        fmt::format("{}: '{}' is not that of '{}', whose parameters it shares", title_of(node), given.key, from.name),
        fmt::format("leave it out: what shares parameters has the settings of '{}'", from.name),
        {{Severity::note,
          other == nullptr ? from.op_where : other->where,
          other == nullptr ? "left out here" : "given here",
          {},
          {}}});
  }

  UserError unknown(const NodeDef& node, size_t i) const {
    const Named& name = *node.share;
    const auto fault = [&](const std::string& text, const std::string& help) {
      return UserError(name.where, fmt::format("{}: {}", title(node), text), help);
    };
    const std::string head = name.text.substr(0, name.text.find('.'));
    if (head != name.text && places_.contains(head))
      return fault(fmt::format("{} is a node inside of '{}'", quote(name.text), head),
                   fmt::format("what a block has inside is shared with all of it: \"share\": \"{}\"", head));
    for (size_t k = 0; k < i; ++k)
      for (const Named& result : nodes_[k].out)
        if (result.text == name.text && !nodes_[k].name.empty())
          return fault(fmt::format("{} is a result of '{}'", quote(name.text), nodes_[k].name),
                       fmt::format("name the node: \"share\": \"{}\"", nodes_[k].name));
    if (const std::string where = list_of(name.text); !where.empty())
      return fault(fmt::format("{} is a node of {}", quote(name.text), where),
                   "nodes share inside one list of nodes: the model's own, or that of a block");
    std::vector<std::string> known;
    for (size_t k = 0; k < i; ++k)
      if (nodes_[k].op == node.op && nodes_[k].block == node.block && !nodes_[k].name.empty())
        known.push_back(nodes_[k].name);
    return fault(fmt::format("there is no node {} before it", quote(name.text)), suggest_defined(name.text, known));
  }

  // The other list that has a node of this name: "block 'tower'".
  std::string list_of(const std::string& name) const {
    const auto has = [&](const std::vector<NodeDef>& nodes) {
      return std::ranges::any_of(nodes, [&](const NodeDef& n) { return n.name == name; });
    };
    if (has(model_.nodes)) return "the model, and not of this block";
    for (const auto& [block, def] : model_.blocks)
      if (has(def.nodes)) return fmt::format("block '{}'", block);
    return {};
  }

  std::vector<NodeDef>& nodes_;
  const Model& model_;
  Diagnostics& errors_;
  std::map<std::string, size_t, std::less<>> places_;
  std::set<size_t> faulty_;
};

}  // namespace

void take_shares(Model& model, Diagnostics& errors) {
  for (auto& [name, block] : model.blocks) ShareTaking(block.nodes, model, errors).run();
  ShareTaking(model.nodes, model, errors).run();
}

}  // namespace heddle::frontend
