#include "ir/storage/updates.h"

namespace heddle::ir {
namespace {

int& entry(std::vector<int>& list, ValueId v, int empty) {
  if (index_of(v) >= list.size()) list.resize(index_of(v) + 1, empty);
  return list[index_of(v)];
}

}  // namespace

Updates::Updates(std::initializer_list<Update> updates) {
  for (const Update& u : updates) push_back(u);
}

void Updates::enter(size_t i) {
  int& first = entry(first_, list_[i].next, kNone);
  after_[i] = first;
  before_[i] = kNone;
  if (first != kNone) before_[static_cast<size_t>(first)] = static_cast<int>(i);
  first = static_cast<int>(i);
}

void Updates::leave(size_t i) {
  (before_[i] == kNone ? first_[index_of(list_[i].next)] : after_[static_cast<size_t>(before_[i])]) = after_[i];
  if (after_[i] != kNone) before_[static_cast<size_t>(after_[i])] = before_[i];
}

void Updates::push_back(const Update& u) {
  list_.push_back(u);
  after_.push_back(kNone);
  before_.push_back(kNone);
  ++entry(states_, u.state, 0);
  enter(list_.size() - 1);
}

void Updates::set_next(size_t i, ValueId next) {
  leave(i);
  list_[i].next = next;
  enter(i);
}

void Updates::replace_next(ValueId old, ValueId with) {
  if (old == with) return;
  while (has_next(old)) set_next(static_cast<size_t>(first_[index_of(old)]), with);
}

void Updates::remove(const std::vector<ValueId>& states) {
  bool any = false;
  for (const ValueId v : states) {
    if (!has_state(v)) continue;
    states_[index_of(v)] = 0;
    any = true;
  }
  if (!any) return;
  std::erase_if(list_, [&](const Update& u) { return !has_state(u.state); });
  first_.clear();
  after_.assign(list_.size(), kNone);
  before_.assign(list_.size(), kNone);
  for (size_t i = 0; i < list_.size(); ++i) enter(i);
}

}  // namespace heddle::ir
