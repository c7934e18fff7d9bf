// ciou, the complete IoU of boxes (Zheng et al. 2020, arXiv 1911.08287 and 2005.03572), by
// torchvision.ops.complete_box_iou_loss.
#include <fmt/format.h>

#include <numbers>

#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

void check(MeasureContext& c) {
  check_values(c);
  const Dims& dims = c.b.type(c.in[0]).dims;
  if (dims.size() < 2 || dims[0] != c.rows || dims.back() != 4)
    c.fail(fmt::format("expected boxes of each row [N, ..., 4], found {}", c.shape_text(dims)),
           "a box is its corners: left, top, right, bottom");
}

// Short names for elementwise operators: a formula of boxes is long enough.
class Formula {
 public:
  explicit Formula(MeasureContext& c) : c_(c) {}
  ValueId operator()(std::string_view op, ValueId a, ValueId b, std::string_view name) const {
    return c_.emit(op, {a, b}, {}, name);
  }
  ValueId with(std::string_view op, ValueId a, double number, std::string_view name) const {
    return c_.emit(op, {a, like(c_, number, a)}, {}, name);
  }
  ValueId squares(ValueId a, ValueId b, const std::string& name) const {  // a^2 + b^2
    return (*this)("add", c_.emit("square", {a}, {}, name + "_x"), c_.emit("square", {b}, {}, name + "_y"), name);
  }

 private:
  MeasureContext& c_;
};

// f32[N, ...] each.
struct Box {
  ValueId left, top, right, bottom, width, height;
};
Box read_box(MeasureContext& c, const Formula& f, size_t input, const std::string& what) {
  c.b.prefix = c.name + "." + what;
  const ValueId v = c.b.cast(c.in[input], ir::DType::f32);
  const Dims dims = c.b.type(v).dims, boxes(dims.begin(), dims.end() - 1);
  const auto side = [&](int64_t i, const std::string& name) {
    Dims starts(dims.size(), 0), limits = dims;
    starts.back() = i, limits.back() = i + 1;
    const ValueId part = c.emit("slice", {v}, {{"starts", starts}, {"limits", limits}}, what + "_" + name + "_part");
    c.b.prefix = c.name + "." + what + "_" + name;
    return c.b.reshape(part, boxes);
  };
  Box box{side(0, "left"), side(1, "top"), side(2, "right"), side(3, "bottom"), {}, {}};
  box.width = f("sub", box.right, box.left, what + "_width");
  box.height = f("sub", box.bottom, box.top, what + "_height");
  return box;
}

// The area of what both have in common, over that of what one of them has.
ValueId overlap(MeasureContext& c, const Formula& f, const Box& p, const Box& t) {
  const ValueId width = f("sub", f("min", p.right, t.right, "right"), f("max", p.left, t.left, "left"), "width");
  const ValueId height = f("sub", f("min", p.bottom, t.bottom, "bottom"), f("max", p.top, t.top, "top"), "height");
  const ValueId meets = f("and", f.with("gt", width, 0, "beside"), f.with("gt", height, 0, "below"), "meets");
  const ValueId area = f("mul", width, height, "area");
  const ValueId common = c.emit("select", {meets, area, like(c, 0, area)}, {}, "common");
  const ValueId both =
      f("add", f("mul", p.width, p.height, "predicted_area"), f("mul", t.width, t.height, "target_area"), "areas");
  return f("div", common, f.with("add", f("sub", both, common, "union"), c.settings.real("eps"), "union_above"), "iou");
}

