#include "tests/ptx/decoding.h"

#include <algorithm>
#include <bit>
#include <map>

#include "tests/ptx/statements.h"

namespace heddle::ptx {
namespace {

const std::map<std::string, Special>& specials() {
  static const std::map<std::string, Special> all = {
      {"%tid.x", Special::tid_x},
      {"%tid.y", Special::tid_y},
      {"%tid.z", Special::tid_z},
      {"%ctaid.x", Special::ctaid_x},
      {"%ctaid.y", Special::ctaid_y},
      {"%ctaid.z", Special::ctaid_z},
      {"%ntid.x", Special::ntid_x},
      {"%ntid.y", Special::ntid_y},
      {"%ntid.z", Special::ntid_z},
      {"%nctaid.x", Special::nctaid_x},
      {"%nctaid.y", Special::nctaid_y},
      {"%nctaid.z", Special::nctaid_z},
      {"%laneid", Special::laneid},
      {"%warpid", Special::warpid},
      {"%nwarpid", Special::nwarpid},
      {"%lanemask_eq", Special::lanemask_eq},
      {"%lanemask_lt", Special::lanemask_lt},
      {"%lanemask_le", Special::lanemask_le},
      {"%lanemask_gt", Special::lanemask_gt},
      {"%lanemask_ge", Special::lanemask_ge},
  };
  return all;
}

}  // namespace

std::optional<uint64_t> number_of(const std::string& text, Type type) {
  if (text.empty()) return {};
  const bool real = text.size() > 2 && text[0] == '0' && std::string("fFdD").find(text[1]) != std::string::npos;
  if (real && (text.size() == 10 || text.size() == 18)) {
    const bool twice = text.size() == 18;
    const uint64_t bits = std::stoull(text.substr(2), nullptr, 16);
    if (twice == (size_of(type) == 8)) return bits;
    return twice ? std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)))
                 : std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  }
  std::string digits = text;
  while (!digits.empty() && (digits.back() == 'U' || digits.back() == 'u')) digits.pop_back();
  const size_t first = digits[0] == '-' ? 1 : 0;
  const bool hex = digits.compare(first, 2, "0x") == 0;
  const char* allowed = hex ? "0123456789abcdefABCDEFx" : "0123456789";
  if (digits.size() == first || digits.find_first_not_of(allowed, first) != std::string::npos) return {};
  const uint64_t magnitude = std::stoull(digits.substr(first), nullptr, 0);
  return first == 1 ? uint64_t{0} - magnitude : magnitude;
}

Decoding::Decoding(Builder& b, Instruction& o, const std::string& text) : builder(b), out(o) {
  const size_t blank = text.find(' ');
  const std::string mnemonic = text.substr(0, blank);
  modifiers_ = split(mnemonic, '.');
  root_ = modifiers_.front();
  modifiers_.erase(modifiers_.begin());
  if (blank != std::string::npos) operands_ = split(text.substr(blank), ',');
}

void Decoding::refuse(const std::string& why) const { throw ParseError(out.line, out.text, why); }

bool Decoding::take(const std::string& modifier) {
  const auto it = std::find(modifiers_.begin(), modifiers_.end(), modifier);
  if (it == modifiers_.end()) return false;
  modifiers_.erase(it);
  return true;
}

int Decoding::take_one_of(std::initializer_list<const char*> modifiers) {
  int position = 0;
  for (const char* modifier : modifiers) {
    if (take(modifier)) return position;
    ++position;
  }
  return -1;
}

std::optional<Type> Decoding::maybe_type() {
  for (auto it = modifiers_.begin(); it != modifiers_.end(); ++it)
    if (const auto type = type_named(*it)) {
      modifiers_.erase(it);
      return type;
    }
  return {};
}

bool Decoding::is_real() const {
  return std::any_of(modifiers_.begin(), modifiers_.end(), [](const std::string& m) {
    return m == "f32" || m == "f64" || m.starts_with("f16") || m.starts_with("bf16");
  });
}

Type Decoding::type() {
  const auto type = maybe_type();
  if (!type) refuse("a type is missing");
  return *type;
}

void Decoding::finish() const {
  if (!modifiers_.empty()) refuse("unknown modifier ." + modifiers_.front());
  if (out.execute == nullptr && (out.kind == Kind::plain || out.kind == Kind::collective)) refuse("unknown schedule");
}

