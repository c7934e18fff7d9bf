// train.lora: which weights get thin matrices beside them, and how thin.
#include "frontend/read/read_parts.h"

namespace heddle::frontend {

// {"rank": 8, "alpha": 16, "match": ["h.*.qkv"]}
Lora read_lora(const Fields& fields) {
  Lora lora;
  lora.where = fields.json().where;
  fields.read("rank", lora.rank);
  fields.read("alpha", lora.alpha);
  fields.read("dropout", lora.dropout);
  fields.read("match", [&](const Json& globs) { lora.match = read_globs(globs, fields.named("match")); });
  const Json* rank = fields.find("rank");
  lora.rank_where = rank == nullptr ? lora.where : rank->where;
  return lora;
}

}  // namespace heddle::frontend
