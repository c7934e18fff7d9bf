#include "frontend/instantiate/run_loop.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "frontend/instantiate/take_body.h"
#include "ir/scan.h"

namespace heddle::frontend {

ir::Values append_scan(Instance& e, const ir::Graph& body, const ir::Values& operands, const ScanTurns& turns,
                       const std::vector<std::string>& names, const std::string& title, const Location& where) {
  ir::Module known;
  known.bodies = e.bodies;
  std::vector<ir::Type> types;
  for (const ir::ValueId v : operands) types.push_back(e.graph[v].type);
  const ir::Attrs attrs = ir::scan_attrs(turns.count, turns.reverse);
  try {
    ir::scan_types(known, body, types, attrs);
  } catch (const ir::InferError& error) {
    // Without the name that the body has in the IR.
    std::string text = error.what();
    if (const std::string own = fmt::format("scan @{}: ", body.name); text.starts_with(own)) text.erase(0, own.size());
    throw UserError(where, fmt::format("{}: {}", title, text), "run fewer steps");
  }
  return e.graph[ir::add_scan(e.graph, body, operands, attrs, names, where)].results;
}

ir::Values run_loop(Instance& e, const LoopSpec& loop, const std::string& title, const Location& where) {
  TakenBody taken = take_body(e.graph, loop.first, loop.turn, loop.count, e.body_name(loop.path));
  ir::Values operands = loop.starts;
  operands.insert(operands.end(), loop.sequences.begin(), loop.sequences.end());
  operands.insert(operands.end(), taken.fixed.begin(), taken.fixed.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < loop.turn.carries.size(); ++i)
    names.push_back(taken.body[ir::inputs_with(taken.body, ir::Role::carry)[i]].name + ".last");
  for (const ir::ValueId v : taken.body.outputs) names.push_back(taken.body[v].name + ".steps");
  ir::Values made = append_scan(e, taken.body, operands, {loop.count, loop.reverse}, names, title, where);
  e.bodies.push_back(std::move(taken.body));
  return made;
}

}  // namespace heddle::frontend
