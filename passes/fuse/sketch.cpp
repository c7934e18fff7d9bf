#include "passes/fuse/sketch.h"

#include <algorithm>

#include "ir/op_def.h"

namespace heddle::passes {

using namespace ir;

namespace {

// Appends a binary form of the type, which is different for each type.
void append_type(std::string& text, const Type& type) {
  text += static_cast<char>(type.dtype);
  text += static_cast<char>(type.dims.size());
  for (int64_t d : type.dims)
    for (size_t byte = 0; byte < sizeof d; ++byte, d >>= 8) text += static_cast<char>(d);
}

std::string operator_text(const Graph& g, const Node& n) {
  std::string text = n.op->name;
  for (const auto& [name, value] : n.attrs) text += ";" + name + "=" + to_string(value);
  for (const ValueId r : n.results) append_type(text, g[r].type);
  return text;
}

// Markers in a key. They are negative, to differ from the numbers of values and operators.
constexpr int32_t kInput = -1, kEndOfNode = -2, kReturn = -3;

}  // namespace

size_t BodyKeyHash::operator()(const BodyKey& key) const {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const int32_t word : key) hash = (hash ^ static_cast<uint32_t>(word)) * 0x100000001b3;
  return hash;
}

Members members_of(const Sketch& sketch) {
  Members members{sketch.nodes};
  for (size_t i = 0; i < sketch.nodes.size(); ++i)
    if (sketch.copied[i]) members.copied.insert(sketch.nodes[i]);
  return members;
}

Sketcher::Sketcher(const Graph& g, const FusionRoles& roles, Vocabulary& words) : g_(g), roles_(roles), words_(words) {
  grow();
  for (const NodeId n : g.order) operator_of_[index_of(n)] = words.number(operator_text(g, g[n]));
}

void Sketcher::grow() {
  for (auto* by_node : {&operator_of_, &inside_, &owned_, &asked_}) by_node->resize(g_.node_count());
  for (size_t i = type_of_.size(); i < g_.value_count(); ++i) {
    std::string text;
    append_type(text, g_[ValueId{static_cast<int32_t>(i)}].type);
    type_of_.push_back(words_.number(text));
  }
  for (auto* by_value : {&numbered_, &number_, &escaping_}) by_value->resize(g_.value_count());
}

Sketch Sketcher::sketch(const std::vector<NodeId>& owned) {
  grow();
  ++round_;
  Sketch s;
  collect(s, owned);
  find_results(s);
  write_key(s);
  return s;
}

void Sketcher::collect(Sketch& s, const std::vector<NodeId>& owned) {
  s.nodes = owned;
  for (const NodeId n : owned) inside_[index_of(n)] = owned_[index_of(n)] = round_;
  for (size_t i = 0; i < s.nodes.size(); ++i) take_operands(s.nodes[i], s.nodes);
  const auto earlier = [&](NodeId a, NodeId b) { return roles_.position[index_of(a)] < roles_.position[index_of(b)]; };
  std::sort(s.nodes.begin(), s.nodes.end(), earlier);
  for (const NodeId n : s.nodes) s.copied.push_back(!owns(n));
}

void Sketcher::take_operands(NodeId n, std::vector<NodeId>& nodes) {
  for (const ValueId v : g_[n].operands) {
    const NodeId def = g_[v].def;
    if (!def.valid() || inside(def)) continue;
    ++query_;
    const bool take =
        roles_(def) == FusionRole::copied || (roles_(def) == FusionRole::view && computed_inside(g_[def].operands[0]));
    if (!take) continue;
    inside_[index_of(def)] = round_;
    nodes.push_back(def);
  }
}

// Whether the kernel computes v, or a value from which v is computed through views and copied nodes.
bool Sketcher::computed_inside(ValueId v) {
  std::vector<NodeId> waiting{g_[v].def};
  while (!waiting.empty()) {
    const NodeId def = waiting.back();
    waiting.pop_back();
    if (!def.valid() || asked_[index_of(def)] == query_) continue;
    asked_[index_of(def)] = query_;
    if (inside(def)) return true;
    if (roles_(def) != FusionRole::view && roles_(def) != FusionRole::copied) continue;
    for (const ValueId operand : g_[def].operands) waiting.push_back(g_[operand].def);
  }
  return false;
}

// Finds the results: values that a node outside reads, directly or through a copied member, which others copy, too.
void Sketcher::find_results(Sketch& s) {
  for (size_t i = s.nodes.size(); i-- > 0;)
    for (const ValueId r : g_[s.nodes[i]].results) {
      const auto reads_outside = [&](NodeId use) {
        return !inside(use) || (!owns(use) && escaping_[index_of(g_[use].results[0])] == round_);
      };
      const std::vector<NodeId>& uses = g_[r].uses;
      if (g_.is_output(r) || g_.is_next(r) || std::any_of(uses.begin(), uses.end(), reads_outside))
        escaping_[index_of(r)] = round_;
    }
  for (size_t i = 0; i < s.nodes.size(); ++i)
    for (const ValueId r : g_[s.nodes[i]].results)
      if (!s.copied[i] && escaping_[index_of(r)] == round_) s.results.push_back(r);
}

void Sketcher::write_key(Sketch& s) {
  int32_t next = 0;
  const auto name = [&](ValueId v) {
    numbered_[index_of(v)] = round_;
    number_[index_of(v)] = next++;
  };
  for (const NodeId n : s.nodes) {
    s.key.push_back(operator_of_[index_of(n)]);
    for (const ValueId v : g_[n].operands) {
      if (numbered_[index_of(v)] != round_) {
        s.operands.push_back(v);
        name(v);
        s.key.insert(s.key.end(), {kInput, type_of_[index_of(v)]});
      }
      s.key.push_back(number_[index_of(v)]);
    }
    for (const ValueId r : g_[n].results) name(r);
    s.key.push_back(kEndOfNode);
  }
  s.key.push_back(kReturn);
  for (const ValueId r : s.results) s.key.push_back(number_[index_of(r)]);
}

}  // namespace heddle::passes
