#include "passes/memory/old_states.h"

#include <map>

#include "ir/builder.h"
#include "ir/storage/storage.h"

namespace heddle::passes {
using namespace ir;

bool copy_old_states(Graph& g) {
  const std::vector<char> updated = updated_states(g);
  std::map<ValueId, ValueId> copies;
  const auto copy_of = [&](ValueId v) {
    const auto [it, added] = copies.try_emplace(v);
    if (added) {
      Builder b(g);
      b.insert_at = 0;
      it->second = b("reshape", {v}, {{"shape", g[v].type.dims}}, g[v].name + ".old");
    }
    return it->second;
  };
  const auto is_updated = [&](ValueId v) {
    return static_cast<size_t>(v.index) < updated.size() && updated[static_cast<size_t>(v.index)] != 0;
  };
  for (ValueId& v : g.outputs)
    if (is_updated(v)) v = copy_of(v);
  for (size_t i = 0; i < g.updates.size(); ++i) {
    const Update u = g.updates[i];
    if (u.next != u.state && is_updated(u.next)) g.updates.set_next(i, copy_of(u.next));
  }
  return !copies.empty();
}

}  // namespace heddle::passes
