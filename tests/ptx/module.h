// PTX text as data that a machine executes at once: every operand is a place in a warp's register file.
//
//   add.s32 %r3, %r1, 4;   ->   {execute = sum of 32 lanes, slot = {384, 128, 512}}; 4 lies in all lanes of slot 512
//
// Numbers, special registers and addresses of variables are registers that are filled before a kernel's first
// instruction, so that an instruction never asks what kind of operand it has.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::ptx {

constexpr int kLanes = 32;  // of a warp
using Lanes = uint32_t;     // a bit per lane
constexpr Lanes kAllLanes = 0xffffffffU;

enum class Type { pred, b8, u8, s8, b16, u16, s16, f16, bf16, b32, u32, s32, f32, b64, u64, s64, f64 };
int size_of(Type t);  // bytes in memory; of a predicate 1
enum class Space { generic, global, shared, local, param };
enum class Scope { none, cta, gpu, sys };
// What an access does beside moving data: nothing, or it takes part in synchronisation.
enum class Order { weak, relaxed, acquire, release, acq_rel, sc };

// What the machine does with an instruction beside calling `execute`.
enum class Kind { plain, branch, exit, barrier, collective, call };

struct Warp;
struct Instruction;
// Executes the instruction in these lanes; of a collective, all that it names.
using Execute = void (*)(Warp& warp, const Instruction& i, Lanes lanes);

// A place in the register file that holds nothing: an operand left out.
constexpr uint32_t kNoSlot = 0xffffffffU;

struct Instruction {
  Execute execute = nullptr;
  Kind kind = Kind::plain;
  Space space = Space::generic;
  Order order = Order::weak;
  Scope scope = Scope::none;
  uint8_t size = 0;            // bytes of one element that is moved
  uint8_t count = 1;           // elements: of a vector, matrices of ldmatrix
  bool aligned = true;         // of a barrier: a warp's lanes must come together
  bool negated = false;        // of the guard
  bool read_only = false;      // ld.global.nc
  bool is_signed = false;      // what is loaded into a wider register
  uint32_t wide = 0;           // a bit per operand: its lanes have 64 bits
  uint32_t guard = kNoSlot;    // predicate
  uint32_t next = 0;           // the instruction behind it in the text; the number of all: none
  uint32_t target = 0;         // of a branch; index of the function of a call
  int64_t offset = 0;          // of an address
  uint32_t mode = 0;           // what the execution makes of it: a comparison, a table, a bit mask of options
  uint32_t members = kNoSlot;  // of a collective: who takes part; kNoSlot: all lanes that run
  std::array<uint32_t, 16> slot{};
  std::vector<uint32_t> reads, writes;  // slots of registers, for chains of loads
  std::vector<uint32_t> arguments;      // of a call: places in local memory; results, then operands
  int line = 0;
  std::string text;
};

// What a register-like constant holds when a warp begins.
enum class Special {
  number,
  tid_x,
  tid_y,
  tid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  global_address
};
struct Constant {
  uint32_t slot = 0;
  bool wide = false;
  Special special = Special::number;
  uint64_t value = 0;  // of a number; the offset from the variable's address
  int variable = -1;   // index into Module::globals
};

struct Parameter {
  std::string name;
  uint32_t offset = 0, bytes = 0;  // of an entry in the parameter buffer; of a function in local memory
};

struct Function {
  std::string name;
  bool entry = false;
  std::vector<Parameter> parameters, results;
  uint32_t parameter_bytes = 0;
  uint32_t register_bytes = 0;
  uint32_t shared_bytes = 0, local_bytes = 0;  // local: of one thread
  uint32_t open_shared = 0;                    // where the array lies whose length the launch says
  uint32_t max_threads = 0;                    // of a block, 0: not said
  std::vector<Instruction> code;
  std::vector<Constant> constants;
};

struct Global {
  std::string name;
  uint32_t align = 1;
  std::vector<uint8_t> bytes;
};

struct Module {
  std::vector<Function> functions;
  std::vector<Global> globals;

  // nullptr: there is none.
  const Function* find_entry(const std::string& name) const;
};

// What the interpreter cannot read, or does not know: never passed over.
struct ParseError : std::runtime_error {
  ParseError(int line, const std::string& text, const std::string& why);
};

// All translation units of the text, as NVRTC's parts are appended to one another. Throws ParseError.
Module parse(const std::string& text);

}  // namespace heddle::ptx
