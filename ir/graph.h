// Graph and Module: SSA values and nodes in arrays, addressed by typed ids.
//
//   graph @f(input %x: f32[4], param %w: f32[4]) {
//     %y: f32[4] = mul(%x, %w)
//     update %w <- %y
//     return %y
//   }
//
// A graph is a pure function of its inputs; state changes only through `updates`, which take effect at the end.
// A kernel is a graph with a schedule. Ids stay valid while the graph is edited; an erased node's id is never reused.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/attr.h"
#include "ir/diagnostic.h"
#include "ir/entry.h"
#include "ir/ids.h"
#include "ir/kernel/kernel_schedule.h"
#include "ir/name_table.h"
#include "ir/storage/updates.h"
#include "ir/type.h"

namespace heddle::ir {

struct OpDef;

// The role of a graph's input. Inputs of kernels have Role::none. A param, buffer or state lives from one run to the
// next. Params are trained. A layer keeps buffers beside its params, such as running statistics. Files hold params and
// buffers. A `state` belongs to the training step. Entries that read their own batches have a cursor and a ring
// (ir/cursor.h). The last four are inputs of bodies (ir/scan.h): `fixed` is the same in all turns, `carry` goes from
// turn to turn, `slice` has a row for each turn, `index` is the number of the turn.
enum class Role { none, input, param, buffer, state, cursor, ring, fixed, carry, slice, index };
std::string to_string(Role role);

// Where a value lies in planned memory: at an offset of the arena, or inside the storage of another value (a view or an
// in-place result).
struct Place {
  int64_t offset = -1;  // bytes; -1: not placed
  ValueId base;         // if valid, the offset is relative to this value's storage
  bool placed() const { return offset >= 0; }
  bool operator==(const Place&) const = default;
};

struct Value {
  std::string name;
  Type type;
  Role role = Role::none;
  Layout layout;             // of params, buffers and states; empty: the axis order of files
  NodeId def;                // invalid for inputs
  int32_t result_index = 0;  // which result of `def`
  std::vector<NodeId> uses;  // one entry per use: a node that uses a value twice appears twice
  Place place;
};

struct Node {
  const OpDef* op = nullptr;
  std::string callee;  // the name of the kernel of a `call` or the body of a `scan`, without '@'
  std::vector<ValueId> operands, results;
  Attrs attrs;  // only values that differ from the defaults; Signature and attribute() (ir/op_def.h) read them
  Location loc;
  bool erased = false;
};

// A number that each call of a kernel supplies as an attribute: `$rate: f32`, `call @k(%x) {rate = 0.5}`.
struct Scalar {
  std::string name;  // without '$'
  DType dtype = DType::f32;
  bool operator==(const Scalar&) const = default;
};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = default;
  Graph& operator=(const Graph&) = default;
  // noexcept, so that a growing vector moves its graphs instead of copying them.
  Graph(Graph&&) noexcept = default;
  Graph& operator=(Graph&&) noexcept = default;
  ~Graph() = default;

  std::string name;  // without '@'
  EntryKind kind() const { return entry_kind(name); }
  std::vector<ValueId> inputs, outputs;
  std::vector<Scalar> scalars;  // of kernels; attributes of the body name them
  Updates updates;
  std::vector<NodeId> order;               // the schedule: a topological order of the live nodes
  std::optional<KernelSchedule> schedule;  // present exactly on kernels
  bool body = false;                       // the body of a scan: it updates carries, and its outputs are stacked
  int64_t arena_bytes = -1;                // -1: memory is not planned

