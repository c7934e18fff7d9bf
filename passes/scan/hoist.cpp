#include "passes/scan/hoist.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/builder.h"
#include "ir/scan.h"
#include "passes/dead_code.h"
#include "passes/rewrite.h"
#include "passes/scan/rebuild.h"
#include "passes/simplify/simplify.h"

namespace heddle::passes {
using namespace ir;

namespace {

// A matrix product of two matrices, without a batch.
struct Product {
  ValueId a, b, y;
  bool transpose_a = false;
};

std::optional<Product> product_of(const Graph& g, const Node* n) {
  if (n == nullptr || !n->op->traits.matrix_product) return std::nullopt;
  const Product p{n->operands[0], n->operands[1], n->results[0], signature(g, *n).flag("transpose_a")};
  if (g[p.a].type.rank() != 2 || g[p.b].type.rank() != 2) return std::nullopt;
  return p;
}

// The products that leave one body.
struct Hoisted {
  struct Rows {  // a product of rows by a fixed value: outside, of the rows of all turns
    NodeId node;
    ValueId rows, fixed, y;
    Attrs attrs;
    const OpDef* op = nullptr;
  };
  struct Sum {  // the sum of the products of all turns
    ValueId carry, a, b;
    Attrs attrs;
    const OpDef* op = nullptr;
  };
  std::vector<Rows> before, behind;
  std::vector<Sum> sums;
  bool empty() const { return before.empty() && behind.empty() && sums.empty(); }
};

class BodyHoist {
 public:
  BodyHoist(Graph& body, const std::vector<ScanOf>& scans, const Options& options)
      : body_(body), scans_(scans), options_(options) {}

  bool run() {
    find();
    if (found_.empty()) return false;
    const std::vector<ValueId> inputs = operand_inputs(body_), carries = inputs_with(body_, Role::carry);
    std::vector<ValueId> outputs = body_.outputs;
    change_body();
    for (ValueId& v : outputs) v = here(v);
    for (Hoisted::Rows& h : found_.behind) h.rows = here(h.rows);
    for (Hoisted::Sum& s : found_.sums) s.a = here(s.a), s.b = here(s.b);
    for (const ScanOf& s : scans_) change_scan(*s.graph, s.node, inputs, carries, outputs);
    return true;
  }

 private:
  bool has_role(ValueId v, Role role) const { return !body_[v].def.valid() && body_[v].role == role; }
  void note(ValueId v, const char* reason) const { options_.note("hoist", body_, "%" + body_[v].name, reason); }

  // The carry to which each turn adds the product, if it has no other reader; otherwise invalid.
  ValueId sum_of(ValueId y) const {
    const NodeId use = body_.only_use(y);
    if (!use.valid() || body_[use].op->traits.arithmetic != Arithmetic::sum) return {};
    const Node& add = body_[use];
    const ValueId carry = add.operands[0] == y ? add.operands[1] : add.operands[0];
    if (carry == y || !has_role(carry, Role::carry) || body_.only_use(carry) != use) return {};
    if (!body_[add.results[0]].uses.empty() || body_.is_output(add.results[0])) return {};
    int updates = 0;
    for (const Update& u : body_.updates) updates += u.next == add.results[0] ? 1 : 0;
    return updates == 1 && next_of(body_, carry) == add.results[0] ? carry : ValueId{};
  }

