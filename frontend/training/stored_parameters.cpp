#include "frontend/training/stored_parameters.h"

#include <algorithm>
#include <map>

#include "frontend/layer_context.h"
#include "ir/op_def.h"
#include "ir/scan.h"

namespace heddle::frontend {

using ir::DType;
using ir::NodeId;
using ir::ValueId;

bool is_stored(const Train& train, const Parameter& p) {
  return train.stored && p.role == ir::Role::param && p.type.dtype == DType::f32;
}

std::string master_of(const std::string& path) { return path + ".master"; }

ValueId master_state(ir::Graph& g, const Parameter& p) {
  const ValueId known = g.find(master_of(p.path));
  return known.valid() ? known
                       : g.add_input(master_of(p.path), memory_type(p.type, p.layout), ir::Role::state, p.layout);
}

ValueId trained_state(Instance& e, const Train& train, const Parameter& p) {
  return is_stored(train, p) && train.stored->master ? master_state(e.graph, p) : p.value;
}

ValueId nearest_stored(ir::Builder& b, ValueId v) { return b.cast(b.cast(v, DType::bf16), DType::f32); }

ValueId rounded_parameter(Instance& e, ir::Builder& b, const Train& train, const Parameter& p, ValueId next) {
  const auto is = [&](const char* what) { return p.path + "." + what; };
  ValueId rounded;
  if (train.stored->nearest || train.stored->master) {
    rounded = b("cast", {next}, {{"dtype", std::string("bf16")}}, is("rounded"));
  } else {
    const ValueId draw = b("random_uniform", {e.counter("seed"), e.counter("step")},
                           {{"stream", stream_of(is("rounded"))}, {"shape", b.type(next).dims}}, is("draw"));
    rounded = b("round_stochastic", {next, draw}, {}, is("rounded"));
  }
  return b("cast", {rounded}, {{"dtype", std::string("f32")}}, is("stored"));
}

namespace {

bool is_parameter(const ir::Value& v) { return v.role == ir::Role::param && v.type.dtype == DType::f32; }

// The value is bf16 from here on, and all that has read it reads its numbers as f32: those, invalid where nobody does.
ValueId narrow(ir::Graph& g, ValueId v) {
  const std::string name = g[v].name + ".f32";
  const ValueId stand_in = g.add_input(name, g[v].type, ir::Role::none);
  g.replace_uses(v, stand_in);
  g[v].type.dtype = DType::bf16;
  ValueId wide;
  if (!g.unused(stand_in)) {
    ir::Builder b(g);
    b.insert_at = 0;
    wide = b("cast", {v}, {{"dtype", std::string("f32")}});
    g.replace_uses(stand_in, wide);
  }
  g.remove_inputs({stand_in});
  if (wide.valid()) g.rename(wide, name);
  return wide;
}

class Storing {
 public:
  Storing(ir::Module& m, ir::Graph& g) : m_(m), g_(g), b_(g) {}

  void run() {
    for (const ValueId v : std::vector<ValueId>(g_.inputs))
      if (is_parameter(g_[v])) wide_[v] = narrow(g_, v);
    for (size_t i = 0; i < g_.updates.size(); ++i)
      if (const auto of = wide_.find(g_.updates[i].state); of != wide_.end())
        g_.updates.set_next(i, stored(of->first, of->second, g_.updates[i].next));
    for (const auto& [v, wide] : wide_)
      if (wide.valid()) read_as_it_lies(v, wide);
  }

 private:
  // Of f32 to what is stored: exact where the step has rounded it. Rows are written into the table as it lies.
  ValueId stored(ValueId v, ValueId wide, ValueId next) {
    b_.prefix = g_[v].name + ".bf16";
    const ir::Node* n = g_.def(next);
    if (n == nullptr || n->op != &ir::op_def("scatter_rows") || n->operands[0] != wide)
      return b_.cast(next, DType::bf16);
    const ir::Node rows = *n;
    b_.loc = rows.loc;
    return b_(rows.op->name, {v, rows.operands[1], rows.operands[2], b_.cast(rows.operands[3], DType::bf16)},
              rows.attrs);
  }

  // A loop over micro-batches holds its gradients, and reads parameters as they lie: no array of f32 waits for its
  // turns.
  void read_as_it_lies(ValueId v, ValueId wide) {
    for (const NodeId id : std::vector<NodeId>(g_[wide].uses)) {
      const ir::Node& n = g_[id];
      if (!ir::is_scan(n) || !ir::value_or(n.attrs, "apart", false)) continue;
      for (size_t i = 0; i < n.operands.size(); ++i)
        if (n.operands[i] == wide && narrow_in_body(n.callee, i)) g_.set_operand(id, i, v);
    }
    if (g_.unused(wide)) g_.erase(g_[wide].def);
  }

  bool narrow_in_body(const std::string& name, size_t operand) {
    ir::Graph& body = *std::ranges::find(m_.bodies, name, &ir::Graph::name);
    const ValueId input = ir::operand_inputs(body)[operand];
    if (body[input].role != ir::Role::fixed) return false;
    if (body[input].type.dtype == DType::f32) narrow(body, input);  // else by another entry that runs this loop
    return true;
  }

  ir::Module& m_;
  ir::Graph& g_;
  ir::Builder b_;
  std::map<ValueId, ValueId> wide_;  // by the parameter; invalid where nobody reads it
};

}  // namespace

void store_parameters(ir::Module& m) {
  for (ir::Graph& g : m.graphs) Storing(m, g).run();
}

}  // namespace heddle::frontend
