#include "passes/share.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "ir/check.h"
#include "ir/scalars.h"
#include "passes/outline.h"

namespace heddle::passes {

using namespace ir;

namespace {

// An attribute of a node that may be a scalar argument.
struct Slot {
  size_t node = 0;  // position in the kernel's order
  const Key* attr = nullptr;
  DType dtype = DType::f32;
};

// The slots of a kernel, and the number in each.
struct Numbers {
  std::vector<Slot> slots;
  std::vector<Attr> values;
};

Numbers numbers_of(const Graph& k) {
  Numbers numbers;
  for (size_t i = 0; i < k.order.size(); ++i) {
    const Node& n = k[k.order[i]];
    for (const Key& attr : n.op->attrs) {
      if (!attr.scalar) continue;
      const DType dtype = scalar_dtype(*n.op, attr, k[n.results[0]].type);
      const std::optional<Attr> number = scalar_number(attribute(*n.op, n.attrs, attr.name), dtype);
      if (!number) continue;
      numbers.slots.push_back({i, &attr, dtype});
      numbers.values.push_back(*number);
    }
  }
  return numbers;
}

void set(Graph& k, const Slot& slot, const std::string& scalar) {
  k[k.order[slot.node]].attrs.insert_or_assign(slot.attr->name, ScalarName(scalar));
}

// A key that is equal for kernels that may be merged: the body without the numbers in its slots.
std::string shared_key(const Graph& kernel, const Numbers& numbers) {
  Graph masked = kernel;
  for (const Slot& slot : numbers.slots) set(masked, slot, "");
  return body_key(masked);
}

// Kernels to be merged into one, and their numbers.
struct Family {
  std::vector<size_t> kernels;  // in the module; the first stays
  std::vector<Slot> slots;
  std::vector<std::vector<Attr>> columns;  // by slot: the number in each kernel
};

std::vector<Family> families(const Module& m) {
  std::vector<Family> all;
  std::unordered_map<std::string, size_t> known;
  for (size_t i = 0; i < m.kernels.size(); ++i) {
    const Graph& k = m.kernels[i];
    if (!k.schedule || calls_library(k) || !k.scalars.empty()) continue;
    const Numbers numbers = numbers_of(k);
    const auto [at, added] = known.try_emplace(shared_key(k, numbers), all.size());
    if (added) all.push_back({{}, numbers.slots, std::vector<std::vector<Attr>>(numbers.slots.size())});
    Family& family = all[at->second];
    family.kernels.push_back(i);
    for (size_t s = 0; s < family.slots.size(); ++s) family.columns[s].push_back(numbers.values[s]);
  }
  std::erase_if(all, [](const Family& f) { return f.kernels.size() == 1; });
  return all;
}

bool equal(const std::vector<Attr>& a, const std::vector<Attr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Attr& x, const Attr& y) { return same(x, y); });
}

// A scalar of the shared kernel, and its number in each kernel of the family.
struct SharedScalar {
  Scalar scalar;
  const std::vector<Attr>* column = nullptr;
};

std::string free_name(const std::vector<Scalar>& scalars, const std::string& wish) {
  std::string name = wish;
  for (int i = 1; is_taken(scalars, name); ++i) name = fmt::format("{}.{}", wish, i);
  return name;
}

// Replaces numbers of the family's first kernel by scalars. Slots with equal numbers in every kernel share one scalar.
std::vector<SharedScalar> parameterize(Graph& kernel, const Family& family) {
  std::vector<SharedScalar> scalars;
  for (size_t s = 0; s < family.slots.size(); ++s) {
    const std::vector<Attr>& column = family.columns[s];
    const Slot& slot = family.slots[s];
    if (std::all_of(column.begin(), column.end(), [&](const Attr& a) { return ir::same(a, column[0]); })) continue;
    auto known = std::find_if(scalars.begin(), scalars.end(), [&](const SharedScalar& other) {
      return other.scalar.dtype == slot.dtype && equal(*other.column, column);
    });
    if (known == scalars.end()) {
      kernel.scalars.push_back({free_name(kernel.scalars, slot.attr->name), slot.dtype});
      known = scalars.insert(known, {kernel.scalars.back(), &column});
    }
    set(kernel, slot, known->scalar.name);
  }
  return scalars;
}

// The kernel that replaces a callee, and the scalar arguments of the call.
struct Callee {
  size_t kernel = 0;  // in the module
  Attrs numbers;
};
using Callees = std::unordered_map<std::string, Callee>;  // by the name of the kernel called before

void add_callees(Callees& callees, Module& m, const Family& family) {
  const std::vector<SharedScalar> scalars = parameterize(m.kernels[family.kernels[0]], family);
  for (size_t k = 0; k < family.kernels.size(); ++k) {
    Callee& callee = callees.at(m.kernels[family.kernels[k]].name);
    callee.kernel = family.kernels[0];
    for (const SharedScalar& s : scalars) callee.numbers.emplace(s.scalar.name, (*s.column)[k]);
  }
}

// Whether the kernel has a name as `outline` gives it: @add, @add.1, ...
bool named_by_operators(const Graph& k, const std::string& base) {
  if (!k.name.starts_with(base) || k.name == base) return k.name == base;
  return k.name[base.size()] == '.' && k.name.find_first_not_of("0123456789", base.size() + 1) == std::string::npos;
}

// Renumbers kernel names without gaps, so that a deeper model has the same text.
void renumber(Module& m) {
  std::vector<Graph*> numbered;
  std::set<std::string> taken;
  for (const Graph& body : m.bodies) taken.insert(body.name);
  for (Graph& k : m.kernels)
    if (named_by_operators(k, kernel_name(k)))
      numbered.push_back(&k);
    else
      taken.insert(k.name);
  std::unordered_map<std::string, int> next;
  for (Graph* k : numbered) {
    const std::string base = kernel_name(*k);
    int& number = next[base];
    do {
      k->name = number == 0 ? base : fmt::format("{}.{}", base, number);
      ++number;
    } while (!taken.insert(k->name).second);
  }
}

void retarget(Graph& g, const Module& m, const Callees& callees) {
  for (const NodeId id : g.order) {
    if (!std::holds_alternative<Call>(g[id].op->kind)) continue;
    const auto found = callees.find(g[id].callee);
    if (found == callees.end()) continue;
    g[id].callee = m.kernels[found->second.kernel].name;
    g[id].attrs.insert(found->second.numbers.begin(), found->second.numbers.end());
  }
}

}  // namespace

bool share(Module& m, const Options&) {
  const std::vector<Family> shared = families(m);
  if (shared.empty()) return false;
  Callees callees;
  for (size_t i = 0; i < m.kernels.size(); ++i) callees.emplace(m.kernels[i].name, Callee{i, {}});
  std::vector<char> gone(m.kernels.size(), 0);
  for (const Family& family : shared) {
    add_callees(callees, m, family);
    for (size_t k = 1; k < family.kernels.size(); ++k) gone[family.kernels[k]] = 1;
  }
  for (size_t i = 0; i < gone.size(); ++i)  // makes the names of merged kernels available
    if (gone[i]) m.kernels[i].name.clear();
  renumber(m);
  for (Graph* g : m.all_graphs()) retarget(*g, m, callees);
  std::erase_if(m.kernels, [](const Graph& k) { return k.name.empty(); });
  return true;
}

}  // namespace heddle::passes
