#include "tests/ptx/block_order.h"

#include <algorithm>
#include <map>
#include <set>

namespace heddle::ptx {
namespace {

// Instructions of which all are executed where the first one is.
struct Straight {
  uint32_t begin = 0, end = 0;
  std::vector<uint32_t> next;  // straight pieces that may follow
};

bool parts(const Instruction& i) { return i.kind == Kind::branch || i.kind == Kind::exit; }

std::vector<Straight> straight_pieces(const std::vector<Instruction>& code) {
  const auto size = static_cast<uint32_t>(code.size());
  std::set<uint32_t> begins = {0};
  for (const Instruction& i : code) {
    if (parts(i)) begins.insert(i.next);
    if (i.kind == Kind::branch) begins.insert(i.target);
  }
  begins.erase(size);  // where a function ends without ret
  std::vector<Straight> pieces;
  std::map<uint32_t, uint32_t> at;
  for (const uint32_t begin : begins) {
    if (!pieces.empty()) pieces.back().end = begin;
    at[begin] = static_cast<uint32_t>(pieces.size());
    pieces.push_back({begin, size, {}});
  }
  for (Straight& s : pieces) {
    const Instruction& last = code[s.end - 1];
    if (last.kind == Kind::branch && last.target < size) s.next.push_back(at[last.target]);
    if ((!parts(last) || last.guard != kNoSlot) && s.end < size) s.next.push_back(at[s.end]);
  }
  return pieces;
}

// A jump from where nobody comes leads nowhere.
void drop_unreachable(std::vector<Straight>& pieces) {
  std::vector<bool> reached(pieces.size());
  std::vector<uint32_t> open = {0};
  while (!open.empty()) {
    const uint32_t p = open.back();
    open.pop_back();
    if (reached[p]) continue;
    reached[p] = true;
    open.insert(open.end(), pieces[p].next.begin(), pieces[p].next.end());
  }
  for (uint32_t p = 0; p < pieces.size(); ++p)
    if (!reached[p]) pieces[p].next.clear();
}

// Pieces sorted so that all that leads to one stands before it, but for the jumps of a loop to its first piece; a loop
// stands together. Where several may come next, the first of the text does.
class Sorting {
 public:
  explicit Sorting(const std::vector<Straight>& pieces)
      : pieces_(pieces),
        part_(pieces.size()),
        loop_(pieces.size()),
        found_(pieces.size()),
        least_(pieces.size()),
        is_open_(pieces.size()) {}

  std::vector<uint32_t> run() {
    std::vector<uint32_t> all(pieces_.size());
    for (uint32_t p = 0; p < all.size(); ++p) all[p] = p;
    add(all);
    return order_;
  }

 private:
  // `pieces` in the order of the text; jumps to others, and to first pieces of loops around, do not count.
  void add(const std::vector<uint32_t>& pieces) {
    ++parts_;
    for (const uint32_t p : pieces) part_[p] = parts_, found_[p] = 0;
    for (const uint32_t p : pieces)
      if (found_[p] == 0) find_loops(p);
    std::map<uint32_t, std::vector<uint32_t>> members;  // by a loop's first piece; a piece in no loop is one by itself
    std::map<uint32_t, std::set<uint32_t>> next;
    std::map<uint32_t, size_t> before;
    for (const uint32_t p : pieces) members[loop_[p]].push_back(p);
    for (const uint32_t p : pieces)
      for (const uint32_t q : pieces_[p].next)
        if (counts(q) && loop_[q] != loop_[p] && next[loop_[p]].insert(loop_[q]).second) ++before[loop_[q]];
    std::set<uint32_t> ready;
    for (const auto& [first, loop] : members)
      if (before[first] == 0) ready.insert(first);
    while (!ready.empty()) {
      const uint32_t first = *ready.begin();
      ready.erase(ready.begin());
      add_loop(members[first]);
      for (const uint32_t q : next[first])
        if (--before[q] == 0) ready.insert(q);
    }
  }

  void add_loop(const std::vector<uint32_t>& loop) {
    if (loop.size() == 1) {
      order_.push_back(loop[0]);
      return;
    }
    entered_.insert(loop[0]);
    add(loop);
  }

  bool counts(uint32_t piece) const { return part_[piece] == parts_ && !entered_.contains(piece); }

  // Strongly connected components (Tarjan, 1972, doi:10.1137/0201010): `loop_` of each piece that p leads to.
  void find_loops(uint32_t p) {
    found_[p] = least_[p] = ++clock_;
    open_.push_back(p), is_open_[p] = true;
    for (const uint32_t q : pieces_[p].next) {
      if (!counts(q)) continue;
      if (found_[q] == 0) find_loops(q);
      if (is_open_[q]) least_[p] = std::min(least_[p], least_[q]);
    }
    if (least_[p] != found_[p]) return;
    const auto first = std::find(open_.begin(), open_.end(), p);
    const uint32_t name = *std::min_element(first, open_.end());
    for (auto it = first; it != open_.end(); ++it) loop_[*it] = name, is_open_[*it] = false;
    open_.erase(first, open_.end());
  }

  const std::vector<Straight>& pieces_;
  std::vector<uint32_t> order_;
  uint32_t parts_ = 0;                 // the function, loops, loops in them, so far
  std::vector<uint32_t> part_, loop_;  // by piece: of these the last that it is in; its loop's first piece
  std::set<uint32_t> entered_;         // first pieces of loops
  uint32_t clock_ = 0;                 // of find_loops
  std::vector<uint32_t> found_, least_, open_;
  std::vector<bool> is_open_;
};

// Whether a jump goes back over a barrier though it closes no loop.
bool goes_back_over_a_barrier(const std::vector<Instruction>& code, const std::vector<Straight>& pieces,
                              const std::vector<uint32_t>& order) {
  std::vector<uint32_t> place(order.size());
  for (uint32_t k = 0; k < order.size(); ++k) place[order[k]] = k;
  const auto is_barrier = [](const Instruction& i) { return i.kind == Kind::barrier; };
  for (uint32_t p = 0; p < pieces.size(); ++p)
    for (const uint32_t q : pieces[p].next)
      if (q < p && place[p] < place[q] &&
          std::any_of(code.begin() + pieces[q].begin, code.begin() + pieces[p].end, is_barrier))
        return true;
  return false;
}

}  // namespace

void order_blocks(Function& f) {
  if (f.code.empty()) return;
  std::vector<Straight> pieces = straight_pieces(f.code);
  drop_unreachable(pieces);
  const std::vector<uint32_t> order = Sorting(pieces).run();
  if (!goes_back_over_a_barrier(f.code, pieces, order)) return;
  std::vector<uint32_t> place(f.code.size() + 1, static_cast<uint32_t>(f.code.size()));
  std::vector<Instruction> code;
  for (const uint32_t p : order)
    for (uint32_t k = pieces[p].begin; k < pieces[p].end; ++k) {
      place[k] = static_cast<uint32_t>(code.size());
      code.push_back(std::move(f.code[k]));
    }
  for (Instruction& i : code) {
    i.next = place[i.next];
    if (i.kind == Kind::branch) i.target = place[i.target];
  }
  f.code = std::move(code);
}

}  // namespace heddle::ptx