// The squared distance of the centres, over the squared diagonal of the least box around both.
ValueId distance(MeasureContext& c, const Formula& f, const Box& p, const Box& t) {
  const ValueId width =
      f("sub", f("max", p.right, t.right, "outer_right"), f("min", p.left, t.left, "outer_left"), "outer_width");
  const ValueId height =
      f("sub", f("max", p.bottom, t.bottom, "outer_bottom"), f("min", p.top, t.top, "outer_top"), "outer_height");
  const ValueId diagonal =
      f.with("add", f.squares(width, height, "diagonal"), c.settings.real("eps"), "diagonal_above");
  const auto centre = [&](ValueId low, ValueId high, const std::string& name) {
    return f.with("mul", f("add", low, high, name + "_twice"), 0.5, name);
  };
  const ValueId across =
      f("sub", centre(p.left, p.right, "predicted_x"), centre(t.left, t.right, "target_x"), "across");
  const ValueId down = f("sub", centre(p.top, p.bottom, "predicted_y"), centre(t.top, t.bottom, "target_y"), "down");
  return f("div", f.squares(across, down, "distance"), diagonal, "relative_distance");
}

// How far the proportions are apart: 4 / pi^2 (atan(w / h) - atan(w' / h'))^2. A height of 0 counts as eps, and then no
// gradient goes through the proportion: that of a width of 0 would be 1 / eps.
ValueId proportion(MeasureContext& c, const Formula& f, const Box& p, const Box& t) {
  const auto angle = [&](const Box& box, const std::string& name) {
    const ValueId flat = f.with("eq", box.height, 0, name + "_is_flat");
    const ValueId height =
        c.emit("select", {flat, like(c, c.settings.real("eps"), box.height), box.height}, {}, name + "_height_above");
    const ValueId fixed = c.emit("stop_gradient", {box.width}, {}, name + "_width_fixed");
    const ValueId width = c.emit("select", {flat, fixed, box.width}, {}, name + "_width_or_fixed");
    return c.emit("atan", {f("div", width, height, name + "_ratio")}, {}, name + "_angle");
  };
  const ValueId apart = f("sub", angle(t, "target"), angle(p, "predicted"), "angles");
  return f.with("mul", c.emit("square", {apart}, {}, "angle_square"), 4 / (std::numbers::pi * std::numbers::pi),
                "proportion");
}

// Of each box 1 - iou + distance + alpha v, where no gradient goes through alpha = v / (1 - iou + v).
ValueId costs(MeasureContext& c) {
  check(c);
  const Formula f(c);
  const Box p = read_box(c, f, 0, "predicted"), t = read_box(c, f, 1, "target");
  const ValueId iou = overlap(c, f, p, t), v = proportion(c, f, p, t);
  const ValueId missed = f("sub", like(c, 1, iou), iou, "missed");
  const ValueId share =
      f("div", v, f.with("add", f("add", missed, v, "missed_in_all"), c.settings.real("eps"), "missed_above"), "share");
  const ValueId alpha = c.emit("stop_gradient", {share}, {}, "alpha");
  return f("add", f("add", missed, distance(c, f, p, t), "diou"), f("mul", alpha, v, "proportion_cost"), "values");
}

// How many boxes there are, or what their rows weigh.
ValueId count(MeasureContext& c) {
  const int64_t boxes = c.b.type(c.in[0]).elements() / 4;
  const double of_row = static_cast<double>(boxes) / static_cast<double>(c.rows);
  if (!c.weights.valid()) return c.count(of_row * static_cast<double>(c.rows));
  const ValueId weight = sum_of(c, c.weights, {}, "weight_of_rows");
  return c.emit("mul", {weight, like(c, of_row, weight)}, {}, "weight_of_boxes");
}

ValueId mean(MeasureContext& c) {
  ValueId cost = costs(c);
  if (c.weights.valid()) cost = c.emit("mul", {cost, spread_weights(c, c.b.type(cost).dims)}, {}, "weighed");
  return ratio(c, sum_of(c, cost, {}, "cost_sum"), count(c));
}

const RegisterLoss ciou(
    {.name = "ciou",
     .doc =
         "mean over boxes of 1 - iou + d^2 / diagonal^2 + alpha v: their overlap, how far their centres are apart in "
         "the box around both, and how far their proportions",
     .inputs = {"predicted", "target"},
     .settings = {{.name = "eps",
                   .type = KeyType::real,
                   .doc = "added to what divides",
                   .fallback = 1e-7,
                   .range = as_f32(ir::kAboveZero)}},
     .mean = mean,
     .count = count});

}  // namespace
}  // namespace heddle::frontend
