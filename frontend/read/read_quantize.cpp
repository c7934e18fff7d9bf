// train.quantize: which weights become whole numbers, from which step on, and how the ranges of their inputs are
// observed.
#include <fmt/format.h>

#include "frontend/read/read_parts.h"

namespace heddle::frontend {

// {"match": "*.weight", "start": 100, "observer": "moving_average"}
Quantize read_quantize(const Fields& fields) {
  Quantize quantize;
  quantize.where = fields.json().where;
  int64_t bits = 0;
  std::string observer;
  fields.read("bits", bits);
  fields.read("match", [&](const Json& globs) { quantize.match = read_globs(globs, fields.named("match")); });
  fields.read("start", quantize.start);
  fields.read("observer", observer);
  quantize.moving = observer == "moving_average";
  fields.read("momentum", quantize.momentum);
  fields.read("momentum", [&](const Json& momentum) {
    if (!quantize.moving)
      throw UserError(
          momentum.key_where,
          fmt::format("{} is of moving averages, and the observer is '{}'", fields.named("momentum"), observer),
          R"(leave it out, or write "observer": "moving_average")");
  });
  return quantize;
}

}  // namespace heddle::frontend
