#include "tests/random/instance.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/builder.h"

namespace heddle::testing {
using namespace ir;
namespace {

using Sizes = std::map<int64_t, int64_t>;  // a sample's size -> the instance's

bool elementwise(const OpDef& op) { return std::holds_alternative<Elementwise>(op.kind); }

DType sample_dtype(const OpDef& op, const Sample& s, size_t operand) {
  if (operand < s.dtypes.size()) return s.dtypes[operand];
  return op.dtypes.empty() ? DType::f32 : op.dtypes.front();
}

int64_t mapped(const Sizes& sizes, int64_t size) {
  const auto it = sizes.find(size);
  return it == sizes.end() ? size : it->second;
}

Dims mapped(const Sizes& sizes, Dims dims) {
  for (int64_t& d : dims) d = mapped(sizes, d);
  return dims;
}

// False where one size of the sample would have to become two.
bool bind_sizes(Sizes& sizes, const Dims& from, const Dims& to) {
  if (from.size() != to.size()) return false;
  for (size_t d = 0; d < from.size(); ++d)
    if (const auto [it, added] = sizes.emplace(from[d], to[d]); !added && it->second != to[d]) return false;
  return true;
}

// Draws some of the sizes that are still free.
void draw_sizes(Sizes& sizes, const Sample& s, Random& r, const Limits& limits) {
  const int percent = r.chance(30) ? 0 : 40;
  for (const Dims& dims : s.shapes)
    for (const int64_t d : dims)
      if (sizes.count(d) == 0) sizes[d] = r.chance(percent) ? random_size(r, limits.length) : d;
}

bool is_list(const Attr& a) { return std::holds_alternative<std::vector<int64_t>>(a); }

// Lists may hold sizes, or not: each in turn, all, none.
Attrs with_sizes(const Attrs& attrs, const Sizes& sizes, int64_t which) {
  Attrs changed = attrs;
  int64_t i = 0;
  for (auto& [name, value] : changed)
    if (is_list(value) && (which == -1 || which == i++)) value = mapped(sizes, std::get<Dims>(value));
  return changed;
}

// A neighbour of the sample's attributes; the shape rule decides whether it is one of the operator's.
void vary(Attrs& attrs, const OpDef& op, Random& r) {
  for (const Key& def : op.attrs) {
    if (!r.chance(25)) continue;
    Attr value = attribute(op, attrs.count(def.name) || def.fallback ? attrs : Attrs{{def.name, Dims{}}}, def.name);
    if (auto* whole = std::get_if<int64_t>(&value)) *whole += r.below(3) - 1;
    if (auto* flag = std::get_if<bool>(&value)) *flag = !*flag;
    if (auto* list = std::get_if<Dims>(&value); list && !list->empty())
      (*list)[static_cast<size_t>(r.below(static_cast<int64_t>(list->size())))] += r.below(3) - 1;
    attrs[def.name] = value;
  }
}

// The element type that an operator is told by an attribute, and the shape of what has no operand to take it from.
void draw_named(Attrs& attrs, const OpDef& op, Random& r, const Limits& limits) {
  if (op.find_attr("dtype") && r.chance(60)) attrs["dtype"] = to_string(random_dtype(r, all_dtypes()));
  if (std::holds_alternative<Source>(op.kind) && op.find_attr("shape") && r.chance(70))
    attrs["shape"] = random_dims(r, limits);
}

bool affordable(const Instance& i, const Limits& limits) {
  for (const auto* types : {&i.operands, &i.results})
    for (const Type& t : *types)
      if (t.rank() > 6 || t.elements() > limits.elements) return false;
  const auto* contraction = std::get_if<Contraction>(&i.op->kind);
  if (!contraction) return true;
  const ReductionDomain domain = contraction->domain({i.op, i.attrs, i.operands, i.results});
  return product(domain.extents) * i.results[0].elements() <= limits.products;
}

bool infers(Instance& i, const Attrs& attrs, const Limits& limits) {
  try {
    i.attrs = canonical_attrs(*i.op, attrs);
    i.results = infer_types(*i.op, i.operands, i.attrs);
  } catch (const InferError&) {
    return false;
  }
  return affordable(i, limits);
}

bool find_attrs(Instance& i, const Sample& s, const Sizes& sizes, Random& r, const Limits& limits) {
  Attrs drawn = s.attrs;
  draw_named(drawn, *i.op, r, limits);
  if (r.chance(30)) {
    Attrs varied = drawn;
    vary(varied, *i.op, r);
    if (infers(i, varied, limits)) return true;
  }
  for (const Attrs& base : {drawn, s.attrs})
    for (int64_t which = -2; which < static_cast<int64_t>(s.attrs.size()); ++which)
      if (infers(i, which == -2 ? base : with_sizes(base, sizes, which), limits)) return true;
  return false;
}

void set_types(Instance& i, const Sample& s, const Sizes& sizes, DType from, DType to, const Dims& elementwise_dims) {
  for (size_t k = 0; k < s.shapes.size(); ++k) {
    const DType declared = sample_dtype(*i.op, s, k);
    const bool counts = !s.dtypes.empty() && !is_floating(declared);
    const DType dtype = declared == from ? to : declared;
    i.operands.push_back({dtype, elementwise(*i.op) ? elementwise_dims : mapped(sizes, s.shapes[k])});
    const bool bounded = counts && declared == dtype && dtype != DType::boolean && !elementwise(*i.op);
    i.below.push_back(bounded ? std::max<int64_t>(1, mapped(sizes, s.below)) : 0);
  }
}

std::optional<Instance> from_sample(const OpDef& op, const Sample& s, Random& r, const Limits& limits,
                                    const std::optional<Type>& reads) {
  Instance i;
  i.op = &op;
  i.positive = s.low >= 0;
  if (s.shapes.empty() && reads) return {};
  Sizes sizes;
  DType from = s.shapes.empty() ? DType::f32 : sample_dtype(op, s, 0), to = from;
  Dims dims;
  if (reads) {
    i.given = static_cast<size_t>(r.below(static_cast<int64_t>(s.shapes.size())));
    from = sample_dtype(op, s, i.given);
    to = reads->dtype;
    dims = reads->dims;
    if (!elementwise(op) && !bind_sizes(sizes, s.shapes[i.given], dims)) return {};
  } else {
    if (!s.shapes.empty() && r.chance(50)) to = random_dtype(r, op.dtypes.empty() ? all_dtypes() : op.dtypes);
    if (elementwise(op)) dims = random_dims(r, limits);
  }
  draw_sizes(sizes, s, r, limits);
  set_types(i, s, sizes, from, to, dims);
  if (!find_attrs(i, s, sizes, r, limits)) return {};
  if (reads && i.operands[i.given] != *reads) return {};
  return i;
}

using DTypesByOp = std::map<const OpDef*, std::vector<DType>>;

template <class Types>
const std::vector<DType>& found_dtypes(DTypesByOp& known, const OpDef& op, Types types) {
  if (const auto it = known.find(&op); it != known.end()) return it->second;
  std::set<DType> found;
  Random r(1);
  for (int attempt = 0; attempt < 400; ++attempt)
    if (const auto i = random_instance(op, r, {}))
      for (const Type& t : types(*i)) found.insert(t.dtype);
  return known[&op] = {found.begin(), found.end()};
}

}  // namespace

const std::vector<const OpDef*>& random_ops() {
  static const std::vector<const OpDef*> list = [] {
    std::vector<const OpDef*> ops;
    for (const OpDef* op : all_ops())
      if (op->eval && !op->samples.empty() && op->precondition.empty()) ops.push_back(op);
    return ops;
  }();
  return list;
}

int64_t random_size(Random& r, int64_t most) {
  static const std::vector<int64_t> common = {1, 1, 2, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 48, 49, 63, 64, 65};
  if (most > 1000 && r.chance(40)) return 100 + r.below(most - 99);
  int64_t size = most + 1;
  while (size > most) size = r.pick(common);
  return size;
}

Dims random_dims(Random& r, const Limits& limits) {
  Dims dims;
  for (int64_t rank = r.below(5); rank > 0; --rank) {
    dims.push_back(random_size(r, limits.length));
    if (product(dims) > limits.elements) dims.pop_back();
  }
  return dims;
}

DType random_dtype(Random& r, const std::vector<DType>& among) {
  const bool single = std::find(among.begin(), among.end(), DType::f32) != among.end();
  return single && r.chance(40) ? DType::f32 : r.pick(among);
}

std::optional<Instance> random_instance(const OpDef& op, Random& r, const Limits& limits,
                                        const std::optional<Type>& reads) {
  for (int attempt = 0; attempt < 12; ++attempt)
    if (auto i = from_sample(op, r.pick(op.samples), r, limits, reads)) return i;
  return {};
}

const std::vector<DType>& operand_dtypes(const OpDef& op) {
  static DTypesByOp known;
  return found_dtypes(known, op, [](const Instance& i) { return i.operands; });
}
const std::vector<DType>& result_dtypes(const OpDef& op) {
  static DTypesByOp known;
  return found_dtypes(known, op, [](const Instance& i) { return i.results; });
}

}  // namespace heddle::testing
