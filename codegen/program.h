// Program: the output of the compiler: entries, steps, addresses and kernel text, as plain data. The runtime needs
// nothing else of the compiler to execute a model.
//
// There are three segments of device memory. `state` lives as long as the executable: parameters, moments, the step
// counter, launch counters, the cursor. `arena` holds the values of the entry that runs; all entries share it. `ring`
// holds the records of steps, and the host can read it. An address is a segment and an offset.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/cursor.h"
#include "ir/entry.h"

namespace heddle::codegen {

enum class Segment { state, arena, ring };
constexpr size_t kSegments = 3;

struct Address {
  Segment segment = Segment::arena;
  int64_t offset = 0;  // bytes
  // Inside of loops: the bytes by which it moves from one turn to the next, for each loop, the outermost first. 0 for
  // loops that are not listed.
  std::vector<int64_t> strides = {};
  bool operator==(const Address&) const = default;
};

enum class Access { read, write, read_write };

// Memory that a step accesses, and how. A step touches no memory of the segments outside of its arguments.
struct Argument {
  Address at;
  int64_t bytes = 0;
  Access access = Access::read;
};

// The role of a buffer: a state (param, buffer, state), an entry's input, or one of its results (the others).
enum class BufferRole { param, buffer, state, input, result, loss, count, norm, outside };
constexpr BufferRole result_role(ir::OutputRole role) {
  return role == ir::OutputRole::loss      ? BufferRole::loss
         : role == ir::OutputRole::count   ? BufferRole::count
         : role == ir::OutputRole::norm    ? BufferRole::norm
         : role == ir::OutputRole::outside ? BufferRole::outside
                                           : BufferRole::result;
}
std::string to_string(BufferRole role);  // results of every role are "output"

// A tensor that callers may read or write: a state, an entry's input, or its result. Files and messages use `dims`; in
// memory the axes may have another order.
//
//   param conv1.weight: f32[32,16,3,3] layout [0,2,3,1] at state+0     lies as f32[32,3,3,16]
struct Buffer {
  std::string name;   // "conv1.weight"
  std::string dtype;  // "f32"
  std::vector<int64_t> dims;
  int64_t bytes = 0;
  Address at;
  BufferRole role = BufferRole::state;
  std::vector<int64_t> layout = {};  // axis k in memory is axis layout[k] of `dims`; empty: as in `dims`
};

// Whether weight files hold it.
inline bool is_saved(const Buffer& b) { return b.role == BufferRole::param || b.role == BufferRole::buffer; }

// Predicted counts of what a GPU executes in a kernel, as a profiler would count (ir/kernel/count/kernel_counts.h).
struct KernelCounts {
  int64_t blocks = 1;                            // that the target's device launches
  double sectors_read = 0, sectors_written = 0;  // of 32 bytes, requested by warps
  double shared_wavefronts = 0, ideal_wavefronts = 0;
  double instructions = 0;                               // of warps
  double dependent_loads = 0, dependent_after_last = 0;  // chain of dependent loads; the part after the last row
};

// Facts about a generated kernel. `name` is its symbol in `Program::source`.
struct Kernel {
  std::string name;                  // symbol
  std::string title;                 // the IR's name, without '@'
  std::string schedule;              // "rows"
  int64_t arguments = 0;             // number of pointers: operands, results, then scratch and counters if it has them
  std::vector<std::string> scalars;  // types of the numbers that follow the pointers: "i64", "f32"
  int64_t block = 1;                 // threads of a block on a GPU
  int64_t blocks = 0;                // a fixed number of blocks; 0: the device chooses
  int64_t max_blocks = 1;            // more blocks would be idle
  int64_t shared_bytes = 0;          // shared memory of a block, without the arrays that the text declares
  int64_t bytes_read = 0, bytes_written = 0;
  double flops = 0;
  // On request (codegen/predict.h):
  double predicted_seconds = 0, least_seconds = 0;  // the latter: bytes once / bandwidth, flops / peak, and the launch
  std::optional<KernelCounts> counts;               // on a GPU
};

// A number that a launch passes by value. Its bytes are the low bytes of `bits`.
struct ScalarArgument {
  std::string dtype;  // "i64"; 16-bit floating types are passed as "f32", in which kernels compute
  uint64_t bits = 0;
};

struct Launch {
  int64_t kernel = 0;               // index into Program::kernels
  std::vector<Argument> arguments;  // one per pointer of the kernel; an array that is updated in place occurs twice
  std::vector<ScalarArgument> scalars = {};  // one per scalar of the kernel; they follow the arguments
};

// The dtype and shape of a library call's operand or result.
struct TensorDesc {
  std::string dtype;
  std::vector<int64_t> dims;
};
// Which operands are the arrays of a convolution (NHWC, OHWI, NHWC). kMade: the array is the result.
struct ConvolutionRoles {
  static constexpr int kMade = -1;
  int image = kMade, filter = kMade, result = kMade;
};
// An operation that a library applies to a result before it writes it.
struct EpilogueStep {
  std::string op;                       // for printing: "scale", "bias", "relu"
  bool scale = false;                   // multiplies by the next operand, a vector along the last axis
  bool bias = false;                    // adds the next operand, likewise
  std::optional<double> at_least = {};  // max(x, this); nan stays nan
};
// A library call. Shapes and attributes define what it computes; a device builds its primitives from them once.
struct Library {
  std::string impl;             // "onednn"
  std::string op;               // for printing: "matmul", "conv2d"
  bool matrix_product = false;  // over the last two axes; `integers` say which operands are transposed
  std::optional<ConvolutionRoles> convolution = {};
  std::string title;                                     // the IR kernel's name
  std::map<std::string, std::vector<int64_t>> integers;  // the operator's attributes
  std::vector<EpilogueStep> epilogue;                    // in order
  std::vector<TensorDesc> operands, results;
  std::vector<Argument> arguments;  // operands, then results
  int64_t batch_split = 1;          // slices; fixed, so that results do not depend on the number of threads
  std::string precision = "f32";    // the type to which operands may be rounded before the product; f32: no rounding
  Argument workspace{.at = {}, .bytes = 0, .access = Access::read_write};
  int64_t bytes_read = 0, bytes_written = 0;
  double flops = 0;
  double predicted_seconds = 0, least_seconds = 0;
};

struct Copy {
  Address from, to;
  int64_t bytes = 0;
  std::string reason;  // why a copy is needed
  double predicted_seconds = 0;
};

// Steps that are executed `count` times, one turn after the other. In turn t, the addresses of its steps are t of this
// loop's strides further on.
struct Step;
struct Loop {
  int64_t count = 0;
  std::vector<Step> steps;
  std::string title = {};  // the body's name
  // One kernel that executes all turns (codegen/persistent.h): index into Program::kernels. Only for outermost loops.
  // Its arguments are the addresses of the segments, and the number of times to execute the loop, which is 1. -1: there
  // is none; `not_persistent` is the reason if one was considered.
  int64_t persistent = -1;
  std::string not_persistent = {};
  std::string persistent_facts = {};  // "129 barriers, predicted 700.0 us; 1100.0 us as 256 launches"
};

struct Step {
  std::variant<Launch, Library, Copy, Loop> what;
  std::string origin;  // "model.json:12:5", for errors and profiles
};

// The range from the first to the last byte that the argument covers in all turns of a loop. `depth` loops are around
// the loop.
inline Argument reach(Argument a, size_t depth, int64_t count) {
  if (depth >= a.at.strides.size()) return a;
  const int64_t way = a.at.strides[depth] * (count - 1);
  a.at.offset += way < 0 ? way : 0;
  a.bytes += way < 0 ? -way : way;
  a.at.strides[depth] = 0;
  return a;
}

// The memory that a step touches, with a library's workspace; for a loop, in all of its turns. `depth` loops are around
// the step. It is inline because the runtime does not link codegen.
inline std::vector<Argument> touched_by(const Step& step, size_t depth = 0) {
  if (const auto* launch = std::get_if<Launch>(&step.what)) return launch->arguments;
  if (const auto* copy = std::get_if<Copy>(&step.what))
    return {{copy->from, copy->bytes, Access::read}, {copy->to, copy->bytes, Access::write}};
  std::vector<Argument> all;
  if (const auto* loop = std::get_if<Loop>(&step.what)) {
    for (const Step& inner : loop->steps)
      for (const Argument& a : touched_by(inner, depth + 1)) all.push_back(reach(a, depth, loop->count));
    return all;
  }
  const auto& call = std::get<Library>(step.what);
  all = call.arguments;
  if (call.workspace.bytes > 0) all.push_back(call.workspace);
  return all;
}

// Calls f(step, times) for each step that is no loop. `times`: how often one run of the outermost list executes the
// step.
template <class Steps, class F>
void for_each_step(Steps& steps, F f, int64_t times = 1) {
  for (auto& step : steps) {
    if (auto* loop = std::get_if<Loop>(&step.what))
      for_each_step(loop->steps, f, times * loop->count);
    else
      f(step, times);
  }
}

// A stored column of the data set, from which entries gather the rows of an input.
struct FeedColumn {
  std::string input, dtype;  // "image", "u8"
};
// The words of the cursor and of a record (ir/cursor.h), for the runtime.
using ir::kCursorColumns, ir::kCursorDraws, ir::kCursorFault, ir::kCursorOrder, ir::kCursorPosition, ir::kCursorStep;
using ir::kNoFault;
using ir::kRecordCount, ir::kRecordFault, ir::kRecordIndex, ir::kRecordLoss, ir::kRecordOutside, ir::kRecordStep,
    ir::kRecordWords;

// How entries read their own batches: the columns, the cursor and the ring.
struct Feeding {
  std::vector<FeedColumn> columns;
  Address cursor;
  int64_t records = 0;  // records of the ring
  bool draws = false;   // random maps change rows
  bool norms = false;   // after all records, the ring has a gradient norm per record, f64; nan if the entry has none
  int64_t cursor_bytes() const { return ir::cursor_words(static_cast<int64_t>(columns.size()), draws) * 8; }
  bool scales = false;  // after the norms, the ring has a loss scale per record, f64; below 0 if the step was skipped
  int64_t norms_at() const { return records * kRecordWords; }  // a word of the ring
  int64_t scales_at() const { return ir::ring_words(records, /*norms=*/true); }
  int64_t ring_bytes() const { return ir::ring_words(records, norms, scales) * 8; }
};

struct Entry {
  std::string name;  // "train"
  ir::EntryKind kind() const { return ir::entry_kind(name); }
  bool draws = false;  // random maps change rows of the data set as they are read
  // Rows of the data set that a run reads. The entry's own steps make the inputs from them, record the loss and advance
  // the cursor, so that the entry can be repeated. 0: callers write the inputs.
  int64_t fed_rows = 0;
  std::vector<Buffer> inputs, outputs;
  std::vector<Step> steps;
  // One kernel that executes all steps, any number of times (codegen/persistent.h): index into Program::kernels. Its
  // arguments are the addresses of the segments and the number of times. It has grid barriers, so all of its blocks
  // must run at the same time. -1: there is none; `not_persistent` is the reason if the entry reads its own batches on
  // a GPU.
  int64_t persistent = -1;
  std::string not_persistent, persistent_facts;
  int64_t arena_bytes = 0;
  int64_t max_live_bytes = 0;  // a lower bound of arena_bytes: the largest sum of live sizes at one step

