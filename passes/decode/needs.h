// Needs: the parts of the forward graph's values that a decoding step needs, and the way to compute each part.
//
//   %logits {rows, tokens, other}   ->   %h {rows, tokens, other} by the same node, %w whole, %attn by its record,
//                                        %table {tokens, other} out of the whole
//
// They are found from the result backward, before anything is built. So an unsuitable model is refused first.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/decode/axis_roles.h"
#include "passes/decode/scan_rows.h"

namespace heddle::passes {

// A part of a value that a step needs. With roles, it is the part of the step's token; the roles are those of the
// value's axes. Without roles, it is the whole value.
struct Part {
  ir::ValueId value;
  AxisRoles roles;
  auto operator<=>(const Part&) const = default;
};
Part part_of(ir::ValueId v, AxisRoles roles);
bool is_whole(const Part& part);
// Whether the part depends on the position but not on the row. The step has it once per row, with an additional axis of
// rows in front.
bool has_front(const Part& part);
size_t tokens_axis(const AxisRoles& roles);
size_t rows_axis(const AxisRoles& roles);

// The part of an operand that a node with a decoding record (ir/decoding.h) reads.
Part record_part(const ir::Graph& g, const ir::Node& n, size_t operand, const AxisSizes& sizes);

// The way to compute a part.
enum class Way {
  whole,    // as in the forward graph
  kept,     // depends on a source alone: computed once by @encode and kept in a state
  node,     // by the same operator, from parts of its operands
  record,   // by the operator's decoding record
  turn,     // by the body of a scan
  gathered  // gathered from the whole value
};

struct Needs {
  ir::Graph forward;  // decomposed, except for composites with a decoding record that applies, and those of a source
  ir::ValueId text;   // the input whose tokens come one after the other; other inputs are sources, known from the start
  AxisSizes sizes;
  Part result;
  std::map<ir::ValueId, std::vector<Part>> parts;
  std::map<Part, Way> ways;
  std::map<ir::ValueId, ScanRows> scans;  // by the first result of the scan
  std::vector<ir::ValueId> kept;          // values that depend on the source alone and that are needed as a whole
  bool limited = false;                   // positions must lie below the number of tokens of the forward graph
};

// `forward` is a graph of `m`. Throws UserError at the first node that reads other tokens in an unknown way.
Needs find_needs(const ir::Module& m, ir::Graph forward, size_t result, ir::ValueId text);

// Throws UserError at the node: "'h' reads a whole text at once: the next token cannot be computed alone".
[[noreturn]] void refuse_node(const ir::Graph& g, const ir::Node& n, const std::string& reason,
                              const std::string& help = {});

}  // namespace heddle::passes
