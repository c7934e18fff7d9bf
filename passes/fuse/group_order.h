// A topological order of the groups, which is maintained while groups are merged.
//
// Two groups may be merged only if no path leads from one to the other through a third. Only groups between the two in
// the order can be on such a path, so the search visits only these. It gives up after a number of edges and answers
// "unknown", so its time does not depend on the size of the graph. The order is a list with labels (Dietz and Sleator
// 1987, "Two algorithms for maintaining order in a list"): labels tell which of two groups comes first, and gaps
// between labels leave room for groups that move.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace heddle::passes {

using Neighbours = std::vector<std::set<int>>;  // by group

class GroupOrder {
 public:
  explicit GroupOrder(int count);  // the order 0, 1, 2 ..., which must be topological

  bool before(int a, int b) const { return at(label_, a) < at(label_, b); }

  // The groups that must move when two groups are merged: either those that depend on the earlier one move behind the
  // later one, or those on which the later one depends move before the earlier one.
  struct Separation {
    enum class Answer { apart, path, unknown };
    Answer answer = Answer::unknown;
    bool behind_later = false;
    std::vector<int> moved;
  };
  // Whether a path leads from one to the other through a third group.
  Separation separation(int a, int b, const Neighbours& preds, const Neighbours& succs);

  // Merges `gone` into `kept`. `s` is their separation; no groups may have been merged since it was computed.
  void merge(int kept, int gone, const Separation& s);

 private:
  template <class T>
  static T& at(std::vector<T>& list, int i) {
    return list[static_cast<size_t>(i)];
  }
  template <class T>
  static const T& at(const std::vector<T>& list, int i) {
    return list[static_cast<size_t>(i)];
  }
  struct Search;
  void expand(Search& search, const Neighbours& edges);
  void remove(int group);
  void insert_behind(int place, const std::vector<int>& groups);
  int64_t gap_behind(int place, int64_t needed);

  int head_;  // an additional element before all groups
  std::vector<int64_t> label_;
  std::vector<int> previous_, next_;
  std::vector<int> seen_;  // by group: the number of the last search that found it
  int searches_ = 0;
};

}  // namespace heddle::passes
