// Needs: which parts of the forward graph's values a step computes, and how each part is made.
//
//   %logits {rows, tokens, other}   ->   %h {rows, tokens, other} by the same node, %w whole, %attn by its record,
//                                        %table {tokens, other} out of the whole
//
// They are found from the result backward, before anything is built. So what cannot be decoded is refused first.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/decode/axis_roles.h"
#include "passes/decode/scan_rows.h"

namespace heddle::passes {

// A part of a value that a step needs: that of its token, whose axes have these roles, or, without roles, the whole.
struct Part {
  ir::ValueId value;
  AxisRoles roles;
  auto operator<=>(const Part&) const = default;
};
Part part_of(ir::ValueId v, AxisRoles roles);
bool is_whole(const Part& part);
// Of what depends on the position and on no row: a step has it for each row, in front of its own axes.
bool has_front(const Part& part);
size_t tokens_axis(const AxisRoles& roles);
size_t rows_axis(const AxisRoles& roles);

// Of an operand of a node with a record of decoding.
Part record_part(const ir::Graph& g, const ir::Node& n, size_t operand, const AxisSizes& sizes);

// How a part is made.
enum class Way {
  whole,    // as it is in the forward graph
  kept,     // of a source: once, as it is in the forward graph, and kept in a state
  node,     // by the same operator, of parts of its operands
  record,   // by the operator's record of decoding
  turn,     // by the body of a scan
  gathered  // out of the whole
};

struct Needs {
  ir::Graph forward;  // without composites but those that a record goes on with, and those of a source
  ir::ValueId
      text;  // the input whose tokens come one after the other; others are a source, which is there from the start
  AxisSizes sizes;
  Part result;
  std::map<ir::ValueId, std::vector<Part>> parts;
  std::map<Part, Way> ways;
  std::map<ir::ValueId, ScanRows> scans;  // by their first result
  std::vector<ir::ValueId> kept;          // of the source, the wholes that are needed
  bool limited = false;                   // positions lie below the number of tokens
};

// `forward` is a graph of `m`. Throws UserError at the first node that reads other tokens in a way that is not known.
Needs find_needs(const ir::Module& m, ir::Graph forward, size_t result, ir::ValueId text);

// At the node: "'h' reads a whole text at once: the next token cannot be computed alone".
[[noreturn]] void refuse_node(const ir::Graph& g, const ir::Node& n, const std::string& reason,
                              const std::string& help = {});

}  // namespace heddle::passes
