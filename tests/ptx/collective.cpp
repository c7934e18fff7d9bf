// shfl, vote, match, redux, activemask, bar and their relatives.
#include <fmt/format.h>

#include "tests/ptx/decoding.h"
#include "tests/ptx/lanes.h"

namespace heddle::ptx {
namespace {

enum class Shuffle : uint32_t { up, down, bfly, idx };

// slot: result, predicate or none, value, distance or lane, clamp and segments.
struct Source {
  int lane;
  bool inside;
};
Source source_of(Shuffle kind, int lane, uint32_t b, uint32_t c) {
  const int mask = static_cast<int>(c >> 8 & 31U), clamp = static_cast<int>(c & 31U);
  const int most = (lane & mask) | (clamp & ~mask & 31), least = lane & mask, distance = static_cast<int>(b & 31U);
  int from = lane;
  bool inside = false;
  switch (kind) {
    case Shuffle::up:
      from = lane - distance;
      inside = from >= most;
      break;
    case Shuffle::down:
      from = lane + distance;
      inside = from <= most;
      break;
    case Shuffle::bfly:
      from = lane ^ distance;
      inside = from <= most;
      break;
    default: from = least | (distance & ~mask); inside = from <= most;
  }
  return {inside ? from : lane, inside};
}

void execute_shuffle(Warp& w, const Instruction& i, Lanes lanes) {
  const AllLanes<uint32_t> values(w.at(i.slot[2]));
  Lanes inside = 0;
  ++w.run.counters().shuffles;
  each_lane(lanes, [&](int l) {
    const Source s = source_of(static_cast<Shuffle>(i.mode), l, get<uint32_t>(w.at(i.slot[3]), l),
                               get<uint32_t>(w.at(i.slot[4]), l));
    if ((lanes >> s.lane & 1U) == 0)
      note(w.block, Check::member_mask, i, fmt::format("lane {} reads lane {}, which does not take part", l, s.lane));
    set<uint32_t>(w.at(i.slot[0]), l, values.value[s.lane]);
    inside |= static_cast<Lanes>(s.inside) << l;
  });
  if (i.slot[1] != kNoSlot) w.set_predicate(i.slot[1], lanes, inside);
}

void decode_shuffle(Decoding& d) {
  if (!d.take("sync")) d.refuse("only .sync is executed");
  d.out.mode = static_cast<uint32_t>(d.take_one_of({"up", "down", "bfly", "idx"}));
  const Type t = d.type();
  const std::string& results = d.operand(0);
  const size_t bar = results.find('|');
  d.out.slot[0] = d.destination(results.substr(0, bar), t);
  d.out.slot[1] = bar == std::string::npos ? kNoSlot : d.destination(results.substr(bar + 1), Type::pred);
  for (size_t k = 1; k < 4; ++k) d.out.slot[k + 1] = d.source(d.operand(k), Type::b32);
  d.out.members = d.source(d.operand(4), Type::b32);
  d.out.kind = Kind::collective;
  d.out.execute = execute_shuffle;
}

enum class Vote : uint32_t { all, any, uni, ballot };
constexpr uint32_t kNegated = 8;

void execute_vote(Warp& w, const Instruction& i, Lanes lanes) {
  const Lanes p = w.predicate(i.slot[1]);
  const Lanes yes = ((i.mode & kNegated) != 0 ? ~p : p) & lanes;
  const auto kind = static_cast<Vote>(i.mode & 3U);
  if (kind == Vote::ballot) return each_lane(lanes, [&](int l) { set<Lanes>(w.at(i.slot[0]), l, yes); });
  const bool result = kind == Vote::all ? yes == lanes : kind == Vote::any ? yes != 0 : yes == lanes || yes == 0;
  w.set_predicate(i.slot[0], lanes, result ? lanes : 0);
}

void decode_vote(Decoding& d) {
  if (!d.take("sync")) d.refuse("only .sync is executed");
  const int kind = d.take_one_of({"all", "any", "uni", "ballot"});
  const Type t = d.type();
  const bool negated = d.operand(1).starts_with("!");
  d.out.mode = static_cast<uint32_t>(kind) | (negated ? kNegated : 0U);
  d.out.slot[0] = d.destination(d.operand(0), t);
  d.out.slot[1] = d.source(d.operand(1).substr(negated ? 1 : 0), Type::pred);
  d.out.members = d.source(d.operand(2), Type::b32);
  d.out.kind = Kind::collective;
  d.out.execute = execute_vote;
}

void execute_match(Warp& w, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](int l) {
    Lanes same = 0;
    const bool wide = i.size == 8;
    each_lane(lanes, [&](int k) {
      same |= static_cast<Lanes>(get_any(w.at(i.slot[1]), k, wide) == get_any(w.at(i.slot[1]), l, wide)) << k;
    });
    set<Lanes>(w.at(i.slot[0]), l, same);
  });
}

