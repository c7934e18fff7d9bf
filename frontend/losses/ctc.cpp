// ctc, by torch.nn.CTCLoss: what all ways to write a target, with blanks and repeats, cost together.
//
//   target "aab", K = 4 places:   blank a blank a blank b blank
//                                 b(0)  l(0) b(1) l(1) b(2) l(2) b(3)      l(3) is never read
//
// b(i) and l(i) are logarithms of the probability to stand in that place after t steps (Graves et al. 2006,
// doi 10.1145/1143844.1143891, equations 5 to 8):
//
//   b(i) <- log(exp b(i) + exp l(i-1)) + log p(blank)
//   l(i) <- log(exp l(i) + exp b(i) + exp l(i-1) where it is another label) + log p(label i)
//
// Places that cannot be reached hold kNever, a large finite number, so no difference of infinities makes a nan.
#include <fmt/format.h>

#include <limits>

#include "frontend/training/measure_loop.h"
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::DType;
using ir::ValueId;

// Adding as many of them as there are turns stays finite in f32.
constexpr double kNever = -1e30;
constexpr double kInfeasible = 5e29;  // costs above are those of places that cannot be reached

constexpr const char* kInputs = "'in' is logits [N, T, classes], targets [N, S], input lengths [N], target lengths [N]";

struct Sizes {
  int64_t rows = 0, steps = 0, classes = 0, places = 0;  // places: the longest target and one more
};

void check_lengths(MeasureContext& c, size_t input, const char* what) {
  if (!c.has(input)) return;
  const ir::Type& type = c.b.type(c.in[input]);
  const Dims rows{c.b.type(c.in[0]).dims[0]};
  if ((type.dtype == DType::i32 || type.dtype == DType::i64) && type.dims == rows) return;
  c.fail(fmt::format("expected {} of type i32 {}, found {}{}", what, c.shape_text(rows), ir::to_string(type.dtype),
                     c.shape_text(type.dims)),
         kInputs);
}

Sizes check(MeasureContext& c) {
  const ir::Type logits = c.b.type(c.in[0]), targets = c.b.type(c.in[1]);
  if (!ir::is_floating(logits.dtype) || logits.dims.size() != 3)
    c.fail(fmt::format("expected logits [N, T, classes], found {}{}", ir::to_string(logits.dtype),
                       c.shape_text(logits.dims)),
           kInputs);
  if (targets.dtype != DType::i32)
    c.fail(fmt::format("expected targets of type i32, found {}", ir::to_string(targets.dtype)),
           "give the target's input \"dtype\": \"i32\"; an input without a dtype is f32");
  if (targets.dims.size() != 2 || targets.dims[0] != logits.dims[0])
    c.fail(fmt::format("targets {} do not match logits {}: expected a row of class numbers for each row of logits",
                       c.shape_text(targets.dims), c.shape_text(logits.dims)),
           kInputs);
  check_lengths(c, 2, "input lengths");
  check_lengths(c, 3, "target lengths");
  const int64_t blank = c.settings.integer("blank"), classes = logits.dims[2];
  if (blank < 0 || blank >= classes)
    c.settings.fail("blank", fmt::format("'blank' must lie in [0, {}), is {}", classes, blank),
                    "it is the class that stands for no label");
  const int64_t ignored = c.settings.integer("ignore_index");
  if (ignored < std::numeric_limits<int32_t>::min() || ignored > std::numeric_limits<int32_t>::max())
    c.settings.fail("ignore_index", fmt::format("'ignore_index' is not an i32: {}", ignored));
  return {logits.dims[0], logits.dims[1], classes, targets.dims[1] + 1};
}

class Lattice {
 public:
  Lattice(MeasureContext& c, const Sizes& n) : c_(c), n_(n), dims_{n.rows, n.places} {}

  // What a row costs, f32[N], and whether no way leads to its target.
  struct Costs {
    ValueId cost, infeasible;
  };

