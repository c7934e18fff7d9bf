// Bits: and, or, xor, not, shifts, fields, counts, permutations of bytes, and moves.
#include <algorithm>

#include "tests/ptx/decoding.h"
#include "tests/ptx/lanes.h"

namespace heddle::ptx {
namespace {

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct Same {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};
// Shifts stop at the width.
struct Left {
  template <class T>
  T operator()(T a, uint32_t n) const {
    return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(static_cast<uint64_t>(a) << n);
  }
};
struct Right {
  template <class T>
  T operator()(T a, uint32_t n) const {
    if (n < 8 * sizeof(T)) return static_cast<T>(a >> n);
    return static_cast<T>(a < 0 ? -1 : 0);
  }
};
template <bool left, bool wraps>
struct Funnel {
  uint32_t operator()(uint32_t low, uint32_t high, uint32_t n) const {
    n = wraps ? n & 31U : std::min(n, 32U);
    const uint64_t both = uint64_t{high} << 32 | low;
    return static_cast<uint32_t>(left ? (both << n) >> 32 : both >> n);
  }
};
struct Permute {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t choice) const {
    const uint64_t both = uint64_t{b} << 32 | a;
    uint32_t result = 0;
    for (int k = 0; k < 4; ++k, choice >>= 4) {
      uint32_t byte = static_cast<uint32_t>(both >> (8 * (choice & 7U))) & 0xffU;
      if ((choice & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xffU : 0U;  // its sign, repeated
      result |= byte << (8 * k);
    }
    return result;
  }
};
struct Extract {
  template <class T>
  T operator()(T a, uint32_t first, uint32_t length) const {
    constexpr uint32_t width = 8 * sizeof(T);
    first &= 0xffU;
    length &= 0xffU;
    if (length == 0) return 0;
    // Above the highest bit all are its sign, or zero.
    const T shifted = Right()(a, first);
    if (first + length >= width || length >= width) return shifted;
    const uint32_t rest = width - length;
    return static_cast<T>(static_cast<T>(static_cast<uint64_t>(shifted) << rest) >> rest);
  }
};
struct Insert {
  template <class T>
  T operator()(T a, T into, uint32_t first, uint32_t length) const {
    first &= 0xffU;
    length &= 0xffU;
    const T ones = Left()(static_cast<T>(length >= 64 ? ~uint64_t{0} : (uint64_t{1} << length) - 1), first);
    return static_cast<T>((into & static_cast<T>(~ones)) | (Left()(a, first) & ones));
  }
};
struct Count {
  template <class T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::popcount(a));
  }
};
struct LeadingZeros {
  template <class T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::countl_zero(a));
  }
};
template <bool shift>
struct Highest {
  template <class T>
  uint32_t operator()(T a) const {
    using U = UnsignedOf<sizeof(T)>;
    const U x = static_cast<U>(a < 0 ? ~a : a);
    if (x == 0) return 0xffffffffU;
    const auto zeros = static_cast<uint32_t>(std::countl_zero(x));
    return shift ? zeros : static_cast<uint32_t>(8 * sizeof(T)) - 1 - zeros;
  }
};
struct Reverse {
  template <class T>
  T operator()(T a) const {
    T result = 0;
    for (size_t k = 0; k < 8 * sizeof(T); ++k, a = static_cast<T>(a >> 1))
      result = static_cast<T>(uint64_t{result} << 1 | (uint64_t{a} & 1U));
    return result;
  }
};

// lop3: bit 4a + 2b + c of the table.
void execute_table(Warp& w, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](int l) {
    const uint32_t a = get<uint32_t>(w.at(i.slot[1]), l), b = get<uint32_t>(w.at(i.slot[2]), l),
                   c = get<uint32_t>(w.at(i.slot[3]), l);
    uint32_t result = 0;
    for (uint32_t k = 0; k < 8; ++k)
      if ((i.mode >> k & 1U) != 0)
        result |= ((k & 4U) != 0 ? a : ~a) & ((k & 2U) != 0 ? b : ~b) & ((k & 1U) != 0 ? c : ~c);
    set<uint32_t>(w.at(i.slot[0]), l, result);
  });
}

template <class Op>
void apply_to_predicates(Warp& w, const Instruction& i, Lanes lanes) {
  w.set_predicate(i.slot[0], lanes, Op()(w.predicate(i.slot[1]), w.predicate(i.slot[2])));
}
void apply_not(Warp& w, const Instruction& i, Lanes lanes) {
  w.set_predicate(i.slot[0], lanes, ~w.predicate(i.slot[1]));
}
void move_predicate(Warp& w, const Instruction& i, Lanes lanes) {
  w.set_predicate(i.slot[0], lanes, w.predicate(i.slot[1]));
}

