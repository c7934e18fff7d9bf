// bleu: n-grams of what is predicted that the labels have too, over a whole split (Papineni et al. 2002), as sacrebleu
// computes it of tokens with spaces between, over 100.
//
// Of an n-gram that stands in a row's prediction more often than in its labels, as many count as the labels have. So the
// n-gram at place i counts where the labels have it more often than there are equal ones before i:
//
//   predicted  a b a a    labels  a c a     n = 1:  a(0), a(2) count, a(3) does not: two are before it, the labels have two
#include <fmt/format.h>

#include <numbers>

#include "frontend/metrics/sequences.h"
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::DType;
using ir::ValueId;

int64_t order_of(const MeasureContext& c) { return c.settings.integer("order"); }

// n-grams of two sequences, each of one beside each of the other: [N, of a, of b].
class NGrams {
 public:
  NGrams(MeasureContext& c, const SequencePair& pair, int64_t n)
      : c_(c), pair_(pair), n_(n), rows_(c.b.type(pair.predicted.length).dims[0]), name_(fmt::format("n{}", n)) {}

  struct Counts {
    ValueId matches, total;  // f64[1]
  };

  Counts count() {
    const int64_t own = pair_.predicted.size - n_ + 1, others = pair_.reference.size - n_ + 1;
    if (own < 1) return {none(), none()};
    const ValueId place = places(c_, rows_, own);
    const ValueId complete = whole(pair_.predicted, own);
    const ValueId counts = emit("and", {complete, along_row(c_, pair_.counts, own, name_ + "_row_counts")}, "counts");
    const ValueId total = summed(counts, "total");
    if (others < 1) return {none(), total};
    const ValueId first = along_own(place, own, "place"), second = along_others(place, own, "other_place");
    const ValueId earlier =
        emit("and", {equal(pair_.predicted, own), emit("lt", {second, first}, "is_before")}, "earlier");
    const ValueId there = along_others(whole(pair_.reference, others), own, "is_there");
    const ValueId known = emit("and", {equal(pair_.reference, others), there}, "known");
    const ValueId left = emit("lt", {number_of(earlier, "before"), number_of(known, "of_labels")}, "left");
    return {summed(emit("and", {left, counts}, "match"), "matches"), total};
  }

 private:
  ValueId emit(const char* op, const ir::Values& operands, const std::string& what, ir::Attrs attrs = {}) {
    return c_.emit(op, operands, std::move(attrs), name_ + "_" + what);
  }
  ValueId none() {
    c_.b.prefix = c_.name + ".none";
    return c_.b.constant(0, {DType::f64, {1}});
  }
  // Which places of a row have a whole n-gram of the sequence.
  ValueId whole(const Sequence& s, int64_t size) {
    const ValueId place = places(c_, rows_, size), length = along_row(c_, s.length, size, name_ + "_length");
    const ValueId last = emit("add", {place, like(c_, static_cast<double>(n_ - 1), place)}, "last_place");
    return emit("lt", {last, length}, "is_whole");
  }
  // Of each place of the prediction, [N, own], beside `others` of the other sequence: [N, own, others].
  ValueId along_own(ValueId v, int64_t others, const std::string& what) {
    return emit("broadcast", {v}, what, {{"shape", Dims{rows_, c_.b.type(v).dims[1], others}}, {"dims", Dims{0, 1}}});
  }
  // Of each place of the other sequence, [N, others], beside `own` of the prediction.
  ValueId along_others(ValueId v, int64_t own, const std::string& what) {
    return emit("broadcast", {v}, what, {{"shape", Dims{rows_, own, c_.b.type(v).dims[1]}}, {"dims", Dims{0, 2}}});
  }
  ValueId column(ValueId v, int64_t from, int64_t size, const std::string& what) {
    if (c_.b.type(v).dims[1] == size) return v;
    return emit("slice", {v}, what, {{"starts", Dims{0, from}}, {"limits", Dims{rows_, from + size}}});
  }
  // bool[N, own, size]: the n-gram of the prediction is that of the other.
  ValueId equal(const Sequence& other, int64_t size) {
    const int64_t own = pair_.predicted.size - n_ + 1;
    ValueId all;
    for (int64_t m = 0; m < n_; ++m) {
      const ValueId a = along_own(column(pair_.predicted.tokens, m, own, "own"), size, "own_token");
      const ValueId b = along_others(column(other.tokens, m, size, "other"), own, "other_token");
      const ValueId same = emit("eq", {a, b}, "same");
      all = all.valid() ? emit("and", {all, same}, "same_so_far") : same;
    }
    return all;
  }
  // i32[N, own]
  ValueId number_of(ValueId condition, const std::string& what) {
    return sum_of(c_, emit("cast", {condition}, what + "_number", {{"dtype", std::string("i32")}}), {2},
                  name_ + "_" + what);
  }
  ValueId summed(ValueId condition, const std::string& what) {
    const ValueId number = emit("cast", {condition}, what + "_number", {{"dtype", std::string("f64")}});
    const ValueId sum = sum_of(c_, number, {}, name_ + "_" + what);
    return emit("reshape", {sum}, what + "_one", {{"shape", Dims{1}}});
  }

  MeasureContext& c_;
  const SequencePair& pair_;
  int64_t n_, rows_;
  std::string name_;
};

