#include "ir/storage/turn_places.h"

#include "ir/scan.h"
#include "ir/storage/storage.h"

namespace heddle::ir {

RowPlace row_place(const Type& row, const Node& scan) {
  if (is_reversed(scan)) return {(turns(scan) - 1) * row.bytes(), -row.bytes()};
  return {0, row.bytes()};
}

TurnPlaces turn_places(const Graph& body, const Node& scan) {
  TurnPlaces places;
  const std::vector<ValueId> inputs = operand_inputs(body);
  size_t carries = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& in = body[inputs[i]];
    if (!lies_outside(in)) continue;
    if (in.role == Role::carry)
      places[inputs[i]] = {.of_result = true, .number = carries++};
    else
      places[inputs[i]] = {.number = i, .at = in.role == Role::slice ? row_place(in.type, scan) : RowPlace{}};
  }
  const std::vector<int> stacked = stacked_in_place(body);
  for (size_t i = 0; i < stacked.size(); ++i) {
    if (stacked[i] < 0) continue;
    const ValueId root{static_cast<int32_t>(i)};
    places[root] = {true, carries + static_cast<size_t>(stacked[i]), row_place(body[root].type, scan)};
  }
  return places;
}

}  // namespace heddle::ir
