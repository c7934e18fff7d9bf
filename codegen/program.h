// Program: everything needed to execute, as plain data. The runtime reads this and nothing else of
// the compiler.
//
// Segments of device memory hold everything: `state` lives as long as the executable (parameters,
// moments, the step counter, launch counters, the cursor), the arena holds what one entry needs and
// is shared by all entries, and what steps tell the outside lies in the ring, which the host can
// read. Addresses are segment + offset.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
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
  // Inside of loops: by how many bytes it moves from one turn to the next, the outermost loop first. Loops that are not
  // listed leave it where it is.
  std::vector<int64_t> strides = {};
  bool operator==(const Address&) const = default;
};

enum class Access { read, write, read_write };

// Memory that a step may touch, and how: nothing else of the segments.
struct Argument {
  Address at;
  int64_t bytes = 0;
  Access access = Access::read;
};

// What a buffer is: a state of one of three kinds, an entry's input, or a result with its part in the step.
enum class BufferRole { param, buffer, state, input, result, loss, count, norm, outside };
constexpr BufferRole result_role(ir::OutputRole role) {
  return role == ir::OutputRole::loss      ? BufferRole::loss
         : role == ir::OutputRole::count   ? BufferRole::count
         : role == ir::OutputRole::norm    ? BufferRole::norm
         : role == ir::OutputRole::outside ? BufferRole::outside
                                           : BufferRole::result;
}
std::string to_string(BufferRole role);  // results of every role are "output"

// A tensor the outside may read or write: a state, an entry's input or its result. Files and
// messages speak of `dims`; in memory the axes may have another order.
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

// Whether files of weights hold it.
inline bool is_saved(const Buffer& b) { return b.role == BufferRole::param || b.role == BufferRole::buffer; }

// What a GPU executes of a kernel, as a profiler would count it: predicted from the kernel's graph.
struct KernelCounts {
  int64_t blocks = 1;                            // as many as the target's device gives
  double sectors_read = 0, sectors_written = 0;  // of 32 bytes, as warps ask for them
  double shared_wavefronts = 0, ideal_wavefronts = 0;
  double instructions = 0;                               // of warps
  double dependent_loads = 0, dependent_after_last = 0;  // that wait for one another; behind the last row
};

// Facts about a generated kernel. `name` is its symbol in `Program::source`.
struct Kernel {
  std::string name;       // symbol
  std::string title;      // the IR's name, without '@'
  std::string schedule;   // "rows"
  int64_t arguments = 0;  // pointers, in order: operands, results, then partials and counter where `blocks` is fixed
  std::vector<std::string> scalars;  // types of the numbers that follow the pointers: "i64", "f32"
  int64_t block = 1;                 // threads of a block on a GPU
  int64_t blocks = 0;                // fixed number of blocks, 0: as many as the device likes
  int64_t max_blocks = 1;            // more would be idle
  int64_t shared_bytes = 0;          // of a block's memory, beside the arrays that the text declares
  int64_t bytes_read = 0, bytes_written = 0;
  double flops = 0;
  // Where it was asked for (codegen/predict.h):
  double predicted_seconds = 0, least_seconds = 0;  // the latter: bytes once / bandwidth, flops / peak, and the launch
  std::optional<KernelCounts> counts;               // where there is a GPU
};

// A number that a launch passes by value, as the bytes of its type: the low ones of `bits`.
struct ScalarArgument {
  std::string dtype;  // "i64"; 16-bit floating types are passed as "f32", which kernels compute with
  uint64_t bits = 0;
};

struct Launch {
  int64_t kernel = 0;               // index into Program::kernels
  std::vector<Argument> arguments;  // as many as the kernel's pointers; a value computed in place is there twice
  std::vector<ScalarArgument> scalars = {};  // as many as the kernel's, behind the arguments
};

// A call of a library. Shapes and attributes say what is computed; a device builds its primitives from them once.
struct TensorDesc {
  std::string dtype;
  std::vector<int64_t> dims;
};
// Which operands are a convolution's arrays (NHWC, OHWI, NHWC); kMade: the result is.
struct ConvolutionRoles {
  static constexpr int kMade = -1;
  int image = kMade, filter = kMade, result = kMade;
};
// What a library does to a result on its way out.
struct EpilogueStep {
  std::string op;                       // "bias", "relu": as it is printed
  bool bias = false;                    // adds the next operand, a vector along the last axis
  std::optional<double> at_least = {};  // max(x, this); nan stays nan
};
struct Library {
  std::string impl;             // "onednn"
  std::string op;               // "matmul", "conv2d": as it is printed
  bool matrix_product = false;  // over the last two axes, as `integers` say
  std::optional<ConvolutionRoles> convolution = {};
  std::string title;                                     // the IR kernel's name
  std::map<std::string, std::vector<int64_t>> integers;  // the operator's attributes
  std::vector<EpilogueStep> epilogue;                    // in order
  std::vector<TensorDesc> operands, results;
  std::vector<Argument> arguments;  // operands, then results
  int64_t batch_split = 1;          // fixed: results do not depend on the number of threads
  std::string precision = "f32";    // what operands may be rounded to before they are multiplied; f32: nothing
  Argument workspace{.at = {}, .bytes = 0, .access = Access::read_write};
  int64_t bytes_read = 0, bytes_written = 0;
  double flops = 0;
  double predicted_seconds = 0, least_seconds = 0;
};

