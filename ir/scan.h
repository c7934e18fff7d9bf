// Scans: loops that carry values from one turn to the next. A body is a graph of one turn; a node runs it `count` times.
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
// Here %xs is f32[20,4]: turn t takes row t of a slice's operand and leaves row t of %ys; with `reverse`, turn t takes
// and leaves row count - 1 - t, and that is its index. Operands stand for the body's inputs in their order, without the
// index. Results are the carries in the order of the inputs, then the body's outputs, stacked. A body is a pure function
// of its inputs: what it needs of the graph around it is fixed.
#pragma once
#include "ir/op_def.h"

namespace heddle::ir {

// Of one scan, with all turns of scans that stand around it. Programs and evaluations take time in proportion.
inline constexpr int64_t kMostTurns = int64_t{1} << 20;

bool is_scan(const Node& n);
int64_t turns(const Node& scan);
bool is_reversed(const Node& scan);
Attrs scan_attrs(int64_t count, bool reverse);

std::vector<ValueId> inputs_with(const Graph& body, Role role);
std::vector<ValueId> operand_inputs(const Graph& body);         // those that operands stand for: all but the index
size_t number_in(const std::vector<ValueId>& list, ValueId v);  // of a value that is in the list
ValueId next_of(const Graph& body, ValueId carry);              // what the carry becomes; invalid where nothing is said
Type stacked(const Type& row, int64_t count);                   // f32[4] -> f32[20,4]

// What makes a body none, each with its reason: inputs of other roles, carries without an update.
std::vector<std::string> body_problems(const Graph& body);

// The types of a scan's results. Throws InferError where operands or the count do not fit the body.
std::vector<Type> scan_types(const Module& m, const Graph& body, const std::vector<Type>& operands, const Attrs& attrs);

// Appends a scan of the body, whose operands fit.
NodeId add_scan(Graph& g, const Graph& body, const Values& operands, const Attrs& attrs,
                const std::vector<std::string>& names, const Location& loc);

// Whether this operand is where the carry starts that becomes this result: they may lie at one place.
bool starts_carry(const Module& m, const Node& scan, size_t operand, size_t result);

// Of a body or a graph: all turns of all scans in it, those of scans in scans included. 0 where there is none.
int64_t all_turns(const Module& m, const Graph& g);

}  // namespace heddle::ir
