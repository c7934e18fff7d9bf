// The updates of a graph: which value each state becomes at the end.
//
//   update %w <- %w.next      state %w, next %w.next
//
// A list that tells without a search whether a value is in it: edits of large graphs ask for each value they touch.
#pragma once
#include <initializer_list>
#include <vector>

#include "ir/ids.h"

namespace heddle::ir {

struct Update {
  ValueId state, next;
  bool operator==(const Update&) const = default;
};

class Updates {
 public:
  Updates() = default;
  Updates(std::initializer_list<Update> updates);

  void push_back(const Update& u);
  void set_next(size_t i, ValueId next);
  void replace_next(ValueId old, ValueId with);  // wherever `old` is next
  void remove(const std::vector<ValueId>& states);

  bool has_state(ValueId v) const { return index_of(v) < states_.size() && states_[index_of(v)] > 0; }
  bool has_next(ValueId v) const { return index_of(v) < first_.size() && first_[index_of(v)] != kNone; }

  std::vector<Update>::const_iterator begin() const { return list_.begin(); }
  std::vector<Update>::const_iterator end() const { return list_.end(); }
  const Update& operator[](size_t i) const { return list_[i]; }
  size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }

 private:
  static constexpr int kNone = -1;
  void enter(size_t i);  // into the chain of its next value
  void leave(size_t i);

  std::vector<Update> list_;
  // By ValueId index, as far as any value is in the list.
  std::vector<int> states_;          // how many updates are of this state
  std::vector<int> first_;           // the first update with this next value; kNone: there is none
  std::vector<int> after_, before_;  // by update: its neighbours in the chain of those with the same next value
};

}  // namespace heddle::ir
