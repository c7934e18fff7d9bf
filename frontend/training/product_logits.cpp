#include "frontend/training/product_logits.h"

#include <algorithm>
#include <limits>

#include "frontend/training/measure_parts.h"
#include "ir/ops/precision.h"

namespace heddle::frontend {

using ir::Dims;
using ir::DType;
using ir::ValueId;

namespace {

constexpr int64_t kChunksOfMost = 8;  // a chunk has this part of the most bytes that logits may have, about
constexpr int64_t kMostChunks = 32;   // each is a part of the graph

bool flag_of(const ir::Node& n, const char* name) {
  const auto it = n.attrs.find(name);
  return it != n.attrs.end() && std::get<bool>(it->second);
}

// The node that makes v, where it is one of this operator.
const ir::Node* made_by(const ir::Graph& g, ValueId v, std::string_view op) {
  const ir::Node* n = g.def(v);
  return n != nullptr && n->op->name == op ? n : nullptr;
}

bool has_one_reader(const ir::Graph& g, ValueId v) { return g[v].uses.size() == 1; }

// The bias [classes] of a broadcast to [rows, classes].
ValueId bias_of(const ir::Graph& g, ValueId v, int64_t classes) {
  const ir::Node* n = made_by(g, v, "broadcast");
  if (n == nullptr || g[n->operands[0]].type.dims != Dims{classes}) return {};
  const auto dims = n->attrs.find("dims");
  if (dims != n->attrs.end() && std::get<Dims>(dims->second) != Dims{1}) return {};
  return n->operands[0];
}

struct Found {
  ValueId x, w, bias;
  std::string precision = {};  // as ProductLogits::precision
};

// Of a product that a mixed training would make of 16-bit numbers: its sums stay whole here, and are not rounded.
std::string precision_of(const ir::Node& product) {
  const std::string precision = value_or(product.attrs, "precision", std::string("f32"));
  return ir::mixed_type(precision) == DType::bf16 ? "bf16" : "f32";
}

std::optional<Found> find_product(const ir::Graph& g, ValueId logits) {
  if (!g.unused(logits)) return std::nullopt;
  ValueId v = logits;
  if (const ir::Node* fixed = made_by(g, v, "cast")) {  // of a mixed training
    v = fixed->operands[0];
    if (!has_one_reader(g, v)) return std::nullopt;
  }
  if (const ir::Node* reshape = made_by(g, v, "reshape")) {
    v = reshape->operands[0];
    if (!has_one_reader(g, v) || g[v].type.dims.back() != g[logits].type.dims.back()) return std::nullopt;
  }
  Found found;
  if (const ir::Node* add = made_by(g, v, "add")) {
    found.bias = bias_of(g, add->operands[1], g[v].type.dims.back());
    v = add->operands[0];
    if (!found.bias.valid() || !has_one_reader(g, v)) return std::nullopt;
  }
  const ir::Node* product = made_by(g, v, "matmul");
  if (product == nullptr || g[v].type.dims.size() != 2 || g[v].type.dtype != DType::f32) return std::nullopt;
  if (flag_of(*product, "transpose_a") || !flag_of(*product, "transpose_b")) return std::nullopt;
  found.x = product->operands[0];
  found.w = product->operands[1];
  found.precision = precision_of(*product);
  return found;
}

int64_t chunk_of(int64_t rows, int64_t classes, int64_t most_bytes) {
  constexpr int64_t kMultiple = 64;
  const int64_t of_bytes = most_bytes / kChunksOfMost / (4 * rows),
                of_number = (classes + kMostChunks - 1) / kMostChunks;
  const int64_t chunk = std::max({of_bytes, of_number, kMultiple});
  return std::min((chunk + kMultiple - 1) / kMultiple * kMultiple, classes);
}

ValueId along(MeasureContext& c, ValueId v, const Dims& dims, int64_t axis, const std::string& what) {
  return c.emit("broadcast", {v}, {{"shape", dims}, {"dims", Dims{axis}}}, what);
}

ValueId valid(MeasureContext& c, const ProductLogits& p) {
  const auto ignored = static_cast<double>(c.settings.integer("ignore_index"));
  return c.emit("ne", {p.labels, like(c, ignored, p.labels)}, {}, "valid");
}

ValueId known_labels(MeasureContext& c, const ProductLogits& p) {
  const ValueId low = c.emit("ge", {p.labels, like(c, 0, p.labels)}, {}, "not_negative");
  const ValueId high = c.emit("lt", {p.labels, like(c, static_cast<double>(p.classes), p.labels)}, {}, "below_classes");
  return c.emit("and", {c.emit("and", {low, high}, {}, "is_class"), valid(c, p)}, {}, "known");
}

// The label, and 0 where it is no class.
ValueId safe_labels(MeasureContext& c, const ProductLogits& p) {
  return c.emit("select", {known_labels(c, p), p.labels, like(c, 0, p.labels)}, {}, "safe_labels");
}

// What rows that count weigh beside their class, and with it.
ValueId weights_of_valid(MeasureContext& c, const ProductLogits& p) {
  const ValueId counts = as_number(c, valid(c, p), "valid");
  return p.weights.valid() ? c.emit("mul", {counts, p.weights}, {}, "weighted_valid") : counts;
}
ValueId weights_of_labels(MeasureContext& c, const ProductLogits& p, ValueId of_valid) {
  if (!has_class_weights(c)) return of_valid;
  const ValueId own =
      c.emit("gather", {class_numbers(c, "class_weights"), safe_labels(c, p)}, {{"axis", int64_t{0}}}, "own_weight");
  const ValueId known = c.emit("select", {known_labels(c, p), own, like(c, 0, own)}, {}, "label_weight");
  return c.emit("mul", {of_valid, known}, {}, "row_weight");
}

// i32[rows]: classes with a larger logit than the label's, or with the same and a lower number.
ValueId rank_of_labels(MeasureContext& c, const ProductLogits& p);

}  // namespace

std::optional<ProductLogits> product_logits(MeasureContext& c) {
  const ir::Type type = c.b.type(c.in[0]);
  if (type.dtype != DType::f32 || type.bytes() <= c.most_logit_bytes) return std::nullopt;
  const std::optional<Found> found = find_product(c.b.graph, c.in[0]);
  if (!found) return std::nullopt;
  ProductLogits p;
  p.x = found->x;
  p.w = found->w;
  p.precision = found->precision;
  p.classes = type.dims.back();
  p.rows = type.elements() / p.classes;
  p.chunk = chunk_of(p.rows, p.classes, c.most_logit_bytes);
  c.b.prefix = c.name + ".bias";
  p.bias = found->bias.valid() ? found->bias : c.b.constant(0, {DType::f32, {p.classes}});
  c.b.prefix = c.name + ".labels";
  p.labels = c.b.reshape(c.in[1], {p.rows});
  if (c.weights.valid()) {
    c.b.prefix = c.name + ".weights";
    p.weights = c.b.reshape(spread_weights(c, c.b.type(c.in[1]).dims), {p.rows});
  }
  return p;
}

ProductSums sums_of(MeasureContext& c, const ProductLogits& p) {
  const ir::Values made =
      c.b.multi("product_logsumexp", {p.x, p.w, p.bias, p.labels}, {{"chunk", p.chunk}, {"precision", p.precision}},
                {c.name + ".log_sum", c.name + ".label_logit", c.name + ".logit_sum"});
  return {made[0], made[1], made[2]};
}

ValueId cost_of_product(MeasureContext& c, const ProductLogits& p) {
  const ProductSums s = sums_of(c, p);
  const ValueId cost = c.emit("sub", {s.total, s.label}, {}, "cost");
  return sum_of(c, c.emit("select", {valid(c, p), cost, like(c, 0, cost)}, {}, "cost_or_zero"), {}, "cost_sum");
}

ValueId mean_of_product(MeasureContext& c, const ProductLogits& p, double smoothing) {
  const ProductSums s = sums_of(c, p);
  const ValueId counts = valid(c, p), of_valid = weights_of_valid(c, p), weights = weights_of_labels(c, p, of_valid);
  const ValueId known = known_labels(c, p);
  const ValueId label = c.emit("select", {known, s.label, s.total}, {}, "known_label");  // no class costs what is below
  ValueId row = c.emit("mul", {weights, c.emit("sub", {s.total, label}, {}, "cost")}, {}, "row");
  if (smoothing > 0) {
    // The sum of -log probability of all classes, weighed: total * (sum of weights) - the weighed sum of logits.
    ValueId sum = s.sum, share = like(c, static_cast<double>(p.classes), s.total);
    if (has_class_weights(c)) {
      const ValueId numbers = class_numbers(c, "class_weights");
      const ValueId line = c.emit("reshape", {numbers}, {{"shape", Dims{1, p.classes}}}, "weights_as_row");
      const ValueId mixed = c.emit("matmul", {line, p.w}, {}, "mixed_weights");
      const ValueId of_x = c.emit("matmul", {p.x, mixed}, {{"transpose_b", true}}, "mixed_logits");
      const ValueId of_bias = sum_of(c, c.emit("mul", {numbers, p.bias}, {}, "mixed_bias"), {}, "bias_sum");
      const ValueId flat = c.emit("reshape", {of_x}, {{"shape", Dims{p.rows}}}, "mixed_row");
      sum = c.emit("add", {flat, c.emit("broadcast", {of_bias}, {{"shape", Dims{p.rows}}}, "spread_bias")}, {},
                   "mixed_sum");
      share =
          c.emit("broadcast", {sum_of(c, numbers, {}, "class_weight_sum")}, {{"shape", Dims{p.rows}}}, "spread_share");
    }
    const ValueId all = c.emit("sub", {c.emit("mul", {s.total, share}, {}, "all_totals"), sum}, {}, "all_costs");
    const ValueId smooth = c.emit("mul", {of_valid, all}, {}, "smooth");
    const ValueId part = like(c, smoothing / static_cast<double>(p.classes), smooth);
    const ValueId sharp = c.emit("mul", {row, like(c, 1 - smoothing, row)}, {}, "sharp_row");
    row = c.emit("add", {sharp, c.emit("mul", {smooth, part}, {}, "smooth_row")}, {}, "smoothed_row");
  }
  const ValueId lost = c.emit("and", {counts, c.emit("not", {known}, {}, "unknown")}, {}, "lost");
  const ValueId infinite = like(c, std::numeric_limits<double>::infinity(), row);
  const ValueId sum = sum_of(c, c.emit("select", {lost, infinite, row}, {}, "row_or_infinite"), {}, "row_sum");
  return ratio(c, sum, sum_of(c, weights, {}, "row_weights"));
}

ValueId weight_of_product(MeasureContext& c, const ProductLogits& p) {
  return sum_of(c, weights_of_labels(c, p, weights_of_valid(c, p)), {}, "weight_of_labels");
}

ValueId among_the_best(MeasureContext& c, const ProductLogits& p, int64_t k) {
  const ValueId rank = rank_of_labels(c, p);
  const ValueId near = c.emit("lt", {rank, like(c, static_cast<double>(k), rank)}, {}, "near");
  const ValueId hits = c.emit("and", {near, known_labels(c, p)}, {}, "counted_hits");
  return sum_of(c, as_number(c, hits, "counted"), {}, "hit_count");
}

namespace {

ValueId rank_of_labels(MeasureContext& c, const ProductLogits& p) {
  const ValueId safe = safe_labels(c, p);
  const ValueId row = c.emit("gather", {p.w, safe}, {{"axis", int64_t{0}}}, "label_row");
  const ValueId dot = sum_of(c, c.emit("mul", {p.x, row}, {}, "label_products"), {1}, "label_dot");
  const ValueId own =
      c.emit("add", {dot, c.emit("gather", {p.bias, safe}, {{"axis", int64_t{0}}}, "label_bias")}, {}, "own_logit");
  const int64_t features = c.b.type(p.w).dims[1];
  ValueId rank;
  for (int64_t first = 0; first < p.classes; first += p.chunk) {
    const int64_t stop = std::min(first + p.chunk, p.classes);
    const Dims dims{p.rows, stop - first};
    const ValueId w = c.emit("slice", {p.w}, {{"starts", Dims{first, 0}}, {"limits", Dims{stop, features}}}, "chunk");
    const ValueId bias = c.emit("slice", {p.bias}, {{"starts", Dims{first}}, {"limits", Dims{stop}}}, "chunk_bias");
    const ValueId product =
        c.emit("matmul", {p.x, w}, {{"transpose_b", true}, {"precision", p.precision}}, "chunk_product");
    const ValueId logits = c.emit("add", {product, along(c, bias, dims, 1, "chunk_spread_bias")}, {}, "chunk_logits");
    const ValueId numbers = c.emit("iota", {}, {{"axis", int64_t{0}}, {"shape", Dims{stop - first}}}, "chunk_numbers");
    const ValueId number =
        along(c, c.emit("add", {numbers, like(c, static_cast<double>(first), numbers)}, {}, "chunk_classes"), dims, 1,
              "spread_classes");
    const ValueId label = along(c, safe, dims, 0, "spread_label"), limit = along(c, own, dims, 0, "spread_own");
    const ValueId lower = c.emit("lt", {number, label}, {}, "lower");
    const ValueId tie = c.emit("and", {c.emit("eq", {logits, limit}, {}, "equal"), lower}, {}, "wins_tie");
    const ValueId better = c.emit("or", {c.emit("gt", {logits, limit}, {}, "larger"), tie}, {}, "better");
    const ValueId others = c.emit("and", {better, c.emit("ne", {number, label}, {}, "other")}, {}, "better_other");
    const ValueId number_of = c.emit("cast", {others}, {{"dtype", std::string("i32")}}, "better_number");
    const ValueId more = sum_of(c, number_of, {1}, "chunk_rank");
    rank = rank.valid() ? c.emit("add", {rank, more}, {}, "rank") : more;
  }
  return rank;
}

}  // namespace
}  // namespace heddle::frontend