struct Copy {
  Address from, to;
  int64_t bytes = 0;
  std::string reason;  // why the bytes could not be made in place
  double predicted_seconds = 0;
};

// Steps that are executed `count` times, one turn after the other. In turn t the addresses of its steps lie t strides of
// this loop further on.
struct Step;
struct Loop {
  int64_t count = 0;
  std::vector<Step> steps;
  std::string title = {};  // the body's name
  // All turns as one kernel (codegen/persistent.h), of a loop that no other one is around: index into Program::kernels. It takes
  // the segments' addresses and how often to execute the loop, which is once. -1: there is none, because of `not_persistent`, where
  // it was asked for.
  int64_t persistent = -1;
  std::string not_persistent = {};
  std::string persistent_facts = {};  // "129 barriers, predicted 700.0 us; 1100.0 us as 256 launches"
};

struct Step {
  std::variant<Launch, Library, Copy, Loop> what;
  std::string origin;  // "model.json:12:5", for errors and profiles
};

// From the first to the last byte that an argument of a loop reaches in any turn; `depth` loops are around the loop.
inline Argument reach(Argument a, size_t depth, int64_t count) {
  if (depth >= a.at.strides.size()) return a;
  const int64_t way = a.at.strides[depth] * (count - 1);
  a.at.offset += way < 0 ? way : 0;
  a.bytes += way < 0 ? -way : way;
  a.at.strides[depth] = 0;
  return a;
}

// The memory that a step touches, a library's workspace too; of a loop, all of its turns. `depth` loops are around the
// step. Inline: the runtime links nothing of codegen.
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

// Calls f(step, times) for each step that is no loop, with how often a run of the outermost list executes it.
template <class Steps, class F>
void for_each_step(Steps& steps, F f, int64_t times = 1) {
  for (auto& step : steps) {
    if (auto* loop = std::get_if<Loop>(&step.what))
      for_each_step(loop->steps, f, times * loop->count);
    else
      f(step, times);
  }
}

// A column of the data set as it is stored, which steps of fed entries gather their rows of an input from.
struct FeedColumn {
  std::string input, dtype;  // "image", "u8"
};
// Where fed entries find their batch, and what they leave: the words of the cursor and of a record.
using ir::kCursorColumns, ir::kCursorDraws, ir::kCursorFault, ir::kCursorOrder, ir::kCursorPosition, ir::kCursorStep;
using ir::kNoFault;
using ir::kRecordCount, ir::kRecordFault, ir::kRecordIndex, ir::kRecordLoss, ir::kRecordOutside, ir::kRecordStep,
    ir::kRecordWords;

struct Feeding {
  std::vector<FeedColumn> columns;
  Address cursor;
  int64_t records = 0;  // that the ring holds
  bool draws = false;   // rows are changed at random
  bool norms = false;   // behind all records lies the gradients' norm of each, f64; nan where the entry has none
  int64_t cursor_bytes() const { return ir::cursor_words(static_cast<int64_t>(columns.size()), draws) * 8; }
  bool scales = false;  // behind the norms lies the loss scale of each, f64, below 0 where the step was skipped
  int64_t norms_at() const { return records * kRecordWords; }  // word of the ring
  int64_t scales_at() const { return ir::ring_words(records, /*norms=*/true); }
  int64_t ring_bytes() const { return ir::ring_words(records, norms, scales) * 8; }
};

struct Entry {
  std::string name;  // "train"
  ir::EntryKind kind() const { return ir::entry_kind(name); }
  bool draws = false;  // rows of the data set are changed at random on their way in
  // Rows of the data set that a run takes: steps of its own make the inputs of them, record the loss and move the cursor
  // on, so that the entry can be repeated. 0: the inputs are written from outside.
  int64_t fed_rows = 0;
  std::vector<Buffer> inputs, outputs;
  std::vector<Step> steps;
  // All steps as one kernel, which executes the entry any number of times: index into
  // Program::kernels. It takes the segments' addresses and the number of times; its blocks meet, so
  // all of them run at once. -1: there is none, because of `not_persistent`, where the entry feeds
  // itself on a GPU.
  int64_t persistent = -1;
  std::string not_persistent, persistent_facts;
  int64_t arena_bytes = 0;
  int64_t max_live_bytes = 0;  // the lower bound: the largest sum of live sizes at one step

  const Buffer* find_output(BufferRole role) const {
    for (const Buffer& b : outputs)
      if (b.role == role) return &b;
    return nullptr;
  }
};

struct Program {
  std::string name;
  std::string target;  // "host", "h200"
  std::string arch;    // "sm_90a", "native"
  std::vector<Buffer> states;
  Feeding feeding;
  int64_t state_bytes = 0;
  int64_t arena_bytes = 0;  // the largest of the entries
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
