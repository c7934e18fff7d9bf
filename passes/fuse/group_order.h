// The groups in an order in which producers come first, and which stays one while groups become one.
//
// Whether two groups may become one depends on paths between them. Only groups that lie between the two in the order
// can be on such a path, so the search looks at those alone; and it gives up after a number of edges, for which the
// answer is "perhaps": the time of a search does not depend on the size of the graph. The order is a list with labels
// (Dietz and Sleator 1987, "Two algorithms for maintaining order in a list"): a label says which of two comes first,
// and gaps between labels leave room for what moves.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace heddle::passes {

using Neighbours = std::vector<std::set<int>>;  // by group

class GroupOrder {
 public:
  explicit GroupOrder(int count);  // 0, 1, 2 ... is such an order

  bool before(int a, int b) const { return at(label_, a) < at(label_, b); }

  // What must move when two groups become one: everything that the earlier one leads to behind the later one, or
  // everything that leads to the later one before the earlier one.
  struct Separation {
    enum class Answer { apart, path, unknown };
    Answer answer = Answer::unknown;
    bool behind_later = false;
    std::vector<int> moved;
  };
  // Whether a path leads from one to the other through a third group.
  Separation separation(int a, int b, const Neighbours& preds, const Neighbours& succs);

  // `gone` is now part of `kept`; `s` is their separation, and nothing has merged since it was found.
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

  int head_;  // stands before all groups
  std::vector<int64_t> label_;
  std::vector<int> previous_, next_;
  std::vector<int> seen_;  // by group: the number of the last search that found it
  int searches_ = 0;
};

}  // namespace heddle::passes
