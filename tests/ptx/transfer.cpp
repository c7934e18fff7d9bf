// ld, st, and fences.
#include "tests/ptx/access.h"
#include "tests/ptx/decoding.h"
#include "tests/ptx/lanes.h"

namespace heddle::ptx {
namespace {

constexpr size_t kAddress = 8;  // its position among the slots; elements lie before
constexpr uint32_t kWideAddress = 1U << kAddress;

template <class T>
uint64_t element(const std::byte* from) {
  T x;
  std::memcpy(&x, from, sizeof x);
  return static_cast<uint64_t>(static_cast<int64_t>(x));
}
uint64_t load_element(const std::byte* from, uint32_t size, bool is_signed) {
  switch (size) {
    case 1: return is_signed ? element<int8_t>(from) : element<uint8_t>(from);
    case 2: return is_signed ? element<int16_t>(from) : element<uint16_t>(from);
    case 4: return is_signed ? element<int32_t>(from) : element<uint32_t>(from);
    default: return element<uint64_t>(from);
  }
}

void load_lane(Warp& w, const Instruction& i, int lane, const std::byte* from) {
  if (i.size == 4 && i.wide == kWideAddress) {  // the most frequent
    for (uint32_t k = 0; k < i.count; ++k)
      if (i.slot[k] != kNoSlot)
        std::memcpy(w.at(i.slot[k]) + size_t{4} * static_cast<size_t>(lane), from + size_t{4} * k, 4);
    return;
  }
  for (uint32_t k = 0; k < i.count; ++k)
    if (i.slot[k] != kNoSlot)
      set_any(w.at(i.slot[k]), lane, (i.wide >> k & 1U) != 0,
              load_element(from + size_t{k} * i.size, i.size, i.is_signed));
}

// Lanes that read what their two neighbours have read are like the second of these: neither who has written nor who
// reads is another.
void execute_load(Warp& w, const Instruction& i, Lanes lanes) {
  Addresses at;
  addresses_of(w, i, lanes, kAddress, at);
  const uint32_t bytes = uint32_t{i.size} * i.count;
  const Use use = use_of(i);
  Place p{i.space, 0, nullptr, nullptr};
  uint64_t last = 0;
  int repeated = 0;
  each_lane(lanes, [&](int l) {
    const uint64_t a = at[static_cast<size_t>(l)];
    repeated = p.data != nullptr && a == last && p.space != Space::local ? repeated + 1 : 0;
    if (repeated < 2 || use != Use::weak) {
      last = a;
      p = locate(w, i, l, a, bytes, bytes);
      check_touch(w, i, l, p, bytes, Touch::read, use);
      observe(w, i, l, p);
    }
    load_lane(w, i, l, p.data);
  });
  count_request(w, p.space, at, lanes, bytes, Touch::read);
}

void execute_store(Warp& w, const Instruction& i, Lanes lanes) {
  Addresses at;
  addresses_of(w, i, lanes, kAddress, at);
  const uint32_t bytes = uint32_t{i.size} * i.count;
  Space space = i.space;
  each_lane(lanes, [&](int l) {
    const Place p = locate(w, i, l, at[static_cast<size_t>(l)], bytes, bytes);
    check_touch(w, i, l, p, bytes, Touch::write, use_of(i));
    publish(w, i, l, p, false);
    for (uint32_t k = 0; k < i.count; ++k) {
      const uint64_t x = get_any(w.at(i.slot[k]), l, (i.wide >> k & 1U) != 0);
      std::memcpy(p.data + size_t{k} * i.size, &x, i.size);
    }
    space = p.space;
  });
  count_request(w, space, at, lanes, bytes, Touch::write);
}

// A kernel's parameters are the same for all threads.
void execute_parameter(Warp& w, const Instruction& i, Lanes lanes) {
  const uint64_t offset = get<uint64_t>(w.at(i.slot[kAddress]), 0) + static_cast<uint64_t>(i.offset);
  const size_t bytes = size_t{i.size} * i.count;
  if (offset > w.run.what.parameters.size() || bytes > w.run.what.parameters.size() - offset)
    stop(w.block, Check::out_of_bounds, i, "outside of the parameters");
  each_lane(lanes, [&](int l) { load_lane(w, i, l, w.run.what.parameters.data() + offset); });
}

// Sequentially consistent, as membar is: .gl orders what all threads of the GPU see.
void execute_fence(Warp& w, const Instruction& i, Lanes lanes) {
  if (w.block.races != nullptr) w.block.races->order.fence(w.first / kLanes, lanes, i.scope, i.order == Order::sc);
}

void take_space(Decoding& d) {
  switch (
      d.take_one_of({"global", "shared", "shared::cta", "local", "param", "param::entry", "param::func", "const"})) {
    case 0:
    case 7: d.out.space = Space::global; break;
    case 1:
    case 2: d.out.space = Space::shared; break;
    case 3: d.out.space = Space::local; break;
    case 4:
    case 5:
    case 6: d.out.space = Space::param; break;
    default: d.out.space = Space::generic;
  }
}

Scope take_scope(Decoding& d) {
  static constexpr Scope scopes[] = {Scope::none, Scope::cta, Scope::gpu, Scope::gpu, Scope::sys};
  return scopes[d.take_one_of({"cta", "cluster", "gpu", "sys"}) + 1];
}

// A volatile access is a relaxed one of the whole system.
void take_order(Decoding& d) {
  switch (d.take_one_of({"volatile", "relaxed", "acquire", "release", "weak"})) {
    case 0:
      d.out.order = Order::relaxed;
      d.out.scope = Scope::sys;
      return;
    case 1: d.out.order = Order::relaxed; break;
    case 2: d.out.order = Order::acquire; break;
    case 3: d.out.order = Order::release; break;
    default: return;
  }
  d.out.scope = take_scope(d);
  if (d.out.scope == Scope::none) d.refuse("a scope is missing");
}

// Hints that change nothing that a program can see.
void take_hints(Decoding& d) {
  d.take_one_of({"ca", "cg", "cs", "cv", "lu", "wb", "wt"});
  d.take_one_of({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  d.take_one_of({"L2::64B", "L2::128B", "L2::256B"});
}

void decode_transfer(Decoding& d) {
  const bool load = d.root() != "st";
  take_order(d);
  take_space(d);
  d.out.read_only = d.take("nc") || d.root() == "ldu";
  take_hints(d);
  static constexpr uint8_t counts[] = {1, 2, 4, 8};
  d.out.count = counts[d.take_one_of({"v2", "v4", "v8"}) + 1];
  const Type t = d.type();
  d.out.size = static_cast<uint8_t>(size_of(t));
  d.out.is_signed = t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
  const std::vector<std::string> elements = d.elements(load ? 0 : 1);
  if (elements.size() != d.out.count) d.refuse("another number of elements is expected");
  d.address(d.operand(load ? 1 : 0), kAddress);
  for (size_t k = 0; k < elements.size(); ++k) {
    d.out.slot[k] = load ? d.destination(elements[k], t, true) : d.source(elements[k], t, true);
    const bool known = d.builder.find_register(elements[k]) != nullptr;
    if (known ? d.is_wide(elements[k]) : size_of(t) == 8) d.out.wide |= 1U << k;
  }
  d.out.execute = load ? execute_load : execute_store;
  if (d.out.space == Space::param) d.out.execute = load ? execute_parameter : nullptr;
}

void decode_fence(Decoding& d) {
  static constexpr Scope old[] = {Scope::none, Scope::cta, Scope::gpu, Scope::sys};
  d.out.scope = d.root() == "membar" ? old[d.take_one_of({"cta", "gl", "sys"}) + 1] : Scope::none;
  d.out.order = Order::sc;
  if (d.root() == "fence") {
    const int order = d.take_one_of({"sc", "acq_rel"});
    d.out.order = order == 1 ? Order::acq_rel : Order::sc;
    d.out.scope = order < 0 ? Scope::none : take_scope(d);
  }
  if (d.out.scope == Scope::none) d.refuse("a scope is missing");
  d.out.execute = execute_fence;
}

}  // namespace

bool decode_memory(Decoding& d) {
  const std::string& root = d.root();
  if (root == "ld" || root == "st" || root == "ldu") {
    decode_transfer(d);
  } else if (root == "membar" || root == "fence") {
    decode_fence(d);
  } else {
    return false;
  }
  return true;
}

}  // namespace heddle::ptx