  void find() {
    for (const NodeId id : body_.order) {
      const Node& n = body_[id];
      const std::optional<Product> p = product_of(body_, &n);
      if (!p) continue;
      const bool by_fixed = !p->transpose_a && has_role(p->b, Role::fixed);
      if (by_fixed && has_role(p->a, Role::slice)) {
        found_.before.push_back({id, p->a, p->b, p->y, n.attrs, n.op});
        note(p->y, "of all turns at once, before the scan");
      } else if (by_fixed && body_[p->y].uses.empty() && body_.is_output(p->y) && !body_.is_next(p->y) &&
                 !has_role(p->a, Role::fixed)) {
        found_.behind.push_back({id, p->a, p->b, p->y, n.attrs, n.op});
        note(p->y, "of all turns at once, behind the scan");
      } else if (const ValueId carry = p->transpose_a ? sum_of(p->y) : ValueId{};
                 carry.valid() && !has_role(p->a, Role::fixed) && !has_role(p->b, Role::fixed)) {
        found_.sums.push_back({carry, p->a, p->b, n.attrs, n.op});
        note(p->y, "summed up over all turns at once, behind the scan");
      }
    }
  }

  // Makes the value of all turns available outside: a slice already is, any other value becomes a stacked result.
  void need(ValueId v) {
    if (has_role(v, Role::slice) || std::ranges::find(body_.outputs, v) != body_.outputs.end()) return;
    body_.outputs.push_back(v);
  }

  void change_body() {
    for (const Hoisted::Rows& h : found_.behind) std::erase(body_.outputs, h.y);
    std::vector<ValueId> gone;
    for (const Hoisted::Sum& s : found_.sums) gone.push_back(s.carry);
    for (const Hoisted::Rows& h : found_.behind) need(h.rows);
    for (const Hoisted::Sum& s : found_.sums) need(s.a), need(s.b);
    body_.updates.remove(gone);
    for (const Hoisted::Rows& h : found_.before) {
      rows_.push_back(body_.add_input(body_[h.y].name + ".row", body_[h.y].type, Role::slice));
      body_.replace_uses(h.y, rows_.back());
    }
    remove_dead_nodes(body_);
    body_.remove_inputs(gone);
  }

  // The value inside of the changed body: the slice that replaces a product hoisted before the scan, or `v` itself.
  ValueId here(ValueId v) const {
    const auto h = std::ranges::find(found_.before, v, &Hoisted::Rows::y);
    return h == found_.before.end() ? v : rows_[static_cast<size_t>(h - found_.before.begin())];
  }

  // Reshapes [T,N,K] to [T*N,K].
  static ValueId flat(Builder& b, ValueId all) {
    const Dims& dims = b.type(all).dims;
    return b.reshape(all, {dims[0] * dims[1], dims[2]});
  }

  ValueId rows_of(Builder& b, const Hoisted::Rows& h, ValueId all, ValueId fixed) const {
    const int64_t turns = b.type(all).dims[0];
    const ValueId y = b(h.op->name, {flat(b, all), fixed}, h.attrs);
    return b.reshape(y, {turns, b.type(y).dims[0] / turns, b.type(y).dims[1]});
  }

