// train.lora: which weights get adapters, the rank of the adapters, and which other parameters are trained.
#include "frontend/read/read_parts.h"

namespace heddle::frontend {

// {"rank": 8, "alpha": 16, "match": ["h.*.qkv"], "train": "head"}
Lora read_lora(const Fields& fields) {
  Lora lora;
  lora.where = fields.json().where;
  fields.read("rank", lora.rank);
  fields.read("alpha", lora.alpha);
  fields.read("dropout", lora.dropout);
  fields.read("match", [&](const Json& globs) { lora.match = read_globs(globs, fields.named("match")); });
  fields.read("train", [&](const Json& globs) { lora.train = read_globs(globs, fields.named("train")); });
  const Json* rank = fields.find("rank");
  lora.rank_where = rank == nullptr ? lora.where : rank->where;
  return lora;
}

}  // namespace heddle::frontend
