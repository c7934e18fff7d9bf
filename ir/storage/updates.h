// Updates: the list of a graph's state updates. Each says which value a state takes at the end of the graph.
//
//   update %w <- %w.next      state %w, next %w.next
//
// Membership tests take constant time, because edits of large graphs make one for each value that they touch.
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
  void replace_next(ValueId old, ValueId with);  // in all updates whose next value is `old`
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
  void enter(size_t i);  // into the linked list of its next value
  void leave(size_t i);

  std::vector<Update> list_;
  // By ValueId index; as long as the largest index in the list requires.
  std::vector<int> states_;          // the number of updates of this state
  std::vector<int> first_;           // the first update with this next value, or kNone
  std::vector<int> after_, before_;  // by update: its neighbours in the linked list of updates with its next value
};

}  // namespace heddle::ir
