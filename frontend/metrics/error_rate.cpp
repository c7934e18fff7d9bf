// Error rates: the fewest insertions, deletions and replacements that make a sequence of another (Levenshtein 1966), all
// rows together over all tokens of the references. character_error_rate counts tokens, word_error_rate words.
//
// A turn of the loop takes one token a of what is predicted, and the distances d(j) of the tokens before it to the first j
// of the reference b:
//
//   e(j) = min(d(j) + 1, d(j-1) + [a is not b(j)])          a is too much, or a stands for b(j)
//   d(j) = min over k <= j of e(k) + (j - k)                b(k+1) to b(j) are missing: a prefix of minima of e(k) - k
#include "frontend/metrics/sequences.h"
#include "frontend/training/measure_loop.h"
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::DType;
using ir::ValueId;

constexpr double kFar = 1 << 30;  // more than any distance, and one more still fits into an i32

// [N, T] as its columns, one for each turn.
ValueId columns(MeasureContext& c, ValueId v) {
  return c.emit("transpose", {v}, {{"perm", Dims{1, 0}}}, "token_steps");
}

// i32[N]
ValueId distances(MeasureContext& c, const SequencePair& s) {
  const int64_t rows = c.b.type(s.predicted.length).dims[0], width = s.reference.size + 1;
  const ValueId place = places(c, rows, width);
  const ValueId one_on = c.emit("pad", {s.reference.tokens},
                                {{"low", Dims{0, 1}}, {"high", Dims{0, 0}}, {"fill", -1.0}}, "reference_one_on");
  MeasureLoop loop(c, "distances", s.predicted.size, {place}, {columns(c, s.predicted.tokens)});
  const ValueId before = loop.carries[0];
  const ValueId differs = c.emit("ne", {one_on, along_row(c, loop.slices[0], width, "token")}, {}, "differs");
  const ValueId cost = c.emit("cast", {differs}, {{"dtype", std::string("i32")}}, "cost");
  const ValueId replaced = c.emit("add", {moved_right(c, before, 1, kFar, "diagonal"), cost}, {}, "replaced");
  const ValueId too_much = c.emit("add", {before, like(c, 1, before)}, {}, "too_much");
  const ValueId nearest = c.emit("min", {too_much, replaced}, {}, "nearest");
  const ValueId column = places(c, rows, width);
  const ValueId less = c.emit("sub", {nearest, column}, {}, "less");
  const ValueId least = c.emit("cummin", {less}, {{"axis", int64_t{1}}}, "least");
  const ValueId after = c.emit("add", {least, column}, {}, "after");
  const ValueId turns = c.emit("broadcast", {loop.index}, {{"shape", Dims{rows}}}, "turns");
  const ValueId goes_on = along_row(c, c.emit("lt", {turns, s.predicted.length}, {}, "goes_on"), width, "goes_on_row");
  const ValueId last = loop.run({c.emit("select", {goes_on, after, before}, {}, "kept")}).last[0];
  const ValueId end = c.emit("eq", {place, along_row(c, s.reference.length, width, "end")}, {}, "is_end");
  return sum_of(c, c.emit("select", {end, last, like(c, 0, last)}, {}, "last_or_zero"), {1}, "distance");
}

// The sum over rows that count, f32: exact below 2^24.
ValueId total(MeasureContext& c, ValueId numbers, ValueId counts, const std::string& what) {
  const ValueId counted = c.emit("select", {counts, numbers, like(c, 0, numbers)}, {}, what + "_counted");
  c.b.prefix = c.name + "." + what + "_wide";
  return sum_of(c, c.b.cast(counted, DType::f64), {}, what);
}

ir::Values add(MeasureContext& c, const ir::Values& old, const SequencePair& s) {
  return with_batch(c, old,
                    {total(c, distances(c, s), s.counts, "edits"), total(c, s.reference.length, s.counts, "tokens")});
}

ValueId rate(MeasureContext& c) { return c.emit("div", c.in, {}, "rate"); }

// --- Words: runs of tokens between spaces ---

// A number for what a token is and where in its word it stands: a sum of them tells words apart.
ValueId mixed(MeasureContext& c, ValueId token, ValueId offset) {
  const auto step = [&](ValueId v, double factor, double shift) {
    const ValueId product = c.emit("mul", {v, like(c, factor, v)}, {}, "mixed");
    return c.emit("xor", {product, c.emit("shift_right_logical", {product, like(c, shift, product)}, {}, "high_bits")},
                  {}, "mixed");
  };
  // Odd numbers of 53 bits, which a double holds: of the golden ratio and of the square root of two.
  const ValueId of_token = step(c.emit("add", {token, like(c, 1, token)}, {}, "token_number"), 5566755282872655, 29);
  const ValueId of_place = step(c.emit("add", {offset, like(c, 1, offset)}, {}, "offset_number"), 6369051672525773, 31);
  return step(step(c.emit("xor", {of_token, of_place}, {}, "mixed"), 5566755282872655, 32), 6369051672525773, 29);
}

