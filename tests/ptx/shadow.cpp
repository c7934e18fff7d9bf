#include "tests/ptx/shadow.h"

#include <algorithm>

namespace heddle::ptx {
namespace {

constexpr uint64_t kSet = uint64_t{1} << 63;

// Strong operations do not race with one another where each is in the other's scope.
bool both_strong(Stamp a, Stamp b) {
  if (a.use() == Use::weak || b.use() == Use::weak || a.use() == Use::in_flight || b.use() == Use::in_flight)
    return false;
  const bool narrow = a.use() == Use::strong_cta || b.use() == Use::strong_cta;
  return !narrow || a.block() == b.block();
}

// Readers of one block in one stretch between barriers are one.
bool joins(Stamp a, Stamp b) { return a.block() == b.block() && a.time() == b.time(); }
Stamp join(Stamp a, Stamp b) {
  const Use use = std::min(a.use(), b.use());
  return Stamp::make(a.block(), a.thread() == b.thread() ? a.thread() : Stamp::kMany, a.time(), use);
}

void add_reader(Cell& cell, Stamp s, uint32_t thread, const BlockOrder& order, ReaderSets& sets) {
  if (cell.read == s.bits) return;
  if (cell.read == 0) {
    cell.read = s.bits;
    return;
  }
  if ((cell.read & kSet) == 0) {
    const Stamp before{cell.read};
    if (joins(before, s)) {
      cell.read = join(before, s).bits;
    } else if (order.ordered(before, thread)) {
      cell.read = s.bits;
    } else {
      cell.read = kSet | sets.with(sets.single(before), s);
    }
    return;
  }
  const auto set = static_cast<uint32_t>(cell.read);
  const Stamp newest = sets.newest(set);
  if (order.ordered(newest, thread) && sets.all(set, [&](Stamp r) { return order.ordered(r, thread); }))
    cell.read = s.bits;
  else
    cell.read = kSet | sets.with(set, s);
}

Judgement judge_read(Cell& cell, Stamp s, uint32_t thread, const BlockOrder& order, bool initial) {
  const Stamp w = cell.write;
  if (w.empty()) return {initial ? Conflict::none : Conflict::unwritten, {}, false};
  if (w.use() == Use::in_flight) return {Conflict::in_flight, w, true};
  if (!order.ordered(w, thread) && !both_strong(w, s)) return {Conflict::read_after_write, w, true};
  return {Conflict::none, w, true};
}

Judgement judge_write(const Cell& cell, Stamp s, uint32_t thread, const BlockOrder& order, const ReaderSets& sets) {
  const Stamp w = cell.write;
  if (w.use() == Use::in_flight) return {Conflict::in_flight, w, true};
  if (!w.empty() && !order.ordered(w, thread) && !both_strong(w, s)) return {Conflict::write_after_write, w, true};
  Judgement result{Conflict::none, w, !w.empty()};
  const auto check = [&](Stamp r) {
    if (order.ordered(r, thread) || both_strong(r, s)) return true;
    result.conflict = Conflict::write_after_read;
    result.other = r;
    return false;
  };
  if ((cell.read & kSet) != 0)
    sets.all(static_cast<uint32_t>(cell.read), check);
  else if (cell.read != 0)
    check(Stamp{cell.read});
  return result;
}

}  // namespace

uint32_t ReaderSets::node(uint32_t rest, Stamp s) {
  const auto [it, fresh] = nodes_by_key_.try_emplace(Key{rest, s.bits}, static_cast<uint32_t>(nodes_.size()));
  if (fresh) nodes_.push_back({rest, s});
  return it->second;
}

uint32_t ReaderSets::single(Stamp s) { return node(0, s); }

// A set does not say which thread of a block it was: that only matters to that thread, before its block's next barrier.
uint32_t ReaderSets::with(uint32_t set, Stamp s) {
  s = Stamp::make(s.block(), Stamp::kMany, s.time(), s.use());
  if (nodes_[set].reader == s) return set;
  const Key key{set, s.bits};
  if (key == last_) return last_result_;
  const auto it = joined_by_key_.find(key);
  last_result_ = it != joined_by_key_.end() ? it->second : joined_by_key_[key] = joined(set, s);
  last_ = key;
  return last_result_;
}

uint32_t ReaderSets::joined(uint32_t set, Stamp s) {
  std::vector<Stamp> before;  // the newer ones
  for (uint32_t at = set; at != 0; at = nodes_[at].rest) {
    const Stamp r = nodes_[at].reader;
    if (joins(r, s)) {
      const Stamp both = join(r, s);
      if (both == r) return set;
      uint32_t result = node(nodes_[at].rest, both);
      for (auto newer = before.rbegin(); newer != before.rend(); ++newer) result = node(result, *newer);
      return result;
    }
    before.push_back(r);
  }
  return node(set, s);
}

std::pair<Cell*, Cell*> Shadow::cells(uint64_t at, uint32_t bytes) {
  Page& page = pages_[at / kPage];
  if (page.cells.empty()) page.cells.resize(kPage / 4);
  if (page.granule == 4 && (at % 4 != 0 || bytes % 4 != 0)) split(page);
  Cell* first = page.cells.data() + at % kPage / page.granule;
  return {first, first + bytes / page.granule};
}

void Shadow::split(Page& page) {
  std::vector<Cell> bytes;
  bytes.reserve(kPage);
  for (const Cell& cell : page.cells) bytes.insert(bytes.end(), 4, cell);
  page.cells = std::move(bytes);
  page.granule = 1;
}

// An access is aligned to its size, so that it lies in one page.
Judgement Shadow::read(uint64_t at, uint32_t bytes, uint32_t thread, Use use, const BlockOrder& order,
                       ReaderSets& sets) {
  const Stamp s = order.stamp(thread, use);
  Judgement worst;
  const auto [first, last] = cells(at, bytes);
  for (Cell* cell = first; cell != last; ++cell) {
    const Judgement j = judge_read(*cell, s, thread, order, initial_);
    if (j.conflict != Conflict::none) worst = j;
    worst.written = worst.written || j.written;
    add_reader(*cell, s, thread, order, sets);
  }
  return worst;
}

Judgement Shadow::write(uint64_t at, uint32_t bytes, uint32_t thread, Use use, const BlockOrder& order,
                        ReaderSets& sets) {
  const Stamp s = order.stamp(thread, use);
  Judgement worst;
  const auto [first, last] = cells(at, bytes);
  for (Cell* cell = first; cell != last; ++cell) {
    const Judgement j = judge_write(*cell, s, thread, order, sets);
    if (j.conflict != Conflict::none) worst = j;
    *cell = {s, 0};
  }
  return worst;
}

void Shadow::land(uint64_t at, uint32_t bytes, uint32_t thread, const BlockOrder& order) {
  const auto [first, last] = cells(at, bytes);
  for (Cell* cell = first; cell != last; ++cell) cell->write = order.stamp(thread, Use::weak);
}

}  // namespace heddle::ptx