template <class Op, class... A>
Execute unsigned_of(Type t) {
  switch (size_of(t)) {
    case 2: return apply<Op, uint16_t, uint16_t, A...>;
    case 4: return apply<Op, uint32_t, uint32_t, A...>;
    case 8: return apply<Op, uint64_t, uint64_t, A...>;
    default: return nullptr;
  }
}
template <class Op>
Execute same_two(Type t) {
  switch (size_of(t)) {
    case 2: return apply<Op, uint16_t, uint16_t, uint16_t>;
    case 4: return apply<Op, uint32_t, uint32_t, uint32_t>;
    case 8: return apply<Op, uint64_t, uint64_t, uint64_t>;
    default: return nullptr;
  }
}
template <class Op, class R>
Execute count_of(Type t) {
  if (t == Type::s32) return apply<Op, R, int32_t>;
  if (t == Type::s64) return apply<Op, R, int64_t>;
  return size_of(t) == 8 ? apply<Op, R, uint64_t> : apply<Op, R, uint32_t>;
}

template <class Op>
void decode_logic(Decoding& d) {
  const Type t = d.type();
  d.operands_are(t, {t, t});
  d.out.execute = t == Type::pred ? apply_to_predicates<Op> : same_two<Op>(t);
}

void decode_not(Decoding& d) {
  const Type t = d.type();
  d.operands_are(t, {t});
  d.out.execute = t == Type::pred ? apply_not : unsigned_of<Not>(t);
}

void decode_shift(Decoding& d) {
  const bool left = d.root() == "shl";
  const Type t = d.type();
  d.operands_are(t, {t, Type::u32});
  if (left) d.out.execute = unsigned_of<Left, uint32_t>(t);
  if (left) return;
  if (t == Type::s16) d.out.execute = apply<Right, int16_t, int16_t, uint32_t>;
  if (t == Type::s32) d.out.execute = apply<Right, int32_t, int32_t, uint32_t>;
  if (t == Type::s64) d.out.execute = apply<Right, int64_t, int64_t, uint32_t>;
  if (d.out.execute == nullptr) d.out.execute = unsigned_of<Right, uint32_t>(t);
}

void decode_funnel(Decoding& d) {
  const bool left = d.take("l");
  if (!left && !d.take("r")) d.refuse("a direction is missing");
  const bool wraps = d.take("wrap");
  if (!wraps && !d.take("clamp")) d.refuse("wrap or clamp is missing");
  const Type t = d.type();
  d.operands_are(t, {t, t, Type::u32});
  using U = uint32_t;
  if (left) d.out.execute = wraps ? apply<Funnel<true, true>, U, U, U, U> : apply<Funnel<true, false>, U, U, U, U>;
  if (!left) d.out.execute = wraps ? apply<Funnel<false, true>, U, U, U, U> : apply<Funnel<false, false>, U, U, U, U>;
}

void decode_field(Decoding& d) {
  const Type t = d.type();
  const bool insert = d.root() == "bfi";
  if (insert)
    d.operands_are(t, {t, t, Type::u32, Type::u32});
  else
    d.operands_are(t, {t, Type::u32, Type::u32});
  using U = uint32_t;
  using W = uint64_t;
  if (insert) d.out.execute = size_of(t) == 8 ? apply<Insert, W, W, W, U, U> : apply<Insert, U, U, U, U, U>;
  if (insert) return;
  if (t == Type::s32) d.out.execute = apply<Extract, int32_t, int32_t, U, U>;
  if (t == Type::u32) d.out.execute = apply<Extract, U, U, U, U>;
  if (t == Type::s64) d.out.execute = apply<Extract, int64_t, int64_t, U, U>;
  if (t == Type::u64) d.out.execute = apply<Extract, W, W, U, U>;
}

