#include "passes/fuse/partners.h"

#include <algorithm>

namespace heddle::passes {

namespace {

constexpr int kSiblings = 16;  // on either side

void add_nearest(std::vector<int>& to, const std::set<int>& groups, int group) {
  auto after = groups.lower_bound(group), before = after;
  for (int i = 0; i < kSiblings && before != groups.begin(); ++i) to.push_back(*--before);
  if (after != groups.end() && *after == group) ++after;
  for (int i = 0; i < kSiblings && after != groups.end(); ++i) to.push_back(*after++);
}

}  // namespace

Partners::Partners(const Groups& groups) : groups_(groups) {
  for (int i = 0; i < groups.count(); ++i)
    if (!groups[i].fixed) add(i);
}

std::vector<int> Partners::of(int group) const {
  const Group& g = groups_[group];
  std::vector<int> partners;
  for (const auto* neighbours : {&groups_.readers(group), &groups_.sources(group)})
    std::copy_if(neighbours->begin(), neighbours->end(), std::back_inserter(partners),
                 [&](int i) { return !groups_[i].fixed; });
  for (const ir::ValueId v : g.reads) add_nearest(partners, readers_[ir::index_of(v)], group);
  if (small(g)) add_nearest(partners, small_, group);
  add_nearest(partners, anywhere(g) ? all_ : anywhere_, group);
  std::sort(partners.begin(), partners.end());
  partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
  return partners;
}

void Partners::remove(int group) {
  for (const ir::ValueId v : groups_[group].reads) readers_[ir::index_of(v)].erase(group);
  for (auto* list : {&all_, &small_, &anywhere_}) list->erase(group);
}

void Partners::add(int group) {
  const Group& g = groups_[group];
  for (const ir::ValueId v : g.reads) {
    if (ir::index_of(v) >= readers_.size()) readers_.resize(ir::index_of(v) + 1);
    readers_[ir::index_of(v)].insert(group);
  }
  all_.insert(group);
  if (small(g)) small_.insert(group);
  if (anywhere(g)) anywhere_.insert(group);
}

}  // namespace heddle::passes
