// histogram, by torch.histc.
#include <fmt/format.h>

#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

using ir::DType;
using ir::ValueId;

constexpr int64_t kMostBins = 65536;

struct Bins {
  int64_t count;
  double low, high;
};
Bins read_bins(LayerContext& c) {
  const Bins bins = {c.settings.integer("bins"), c.settings.real("min"), c.settings.real("max")};
  if (!(bins.low < bins.high))
    c.fail_setting("max", fmt::format("'max' is {}, 'min' is {}: there is nothing between", bins.high, bins.low));
  c.require_fit("max", bins.high - bins.low, c.type(c.in[0]).dtype);
  return bins;
}

// i32 of each element; one more than there are, outside and of nan.
ValueId place_of(LayerContext& c, ValueId x, const Bins& bins) {
  const auto number = [&](double n) { return c.constant(n, c.type(x)); };
  const ValueId low = number(bins.low), high = number(bins.high);
  const ValueId far = c.emit("mul", {c.emit("sub", {x, low}, {}, "from_low"), number(static_cast<double>(bins.count))},
                             {}, "from_low_in_bins");
  const ValueId place = c.emit("div", {far, number(bins.high - bins.low)}, {}, "place");
  const ValueId bin = c.emit("cast", {place}, {{"dtype", std::string("i32")}}, "bin");
  const auto index = [&](int64_t n) { return c.constant(static_cast<double>(n), c.type(bin)); };
  const ValueId own = c.emit("min", {bin, index(bins.count - 1)}, {}, "own_bin");
  const ValueId inside =
      c.emit("and", {c.emit("ge", {x, low}, {}, "not_below"), c.emit("le", {x, high}, {}, "not_above")}, {}, "inside");
  const ValueId found = c.emit("select", {inside, own, index(bins.count)}, {}, "bin_or_none");
  // So that no step has to look whether they are inside.
  return c.emit("clamp", {found}, {{"low", 0.0}, {"high", static_cast<double>(bins.count)}}, "held");
}

ir::Values build(LayerContext& c) {
  c.require_floating(0);
  const Bins bins = read_bins(c);
  const DType dtype = c.type(c.in[0]).dtype;
  ValueId x = c.reshape(c.in[0], {ir::product(c.dims(c.in[0]))}, "elements");
  if (dtype != DType::f64) x = c.b.cast(x, DType::f32);
  const ValueId places = place_of(c, x, bins);
  const ValueId none = c.constant(0, {DType::i32, {bins.count + 1}}), ones = c.constant(1, c.type(places));
  const ValueId counts = c.emit("scatter", {none, places, ones}, {{"combine", std::string("add")}}, "counts");
  return {c.emit("cast", {c.slice(counts, 0, 0, bins.count, "inside")}, {{"dtype", ir::to_string(dtype)}})};
}

const RegisterLayer histogram(
    {.name = "histogram",
     .doc = "how many of all elements lie in each of equal bins, [bins]; those outside and nan are not counted",
     .settings = {{.name = "bins",
                   .doc = "how many; each begins where the one before it ends, and the last holds max",
                   .fallback = int64_t{100},
                   .range = ir::between(1, kMostBins)},
                  {.name = "min", .type = KeyType::real, .doc = "where the first bin begins", .required = true},
                  {.name = "max", .type = KeyType::real, .doc = "where the last bin ends", .required = true}},
     .build = build});

}  // namespace
}  // namespace heddle::frontend
