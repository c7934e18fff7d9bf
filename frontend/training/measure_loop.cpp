#include "frontend/training/measure_loop.h"

#include <fmt/format.h>

#include "ir/scan.h"

namespace heddle::frontend {

MeasureLoop::MeasureLoop(MeasureContext& c, const std::string& what, int64_t count, const ir::Values& starts,
                         const ir::Values& sequences)
    : c_(c) {
  if (count > ir::kMostTurns)
    c.fail(fmt::format("a sequence has {} steps, at most {} are run", count, ir::kMostTurns),
           "cut it into shorter ones");
  spec_.path = fmt::format("{}.{}", c.name, what);
  spec_.count = count;
  spec_.starts = starts;
  spec_.sequences = sequences;
  spec_.first = c.b.graph.order.size();
  const auto stand_in = [&](const std::string& name, const ir::Type& type) {
    return c.b.graph.add_input(spec_.path + "." + name, type, ir::Role::input);
  };
  for (const ir::ValueId v : starts) carries.push_back(stand_in("carry", c.b.type(v)));
  for (const ir::ValueId v : sequences) {
    ir::Type row = c.b.type(v);
    row.dims.erase(row.dims.begin());
    slices.push_back(stand_in("slice", row));
  }
  index = stand_in("turn", {ir::DType::i32, {}});
}

MeasureLoop::Results MeasureLoop::run(const ir::Values& next, const ir::Values& stacked) {
  for (size_t i = 0; i < carries.size(); ++i) spec_.turn.carries.push_back({carries[i], next.at(i)});
  spec_.turn.slices = slices;
  spec_.turn.index = index;
  spec_.turn.stacked = stacked;
  const ir::Values made = c_.loop(spec_);
  const auto middle = made.begin() + static_cast<std::ptrdiff_t>(carries.size());
  return {{made.begin(), middle}, {middle, made.end()}};
}

}  // namespace heddle::frontend
