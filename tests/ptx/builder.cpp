#include "tests/ptx/builder.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "tests/ptx/statements.h"

namespace heddle::ptx {
namespace {

uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace

int size_of(Type t) {
  if (t <= Type::s8) return 1;
  if (t <= Type::bf16) return 2;
  return t <= Type::f32 ? 4 : 8;
}

std::optional<Type> type_named(const std::string& name) {
  static const std::map<std::string, Type> types = {
      {"pred", Type::pred}, {"b8", Type::b8},     {"u8", Type::u8},   {"s8", Type::s8},   {"b16", Type::b16},
      {"u16", Type::u16},   {"s16", Type::s16},   {"f16", Type::f16}, {"b32", Type::b32}, {"u32", Type::u32},
      {"s32", Type::s32},   {"f32", Type::f32},   {"b64", Type::b64}, {"u64", Type::u64}, {"s64", Type::s64},
      {"f64", Type::f64},   {"bf16", Type::bf16},
  };
  const auto it = types.find(name);
  return it == types.end() ? std::nullopt : std::optional(it->second);
}

Declaration read_declaration(const std::string& text, int line) {
  Declaration d;
  const size_t equals = text.find('=');
  d.value = equals == std::string::npos ? "" : trimmed(text.substr(equals + 1));
  const std::vector<std::string> words = words_of(text.substr(0, equals));
  static const std::map<std::string, Space> spaces = {{".shared", Space::shared},
                                                      {".local", Space::local},
                                                      {".global", Space::global},
                                                      {".const", Space::global},
                                                      {".param", Space::param}};
  bool pointer = false;  // ".param .u64 .ptr .global .align 16 p": of what it points to
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == ".ptr") {
      pointer = true;
    } else if (const auto space = spaces.find(word); space != spaces.end()) {
      if (!pointer) d.space = space->second;
    } else if (word == ".align") {
      const auto align = static_cast<uint32_t>(std::stoul(words[++i]));
      if (!pointer) d.align = align;
    } else if (const auto type = type_named(word.substr(1)); type && word[0] == '.') {
      d.type = *type;
    } else if (word != ".extern" && word != ".visible" && word != ".weak") {
      throw ParseError(line, text, "unknown word " + word);
    }
  }
  d.name = words.back();
  if (const size_t bracket = d.name.find('['); bracket != std::string::npos) {
    const std::string length = d.name.substr(bracket + 1, d.name.find(']') - bracket - 1);
    d.open = length.empty();
    d.elements = length.empty() ? 0 : std::stoull(length);
    d.name.resize(bracket);
  }
  d.align = std::max(d.align, static_cast<uint32_t>(size_of(d.type)));
  return d;
}

Builder::Builder(Module& module, const Symbols& file_scope, Function& function)
    : module_(module), file_scope_(file_scope), function_(function), scopes_(1) {
  for (const auto& [name, symbol] : file_scope_)
    if (symbol.space == Space::shared && symbol.bytes > 0)
      function_.shared_bytes = std::max(function_.shared_bytes, static_cast<uint32_t>(symbol.offset + symbol.bytes));
}

uint32_t Builder::new_slot(Type type) {
  const uint32_t slot = function_.register_bytes;
  function_.register_bytes += type == Type::pred ? 8 : static_cast<uint32_t>(kLanes * (size_of(type) == 8 ? 8 : 4));
  return slot;
}

void Builder::declare_registers(const std::string& text, int line) {
  const std::vector<std::string> words = words_of(text);
  const auto type = words.size() < 3 ? std::nullopt : type_named(words[1].substr(1));
  if (!type) throw ParseError(line, text, "registers of an unknown type");
  for (const std::string& name : split(text.substr(text.find(words[1]) + words[1].size()), ',')) {
    const size_t bracket = name.find('<');
    if (bracket == std::string::npos) {
      scopes_.back().registers[name] = {new_slot(*type), *type};
      continue;
    }
    const int count = std::stoi(name.substr(bracket + 1));
    for (int i = 0; i < count; ++i)
      scopes_.back().registers[name.substr(0, bracket) + std::to_string(i)] = {new_slot(*type), *type};
  }
}

uint64_t Builder::place(uint32_t& end, const Declaration& d) {
  const uint64_t offset = round_up(end, d.align);
  end = static_cast<uint32_t>(offset + d.bytes());
  return offset;
}

void Builder::declare_variable(const std::string& text, int line) {
  const Declaration d = read_declaration(text, line);
  const bool shared = d.space == Space::shared;
  if (d.space == Space::global) {
    scopes_.back().symbols[d.name] = declare_global(module_, d, line);
    return;
  }
  // Parameters of a call lie in local memory.
  const uint64_t offset = place(shared ? function_.shared_bytes : function_.local_bytes, d);
  scopes_.back().symbols[d.name] = {shared ? Space::shared : Space::local, offset, d.bytes()};
}

Parameter Builder::declare_parameter(const std::string& text, int line) {
  const Declaration d = read_declaration(text, line);
  const uint64_t offset = place(function_.entry ? function_.parameter_bytes : function_.local_bytes, d);
  scopes_.front().symbols[d.name] = {function_.entry ? Space::param : Space::local, offset, d.bytes()};
  return {d.name, static_cast<uint32_t>(offset), static_cast<uint32_t>(d.bytes())};
}

const Register* Builder::find_register(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto it = scope->registers.find(name); it != scope->registers.end()) return &it->second;
  return nullptr;
}

const Symbol* Builder::find_symbol(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto it = scope->symbols.find(name); it != scope->symbols.end()) return &it->second;
  const auto it = file_scope_.find(name);
  return it == file_scope_.end() ? nullptr : &it->second;
}

uint32_t Builder::constant(Constant c) {
  for (const Constant& known : function_.constants)
    if (known.wide == c.wide && known.special == c.special && known.value == c.value && known.variable == c.variable)
      return known.slot;
  c.slot = new_slot(c.wide ? Type::b64 : Type::b32);
  function_.constants.push_back(c);
  return c.slot;
}

uint32_t Builder::carry() {
  if (carry_ == kNoSlot) carry_ = new_slot(Type::pred);
  return carry_;
}

Symbol declare_global(Module& module, const Declaration& d, int line) {
  Global g{d.name, d.align, std::vector<uint8_t>(d.bytes())};
  std::string values = d.value;
  if (values.starts_with("{")) values = values.substr(1, values.rfind('}') - 1);
  const auto size = static_cast<size_t>(size_of(d.type));
  size_t at = 0;
  for (const std::string& text : split(values, ',')) {
    const bool bits =
        text.starts_with("0f") || text.starts_with("0F") || text.starts_with("0d") || text.starts_with("0D");
    const bool number = text.find_first_not_of("-0123456789abcdefABCDEFxXuU") == std::string::npos;
    if ((!bits && !number) || at + size > g.bytes.size()) throw ParseError(line, d.name, "unknown value " + text);
    const uint64_t value = bits             ? std::stoull(text.substr(2), nullptr, 16)
                           : text[0] == '-' ? static_cast<uint64_t>(std::stoll(text, nullptr, 0))
                                            : std::stoull(text, nullptr, 0);
    std::memcpy(g.bytes.data() + at, &value, size);
    at += size;
  }
  module.globals.push_back(std::move(g));
  return {Space::global, 0, d.bytes(), static_cast<int>(module.globals.size()) - 1};
}

}  // namespace heddle::ptx