void decode_count(Decoding& d) {
  const std::string& root = d.root();
  const bool shift = d.take("shiftamt");
  const Type t = d.type();
  d.operands_are(root == "brev" ? t : Type::u32, {t});
  if (root == "popc")
    d.out.execute = size_of(t) == 8 ? apply<Count, uint32_t, uint64_t> : apply<Count, uint32_t, uint32_t>;
  if (root == "clz")
    d.out.execute = size_of(t) == 8 ? apply<LeadingZeros, uint32_t, uint64_t> : apply<LeadingZeros, uint32_t, uint32_t>;
  if (root == "bfind")
    d.out.execute = shift ? count_of<Highest<true>, uint32_t>(t) : count_of<Highest<false>, uint32_t>(t);
  if (root == "brev") d.out.execute = unsigned_of<Reverse>(t);
}

void decode_table(Decoding& d) {
  const Type t = d.type();
  d.out.slot[0] = d.destination(d.operand(0), t);
  for (size_t k = 1; k < 4; ++k) d.out.slot[k] = d.source(d.operand(k), t);
  d.out.mode = static_cast<uint32_t>(d.number(d.operand(4)));
  d.out.execute = size_of(t) == 4 ? execute_table : nullptr;
}

// mov.b64 {%r1, %r2}, %rd1 and back; `count` parts of `size` bytes.
void split_value(Warp& w, const Instruction& i, Lanes lanes) {
  const uint32_t bits = 8U * i.size;
  each_lane(lanes, [&](int l) {
    const uint64_t all = get_any(w.at(i.slot[15]), l, (i.wide >> 15 & 1U) != 0);
    for (uint32_t k = 0; k < i.count; ++k)
      if (i.slot[k] != kNoSlot)
        set<uint32_t>(w.at(i.slot[k]), l, static_cast<uint32_t>(all >> (bits * k) & ((uint64_t{1} << bits) - 1)));
  });
}
void join_value(Warp& w, const Instruction& i, Lanes lanes) {
  const uint32_t bits = 8U * i.size;
  each_lane(lanes, [&](int l) {
    uint64_t all = 0;
    for (uint32_t k = 0; k < i.count; ++k)
      all |= (uint64_t{get<uint32_t>(w.at(i.slot[k]), l)} & ((uint64_t{1} << bits) - 1)) << (bits * k);
    set_any(w.at(i.slot[15]), l, (i.wide >> 15 & 1U) != 0, all);
  });
}

void decode_vector_move(Decoding& d, Type t) {
  const bool split = d.operand(0).starts_with("{");
  const std::vector<std::string> parts = d.elements(split ? 0 : 1);
  const int size = size_of(t) / static_cast<int>(parts.size());
  if (size < 1 || size > 4) d.refuse("parts of another size are expected");
  const Type part = size == 4 ? Type::b32 : Type::b16;
  d.out.size = static_cast<uint8_t>(size);
  d.out.count = static_cast<uint8_t>(parts.size());
  for (size_t k = 0; k < parts.size(); ++k)
    d.out.slot[k] = split ? d.destination(parts[k], part) : d.source(parts[k], part);
  d.out.slot[15] = split ? d.source(d.operand(1), t) : d.destination(d.operand(0), t);
  if (size_of(t) == 8) d.out.wide |= 1U << 15;
  d.out.execute = split ? split_value : join_value;
}

void decode_move(Decoding& d) {
  const Type t = d.type();
  if (d.operand(0).starts_with("{") || d.operand(1).starts_with("{")) return decode_vector_move(d, t);
  d.operands_are(t, {t});
  d.out.execute = t == Type::pred ? move_predicate : unsigned_of<Same>(t);
}

}  // namespace

bool decode_bits(Decoding& d) {
  using Decode = void (*)(Decoding&);
  static const std::map<std::string, Decode> known = {{"and", decode_logic<And>},
                                                      {"or", decode_logic<Or>},
                                                      {"xor", decode_logic<Xor>},
                                                      {"not", decode_not},
                                                      {"shl", decode_shift},
                                                      {"shr", decode_shift},
                                                      {"shf", decode_funnel},
                                                      {"bfe", decode_field},
                                                      {"bfi", decode_field},
                                                      {"popc", decode_count},
                                                      {"clz", decode_count},
                                                      {"bfind", decode_count},
                                                      {"brev", decode_count},
                                                      {"lop3", decode_table},
                                                      {"mov", decode_move},
                                                      {"prmt", [](Decoding& p) {
                                                         const Type t = p.type();
                                                         p.operands_are(t, {t, t, Type::u32});
                                                         p.out.execute =
                                                             apply<Permute, uint32_t, uint32_t, uint32_t, uint32_t>;
                                                       }}};
  const auto it = known.find(d.root());
  if (it == known.end()) return false;
  it->second(d);
  return true;
}

}  // namespace heddle::ptx
