// nms: boxes that overlap a better one are left out, by torchvision.ops.nms.
//
//   {"name": "n", "op": "nms", "in": ["boxes", "scores"], "outputs": 3, "out": ["kept", "count"]}
//     boxes: [N,M,4] as (x1, y1, x2, y2), scores: [N,M]  ->  kept: i32[N,3], count: i32[N]
//
// A scan takes the best box that is left, and leaves out all whose intersection over union with it is larger than the
// threshold. No box is compared with all others at once: a turn takes M comparisons, and memory for them alone.
#include <fmt/format.h>

#include <array>

#include "frontend/layer_context.h"
#include "ir/scan.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::DType;
using ir::ValueId;

constexpr double kLeftOut = -3.4028234663852886e38;  // the score of a box that is; others are larger

struct Corners {
  std::array<ValueId, 4> at;  // x1, y1, x2, y2
  ValueId area;
};

class Nms {
 public:
  explicit Nms(LayerContext& c) : c_(c), threshold_(c.settings.real("iou")), turns_(c.settings.integer("outputs")) {
    c.require_f32(0);
    c.require_f32(1);
    c.require_rank(0, 3, 3, "boxes [N, M, 4]");
    boxes_ = c.dims(c.in[0]);
    if (boxes_[2] != 4)
      c.fail(fmt::format("a box is 4 numbers, x1, y1, x2 and y2, found {}", c.shape_text(boxes_)), {}, 0);
    rows_ = {boxes_[0], boxes_[1]};
    if (c.dims(c.in[1]) != rows_)
      c.fail(fmt::format("each box has a score, expected {}, found {}", c.shape_text(rows_),
                         c.shape_text(c.dims(c.in[1]))),
             "of several classes the scores of one: a slice and a reshape take them out", 1);
    if (turns_ > ir::kMostTurns)
      c.fail_setting("outputs", fmt::format("'outputs' is {}, at most {} boxes are kept", turns_, ir::kMostTurns));
  }

  ir::Values build() {
    Corners all;
    for (size_t i = 0; i < 4; ++i)
      all.at[i] = c_.reshape(c_.slice(c_.in[0], 2, static_cast<int64_t>(i), static_cast<int64_t>(i) + 1, "corner"),
                             rows_, "corners");
    all.area = area(all);
    const ValueId places = c_.emit("iota", {}, {{"shape", rows_}, {"axis", int64_t{1}}}, "places");

    LoopSpec loop;
    loop.path = c_.path + ".best";
    loop.count = turns_;
    // A score that is nan is behind all others: torchvision's order of those is no rule of its own.
    const ValueId scores =
        c_.emit("select", {c_.emit("is_nan", {c_.in[1]}, {}, "is_nan"), number(kLeftOut), c_.in[1]}, {}, "numbers");
    loop.starts = {c_.emit("max", {scores, number(kLeftOut)}, {}, "scores")};
    loop.first = c_.b.graph.order.size();
    const ValueId left = c_.b.graph.add_input(loop.path + ".left", {DType::f32, rows_}, ir::Role::input);
    const Dims row{boxes_[0]};
    const ValueId best = c_.emit("argmax", {left}, {{"axis", int64_t{1}}}, "best");
    const ValueId score = c_.emit("reduce_max", {left}, {{"axes", Dims{1}}}, "best_score");
    const ValueId any = c_.emit("gt", {score, c_.constant(kLeftOut, {DType::f32, row})}, {}, "any_left");
    const ValueId own = c_.emit("eq", {places, spread(best)}, {}, "own");
    const ValueId near = c_.emit("gt", {overlap(all, own), number(threshold_)}, {}, "overlaps");
    const ValueId out = c_.emit("or", {near, own}, {}, "out");
    loop.turn.carries = {{left, c_.emit("select", {out, number(kLeftOut), left}, {}, "left")}};
    loop.turn.stacked = {c_.emit("select", {any, best, c_.constant(-1, c_.type(best))}, {}, "kept")};
    const ValueId kept =
        c_.emit("transpose", {c_.graph.loop(loop).back()}, {{"perm", Dims{1, 0}}}, "kept");  // [N, outputs]
    const ValueId is_box = c_.emit("ge", {kept, c_.constant(0, c_.type(kept))}, {}, "is_box");
    const ValueId ones = c_.emit("cast", {is_box}, {{"dtype", std::string("i32")}}, "ones");
    return {kept, c_.emit("reduce_sum", {ones}, {{"axes", Dims{1}}}, "count")};
  }

 private:
  ValueId number(double value) { return c_.constant(value, {DType::f32, rows_}); }
  // [N] to [N, M].
  ValueId spread(ValueId v) { return c_.broadcast(c_.reshape(v, {boxes_[0], 1}), rows_); }

  ValueId area(const Corners& box) {
    const auto side = [&](size_t from) { return c_.emit("sub", {box.at[from + 2], box.at[from]}, {}, "side"); };
    return c_.emit("mul", {side(0), side(1)}, {}, "area");
  }

  // The number of a row's own box, for each of its boxes.
  ValueId of_own(ValueId own, ValueId numbers) {
    const ValueId alone = c_.emit("select", {own, numbers, number(0)}, {}, "alone");
    return spread(c_.emit("reduce_sum", {alone}, {{"axes", Dims{1}}}, "of_best"));
  }

  // Intersection over union with the row's own box; nan of two boxes without an area, which overlap nothing.
  ValueId overlap(const Corners& all, ValueId own) {
    const auto side = [&](size_t from) {
      const ValueId begin = c_.emit("max", {all.at[from], of_own(own, all.at[from])}, {}, "begin");
      const ValueId end = c_.emit("min", {all.at[from + 2], of_own(own, all.at[from + 2])}, {}, "end");
      return c_.emit("max", {c_.emit("sub", {end, begin}, {}, "length"), number(0)}, {}, "side");
    };
    const ValueId both = c_.emit("mul", {side(0), side(1)}, {}, "both");
    const ValueId sum = c_.emit("add", {of_own(own, all.area), all.area}, {}, "areas");
    return c_.emit("div", {both, c_.emit("sub", {sum, both}, {}, "union")}, {}, "iou");
  }

  LayerContext& c_;
  double threshold_;
  int64_t turns_;
  Dims boxes_, rows_;  // [N, M, 4], [N, M]
};

const RegisterLayer nms(
    {.name = "nms",
     .doc =
         "boxes by falling scores without those that overlap a better one, as torchvision.ops.nms; `out` names their "
         "places [N, outputs] as i32, -1 behind the last, and how many they are [N]; a box whose score is nan is left "
         "out",
     .inputs = {"boxes", "scores"},
     .settings =
         {{.name = "outputs", .doc = "how many boxes are kept at most", .required = true, .range = ir::at_least(1)},
          {.name = "iou",
           .type = KeyType::real,
           .doc = "a box with a larger intersection over union with a better one is left out",
           .fallback = 0.5,
           .range = ir::between(0, 1)}},
     .results = [](const std::vector<Json>&) -> std::optional<size_t> { return 2; },
     .build = [](LayerContext& c) { return Nms(c).build(); }});

}  // namespace
}  // namespace heddle::frontend
