// atom and red: a lane after another, in the order of the lanes.
#include <algorithm>

#include "tests/ptx/access.h"
#include "tests/ptx/decoding.h"
#include "tests/ptx/lanes.h"

namespace heddle::ptx {
namespace {

enum class Operation : uint32_t {
  add,
  inc,
  dec,
  minimum,
  maximum,
  conjunction,
  disjunction,
  exclusive,
  exchange,
  compare
};
constexpr uint32_t kTypeShift = 8;

uint64_t minmax(uint64_t a, uint64_t b, Type t, bool least) {
  if (t == Type::s32) return (static_cast<int32_t>(a) < static_cast<int32_t>(b)) == least ? a : b;
  if (t == Type::s64) return (static_cast<int64_t>(a) < static_cast<int64_t>(b)) == least ? a : b;
  return (a < b) == least ? a : b;
}

uint64_t sum(uint64_t a, uint64_t b, Type t) {
  if (t == Type::f32)
    return std::bit_cast<uint32_t>(std::bit_cast<float>(static_cast<uint32_t>(a)) +
                                   std::bit_cast<float>(static_cast<uint32_t>(b)));
  if (t == Type::f64) return std::bit_cast<uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
  return a + b;
}

uint64_t result_of(Operation op, Type t, uint64_t old, uint64_t x, uint64_t y) {
  switch (op) {
    case Operation::add: return sum(old, x, t);
    case Operation::inc: return old >= x ? 0 : old + 1;
    case Operation::dec: return old == 0 || old > x ? x : old - 1;
    case Operation::minimum: return minmax(old, x, t, true);
    case Operation::maximum: return minmax(old, x, t, false);
    case Operation::conjunction: return old & x;
    case Operation::disjunction: return old | x;
    case Operation::exclusive: return old ^ x;
    case Operation::exchange: return x;
    default: return old == x ? y : old;
  }
}

// slot: result or none, address, operand, second operand of cas.
void execute_atomic(Warp& w, const Instruction& i, Lanes lanes) {
  Addresses at;
  addresses_of(w, i, lanes, 1, at);
  const auto op = static_cast<Operation>(i.mode & 0xffU);
  const auto type = static_cast<Type>(i.mode >> kTypeShift);
  const bool wide = i.size == 8;
  each_lane(lanes, [&](int l) {
    const Place p = locate(w, i, l, at[static_cast<size_t>(l)], i.size, i.size);
    check_touch(w, i, l, p, i.size, Touch::write, use_of(i));
    observe(w, i, l, p);
    publish(w, i, l, p, true);
    uint64_t old = 0;
    std::memcpy(&old, p.data, i.size);
    const uint64_t x = get_any(w.at(i.slot[2]), l, wide);
    const uint64_t y = op == Operation::compare ? get_any(w.at(i.slot[3]), l, wide) : 0;
    const uint64_t fresh = result_of(op, type, old, x, y);
    std::memcpy(p.data, &fresh, i.size);
    if (i.slot[0] != kNoSlot) set_any(w.at(i.slot[0]), l, wide, old);
    if (p.space == Space::global) ++w.run.counters().global_atomics;
  });
}

void take_scope_and_order(Decoding& d) {
  static constexpr Order orders[] = {Order::relaxed, Order::relaxed, Order::acquire, Order::release, Order::acq_rel};
  d.out.order = orders[d.take_one_of({"relaxed", "acquire", "release", "acq_rel"}) + 1];
  static constexpr Scope scopes[] = {Scope::gpu, Scope::cta, Scope::gpu, Scope::gpu, Scope::sys};
  d.out.scope = scopes[d.take_one_of({"cta", "cluster", "gpu", "sys"}) + 1];
}

}  // namespace

bool decode_atomic(Decoding& d) {
  if (d.root() != "atom" && d.root() != "red") return false;
  const bool result = d.root() == "atom";
  take_scope_and_order(d);
  const int space = d.take_one_of({"global", "shared", "shared::cta"});
  d.out.space = space < 0 ? Space::generic : space == 0 ? Space::global : Space::shared;
  const int op = d.take_one_of({"add", "inc", "dec", "min", "max", "and", "or", "xor", "exch", "cas"});
  if (op < 0) d.refuse("an operation is missing");
  const Type t = d.type();
  if (size_of(t) < 4) d.refuse("only 32 and 64 bits are executed");
  d.out.size = static_cast<uint8_t>(size_of(t));
  d.out.mode = static_cast<uint32_t>(op) | static_cast<uint32_t>(t) << kTypeShift;
  size_t k = 0;
  d.out.slot[0] = result ? d.destination(d.operand(k++), t) : kNoSlot;
  d.address(d.operand(k++), 1);
  d.out.slot[2] = d.source(d.operand(k++), t);
  if (static_cast<Operation>(op) == Operation::compare) d.out.slot[3] = d.source(d.operand(k++), t);
  d.out.execute = execute_atomic;
  return true;
}

}  // namespace heddle::ptx