void decode_match(Decoding& d) {
  if (!d.take("any") || !d.take("sync")) d.refuse("only match.any.sync is executed");
  const Type t = d.type();
  d.out.size = static_cast<uint8_t>(size_of(t));
  d.out.slot[0] = d.destination(d.operand(0), Type::b32);
  d.out.slot[1] = d.source(d.operand(1), t);
  d.out.members = d.source(d.operand(2), Type::b32);
  d.out.kind = Kind::collective;
  d.out.execute = execute_match;
}

enum class Reduce : uint32_t { add, minimum, maximum, conjunction, disjunction, exclusive };

void execute_redux(Warp& w, const Instruction& i, Lanes lanes) {
  bool first = true;
  uint32_t result = 0;
  each_lane(lanes, [&](int l) {
    const auto x = get<uint32_t>(w.at(i.slot[1]), l);
    const bool below = i.is_signed ? static_cast<int32_t>(x) < static_cast<int32_t>(result) : x < result;
    if (first) {
      result = x;
    } else {
      switch (static_cast<Reduce>(i.mode)) {
        case Reduce::add: result += x; break;
        case Reduce::minimum: result = below ? x : result; break;
        case Reduce::maximum: result = below ? result : x; break;
        case Reduce::conjunction: result &= x; break;
        case Reduce::disjunction: result |= x; break;
        default: result ^= x;
      }
    }
    first = false;
  });
  each_lane(lanes, [&](int l) { set<uint32_t>(w.at(i.slot[0]), l, result); });
}

void decode_redux(Decoding& d) {
  if (!d.take("sync")) d.refuse("only .sync is executed");
  d.out.mode = static_cast<uint32_t>(d.take_one_of({"add", "min", "max", "and", "or", "xor"}));
  const Type t = d.type();
  d.out.is_signed = t == Type::s32;
  d.out.slot[0] = d.destination(d.operand(0), t);
  d.out.slot[1] = d.source(d.operand(1), t);
  d.out.members = d.source(d.operand(2), Type::b32);
  d.out.kind = Kind::collective;
  d.out.execute = size_of(t) == 4 ? execute_redux : nullptr;
}

void execute_active_mask(Warp& w, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](int l) { set<Lanes>(w.at(i.slot[0]), l, lanes); });
}

void execute_warp_barrier(Warp& w, const Instruction&, Lanes lanes) {
  if (w.block.races != nullptr) w.block.races->order.warp_barrier(w.first / kLanes, lanes);
}

void execute_trap(Warp& w, const Instruction& i, Lanes lanes) {
  stop(w.block, Check::trap, i, fmt::format("lanes {:#x} of block {}", lanes, w.block.number));
}

// bar.sync and barrier.sync of the whole block; of a part of it there is none yet.
void decode_barrier(Decoding& d) {
  if (d.take("warp")) {
    if (!d.take("sync")) d.refuse("only .sync is executed");
    d.out.members = d.source(d.operand(0), Type::b32);
    d.out.kind = Kind::collective;
    d.out.execute = execute_warp_barrier;
    return;
  }
  d.take("cta");
  if (!d.take("sync")) d.refuse("only .sync is executed");
  d.out.aligned = d.take("aligned") || d.root() == "bar";
  if (d.operands() != 1) d.refuse("only barriers of the whole block are executed");
  d.out.mode = static_cast<uint32_t>(d.number(d.operand(0)));
  d.out.kind = Kind::barrier;
}

}  // namespace

bool decode_collective(Decoding& d) {
  using Decode = void (*)(Decoding&);
  static const std::map<std::string, Decode> known = {{"shfl", decode_shuffle},
                                                      {"vote", decode_vote},
                                                      {"match", decode_match},
                                                      {"redux", decode_redux},
                                                      {"bar", decode_barrier},
                                                      {"barrier", decode_barrier},
                                                      {"activemask",
                                                       [](Decoding& p) {
                                                         p.operands_are(p.type(), {});
                                                         p.out.execute = execute_active_mask;
                                                       }},
                                                      {"trap", [](Decoding& p) { p.out.execute = execute_trap; }}};
  const auto it = known.find(d.root());
  if (it == known.end()) return false;
  it->second(d);
  return true;
}

}  // namespace heddle::ptx
