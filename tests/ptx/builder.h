// A function while it is read: which place each register, number and variable has.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/ptx/module.h"

namespace heddle::ptx {

struct Register {
  uint32_t slot = 0;
  Type type = Type::b32;
  bool wide() const { return size_of(type) == 8; }
};

struct Symbol {
  Space space = Space::global;
  uint64_t offset = 0;  // in its space; of a global variable 0
  uint64_t bytes = 0;
  int global = -1;  // index into Module::globals
};
using Symbols = std::map<std::string, Symbol>;

std::optional<Type> type_named(const std::string& name);
// The type of ".u64" in ".param .align 8 .u64 name"; the other words of a declaration.
struct Declaration {
  Space space = Space::global;
  Type type = Type::b8;
  uint32_t align = 1;
  uint64_t elements = 1;
  bool open = false;  // "name[]": as long as the launch says
  std::string name, value;
  uint64_t bytes() const { return elements * static_cast<uint64_t>(size_of(type)); }
};
Declaration read_declaration(const std::string& text, int line);

class Builder {
 public:
  Builder(Module& module, const Symbols& file_scope, Function& function);

  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }

  void declare_registers(const std::string& text, int line);  // ".reg .b32 %r<5>"
  void declare_variable(const std::string& text, int line);   // ".shared .align 4 .b8 tile[128]"
  // A parameter or result: of an entry in the parameter buffer, of a function in local memory.
  Parameter declare_parameter(const std::string& text, int line);

  const Register* find_register(const std::string& name) const;
  const Symbol* find_symbol(const std::string& name) const;
  // A register that holds the constant in all lanes.
  uint32_t constant(Constant c);

  // The predicate that holds the carry of add.cc.
  uint32_t carry();

  Function& function() { return function_; }

 private:
  struct Scope {
    std::map<std::string, Register> registers;
    Symbols symbols;
  };
  uint32_t new_slot(Type type);
  uint64_t place(uint32_t& end, const Declaration& d);

  Module& module_;
  const Symbols& file_scope_;
  Function& function_;
  std::vector<Scope> scopes_;
  uint32_t carry_ = kNoSlot;
};

// The address of a global variable, made where the file declares it.
Symbol declare_global(Module& module, const Declaration& d, int line);

}  // namespace heddle::ptx