  ValueId add_input(const std::string& name, Type type, Role role, Layout layout = {});
  // Appends a node to `order`. Names are made unique. The caller supplies the result types; Builder infers them.
  NodeId add_node(const OpDef& op, std::vector<ValueId> operands, Attrs attrs, const std::vector<std::string>& names,
                  const std::vector<Type>& types, const Location& loc = {});
  void set_operand(NodeId n, size_t i, ValueId v);
  void replace_uses(ValueId old, ValueId with);            // in nodes, outputs and the `next` of updates
  void erase(NodeId n);                                    // its results must be unused
  void remove_inputs(const std::vector<ValueId>& inputs);  // they must be unused; removes their updates too
  bool unused(ValueId v) const;                            // no node, output or update reads it
  NodeId only_use(ValueId v) const;                        // the node that holds the only use; else invalid
  bool is_output(ValueId v) const;
  bool is_next(ValueId v) const;  // whether an update has it as its next value

  Value& operator[](ValueId v) { return values_[static_cast<size_t>(v.index)]; }
  const Value& operator[](ValueId v) const { return values_[static_cast<size_t>(v.index)]; }
  Node& operator[](NodeId n) { return nodes_[static_cast<size_t>(n.index)]; }
  const Node& operator[](NodeId n) const { return nodes_[static_cast<size_t>(n.index)]; }
  size_t value_count() const { return values_.size(); }
  size_t node_count() const { return nodes_.size(); }  // erased ones included
  const Node* def(ValueId v) const;                    // nullptr for inputs
  ValueId find(std::string_view name) const;           // invalid when absent
  bool is_found(ValueId v) const;                      // whether find(its name) returns it

  // Renames v to `base`, or to the first free name of base.1, base.2, ...
  void rename(ValueId v, const std::string& base);
  // Positions in `order` by NodeId index; -1 for erased nodes.
  std::vector<int> positions() const;

 private:
  // Gives a value the name `base`, or the first free name of base.1, base.2, ...
  std::string take_name(const std::string& base, ValueId value);
  void give_back(const std::string& name);
  auto is_called(std::string_view name) const {  // the comparison that names_ needs
    return [this, name](int32_t i) { return values_[static_cast<size_t>(i)].name == name; };
  }

  // Deques: a reference to a value or a node stays valid while the graph grows.
  std::deque<Value> values_;
  std::deque<Node> nodes_;
  NameTable names_;  // of value indices
  std::unordered_map<std::string, int> next_suffix_;
};

// Whether a library executes the kernel, so that no text is generated for it.
inline bool calls_library(const Graph& k) {
  return k.schedule && std::holds_alternative<schedules::LibraryCall>(k.schedule->how);
}

// A state that the `flatten` pass has placed in a flat state, end to end with others. Files still save it under its
// name and shape.
struct StateMember {
  std::string name;
  Type type;
  Role role = Role::param;
  int64_t offset = 0;  // elements from the start of the flat state
  Layout layout = {};  // see Value::layout
  bool operator==(const StateMember&) const = default;
};
struct StateGroup {
  std::string name;  // the flat state
  std::vector<StateMember> members;
  bool operator==(const StateGroup&) const = default;
};

struct Module {
  std::vector<StateGroup> groups;
  std::vector<Graph> kernels;
  std::vector<Graph> bodies;  // a body stands before the bodies that scan it
  std::vector<Graph> graphs;
  // All bodies, then all graphs. Passes iterate over this list, so that none forgets the bodies. A body stands before
  // whatever scans it. The pointers are valid until a body or a graph is added.
  std::vector<Graph*> all_graphs();
  std::vector<const Graph*> all_graphs() const;
  const Graph* find_kernel(std::string_view name) const;
  const Graph* find_body(std::string_view name) const;
  const Graph* find_graph(std::string_view name) const;
  Graph* find_graph(std::string_view name);
  const Graph* find_graph(EntryKind kind) const { return find_graph(entry_name(kind)); }
  Graph* find_graph(EntryKind kind) { return find_graph(entry_name(kind)); }
};

// Whether both are equal up to ids: the same names, types, attributes, order, places. parse(print(m)) must preserve
// this.
bool structurally_equal(const Graph& a, const Graph& b);
bool structurally_equal(const Module& a, const Module& b);

}  // namespace heddle::ir