ValueId joined(MeasureContext& c, const ir::Values& parts, const std::string& what) {
  return parts.size() == 1 ? parts[0] : c.emit("concat", parts, {{"axis", int64_t{0}}}, what);
}

ValueId length(MeasureContext& c, const SequencePair& pair, ValueId of_rows, const std::string& what) {
  const ValueId counted = c.emit("select", {pair.counts, of_rows, like(c, 0, of_rows)}, {}, what + "_counted");
  return sum_of(c, c.emit("cast", {counted}, {{"dtype", std::string("f64")}}, what + "_f64"), {}, what);
}

ir::Values next(MeasureContext& c, const ir::Values& old) {
  const SequencePair pair = read_sequences(c);
  ir::Values matches, totals;
  for (int64_t n = 1; n <= order_of(c); ++n) {
    const NGrams::Counts counts = NGrams(c, pair, n).count();
    matches.push_back(counts.matches);
    totals.push_back(counts.total);
  }
  return with_batch(c, old,
                    {joined(c, matches, "matches"), joined(c, totals, "totals"),
                     length(c, pair, pair.predicted.length, "predicted_length"),
                     length(c, pair, pair.reference.length, "labels_length")});
}

// exp of the mean log precision, times exp(1 - labels / predicted) where less is predicted than the labels have. A
// precision of 0 becomes 1 / 2^k of one n-gram for the k-th such order ("exp", NIST's), or makes all of it 0.
ValueId finish(MeasureContext& c) {
  const ValueId matches = c.in[0], totals = c.in[1], predicted = c.in[2], labels = c.in[3];
  const ValueId no_match = c.emit("eq", {matches, like(c, 0, matches)}, {}, "no_match");
  const ValueId no_total = c.emit("eq", {totals, like(c, 0, totals)}, {}, "no_total");
  const ValueId missing = c.emit("cast", {no_match}, {{"dtype", std::string("f64")}}, "missing");
  const ValueId so_far = c.emit("cumsum", {missing}, {}, "missing_so_far");
  const ValueId halves = c.emit("mul", {so_far, like(c, -std::numbers::ln2, so_far)}, {}, "log_halves");
  const ValueId log_matches = c.emit(
      "log", {c.emit("select", {no_match, like(c, 1, matches), matches}, {}, "some_matches")}, {}, "log_matches");
  const ValueId above = c.emit("select", {no_match, halves, log_matches}, {}, "log_above");
  const ValueId below =
      c.emit("log", {c.emit("select", {no_total, like(c, 1, totals), totals}, {}, "some_totals")}, {}, "log_totals");
  const ValueId mean = c.emit("reduce_mean", {c.emit("sub", {above, below}, {}, "log_precision")}, {}, "mean_log");

  const ValueId some = c.emit("max", {predicted, like(c, 1, predicted)}, {}, "some_predicted");
  const ValueId missing_share =
      c.emit("sub", {like(c, 1, labels), c.emit("div", {labels, some}, {}, "longer")}, {}, "missing_share");
  const ValueId brevity = c.emit("min", {missing_share, like(c, 0, missing_share)}, {}, "log_brevity");
  const ValueId score = c.emit("exp", {c.emit("add", {mean, brevity}, {}, "log_score")}, {}, "score");

  const auto any = [&](ValueId condition, const std::string& what) {
    const ValueId number = c.emit("cast", {condition}, {{"dtype", std::string("f64")}}, what + "_number");
    const ValueId sum = sum_of(c, number, {}, what);
    return sum;
  };
  // Without a single match there is nothing to smooth.
  const double most = c.settings.text("smoothing") == "exp" ? static_cast<double>(order_of(c)) - 0.5 : 0.5;
  const ValueId unmatched = any(no_match, "orders_without_match"), absent = any(no_total, "orders_without_total");
  const ValueId too_few = c.emit("gt", {unmatched, like(c, most, unmatched)}, {}, "too_few");
  const ValueId incomplete = c.emit("gt", {absent, like(c, 0.5, absent)}, {}, "too_short");
  return c.emit("select", {c.emit("or", {too_few, incomplete}, {}, "is_zero"), like(c, 0, score), score}, {}, "bleu");
}

std::vector<Key> settings() {
  std::vector<Key> all = sequence_settings();
  all.push_back({.name = "order", .doc = "the longest n-grams", .fallback = int64_t{4}, .range = ir::between(1, 8)});
  all.push_back({.name = "smoothing",
                 .type = KeyType::text,
                 .doc = "what stands for a precision of 0: exp, half of one n-gram, then a quarter; none, 0",
                 .fallback = "exp",
                 .words = {"exp", "none"}});
  return all;
}

const RegisterMetric bleu(
    {.name = "bleu",
     .doc = "BLEU of the whole split, a share: the geometric mean of the precisions of n-grams, less "
            "where what is predicted is shorter than the labels",
     .inputs = sequence_inputs(),
     .optional = sequence_lengths(),
     .higher_is_better = true,
     .settings = settings(),
     .states =
         [](MeasureContext& c) {
           check_sequences(c);
           const Dims orders{order_of(c)};
           return std::vector<MetricState>{{"matches", orders}, {"totals", orders}, {"predicted"}, {"labels"}};
         },
     .next = next,
     .finish = finish});

}  // namespace
}  // namespace heddle::frontend
