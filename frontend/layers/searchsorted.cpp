// searchsorted, by torch.searchsorted of boundaries with one axis.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::DType;
using ir::ValueId;

constexpr size_t kMostWritten = 1024;  // each is a node

// The setting as [boundaries] of x's type, a piece for each run of equal numbers.
ValueId written(LayerContext& c) {
  const DType dtype = c.type(c.in[0]).dtype;
  const std::vector<double> numbers = c.settings.reals("boundaries");
  if (numbers.empty() || numbers.size() > kMostWritten)
    c.fail_setting("boundaries",
                   fmt::format("'boundaries' has {} numbers, expected 1 to {}", numbers.size(), kMostWritten),
                   "more of them are an input: \"in\": {\"x\": X, \"boundaries\": B}");
  if (!std::ranges::is_sorted(numbers)) c.fail_setting("boundaries", "'boundaries' do not rise");
  ir::Values pieces;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i;
    while (end < numbers.size() && numbers[end] == numbers[i]) ++end;
    c.require_fit("boundaries", numbers[i], dtype);
    pieces.push_back(c.constant(numbers[i], {dtype, {static_cast<int64_t>(end - i)}}));
    i = end;
  }
  return pieces.size() == 1 ? pieces[0] : c.emit("concat", pieces, {{"axis", int64_t{0}}}, "boundaries");
}

ValueId read_boundaries(LayerContext& c) {
  const bool given = c.in.size() > 1 && c.in[1].valid();
  if (given == (c.settings.json("boundaries") != nullptr))
    c.fail(given ? "boundaries are a setting and an input" : "there are no boundaries",
           "write \"boundaries\": [0.5, 1], or \"in\": {\"x\": X, \"boundaries\": B} with a value B of one axis");
  if (!given) return written(c);
  c.require_one_type();
  c.require_rank(1, 1, 1, "boundaries with one axis");
  return c.in[1];
}

// By halves: how many boundaries lie before x is built from its largest bit down, a look at one boundary for each.
ir::Values build(LayerContext& c) {
  const ir::Type x = c.type(c.in[0]);
  if (x.dtype == DType::boolean) c.fail("bool has no order", "cast it to i32");
  const ValueId boundaries = read_boundaries(c);
  const int64_t count = c.dims(boundaries)[0];
  const std::string after = c.settings.text("side") == "right" ? "gt" : "ge";
  const auto number = [&](int64_t n) { return c.constant(static_cast<double>(n), {DType::i32, x.dims}); };
  ValueId found = number(0);
  for (auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(count))); step > 0; step /= 2) {
    const ValueId next = c.emit("add", {found, number(step)}, {}, "next");
    const ValueId last = c.emit("add", {found, number(step - 1)}, {}, "last");
    const ValueId held = c.emit("clamp", {last}, {{"low", 0.0}, {"high", static_cast<double>(count - 1)}}, "held");
    const ValueId boundary = c.emit("gather", {boundaries, held}, {}, "boundary");
    // As "not after", so that nan lies behind all of them.
    const ValueId before = c.emit("not", {c.emit(after, {boundary, c.in[0]}, {}, "after")}, {}, "before");
    const ValueId there = c.emit("le", {next, number(count)}, {}, "there");
    found = c.emit("select", {c.emit("and", {before, there}, {}, "counts"), next, found}, {}, "found");
  }
  return {found};
}

const RegisterLayer searchsorted(
    {.name = "searchsorted",
     .doc = "how many boundaries lie before each element, as i32: its bin, where the boundaries rise",
     .optional = {"boundaries"},
     .settings = {{.name = "boundaries",
                   .type = KeyType::real,
                   .count = Count::several,
                   .doc = "numbers that rise, where they are no input"},
                  {.name = "side",
                   .type = KeyType::text,
                   .doc = "right: a boundary lies before an element that is equal to it; left: it does not",
                   .fallback = std::string("left"),
                   .words = {"left", "right"}}},
     .build = build});

}  // namespace
}  // namespace heddle::frontend