  const Buffer* find_output(BufferRole role) const {
    for (const Buffer& b : outputs)
      if (b.role == role) return &b;
    return nullptr;
  }
};

// The comment with which the persistent kernels begin in the text of a program, behind all other kernels. No other
// comment begins so.
inline constexpr std::string_view kPersistentKernels = "\n// Persistent kernels: with HD_PERSISTENT";

struct Program {
  std::string name;
  std::string target;  // "host", "h200"
  std::string arch;    // "sm_90a", "native"
  std::vector<Buffer> states;
  Feeding feeding;
  int64_t state_bytes = 0;
  int64_t arena_bytes = 0;  // the maximum of all entries
  std::string source;       // the full text to compile: preamble, scalar functions, kernels
  std::vector<Kernel> kernels;
  std::vector<Entry> entries;

  int64_t bytes_of(Segment s) const {
    return s == Segment::state ? state_bytes : s == Segment::arena ? arena_bytes : feeding.ring_bytes();
  }
  const Entry* find_entry(ir::EntryKind kind) const {
    for (const Entry& e : entries)
      if (e.kind() == kind) return &e;
    return nullptr;
  }
  const Entry* find_entry(ir::Phase phase) const { return find_entry(ir::EntryKind{.phase = phase}); }
};

// The program as text, for people and for golden tests.
std::string print(const Program& p);

}  // namespace heddle::codegen