const std::string& Decoding::operand(size_t k) const {
  if (k >= operands_.size()) refuse("an operand is missing");
  return operands_[k];
}

std::vector<std::string> Decoding::elements(size_t k) const {
  const std::string& text = operand(k);
  if (!text.starts_with("{")) return {text};
  return split(std::string_view(text).substr(1, text.size() - 2), ',');
}

bool Decoding::is_wide(const std::string& name) const {
  const Register* r = builder.find_register(name);
  return r != nullptr && r->wide();
}

uint32_t Decoding::destination(const std::string& name, Type type, bool any_width) {
  if (name == "_") return kNoSlot;
  const Register* r = builder.find_register(name);
  if (r == nullptr) refuse(name + " is no register");
  if ((r->type == Type::pred) != (type == Type::pred)) refuse(name + " has another type");
  if (!any_width && r->wide() != (size_of(type) == 8)) refuse(name + " has another width");
  out.writes.push_back(r->slot);
  return r->slot;
}

uint32_t Decoding::source(const std::string& name, Type type, bool any_width) {
  if (builder.find_register(name) != nullptr) {
    const uint32_t slot = destination(name, type, any_width);
    out.writes.pop_back();
    out.reads.push_back(slot);
    return slot;
  }
  return constant_source(name, type);
}

uint32_t Decoding::constant_source(const std::string& name, Type type) {
  const bool wide = size_of(type) == 8;
  if (const auto value = number_of(name, type)) {
    // A predicate is a bit per lane.
    if (type == Type::pred) return builder.constant({0, false, Special::number, *value != 0 ? kAllLanes : 0U});
    return builder.constant({0, wide, Special::number, wide ? *value : static_cast<uint32_t>(*value)});
  }
  if (const auto it = specials().find(name); it != specials().end()) return builder.constant({0, wide, it->second});
  if (name == "WARP_SZ") return builder.constant({0, wide, Special::number, kLanes});
  const Symbol* symbol = builder.find_symbol(name);
  if (symbol == nullptr) refuse("unknown operand " + name);
  return address_of(*symbol, wide);
}

uint32_t Decoding::address_of(const Symbol& symbol, bool wide) {
  if (symbol.global >= 0) return builder.constant({0, wide, Special::global_address, 0, symbol.global});
  return builder.constant({0, wide, Special::number, symbol.offset});
}

void Decoding::operands_are(Type result, std::initializer_list<Type> sources) {
  if (operands() != sources.size() + 1) refuse("another number of operands is expected");
  out.slot[0] = destination(operand(0), result);
  if (out.slot[0] == kNoSlot) refuse("a result must have a place");
  size_t k = 1;
  for (const Type type : sources) {
    out.slot[k] = source(operand(k), type);
    ++k;
  }
}

void Decoding::address(const std::string& text, size_t position) {
  if (!text.starts_with("[")) refuse(text + " is no address");
  const std::string inside = trimmed(std::string_view(text).substr(1, text.rfind(']') - 1));
  size_t sign = inside.find('+');
  if (sign == std::string::npos) sign = inside.find('-', 1);
  const std::string base = trimmed(inside.substr(0, sign));
  if (sign != std::string::npos) {
    const std::string offset = trimmed(inside.substr(inside[sign] == '+' ? sign + 1 : sign));
    out.offset = static_cast<int64_t>(number(offset));
  }
  if (const Register* r = builder.find_register(base)) {
    out.wide |= r->wide() ? 1U << position : 0U;
    out.slot[position] = r->slot;
    out.reads.push_back(r->slot);
    return;
  }
  const Symbol* symbol = builder.find_symbol(base);
  if (symbol == nullptr && !number_of(base, Type::b64)) refuse("unknown address " + base);
  // What a call passes is declared as .param and lies in local memory.
  if (symbol != nullptr && out.space == Space::param) out.space = symbol->space;
  out.wide |= 1U << position;
  out.slot[position] = source(base, Type::b64);
}

uint64_t Decoding::number(const std::string& text) const {
  const auto value = number_of(text, Type::b64);
  if (!value) refuse(text + " is no number");
  return *value;
}

}  // namespace heddle::ptx