  Costs costs() {
    read_targets();
    c_.b.prefix = c_.name + ".logits";
    const ValueId logs = c_.emit("log_softmax", {c_.b.cast(c_.in[0], DType::f32)}, {}, "log_probabilities");
    const ValueId finite = c_.emit("max", {logs, number(kNever, c_.b.type(logs))}, {}, "finite_logs");
    const ir::Values last = run(of_blank(finite), of_labels(finite));
    return at_end(last[0], last[1]);
  }

  // How many labels each row has, in the type of the lengths.
  ValueId target_lengths() const { return lengths_; }

 private:
  ValueId number(double value, const ir::Type& type) {
    c_.b.prefix = c_.name + ".constant";
    return c_.b.constant(value, type);
  }
  ValueId like(double value, ValueId v) { return number(value, c_.b.type(v)); }
  // [N] to [N, K].
  ValueId along_places(ValueId v, const std::string& what) {
    return c_.emit("broadcast", {v}, {{"shape", dims_}, {"dims", Dims{0}}}, what);
  }
  // One place on, with `fill` in the first one.
  ValueId shifted(ValueId v, double fill, const std::string& what) {
    const ValueId kept =
        c_.emit("slice", {v}, {{"starts", Dims{0, 0}}, {"limits", Dims{n_.rows, n_.places - 1}}}, what + "_kept");
    return c_.emit("pad", {kept}, {{"low", Dims{0, 1}}, {"high", Dims{0, 0}}, {"fill", fill}}, what);
  }
  ValueId places_of(DType dtype) {
    return c_.emit("iota", {}, {{"axis", int64_t{1}}, {"shape", dims_}, {"dtype", std::string(ir::to_string(dtype))}},
                   "place");
  }

  void read_targets() {
    const ValueId given = c_.in[1];
    const auto padded = [&](ValueId v, double fill, const std::string& what) {
      return c_.emit("pad", {v}, {{"low", Dims{0, 0}}, {"high", Dims{0, 1}}, {"fill", fill}}, what);
    };
    const ValueId low = c_.emit("ge", {given, like(0, given)}, {}, "not_negative");
    const ValueId high = c_.emit("lt", {given, like(static_cast<double>(n_.classes), given)}, {}, "below_classes");
    const ValueId known = c_.emit("and", {low, high}, {}, "known");
    const auto blank = static_cast<double>(c_.settings.integer("blank"));
    labels_ = padded(c_.emit("select", {known, given, like(blank, given)}, {}, "safe_targets"), blank, "labels");
    if (c_.has(3)) {
      lengths_ = c_.in[3];
    } else {
      const auto ignored = static_cast<double>(c_.settings.integer("ignore_index"));
      const ValueId counts = c_.emit("ne", {given, like(ignored, given)}, {}, "valid");
      const ValueId as_integers = c_.emit("cast", {counts}, {{"dtype", std::string("i32")}}, "valid_as_number");
      lengths_ = sum_of(c_, as_integers, {1}, "target_lengths");
    }
    // A label of the target that is no class.
    const ValueId place = places_of(c_.b.type(lengths_).dtype);
    const ValueId inside = c_.emit("lt", {place, along_places(lengths_, "spread_lengths")}, {}, "inside_target");
    const ValueId unknown =
        padded(as_number(c_, c_.emit("not", {known}, {}, "unknown"), "unknown"), 0, "unknown_places");
    const ValueId counted = c_.emit("mul", {as_number(c_, inside, "inside"), unknown}, {}, "unknown_labels");
    unknown_ = sum_of(c_, counted, {1}, "unknown_count");
  }

  // [T, N]
  ValueId of_blank(ValueId logs) {
    const int64_t blank = c_.settings.integer("blank");
    const ValueId column =
        c_.emit("slice", {logs}, {{"starts", Dims{0, 0, blank}}, {"limits", Dims{n_.rows, n_.steps, blank + 1}}},
                "blank_column");
    const ValueId flat = c_.emit("reshape", {column}, {{"shape", Dims{n_.rows, n_.steps}}}, "blank_row");
    return c_.emit("transpose", {flat}, {{"perm", Dims{1, 0}}}, "blank_steps");
  }

