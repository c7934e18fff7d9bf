#include "ir/updates.h"

namespace heddle::ir {

Updates::Updates(std::initializer_list<Update> updates) {
  for (const Update& u : updates) push_back(u);
}

int& Updates::count(Counts& counts, ValueId v) {
  if (index_of(v) >= counts.size()) counts.resize(index_of(v) + 1);
  return counts[index_of(v)];
}

void Updates::push_back(const Update& u) {
  list_.push_back(u);
  ++count(state_, u.state);
  ++count(next_, u.next);
}

void Updates::set_next(size_t i, ValueId next) {
  --next_[index_of(list_[i].next)];
  ++count(next_, next);
  list_[i].next = next;
}

void Updates::replace_next(ValueId old, ValueId with) {
  if (!has_next(old)) return;
  for (Update& u : list_)
    if (u.next == old) u.next = with;
  const int moved = next_[index_of(old)];
  next_[index_of(old)] = 0;
  count(next_, with) += moved;
}

void Updates::remove(const std::vector<ValueId>& states) {
  bool any = false;
  for (const ValueId v : states) {
    if (!has_state(v)) continue;
    state_[index_of(v)] = 0;
    any = true;
  }
  if (!any) return;
  std::erase_if(list_, [&](const Update& u) {
    const bool gone = !has_state(u.state);
    if (gone) --next_[index_of(u.next)];
    return gone;
  });
}

}  // namespace heddle::ir
