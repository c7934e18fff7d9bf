#include "ir/loop/column_parts.h"

#include <algorithm>
#include <set>
#include <utility>

namespace heddle::ir::loop {
namespace {

constexpr size_t kMostParts = 8;       // each is a copy of the body
constexpr int64_t kLeastColumns = 8;   // of a part, on average: the loop around it costs about as much as one element
constexpr size_t kMostPlaces = 10000;  // a value may be read at many places: beyond these no others are looked at

// The columns at which a guard begins or ends to hold.
class Borders {
 public:
  Borders(const Graph& kernel, int64_t columns) : k_(kernel), columns_(columns) {}

  void add(ValueId v, const IndexMap& at) {
    if (seen_.size() == kMostPlaces || !seen_.emplace(index_of(v), to_string(at)).second) return;
    add(at);
    if (const Node* n = k_.def(v); n != nullptr)
      for (const Read& read : reads_at(k_, *n, at)) add(read.value, read.at);
  }
  const std::set<int64_t>& all() const { return borders_; }

 private:
  void add(const IndexMap& at) {
    for (const Guard& g : at.guards) {
      const bool columns_only = g.expr.terms.size() == 1 && g.expr.terms[0].kind == IndexTerm::Kind::dim &&
                                g.expr.terms[0].dim == kColumn && g.expr.terms[0].coefficient == 1;
      if (!columns_only) continue;
      for (const int64_t border : {g.low - g.expr.constant, g.high - g.expr.constant})
        if (border > 0 && border < columns_) borders_.insert(border);
    }
  }

  const Graph& k_;
  int64_t columns_;
  std::set<std::pair<size_t, std::string>> seen_;
  std::set<int64_t> borders_;
};

// A GPU's threads take turns at columns.
bool may_split(const schedules::Pointwise& schedule) { return schedule.threads == 1 && schedule.vector_width == 1; }

}  // namespace

std::vector<ColumnPart> column_parts(const Graph& k, const schedules::Pointwise& schedule, const KernelPlan& plan) {
  const Dims space = plan.space();
  Borders borders(k, space[kColumn]);
  if (may_split(schedule))
    for (const ValueId v : k.outputs) borders.add(v, access_of(Extent::full, space, k[v].type.dims));
  const size_t parts = borders.all().size() + 1;
  if (parts > kMostParts || space[kColumn] / static_cast<int64_t>(parts) < kLeastColumns) return {{0, space[kColumn]}};
  std::vector<ColumnPart> all;
  int64_t first = 0;
  for (const int64_t border : borders.all()) {
    all.push_back({first, border - first});
    first = border;
  }
  all.push_back({first, space[kColumn] - first});
  return all;
}

}  // namespace heddle::ir::loop
