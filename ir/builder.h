// Builder: appends nodes to a graph (or inserts them before a position), inferring result types.
#pragma once
#include "ir/op_def.h"

namespace heddle::ir {

class Builder {
 public:
  explicit Builder(Graph& graph) : graph(graph) {}

  Graph& graph;
  Location loc;        // given to new nodes
  std::string prefix;  // names of new values when emit gets none: prefix, prefix.1, ...; empty: the operator's name
  std::string title;   // what errors of types and shapes call new nodes: "dense 'fc'"; empty: the operator's name

  // Appends a node with one result, and returns the result. A suffix makes `name` unique. Throws UserError at `loc` if
  // the types do not fit.
  ValueId operator()(std::string_view op, const Values& operands, Attrs attrs = {}, const std::string& name = {});
  Values multi(std::string_view op, const Values& operands, Attrs attrs = {},
               const std::vector<std::string>& names = {});

  const Type& type(ValueId v) const { return graph[v].type; }
  ValueId constant(double value, const Type& type);
  ValueId like(double value, ValueId v) { return constant(value, type(v)); }
  // NumPy broadcasting to `dims`; returns v itself when nothing changes.
  ValueId broadcast_to(ValueId v, const Dims& dims);
  ValueId reshape(ValueId v, const Dims& dims);
  ValueId cast(ValueId v, DType dtype);

  // New nodes go before this position of graph.order until it is set back to kEnd; the position advances with them.
  static constexpr size_t kEnd = static_cast<size_t>(-1);
  size_t insert_at = kEnd;
};

// Result types of an operator with these operands; throws InferError ("matmul: inner dimensions differ: 784 vs 785").
std::vector<Type> infer_types(const OpDef& op, std::vector<Type> operands, const Attrs& attrs);
std::vector<Type> infer_types(const Signature& applied);  // ignores applied.results
// Checks names and types of attributes, drops those equal to their default; throws InferError with a did-you-mean.
Attrs canonical_attrs(const OpDef& op, Attrs attrs);

}  // namespace heddle::ir