  void change_scan(Graph& g, NodeId old, const std::vector<ValueId>& inputs, const std::vector<ValueId>& carries,
                   const std::vector<ValueId>& outputs) const {
    const Node& node = g[old];
    Builder b(g);
    b.loc = node.loc;
    const auto operand = [&](ValueId input) { return node.operands[number_in(inputs, input)]; };
    b.insert_at = place_of(g, old);
    Values operands;
    for (const ValueId v : inputs)
      if (std::ranges::find(found_.sums, v, &Hoisted::Sum::carry) == found_.sums.end()) operands.push_back(operand(v));
    for (const Hoisted::Rows& h : found_.before) {
      b.prefix = g[node.results[0]].name + "." + body_[h.y].name;
      operands.push_back(rows_of(b, h, operand(h.rows), operand(h.fixed)));
    }
    const Values products(operands.end() - std::ssize(found_.before), operands.end());
    // The results that remain: their values in the body, and their names.
    std::vector<std::string> names;
    std::vector<ValueId> kept;
    const auto keep = [&](ValueId inside, size_t number) {
      kept.push_back(inside);
      names.push_back(number < node.results.size() ? g[node.results[number]].name
                                                   : g[node.results[0]].name + "." + body_[inside].name);
    };
    for (const ValueId c : inputs_with(body_, Role::carry)) keep(c, number_in(carries, c));
    for (size_t k = 0; k < body_.outputs.size(); ++k) keep(body_.outputs[k], carries.size() + number_of(outputs, k));
    const NodeId fresh = add_scan(g, body_, operands, node.attrs, names, node.loc);
    take_place(g, old);
    Values results = g[fresh].results;  // later also the values that replace hoisted results
    const size_t left = inputs_with(body_, Role::carry).size();
    for (size_t i = 0; i < left; ++i) g.replace_uses(node.results[number_in(carries, kept[i])], results[i]);
    for (size_t k = 0; k < body_.outputs.size(); ++k)
      if (const size_t number = number_of(outputs, k); number < outputs.size())
        g.replace_uses(node.results[carries.size() + number], results[left + k]);
    b.insert_at = place_of(g, fresh) + 1;
    const auto all_of = [&](ValueId v) {
      if (const auto row = std::ranges::find(rows_, v); row != rows_.end())
        return products[static_cast<size_t>(row - rows_.begin())];
      if (has_role(v, Role::slice)) return operand(v);
      return results[left + number_in(body_.outputs, v)];
    };
    for (const Hoisted::Rows& h : found_.behind)
      for (size_t k = 0; k < outputs.size(); ++k) {
        if (outputs[k] != h.y) continue;
        const ValueId old_rows = node.results[carries.size() + k];
        b.prefix = g[old_rows].name;
        names.push_back(b.prefix);
        results.push_back(rows_of(b, h, all_of(h.rows), operand(h.fixed)));
        g.replace_uses(old_rows, results.back());
      }
    for (const Hoisted::Sum& s : found_.sums) {
      const ValueId old_sum = node.results[number_in(carries, s.carry)];
      b.prefix = g[old_sum].name;
      const ValueId all = b(s.op->name, {flat(b, all_of(s.a)), flat(b, all_of(s.b))}, s.attrs);
      names.push_back(b.prefix);
      results.push_back(b("add", {operand(s.carry), all}));
      g.replace_uses(old_sum, results.back());
    }
    unlink(g, old);
    drop_erased(g);
    for (size_t i = 0; i < names.size(); ++i) g.rename(results[i], names[i]);
  }

  // The index in `outputs`, the outputs before the change, of the body's k-th output; outputs.size() if it was added.
  size_t number_of(const std::vector<ValueId>& outputs, size_t k) const {
    // Equal values may be listed twice: the n-th of them stays the n-th.
    const auto before =
        std::count(body_.outputs.begin(), body_.outputs.begin() + static_cast<std::ptrdiff_t>(k), body_.outputs[k]);
    auto seen = before;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] == body_.outputs[k] && seen-- == 0) return i;
    return outputs.size();
  }

  Graph& body_;
  const std::vector<ScanOf>& scans_;
  const Options& options_;
  Hoisted found_;
  std::vector<ValueId> rows_;  // slices of the body that replace products hoisted before the scan
};

// Whether the turns are micro-batches. Accumulation saves memory by handling one turn at a time, and hoisting would
// undo it.
bool stays_apart(const std::vector<ScanOf>& scans) {
  return std::ranges::any_of(scans,
                             [](const ScanOf& s) { return signature(*s.graph, (*s.graph)[s.node]).flag("apart"); });
}

}  // namespace

// Hoisting makes nodes of a body dead, after which further products may be hoisted. The loop ends because each round
// removes a product from a body.
bool hoist(Module& m, const Options& options) {
  bool changed = false;
  for (bool again = true; again; changed |= again) {
    again = false;
    const ScansByBody by_body(m);
    for (Graph& body : m.bodies) {
      const std::vector<ScanOf> scans = by_body.of(body.name);
      if (!stays_apart(scans)) again |= BodyHoist(body, scans, options).run();
    }
    if (again) simplify(m, options);
  }
  return changed;
}

}  // namespace heddle::passes
