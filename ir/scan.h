// Scans: loops that carry values from one turn to the next. A body is the graph of one turn; a `scan` node runs it
// `count` times.
//
//   body @sum(fixed %w: f32[4], carry %h: f32[4], slice %x: f32[4], index %t: i32[]) {
//     %y: f32[4] = mul(%x, %w)
//     %h.next: f32[4] = add(%h, %y)
//     update %h <- %h.next
//     return %y
//   }
//   ...
//   %last: f32[4], %ys: f32[20,4] = scan @sum(%w, %h0, %xs) {count = 20}
//
// Here %xs is f32[20,4]. Turn t reads row t of %xs and writes row t of %ys. With `reverse`, turn t reads and writes row
// count - 1 - t, and its index is that number. The operands are the body's inputs in order, without the index. The
// results are the last carries in the order of the inputs, then the body's outputs, stacked. A body is a pure function
// of its inputs; values of the surrounding graph reach it as `fixed` inputs.
#pragma once
#include "ir/op_def.h"

namespace heddle::ir {

// The most turns of a scan, multiplied by the turns of the scans around it. The time of programs and evaluations is
// proportional to this number.
inline constexpr int64_t kMostTurns = int64_t{1} << 20;

bool is_scan(const Node& n);
int64_t turns(const Node& scan);
bool is_reversed(const Node& scan);
Attrs scan_attrs(int64_t count, bool reverse);

std::vector<ValueId> inputs_with(const Graph& body, Role role);
std::vector<ValueId> operand_inputs(const Graph& body);         // the inputs with an operand: all but the index
size_t number_in(const std::vector<ValueId>& list, ValueId v);  // the position of a value that is in the list
ValueId next_of(const Graph& body, ValueId carry);              // the carry's next value; invalid without an update
Type stacked(const Type& row, int64_t count);                   // f32[4] -> f32[20,4]

// Why a graph cannot be a body, one message per problem: inputs of other roles, carries without an update.
std::vector<std::string> body_problems(const Graph& body);

// The types of a scan's results. Throws InferError if the operands or the count do not fit the body.
std::vector<Type> scan_types(const Module& m, const Graph& body, const std::vector<Type>& operands, const Attrs& attrs);

// Appends a scan of the body. The operands must fit.
NodeId add_scan(Graph& g, const Graph& body, const Values& operands, const Attrs& attrs,
                const std::vector<std::string>& names, const Location& loc);

// Whether this operand is the start value of the carry that becomes this result. Both may share storage.
bool starts_carry(const Module& m, const Node& scan, size_t operand, size_t result);

// All turns of all scans in a body or a graph, nested scans included. 0 if there is no scan.
int64_t all_turns(const Module& m, const Graph& g);

}  // namespace heddle::ir