  // [T, N, K]
  ValueId of_labels(ValueId logs) {
    const ValueId indices = c_.emit("broadcast", {labels_},
                                    {{"shape", Dims{n_.rows, n_.steps, n_.places}}, {"dims", Dims{0, 2}}}, "indices");
    const ValueId vectors =
        c_.emit("reshape", {indices}, {{"shape", Dims{n_.rows, n_.steps, n_.places, 1}}}, "index_vectors");
    const ValueId found = c_.emit("gather_nd", {logs, vectors}, {{"batch", int64_t{2}}}, "label_logs");
    return c_.emit("transpose", {found}, {{"perm", Dims{1, 0, 2}}}, "label_steps");
  }

  // log(exp a + exp b)
  ValueId both(ValueId a, ValueId b, const std::string& what) {
    const ValueId large = c_.emit("max", {a, b}, {}, what + "_max");
    const ValueId small = c_.emit("min", {a, b}, {}, what + "_min");
    const ValueId less = c_.emit("sub", {small, large}, {}, what + "_less");
    return c_.emit("add", {large, c_.emit("softplus", {less}, {}, what + "_more")}, {}, what);
  }

  ir::Values run(ValueId blank_steps, ValueId label_steps) {
    const ir::Type type{DType::f32, dims_};
    const ValueId previous = shifted(labels_, -1, "previous_labels");
    const ValueId skips = c_.emit("ne", {labels_, previous}, {}, "skips");
    const ValueId place = places_of(DType::i32);
    const ValueId first = c_.emit("eq", {place, like(0, place)}, {}, "first_place");
    const ValueId never = number(kNever, type);
    const ValueId start = c_.emit("select", {first, number(0, type), never}, {}, "start");
    MeasureLoop loop(c_, "lattice", n_.steps, {start, never}, {blank_steps, label_steps});
    const ValueId b = loop.carries[0], l = loop.carries[1];
    const ValueId from_label = shifted(l, kNever, "from_label");
    const ValueId at_blank = both(b, from_label, "at_blank");
    const ValueId skipping = c_.emit("select", {skips, from_label, number(kNever, type)}, {}, "skipping");
    const ValueId at_label = both(both(l, b, "stay_or_enter"), skipping, "at_label");
    ValueId next_b = c_.emit("add", {at_blank, along_places(loop.slices[0], "spread_blank")}, {}, "next_blank");
    ValueId next_l = c_.emit("add", {at_label, loop.slices[1]}, {}, "next_label");
    if (c_.has(2)) {
      c_.b.prefix = c_.name + ".turn";
      const ValueId turn = c_.b.cast(loop.index, c_.b.type(c_.in[2]).dtype);
      const ValueId turns = c_.emit("broadcast", {turn}, {{"shape", Dims{n_.rows}}}, "turns");
      const ValueId inside = along_places(c_.emit("lt", {turns, c_.in[2]}, {}, "goes_on"), "spread_goes_on");
      next_b = c_.emit("select", {inside, next_b, b}, {}, "kept_blank");
      next_l = c_.emit("select", {inside, next_l, l}, {}, "kept_label");
    }
    return loop.run({next_b, next_l}).last;
  }

