// One instruction while it is read: its modifiers and operands are taken one by one, and none may be left.
//
//   setp.lt.s32 %p1, %r1, 4;   ->   root "setp"; take_one_of({"eq", "lt", ...}) = 1, type() = s32, then the operands
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "tests/ptx/builder.h"

namespace heddle::ptx {

class Decoding {
 public:
  // `text` without its guard.
  Decoding(Builder& builder, Instruction& out, const std::string& text);

  const std::string& root() const { return root_; }
  bool take(const std::string& modifier);
  // The position of the first of these that the instruction has; -1: none of them.
  int take_one_of(std::initializer_list<const char*> modifiers);
  std::optional<Type> maybe_type();
  bool is_real() const;  // one of its types is a floating one
  Type type();
  void finish() const;  // throws where a modifier is left
  [[noreturn]] void refuse(const std::string& why) const;

  size_t operands() const { return operands_.size(); }
  const std::string& operand(size_t k) const;
  std::vector<std::string> elements(size_t k) const;  // of "{%r1, %r2}"; of a plain operand itself

  // Slots for the operand: a register whose lanes are as wide as the type, or any where `any_width`.
  uint32_t destination(const std::string& name, Type type, bool any_width = false);
  uint32_t source(const std::string& name, Type type, bool any_width = false);
  // slot[0] and slot[1...] of "op d, a, b": of these types.
  void operands_are(Type result, std::initializer_list<Type> sources);
  // "[%rd1+16]" and "[name]" as slot[position] and `offset`.
  void address(const std::string& text, size_t position);
  // A number known from the text; refuses otherwise.
  uint64_t number(const std::string& text) const;
  bool is_wide(const std::string& name) const;

  Builder& builder;
  Instruction& out;

 private:
  uint32_t constant_source(const std::string& name, Type type);
  uint32_t address_of(const Symbol& symbol, bool wide);

  std::string root_;
  std::vector<std::string> modifiers_;
  std::vector<std::string> operands_;
};

// Whether a text is a number, and its bits as the type's.
std::optional<uint64_t> number_of(const std::string& text, Type type);

// By family of instructions: true where it knows the root and has filled `out`.
bool decode_integer(Decoding& d);
bool decode_bits(Decoding& d);
bool decode_float(Decoding& d);
bool decode_convert(Decoding& d);
bool decode_compare(Decoding& d);
bool decode_memory(Decoding& d);
bool decode_atomic(Decoding& d);
bool decode_async(Decoding& d);
bool decode_collective(Decoding& d);
bool decode_tensor(Decoding& d);

}  // namespace heddle::ptx
