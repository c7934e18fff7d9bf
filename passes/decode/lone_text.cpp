#include "passes/decode/lone_text.h"

#include "ir/builder.h"

namespace heddle::passes {
using namespace ir;

void take_lone_text(Graph& g, const Values& documents, const Values& places) {
  Builder b(g);
  b.insert_at = 0;
  for (const ValueId v : documents) {
    const Type type = g[v].type;
    b.prefix = g[v].name + ".known";
    g.replace_uses(v, b.constant(0, type));
  }
  for (const ValueId v : places) {
    const Type type = g[v].type;
    b.prefix = g[v].name + ".known";
    g.replace_uses(v, b("iota", {}, {{"shape", type.dims}, {"axis", int64_t{1}}, {"dtype", to_string(type.dtype)}}));
  }
  g.remove_inputs(documents);
  g.remove_inputs(places);
}

}  // namespace heddle::passes
