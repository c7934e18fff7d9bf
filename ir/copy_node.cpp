#include "ir/copy_node.h"

namespace heddle::ir {

NodeId copy_node(Graph& to, const Graph& from, const Node& n, std::vector<ValueId> operands) {
  std::vector<std::string> names;
  std::vector<Type> types;
  for (const ValueId r : n.results) {
    names.push_back(from[r].name);
    types.push_back(from[r].type);
  }
  const NodeId copy = to.add_node(*n.op, std::move(operands), n.attrs, names, types, n.loc);
  to[copy].callee = n.callee;
  return copy;
}

}  // namespace heddle::ir
