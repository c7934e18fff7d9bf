// Comparisons and selections: setp, set, selp, slct, testp.
#include <map>

#include "tests/ptx/decoding.h"
#include "tests/ptx/lanes.h"
#include "tests/ptx/real.h"

namespace heddle::ptx {
namespace {

// Ordered comparisons are false where an operand is NaN, unordered ones true.
template <bool unordered, class Compare>
struct Real {
  template <class T>
  bool operator()(T a, T b) const {
    return std::isnan(a) || std::isnan(b) ? unordered : Compare()(a, b);
  }
};
struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a != b;
  }
};
struct Below {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct AtMost {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Above {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct AtLeast {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct Never {
  template <class T>
  bool operator()(T, T) const {
    return false;
  }
};
struct Always {
  template <class T>
  bool operator()(T, T) const {
    return true;
  }
};
template <class Compare>
struct Flushed {
  bool operator()(float a, float b) const { return Compare()(flush(a), flush(b)); }
};

enum Combine : uint32_t { kAlone, kAnd, kOr, kXor };
constexpr uint32_t kNegatedThird = 4;

// slot: p, q (or none), a, b, c (or none).
template <class Compare, class T>
void execute_setp(Warp& w, const Instruction& i, Lanes lanes) {
  const Lanes result = test<Compare, T>(w, i.slot[2], i.slot[3], lanes);
  Lanes p = result, q = ~result;
  if ((i.mode & 3U) != kAlone) {
    const Lanes c = (i.mode & kNegatedThird) != 0 ? ~w.predicate(i.slot[4]) : w.predicate(i.slot[4]);
    const auto combined = [&](Lanes x) { return (i.mode & 3U) == kAnd ? x & c : (i.mode & 3U) == kOr ? x | c : x ^ c; };
    p = combined(p);
    q = combined(q);
  }
  if (i.slot[0] != kNoSlot) w.set_predicate(i.slot[0], lanes, p);
  if (i.slot[1] != kNoSlot) w.set_predicate(i.slot[1], lanes, q);
}

template <class Compare>
Execute integer_compare(Type t) {
  switch (t) {
    case Type::b16:
    case Type::u16: return execute_setp<Compare, uint16_t>;
    case Type::s16: return execute_setp<Compare, int16_t>;
    case Type::b32:
    case Type::u32: return execute_setp<Compare, uint32_t>;
    case Type::s32: return execute_setp<Compare, int32_t>;
    case Type::b64:
    case Type::u64: return execute_setp<Compare, uint64_t>;
    case Type::s64: return execute_setp<Compare, int64_t>;
    default: return nullptr;
  }
}
template <class Compare>
Execute real_compare(Type t, bool ftz) {
  if (t == Type::f64) return execute_setp<Compare, double>;
  return ftz ? execute_setp<Flushed<Compare>, float> : execute_setp<Compare, float>;
}

Execute compare_of(const std::string& name, Type t, bool ftz) {
  if (t == Type::f32 || t == Type::f64) {
    using Choose = Execute (*)(Type, bool);
    static const std::map<std::string, Choose> real = {
        {"eq", real_compare<Real<false, Equal>>},   {"ne", real_compare<Real<false, NotEqual>>},
        {"lt", real_compare<Real<false, Below>>},   {"le", real_compare<Real<false, AtMost>>},
        {"gt", real_compare<Real<false, Above>>},   {"ge", real_compare<Real<false, AtLeast>>},
        {"equ", real_compare<Real<true, Equal>>},   {"neu", real_compare<Real<true, NotEqual>>},
        {"ltu", real_compare<Real<true, Below>>},   {"leu", real_compare<Real<true, AtMost>>},
        {"gtu", real_compare<Real<true, Above>>},   {"geu", real_compare<Real<true, AtLeast>>},
        {"num", real_compare<Real<false, Always>>}, {"nan", real_compare<Real<true, Never>>}};
    const auto it = real.find(name);
    return it == real.end() ? nullptr : it->second(t, ftz);
  }
  using Choose = Execute (*)(Type);
  static const std::map<std::string, Choose> whole = {{"eq", integer_compare<Equal>}, {"ne", integer_compare<NotEqual>},
                                                      {"lt", integer_compare<Below>}, {"le", integer_compare<AtMost>},
                                                      {"gt", integer_compare<Above>}, {"ge", integer_compare<AtLeast>},
                                                      {"lo", integer_compare<Below>}, {"ls", integer_compare<AtMost>},
                                                      {"hi", integer_compare<Above>}, {"hs", integer_compare<AtLeast>}};
  const auto it = whole.find(name);
  return it == whole.end() ? nullptr : it->second(t);
}

std::string take_comparison(Decoding& d) {
  for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
                           "lo", "ls", "hi", "hs"})
    if (d.take(name)) return name;
  d.refuse("a comparison is missing");
}

void decode_setp(Decoding& d) {
  const std::string name = take_comparison(d);
  const int combine = d.take_one_of({"and", "or", "xor"});
  const bool ftz = d.take("ftz");
  const Type t = d.type();
  const std::string& results = d.operand(0);
  const size_t bar = results.find('|');
  d.out.slot[0] = d.destination(results.substr(0, bar), Type::pred);
  d.out.slot[1] = bar == std::string::npos ? kNoSlot : d.destination(results.substr(bar + 1), Type::pred);
  d.out.slot[2] = d.source(d.operand(1), t);
  d.out.slot[3] = d.source(d.operand(2), t);
  d.out.mode = static_cast<uint32_t>(combine + 1);
  if (combine >= 0) {
    const bool negated = d.operand(3).starts_with("!");
    d.out.slot[4] = d.source(d.operand(3).substr(negated ? 1 : 0), Type::pred);
    if (negated) d.out.mode |= kNegatedThird;
  }
  d.out.execute = compare_of(name, t, ftz);
}

template <class T>
void execute_selp(Warp& w, const Instruction& i, Lanes lanes) {
  const Lanes choice = w.predicate(i.slot[3]);
  std::byte* to = w.at(i.slot[0]);
  if (lanes == kAllLanes) {
    const AllLanes<T> a(w.at(i.slot[1])), b(w.at(i.slot[2]));
    for (int l = 0; l < kLanes; ++l) set<T>(to, l, (choice >> l & 1U) != 0 ? a.value[l] : b.value[l]);
    return;
  }
  each_lane(lanes, [&](int l) { set<T>(to, l, get<T>(w.at(i.slot[(choice >> l & 1U) != 0 ? 1 : 2]), l)); });
}

void decode_selp(Decoding& d) {
  const Type t = d.type();
  d.operands_are(t, {t, t, Type::pred});
  d.out.execute = size_of(t) == 8 ? execute_selp<uint64_t> : execute_selp<uint32_t>;
}

struct Finite {
  template <class T>
  bool operator()(T a, T) const {
    return std::isfinite(a);
  }
};
struct Infinite {
  template <class T>
  bool operator()(T a, T) const {
    return std::isinf(a);
  }
};
struct Number {
  template <class T>
  bool operator()(T a, T) const {
    return !std::isnan(a);
  }
};
struct NotANumber {
  template <class T>
  bool operator()(T a, T) const {
    return std::isnan(a);
  }
};
struct Normal {
  template <class T>
  bool operator()(T a, T) const {
    return std::isnormal(a);
  }
};
struct Subnormal {
  template <class T>
  bool operator()(T a, T) const {
    return std::fpclassify(a) == FP_SUBNORMAL;
  }
};
template <class Test>
Execute testp_of(Type t) {
  return t == Type::f64 ? execute_setp<Test, double> : execute_setp<Test, float>;
}

void decode_testp(Decoding& d) {
  const int kind = d.take_one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const Type t = d.type();
  d.out.slot[0] = d.destination(d.operand(0), Type::pred);
  d.out.slot[1] = kNoSlot;
  d.out.slot[2] = d.out.slot[3] = d.source(d.operand(1), t);
  using Choose = Execute (*)(Type);
  static constexpr Choose kinds[] = {testp_of<Finite>,     testp_of<Infinite>, testp_of<Number>,
                                     testp_of<NotANumber>, testp_of<Normal>,   testp_of<Subnormal>};
  if (kind >= 0) d.out.execute = kinds[kind](t);
}

}  // namespace

bool decode_compare(Decoding& d) {
  if (d.root() == "setp") {
    decode_setp(d);
  } else if (d.root() == "selp") {
    decode_selp(d);
  } else if (d.root() == "testp") {
    decode_testp(d);
  } else {
    return false;
  }
  return true;
}

}  // namespace heddle::ptx
