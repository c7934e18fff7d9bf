#include <cmath>

#include "frontend/metrics/ndcg.h"
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {

using ir::Dims;
using ir::DType;
using ir::ValueId;

namespace {

// Documents [n]; `there` are those that count.
struct Documents {
  ValueId scores, gains, queries;  // f64
  ValueId there;                   // bool
  int64_t n = 0;
};

// v of each row, or with `across` of each column, of a square of documents.
ValueId square(MeasureContext& c, ValueId v, int64_t n, bool across, const std::string& what) {
  return c.emit("broadcast", {v}, {{"shape", Dims{n, n}}, {"dims", Dims{across ? 1 : 0}}}, what);
}

// What the place of each document counts among those of its query by falling `by`: the mean over the orders of equals.
ValueId discount_of(MeasureContext& c, const Documents& d, ValueId same, ValueId by, const std::string& what) {
  const ValueId own = square(c, by, d.n, false, what + "_own"), other = square(c, by, d.n, true, what + "_other");
  const auto among = [&](const char* op, const std::string& name) {
    const ValueId holds = c.emit("and", {same, c.emit(op, {other, own}, {}, name)}, {}, name + "_of_query");
    return sum_of(c, as_number(c, holds, name), {1}, name + "_count");
  };
  const ValueId above = among("gt", what + "_above"), equal = among("eq", what + "_equal");
  const auto place = [&](ValueId v, const std::string& name) {
    return c.emit("cast", {v}, {{"dtype", std::string("i32")}}, name);
  };
  const ValueId sums = c.emit("cumsum", {discounts(c, d.n)}, {{"axis", int64_t{0}}}, what + "_discount_sums");
  const ValueId table = c.emit("pad", {sums}, {{"low", Dims{1}}, {"high", Dims{0}}}, what + "_discounts_before");
  const ValueId from = place(above, what + "_from"), to = place(c.emit("add", {above, equal}, {}, what + "_end"), what + "_to");
  const ValueId all = c.emit("sub", {c.emit("gather", {table, to}, {}, what + "_to_end"),
                                     c.emit("gather", {table, from}, {}, what + "_to_begin")}, {}, what + "_of_equals");
  c.b.prefix = c.name + "." + what + "_equal_f64";
  return c.emit("div", {all, c.b.cast(equal, DType::f64)}, {}, what + "_discount");  // nan of a score that is nan
}

// The sum of the shares of the queries whose documents are `whole`, and how many queries these are.
ir::Values shares_of(MeasureContext& c, const Documents& d, ValueId whole) {
  const ValueId together = c.emit("eq", {square(c, d.queries, d.n, false, "query_own"),
                                         square(c, d.queries, d.n, true, "query_other")}, {}, "together");
  const ValueId same = c.emit("and", {together, square(c, d.there, d.n, true, "there_other")}, {}, "same_query");
  const auto gained = [&](ValueId by, const std::string& what) {
    const ValueId term = c.emit("mul", {d.gains, discount_of(c, d, same, by, what)}, {}, what + "_gained");
    const ValueId other = square(c, term, d.n, true, what + "_gained_other");
    return sum_of(c, c.emit("select", {same, other, like(c, 0, other)}, {}, what + "_of_query"), {1}, what);
  };
  const ValueId found = gained(d.scores, "dcg"), best = gained(d.gains, "ideal_dcg");
  const ValueId none = c.emit("eq", {best, like(c, 0, best)}, {}, "irrelevant");
  const ValueId share = c.emit("div", {found, best}, {}, "share");
  const ValueId known = c.emit("select", {none, like(c, 0, share), share}, {}, "share_or_zero");
  // Each query counts at its first document.
  const ValueId place = c.emit("iota", {}, {{"shape", Dims{d.n}}, {"dtype", std::string("i32")}}, "document");
  const ValueId earlier = c.emit("lt", {square(c, place, d.n, true, "place_other"), square(c, place, d.n, false, "place_own")},
                                 {}, "earlier");
  const ValueId before = sum_of(c, as_number(c, c.emit("and", {same, earlier}, {}, "earlier_of_query"), "earlier"), {1}, "before");
  const ValueId first = c.emit("eq", {before, like(c, 0, before)}, {}, "first");
  const ValueId counts = c.emit("and", {c.emit("and", {first, d.there}, {}, "first_there"), whole}, {}, "counts");
  // A relevance below 0 means nothing.
  const ValueId negative = c.emit("and", {d.there, c.emit("lt", {d.gains, like(c, 0, d.gains)}, {}, "negative")}, {}, "lost");
  const ValueId lost = c.emit("select", {negative, like(c, NAN, known), like(c, 0, known)}, {}, "nan_or_zero");
  const ValueId sum = sum_of(c, c.emit("select", {counts, known, like(c, 0, known)}, {}, "counted_share"), {}, "shares");
  return {c.emit("add", {sum, sum_of(c, lost, {}, "any_lost")}, {}, "shares_or_nan"),
          sum_of(c, as_number(c, counts, "queries"), {}, "queries")};
}

// What has been held back of the query under way: its first `count` places.
Documents held_documents(MeasureContext& c, const ir::Values& states) {
  const int64_t n = c.b.type(states[4]).dims[0];
  const auto spread = [&](ValueId v, const std::string& what) {
    return c.emit("broadcast", {v}, {{"shape", Dims{n}}, {"dims", Dims{}}}, what);
  };
  const ValueId place = c.emit("iota", {}, {{"shape", Dims{n}}, {"dtype", std::string("f64")}}, "held_place");
  return {.scores = states[4],
          .gains = states[5],
          .queries = spread(states[3], "held_queries"),
          .there = c.emit("lt", {place, spread(states[2], "held_counts")}, {}, "held_there"),
          .n = n};
}

Documents batch_documents(MeasureContext& c) {
  const int64_t n = c.b.type(c.in[0]).elements();
  const auto flat = [&](ValueId v, const std::string& what) {
    c.b.prefix = c.name + "." + what + "_column";
    return wide(c.b, c.b.reshape(v, {n}));
  };
  const ValueId relevance = flat(c.in[1], "relevance");
  const auto ignored = static_cast<double>(c.settings.integer("ignore_index"));
  const ValueId there = c.emit("ne", {relevance, like(c, ignored, relevance)}, {}, "there");
  const ValueId gains = gain_of(c, relevance);
  return {.scores = flat(c.in[0], "score"),
          .gains = c.emit("select", {there, gains, like(c, 0, gains)}, {}, "gains_there"),
          .queries = flat(c.in[2], "query"),
          .there = there,
          .n = n};
}

Documents joined(MeasureContext& c, const Documents& a, const Documents& b) {
  const auto both = [&](ValueId x, ValueId y, const std::string& what) {
    return c.emit("concat", {x, y}, {{"axis", int64_t{0}}}, what);
  };
  return {.scores = both(a.scores, b.scores, "all_scores"),
          .gains = both(a.gains, b.gains, "all_gains"),
          .queries = both(a.queries, b.queries, "all_queries"),
          .there = both(a.there, b.there, "all_there"),
          .n = a.n + b.n};
}

}  // namespace

std::vector<MetricState> states_of_documents(MeasureContext& c) {
  const Dims held = {c.settings.integer("documents")};
  return {{"total"}, {"counted"}, {"held_count"}, {"held_query"}, {"held_scores", held}, {"held_gains", held}};
}

// The states behind the batch: its last query waits for the next batch.
ir::Values next_documents(MeasureContext& c, const ir::Values& old) {
  const Documents batch = batch_documents(c), all = joined(c, held_documents(c, old), batch);
  const ValueId last_one = c.emit("slice", {batch.queries}, {{"starts", Dims{batch.n - 1}}, {"limits", Dims{batch.n}}}, "last_one");
  c.b.prefix = c.name + ".last_query";
  const ValueId last = c.b.reshape(last_one, {});
  const ValueId spread = c.emit("broadcast", {last}, {{"shape", Dims{all.n}}, {"dims", Dims{}}}, "last_queries");
  const ValueId whole = c.emit("ne", {all.queries, spread}, {}, "whole");
  const ir::Values shares = shares_of(c, all, whole);
  const ValueId waits = c.emit("and", {c.emit("eq", {all.queries, spread}, {}, "is_last"), all.there}, {}, "waits");
  const ValueId number = as_number(c, waits, "waits"), count = sum_of(c, number, {}, "waiting");
  const int64_t held = c.b.type(old[4]).dims[0];
  const Dims room = {held, all.n};
  const ValueId upto = c.emit("cumsum", {number}, {{"axis", int64_t{0}}}, "waiting_up_to");
  const auto along = [&](ValueId v, const std::string& what) {
    return c.emit("broadcast", {v}, {{"shape", room}, {"dims", Dims{1}}}, what);
  };
  const ValueId place = c.emit("iota", {}, {{"axis", int64_t{0}}, {"shape", room}, {"dtype", std::string("f32")}}, "room");
  const ValueId its = c.emit("eq", {along(upto, "places"), c.emit("add", {place, like(c, 1, place)}, {}, "room_from_one")}, {}, "its_place");
  const ValueId goes = c.emit("and", {its, along(waits, "waiting_one")}, {}, "goes_there");
  const auto kept = [&](ValueId v, const std::string& what) {
    const ValueId each = along(v, what + "_each");
    return sum_of(c, c.emit("select", {goes, each, like(c, 0, each)}, {}, what + "_there"), {1}, what);
  };
  // A query with more documents than are held has no value.
  const ValueId many = c.emit("gt", {count, like(c, static_cast<double>(held), count)}, {}, "too_many");
  const ValueId total = c.emit("select", {many, like(c, NAN, shares[0]), shares[0]}, {}, "shares_known");
  ir::Values next = with_batch(c, {old[0], old[1]}, {total, shares[1]});
  next.push_back(wide(c.b, count));
  next.push_back(last);
  next.push_back(kept(all.scores, "kept_scores"));
  next.push_back(kept(all.gains, "kept_gains"));
  return next;
}

// With the query that was under way at the end.
ValueId finish_documents(MeasureContext& c) {
  const Documents held = held_documents(c, c.in);
  const ir::Values last = shares_of(c, held, held.there);
  const ValueId total = c.emit("add", {c.in[0], last[0]}, {}, "all_shares");
  return c.emit("div", {total, c.emit("add", {c.in[1], wide(c.b, last[1])}, {}, "all_queries_counted")}, {}, "mean");
}

}  // namespace heddle::frontend