// The words of a sequence, each a number i64.
Sequence words_of(MeasureContext& c, const Sequence& s, const std::string& what) {
  const ValueId length = s.length;
  const int64_t rows = c.b.type(length).dims[0];
  const ValueId place = places(c, rows, s.size);
  const ValueId space = like(c, static_cast<double>(c.settings.integer("space")), s.tokens);
  const ValueId is_space = c.emit("eq", {s.tokens, space}, {}, what + "_space");
  const ValueId in_word = c.emit(
      "and", {inside(c, s, what + "_inside"), c.emit("not", {is_space}, {}, what + "_letter")}, {}, what + "_in");
  // Where the word begins: behind the last space.
  const ValueId next_place = c.emit("add", {place, like(c, 1, place)}, {}, what + "_next_place");
  const ValueId behind = c.emit("select", {is_space, next_place, like(c, 0, place)}, {}, what + "_behind_space");
  const ValueId start = c.emit("cummax", {behind}, {{"axis", int64_t{1}}}, what + "_start");
  const auto wide_integer = [&](ValueId v) {
    return c.emit("cast", {v}, {{"dtype", std::string("i64")}}, what + "_i64");
  };
  const ValueId offset = c.emit("sub", {place, start}, {}, what + "_offset");
  const ValueId numbers = mixed(c, wide_integer(s.tokens), wide_integer(offset));
  const ValueId letters = c.emit("select", {in_word, numbers, like(c, 0, numbers)}, {}, what + "_letters");
  const ValueId sums = c.emit("cumsum", {letters}, {{"axis", int64_t{1}}}, what + "_sums");
  // What was summed up before the word: spaces add nothing, so it is the least place's sum that the word has.
  const ValueId before =
      c.emit("cumsum", {letters}, {{"axis", int64_t{1}}, {"exclusive", true}}, what + "_sums_before");
  const ValueId vectors = c.emit(
      "reshape", {c.emit("min", {start, like(c, static_cast<double>(s.size - 1), start)}, {}, what + "_start_inside")},
      {{"shape", Dims{rows, s.size, 1}}}, what + "_start_vectors");
  const ValueId of_start = c.emit("gather_nd", {before, vectors}, {{"batch", int64_t{1}}}, what + "_before_word");
  const ValueId word = c.emit("sub", {sums, of_start}, {}, what + "_word");
  // The last letter of a word: no letter follows.
  const ValueId follows = c.emit("cast", {in_word}, {{"dtype", std::string("i32")}}, what + "_in_number");
  ValueId ends = in_word;
  if (s.size > 1) {
    const ValueId later =
        c.emit("slice", {follows}, {{"starts", Dims{0, 1}}, {"limits", Dims{rows, s.size}}}, what + "_later");
    const ValueId next =
        c.emit("pad", {later}, {{"low", Dims{0, 0}}, {"high", Dims{0, 1}}, {"fill", 0.0}}, what + "_next");
    ends = c.emit("gt", {follows, next}, {}, what + "_ends");
  }
  return compacted(c, word, ends, what + "_words");
}

std::vector<MetricState> states(MeasureContext& c) {
  check_sequences(c);
  return {{"edits"}, {"tokens"}};
}

MetricDef error_rate(const std::string& name, const std::string& doc) {
  return {.name = name,
          .doc = doc,
          .inputs = sequence_inputs(),
          .optional = sequence_lengths(),
          .settings = sequence_settings(),
          .states = states,
          .next = [](MeasureContext& c, const ir::Values& old) { return add(c, old, read_sequences(c)); },
          .finish = rate};
}

MetricDef of_words() {
  MetricDef def = error_rate("word_error_rate",
                             "edits that make the labels' words of the predicted ones, over the labels' words; tokens "
                             "are words, or with `space` what spaces divide into words");
  def.settings.push_back({.name = "space", .doc = "the token between words; without it tokens are words"});
  def.next = [](MeasureContext& c, const ir::Values& old) {
    SequencePair pair = read_sequences(c);
    if (c.settings.json("space") != nullptr) {
      pair.predicted = words_of(c, pair.predicted, "predicted");
      pair.reference = words_of(c, pair.reference, "reference");
    }
    return add(c, old, pair);
  };
  return def;
}

const RegisterMetric of_characters(
    error_rate("character_error_rate",
               "edits (insertions, deletions, replacements) that make the labels of what "
               "is predicted, over the labels' tokens"));
const RegisterMetric words(of_words());

}  // namespace
}  // namespace heddle::frontend
