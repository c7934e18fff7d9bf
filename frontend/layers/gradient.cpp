// gradient: the derivative of one value by another, as a value.
//
//   {"name": "u_x", "op": "gradient", "in": ["u", "x"]}, u [N,1], x [N,2]  ->  %u_x: f32[64,2] = gradient(%u, %x)
//
// The pass differentiate replaces it, in every entry: an evaluation and a prediction have it as a training does. A later
// gradient, that of the loss among them, goes through it.
#include <fmt/format.h>

#include "frontend/keys/fields.h"
#include "frontend/layer_context.h"
#include "ir/gradient_flow.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

constexpr size_t kOf = 0, kBy = 1;

std::string name_of(const LayerContext& c, size_t input) { return quote(c.node.in.at(input).name); }

void require_types(LayerContext& c) {
  const ir::Type &u = c.type(c.in[kOf]), &x = c.type(c.in[kBy]);
  if (!ir::is_floating(u.dtype))
    c.fail(fmt::format("{} is {}, which has no derivative", name_of(c, kOf), ir::to_string(u.dtype)),
           "give it what is computed in floating point", kOf);
  if (!ir::is_floating(x.dtype))
    c.fail(fmt::format("{} is {}: nothing has a derivative by it", name_of(c, kBy), ir::to_string(x.dtype)),
           "take what is made of it in floating point, such as its embedding", kBy);
}

// Whether `u` is a number for each row; else it is one number. With a batch of 1 it is both.
bool is_column(LayerContext& c) {
  const Dims& dims = c.dims(c.in[kOf]);
  if (ir::product(dims) == 1) return false;
  if (dims.size() == 1 || (dims.size() == 2 && dims[1] == 1)) return true;
  c.fail(fmt::format("expected one number, or one for each row, of {}, found {}", name_of(c, kOf), c.shape_text(dims)),
         "a node \"sum\" makes one number; with an 'axis', or a \"slice\", it makes one for each row", kOf);
}

bool reaches(const LayerContext& c, ValueId from, ValueId to) {
  return ir::reached_by_derivatives(c.b.graph, {from})[static_cast<size_t>(to.index)] != 0;
}

void require_dependence(LayerContext& c, ValueId u, ValueId x) {
  if (reaches(c, x, u)) return;
  c.fail(fmt::format("no derivative leads from {} to {}", name_of(c, kOf), name_of(c, kBy)),
         reaches(c, u, x)
             ? fmt::format("the other way round: \"in\": [\"{}\", \"{}\"]", c.node.in[kBy].name, c.node.in[kOf].name)
             : "it is that of a value by one that it is computed from; integers, conditions and "
               "stop_gradient let none through",
         kBy);
}

// Whether they meet between the two the instance sees (frontend/instantiate/gradient_rows.h).
void require_rows(LayerContext& c, ValueId u, ValueId x) {
  const Dims& by = c.dims(x);
  const ir::Role role = c.b.graph[x].role;
  const bool has_rows = role != ir::Role::param && role != ir::Role::buffer && !by.empty();
  if (has_rows && by[0] == c.dims(u)[0]) return;
  c.fail(fmt::format("{} has a number for each row, and {} {} has no row for each of them", name_of(c, kOf),
                     name_of(c, kBy), c.shape_text(c.dims(c.in[kBy]))),
         fmt::format("take the gradient of one number: {{\"op\": \"sum\", \"in\": \"{}\"}}", c.node.in[kOf].name), kBy);
}

// The parameter itself, where the value is one whose axes have been turned to those of files.
ValueId stored(const LayerContext& c, ValueId v) {
  const ir::Node* n = c.b.graph.def(v);
  const bool turned = n != nullptr && n->op->traits.permutation && !c.b.graph[n->operands[0]].layout.empty();
  return turned ? n->operands[0] : v;
}

ir::Values build(LayerContext& c) {
  require_types(c);
  const bool column = is_column(c);
  const ValueId u = stored(c, c.in[kOf]), x = stored(c, c.in[kBy]);
  require_dependence(c, u, x);
  if (column) require_rows(c, u, x);
  const bool flat = !column && c.type(u).rank() != 0;  // a number with axes of size 1
  const ValueId gradient = c.emit("gradient", {flat ? c.reshape(u, {}) : u, x});
  const ir::Layout& layout = c.b.graph[x].layout;
  if (layout.empty()) return {gradient};
  return {c.emit("transpose", {gradient}, {{"perm", ir::inverse(layout)}}, "logical")};
}

const RegisterLayer gradient({
    .name = "gradient",
    .doc = "the derivative of u by x, of x's shape: of one number, or of one for each row, whose gradients are those "
           "of their own rows of x",
    .inputs = {"u", "x"},
    .build = build,
});

}  // namespace
}  // namespace heddle::frontend
