// ndcg: normalized discounted cumulative gain (Järvelin and Kekäläinen 2002), as scikit-learn's ndcg_score: a row is a
// query with its documents, and what equal scores gain is the mean over their orders (McSherry and Najork 2008).
#include <fmt/format.h>

#include <cmath>

#include "frontend/metrics/ndcg.h"

#include "frontend/training/measure_parts.h"

namespace heddle::frontend {

using ir::Dims;
using ir::DType;
using ir::ValueId;

ValueId gain_of(MeasureContext& c, ValueId relevance) {
  if (c.settings.text("gain") != "exponential") return relevance;
  const ValueId power = c.emit("mul", {relevance, like(c, std::log(2.0), relevance)}, {}, "power");
  return c.emit("expm1", {power}, {}, "gains");
}

namespace {

ValueId wide_constant(MeasureContext& c, double value, const Dims& dims) {
  c.b.prefix = c.name + ".constant";
  return c.b.constant(value, {DType::f64, dims});
}

}  // namespace

ValueId discounts(MeasureContext& c, int64_t documents) {
  const Dims dims = {documents};
  const ValueId place = c.emit("iota", {}, {{"shape", dims}, {"dtype", std::string("f64")}}, "place");
  const ValueId log = c.emit("log", {c.emit("add", {place, like(c, 2, place)}, {}, "place_and_one")}, {}, "log");
  const ValueId discount = c.emit("div", {wide_constant(c, std::log(2.0), dims), log}, {}, "discount");
  if (!c.settings.has("k")) return discount;
  const ValueId near = c.emit("lt", {place, like(c, static_cast<double>(c.settings.integer("k")), place)}, {}, "near");
  return c.emit("select", {near, discount, like(c, 0, discount)}, {}, "discount_to_k");
}

namespace {

bool is_grouped(const MeasureContext& c) { return c.has(2); }  // a row is a document, and its query a number

void check_grouped(MeasureContext& c) {
  const Dims &dims = c.b.type(c.in[0]).dims, &queries = c.b.type(c.in[2]).dims;
  const auto is_column = [&](const Dims& d) { return d.size() == 1 || (d.size() == 2 && d[1] == 1); };
  if (!is_column(dims) || !is_column(queries))
    c.fail(fmt::format("with queries a row is a document: expected scores and queries [N], found {} and {}",
                       c.shape_text(dims), c.shape_text(queries)),
           "without queries a row is a query with all its documents, [N, documents]");
}

void check(MeasureContext& c) {
  check_targets(c);
  if (is_grouped(c)) return check_grouped(c);
  const Dims& dims = c.b.type(c.in[0]).dims;
  if (dims.size() < 2)
    c.fail(fmt::format("expected scores [N, ..., documents], found {}", c.shape_text(dims)),
           "a row is a query with all its documents; a document that is not there has the relevance 'ignore_index'; "
           "where a row is one document, name its query: \"in\": [\"scores\", \"relevance\", \"query\"]");
}

std::vector<MetricState> states(MeasureContext& c) {
  check(c);
  if (!is_grouped(c)) return {{"total"}, {"counted"}};
  return states_of_documents(c);
}

// Of queries [rows, documents].
struct Lists {
  ValueId scores;  // of what is not there: -infinity
  ValueId gains;   // f64; of what is not there: 0
  ValueId counts;  // bool[rows]: something is there
};
Lists read_lists(MeasureContext& c) {
  const int64_t documents = c.b.type(c.in[0]).dims.back(), rows = c.b.type(c.in[0]).elements() / documents;
  const auto flat = [&](ValueId v, const std::string& what) {
    c.b.prefix = c.name + "." + what + "_lists";
    return c.b.reshape(v, {rows, documents});
  };
  const ValueId scores = flat(c.in[0], "score"), given = flat(c.in[1], "relevance");
  c.b.prefix = c.name + ".relevance";
  ValueId gains = c.b.cast(given, DType::f64);
  const auto ignored = static_cast<double>(c.settings.integer("ignore_index"));
  const ValueId there = c.emit("ne", {gains, like(c, ignored, gains)}, {}, "there");
  gains = gain_of(c, gains);
  const ValueId last = like(c, -INFINITY, scores), nothing = like(c, 0, gains);
  const ValueId found = sum_of(c, as_number(c, there, "there"), {1}, "documents");
  return {c.emit("select", {there, scores, last}, {}, "scores"),
          c.emit("select", {there, gains, nothing}, {}, "gains_there"),
          c.emit("gt", {found, like(c, 0, found)}, {}, "counts")};
}

// i32 as `sorted`: the first place of those with the same score, and the one behind the last.
struct Equals {
  ValueId first, behind;
};
Equals equals(MeasureContext& c, ValueId sorted) {
  const Dims dims = c.b.type(sorted).dims;
  const int64_t rows = dims[0], documents = dims[1];
  const auto part = [&](int64_t from, std::string_view name) {
    return c.emit("slice", {sorted}, {{"starts", Dims{0, from}}, {"limits", Dims{rows, from + documents - 1}}}, name);
  };
  const ValueId differs = c.emit("ne", {part(1, "later"), part(0, "earlier")}, {}, "differs");
  const Dims inner = c.b.type(differs).dims;
  const ValueId zero = c.emit("iota", {}, {{"axis", int64_t{1}}, {"shape", inner}}, "place_before");
  const ValueId place = c.emit("add", {zero, like(c, 1, zero)}, {}, "place_of_later");
  const auto marked = [&](double otherwise, int64_t low, const std::string& what) {
    const ValueId begin = c.emit("select", {differs, place, like(c, otherwise, place)}, {}, what + "_begin");
    return c.emit("pad", {begin}, {{"low", Dims{0, low}}, {"high", Dims{0, 1 - low}}, {"fill", otherwise}}, what);
  };
  const ValueId first = marked(0, 1, "first"), behind = marked(static_cast<double>(documents), 0, "behind");
  return {c.emit("cummax", {first}, {{"axis", int64_t{1}}}, "first_of_equals"),
          c.emit("cummin", {behind}, {{"axis", int64_t{1}}, {"reverse", true}}, "behind_equals")};
}

// What each place counts: the mean discount of those with the same score.
ValueId shared_discounts(MeasureContext& c, ValueId sorted, ValueId discount) {
  const ValueId sums = c.emit("cumsum", {discount}, {{"axis", int64_t{0}}}, "discount_sums");
  const ValueId table = c.emit("pad", {sums}, {{"low", Dims{1}}, {"high", Dims{0}}}, "discounts_before");
  const Equals e = equals(c, sorted);
  const auto before = [&](ValueId place, std::string_view name) { return c.emit("gather", {table, place}, {}, name); };
  const ValueId all =
      c.emit("sub", {before(e.behind, "to_end"), before(e.first, "to_begin")}, {}, "discount_of_equals");
  const ValueId count = c.emit("sub", {e.behind, e.first}, {}, "equals");
  c.b.prefix = c.name + ".equals_f64";
  return c.emit("div", {all, c.b.cast(count, DType::f64)}, {}, "shared_discount");
}

ir::Values in_order(MeasureContext& c, ValueId v, const std::string& what) {
  return c.b.multi("argsort", {v}, {{"descending", true}}, {c.name + "." + what + "_order", c.name + "." + what});
}

ValueId summed(MeasureContext& c, ValueId gains, ValueId discount, const std::string& what) {
  return sum_of(c, c.emit("mul", {gains, discount}, {}, what + "_terms"), {1}, what);
}

// A relevance below 0 means nothing: scikit-learn refuses it.
ValueId nan_where_negative(MeasureContext& c, ValueId gains, ValueId value) {
  const ValueId least = c.emit("reduce_min", {gains}, {{"axes", Dims{1}}}, "least_gain");
  const ValueId lost = c.emit("lt", {least, like(c, 0, least)}, {}, "negative_gain");
  return c.emit("select", {lost, like(c, NAN, value), value}, {}, "share_or_nan");
}

ir::Values next(MeasureContext& c, const ir::Values& old) {
  check(c);
  if (is_grouped(c)) return next_documents(c, old);
  const Lists lists = read_lists(c);
  const Dims dims = c.b.type(lists.gains).dims;
  const ValueId discount = discounts(c, dims[1]);
  const ValueId each = c.emit("broadcast", {discount}, {{"shape", dims}, {"dims", Dims{1}}}, "spread_discount");
  const ir::Values ordered = in_order(c, lists.scores, "scores_in_order");
  c.b.prefix = c.name + ".coordinates";
  const ValueId coordinates = c.b.reshape(ordered[0], {dims[0], dims[1], 1});
  const ValueId gains = c.emit("gather_nd", {lists.gains, coordinates}, {{"batch", int64_t{1}}}, "gains_in_order");
  const ValueId found = summed(c, gains, dims[1] == 1 ? each : shared_discounts(c, ordered[1], discount), "dcg");
  const ValueId best = summed(c, in_order(c, lists.gains, "best_gains")[1], each, "ideal_dcg");
  // Of a query without a relevant document: 0.
  const ValueId relevant = c.emit("gt", {best, like(c, 0, best)}, {}, "relevant");
  const ValueId share =
      c.emit("div", {found, c.emit("select", {relevant, best, like(c, 1, best)}, {}, "divisor")}, {}, "share");
  const ValueId counts = c.emit("and", {lists.counts, relevant}, {}, "adds");
  const ValueId known = c.emit("select", {counts, share, like(c, 0, share)}, {}, "share_or_zero");
  const ValueId value = nan_where_negative(c, lists.gains, known);
  return with_batch(c, old, {sum_of(c, value, {}, "sum"), sum_of(c, as_number(c, lists.counts, "rows"), {}, "rows")});
}

const RegisterMetric ndcg(
    {.name = "ndcg",
     .doc = "mean over queries of the discounted gain of their documents by score, over that of the best order",
     .inputs = {"scores", "relevance"},
     .optional = {"queries"},
     .higher_is_better = true,
     .settings = {{.name = "k", .doc = "how many of the best documents count: all", .range = ir::at_least(1)},
                  {.name = "gain",
                   .type = KeyType::text,
                   .doc = "linear: the relevance; exponential: 2^relevance - 1",
                   .fallback = std::string("linear"),
                   .words = {"linear", "exponential"}},
                  {.name = "documents",
                   .doc = "the most that a query has, where rows are documents",
                   .fallback = int64_t{128},
                   .range = ir::between(1, 4096)},
                  ignore_setting()},
     .states = states,
     .next = next,
     .finish = [](MeasureContext& c) {
       return c.in.size() == 2 ? c.emit("div", c.in, {}, "mean") : finish_documents(c);
     }});

}  // namespace
}  // namespace heddle::frontend
