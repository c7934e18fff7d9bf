// value: a number that the model computes. For a split it is the mean over the batches, weighted by their numbers of
// rows.
#include <fmt/format.h>

#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

ir::ValueId mean(MeasureContext& c) {
  const ir::Type type = c.b.type(c.in[0]);
  if (!ir::is_floating(type.dtype) || !type.dims.empty())
    c.fail(
        fmt::format("expected a floating-point number, found {}{}", ir::to_string(type.dtype), c.shape_text(type.dims)),
        "a node \"mean\" or \"sum\" without 'axis' makes one");
  c.b.prefix = c.name + ".zero";
  return c.emit("add", {c.in[0], c.b.like(0, c.in[0])}, {}, "value");  // a value of its own, to be named
}

const RegisterLoss value({.name = "value",
                          .doc = "the number that a node computes; in a split each batch counts as its rows",
                          .inputs = {"value"},
                          .weighs_rows = false,
                          .mean = mean,
                          .count = [](MeasureContext& c) { return c.count(static_cast<double>(c.rows)); }});

}  // namespace
}  // namespace heddle::frontend
