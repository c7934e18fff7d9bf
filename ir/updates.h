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

  bool has_state(ValueId v) const { return holds(state_, v); }
  bool has_next(ValueId v) const { return holds(next_, v); }

  std::vector<Update>::const_iterator begin() const { return list_.begin(); }
  std::vector<Update>::const_iterator end() const { return list_.end(); }
  const Update& operator[](size_t i) const { return list_[i]; }
  size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }

 private:
  using Counts = std::vector<int>;  // by ValueId index, as far as any value is in the list
  static bool holds(const Counts& counts, ValueId v) { return index_of(v) < counts.size() && counts[index_of(v)] > 0; }
  static int& count(Counts& counts, ValueId v);

  std::vector<Update> list_;
  Counts state_, next_;
};

}  // namespace heddle::ir
