// The graph: SSA values and nodes in arrays, named by typed ids.
//
//   graph @f(input %x: f32[4], param %w: f32[4]) {
//     %y: f32[4] = mul(%x, %w)
//     update %w <- %y
//     return %y
//   }
//
// A graph is a pure function of its inputs; state changes only through `updates`, which take effect at the end.
// Kernels are graphs with a schedule. Ids stay valid while the graph is edited; an erased node's id is never reused.
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

// What feeds a value that no node defines. In kernels inputs have Role::none. Params, buffers and states live from one
// run to the next: params are trained, buffers are what a layer keeps beside them, such as running statistics; both are
// saved. States are the training step's own. The cursor and the ring are of entries that feed themselves (ir/cursor.h).
// The last four are of bodies (ir/scan.h): the same in all turns, from one turn to the next, a row for each turn, the
// turn's number.
enum class Role { none, input, param, buffer, state, cursor, ring, fixed, carry, slice, index };
std::string to_string(Role role);

// Where a value lies once memory is planned: an offset into the arena, or inside another value's storage (a view, or in
// place).
struct Place {
  int64_t offset = -1;  // bytes; -1: not placed
  ValueId base;         // valid: relative to this value's storage
  bool placed() const { return offset >= 0; }
  bool operator==(const Place&) const = default;
};

struct Value {
  std::string name;
  Type type;
  Role role = Role::none;
  Layout layout;             // of states; empty: as in files
  NodeId def;                // invalid for inputs
  int32_t result_index = 0;  // which result of `def`
  std::vector<NodeId> uses;  // one entry per use: a node that uses a value twice appears twice
  Place place;
};

struct Node {
  const OpDef* op = nullptr;
  std::string callee;  // for `call` the kernel's name, for `scan` the body's, without '@'
  std::vector<ValueId> operands, results;
  Attrs attrs;  // only what differs from the defaults; see OpDef for reading them
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
  // Without exceptions, so that a vector that grows moves its graphs.
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
  bool body = false;                       // of scans: its updates are of carries, its outputs are stacked
  int64_t arena_bytes = -1;                // -1: memory is not planned

  ValueId add_input(const std::string& name, Type type, Role role, Layout layout = {});
  // Appends to `order`. Names are made unique. Does not infer types: use Builder.
  NodeId add_node(const OpDef& op, std::vector<ValueId> operands, Attrs attrs, const std::vector<std::string>& names,
                  const std::vector<Type>& types, const Location& loc = {});
  void set_operand(NodeId n, size_t i, ValueId v);
  void replace_uses(ValueId old, ValueId with);            // in nodes, outputs and the `next` of updates
  void erase(NodeId n);                                    // its results must be unused
  void remove_inputs(const std::vector<ValueId>& inputs);  // must be unused; their updates go, too
  bool unused(ValueId v) const;                            // no node, output or update reads it
  NodeId only_use(ValueId v) const;                        // the one node that reads it, once; invalid where more does
  bool is_output(ValueId v) const;
  bool is_next(ValueId v) const;  // some update's next value

  Value& operator[](ValueId v) { return values_[static_cast<size_t>(v.index)]; }
  const Value& operator[](ValueId v) const { return values_[static_cast<size_t>(v.index)]; }
  Node& operator[](NodeId n) { return nodes_[static_cast<size_t>(n.index)]; }
  const Node& operator[](NodeId n) const { return nodes_[static_cast<size_t>(n.index)]; }
  size_t value_count() const { return values_.size(); }
  size_t node_count() const { return nodes_.size(); }  // erased ones included
  const Node* def(ValueId v) const;                    // nullptr for inputs
  ValueId find(std::string_view name) const;           // invalid when absent
  bool is_found(ValueId v) const;                      // whether its name leads to it

  // To `base`, or the first free of base.1, base.2, ...
  void rename(ValueId v, const std::string& base);
  // Positions in `order` by NodeId index; -1 for erased nodes.
  std::vector<int> positions() const;

 private:
  // Takes the name, or the first free one like it, for a value.
  std::string take_name(const std::string& base, ValueId value);
  void give_back(const std::string& name);
  auto is_called(std::string_view name) const {  // asks of an entry of the table
    return [this, name](int32_t i) { return values_[static_cast<size_t>(i)].name == name; };
  }

  // Deques: a reference to a value or a node stays valid while the graph grows.
  std::deque<Value> values_;
  std::deque<Node> nodes_;
  NameTable names_;  // of value indices
  std::unordered_map<std::string, int> next_suffix_;
};

// Of a kernel: whether a library executes it, which has no generated text.
inline bool calls_library(const Graph& k) {
  return k.schedule && std::holds_alternative<schedules::LibraryCall>(k.schedule->how);
}

// States that the `flatten` pass has laid end to end in one flat state, so that saved weights keep their names and
// shapes.
struct StateMember {
  std::string name;
  Type type;
  Role role = Role::param;
  int64_t offset = 0;  // elements from the start of the flat state
  Layout layout = {};  // as a value's
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
  std::vector<Graph> bodies;  // each before the bodies that scan it
  std::vector<Graph> graphs;
  // What a pass of graphs goes through, so that none forgets the bodies: each before what scans it, then the graphs.
  // Valid until a body or a graph is added.
  std::vector<Graph*> all_graphs();
  std::vector<const Graph*> all_graphs() const;
  const Graph* find_kernel(std::string_view name) const;
  const Graph* find_body(std::string_view name) const;
  const Graph* find_graph(std::string_view name) const;
  Graph* find_graph(std::string_view name);
  const Graph* find_graph(EntryKind kind) const { return find_graph(entry_name(kind)); }
  Graph* find_graph(EntryKind kind) { return find_graph(entry_name(kind)); }
};

// Equal up to ids: same names, types, attributes, order, places. What parse(print(m)) must preserve.
bool structurally_equal(const Graph& a, const Graph& b);
bool structurally_equal(const Module& a, const Module& b);

}  // namespace heddle::ir