  // In the blank behind the last label, or in that label.
  Costs at_end(ValueId b, ValueId l) {
    const ValueId spread = along_places(lengths_, "end_lengths");
    const ValueId place = places_of(c_.b.type(lengths_).dtype);
    const ValueId none = number(0, c_.b.type(b));
    const auto picked = [&](ValueId hit, ValueId v, const std::string& what) {
      return sum_of(c_, c_.emit("select", {hit, v, none}, {}, what + "_or_zero"), {1}, what);
    };
    const ValueId behind = c_.emit("add", {place, like(1, place)}, {}, "behind_place");
    const ValueId end_b = picked(c_.emit("eq", {place, spread}, {}, "is_end"), b, "end_blank");
    const ValueId last_l = picked(c_.emit("eq", {behind, spread}, {}, "is_last"), l, "last_label");
    const ValueId empty = c_.emit("eq", {lengths_, like(0, lengths_)}, {}, "is_empty");
    const ValueId end_l = c_.emit("select", {empty, like(kNever, last_l), last_l}, {}, "end_label");
    const ValueId cost = c_.emit("neg", {both(end_b, end_l, "likelihood")}, {}, "cost");

    const ValueId never = c_.emit("gt", {cost, like(kInfeasible, cost)}, {}, "never");
    const ValueId foreign = c_.emit("gt", {unknown_, like(0, unknown_)}, {}, "has_unknown");
    const ValueId longest = like(static_cast<double>(n_.places - 1), lengths_);
    const ValueId too_long = c_.emit("gt", {lengths_, longest}, {}, "too_long");
    const ValueId negative = c_.emit("lt", {lengths_, like(0, lengths_)}, {}, "negative_length");
    const ValueId no_length = c_.emit("or", {too_long, negative}, {}, "no_length");
    const ValueId of_target = c_.emit("or", {foreign, no_length}, {}, "no_target");
    return {cost, c_.emit("or", {never, of_target}, {}, "infeasible")};
  }

  MeasureContext& c_;
  Sizes n_;
  Dims dims_;                           // [N, K]
  ValueId labels_, lengths_, unknown_;  // i32[N, K], blank where there is none; [N]; f32[N]
};

// A row's cost over the number of its labels, at least 1.
ValueId per_label(MeasureContext& c, ValueId cost, ValueId lengths) {
  c.b.prefix = c.name + ".lengths";
  const ValueId labels = c.b.cast(lengths, DType::f32);
  const ValueId least = c.emit("max", {labels, c.b.like(1, labels)}, {}, "divisor");
  return c.emit("div", {cost, least}, {}, "cost_of_label");
}

ValueId count(MeasureContext& c) {
  return c.weights.valid() ? sum_of(c, c.weights, {}, "weight_of_rows") : c.count(static_cast<double>(c.rows));
}

ValueId mean(MeasureContext& c) {
  Lattice lattice(c, check(c));
  auto [cost, infeasible] = lattice.costs();
  if (c.settings.text("reduction") == "mean") cost = per_label(c, cost, lattice.target_lengths());
  c.b.prefix = c.name + ".constant";
  if (c.weights.valid()) {
    cost = c.emit("mul", {cost, c.weights}, {}, "weighed");
    const ValueId weighs = c.emit("ne", {c.weights, c.b.like(0, c.weights)}, {}, "weighs");
    infeasible = c.emit("and", {infeasible, weighs}, {}, "infeasible_and_weighs");
  }
  // What cannot be written trains nothing, whatever it costs.
  const double instead = c.settings.flag("zero_infinity") ? 0 : std::numeric_limits<double>::infinity();
  const ValueId row = c.emit("select", {infeasible, c.b.like(instead, cost), cost}, {}, "row");
  return ratio(c, sum_of(c, row, {}, "row_sum"), count(c));
}

const RegisterLoss ctc(
    {.name = "ctc",
     .doc = "-log of the probability that logits of T steps, without blanks and repeats, spell the target; mean over "
            "rows, each over its target's length",
     .inputs = {"logits", "targets"},
     .optional = {"input_lengths", "target_lengths"},
     .settings = {{.name = "blank", .doc = "the class that stands for no label", .fallback = int64_t{0}},
                  {.name = "zero_infinity",
                   .type = KeyType::flag,
                   .doc = "a target that no steps spell costs 0, else it is infinite",
                   .fallback = false},
                  {.name = "reduction",
                   .type = KeyType::text,
                   .doc = "mean: a row's cost is divided by its target's length; rows: it is taken as it is",
                   .fallback = "mean",
                   .words = {"mean", "rows"}},
                  ignore_setting()},
     .mean = mean,
     .count = count});

}  // namespace
}  // namespace heddle::frontend
