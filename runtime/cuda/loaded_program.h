// LoadedProgram: a program that is loaded on an NVIDIA GPU. Its kernels are in modules; each entry is bound to
// addresses and recorded. There is a CUDA graph for one step of an entry, and for 8 and for 64 steps of an entry that
// feeds itself. An entry with a persistent kernel is one launch of that kernel, for any number of steps. Calls of
// cuBLASLt and cuDNN are recorded beside the launches.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "codegen/program.h"
#include "runtime/compile/packed_code.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/cudnn.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/handle.h"
#include "runtime/device.h"

namespace heddle::runtime {

struct LoadOptions {
  std::string arch;                    // "sm_90a"; "compute_121" with `ptx`
  bool ptx = false;                    // load PTX, which the driver compiles, instead of machine code
  bool persistent = true;              // use persistent kernels where the program has them
  std::string kernel_cache;            // folder
  int64_t multiprocessors = 1;         // of the GPU
  cuda::Stream stream = nullptr;       // the stream that graphs are captured on
  const PackedCode* packed = nullptr;  // the code to load; nullptr: NVRTC compiles
};

class LoadedProgram {
 public:
  // Throws UserError when NVRTC is missing or rejects the text, or a step calls a library that is not there.
  LoadedProgram(const Driver& driver, const codegen::Program& program, const Segments& segments, LoadOptions options);

  // Queues an entry `repeats` times.
  void run(size_t entry, int64_t repeats) const;
  // For profiles: the steps of an entry that are not loops, and a graph that executes one such step `copies` times. Of
  // a step in a loop, it is the loop's first turn.
  size_t step_count(size_t entry) { return single_steps(entry).size(); }
  const std::string& title(size_t entry, size_t step) { return single_steps(entry).at(step).step->title; }
  int64_t executions(size_t entry, size_t step) { return single_steps(entry).at(step).times; }
  GraphExecHandle record_step(size_t entry, size_t step, int64_t copies);

 private:
  struct Launch {
    cuda::Function function = nullptr;
    unsigned grid = 1, block = 1, shared = 0;
    std::vector<uint64_t> values;                    // addresses, then scalars
    std::vector<void*> parameters;                   // to `values`, which move with the launch, never copied
    std::vector<std::vector<int64_t>> strides = {};  // [address][loop]: bytes from one turn to the next
    bool cooperative = false;                        // its blocks wait for each other, so all must run at once
  };
  struct Copy {
    cuda::Address to = 0, from = 0;
    size_t bytes = 0;
    std::vector<int64_t> to_strides = {}, from_strides = {};
  };
  struct Step;
  // Each turn is recorded: the kernel text does not grow with the number of turns, the graphs do. A loop with a
  // persistent kernel is one launch.
  struct Loop {
    int64_t count = 0;
    size_t depth = 0;  // loops around it
    std::vector<Step> steps;
  };
  struct Step {
    std::variant<Launch, Copy, Loop, CublasltCall, CudnnCall> what;
    std::string title;
  };
  struct Entry {
    std::vector<Step> steps;
    std::map<int64_t, GraphExecHandle> graphs;  // key: how many steps the graph executes
    std::optional<Launch> persistent;
  };

  struct SingleStep {
    Step* step;
    int64_t times;  // executions in one run of the entry
  };
  std::vector<SingleStep> single_steps(size_t entry);

  cuda::Address locate(const codegen::Address& a) const;
  void load_modules(const codegen::Program& program);
  cuda::Function find(const std::string& name) const;
  unsigned grid_of(cuda::Function f, const codegen::Kernel& k) const;
  Launch bind_kernel(const codegen::Kernel& k) const;
  Step bind(const codegen::Program& program, const codegen::Step& step, size_t depth) const;
  Step bind(const codegen::Program& program, const codegen::Launch& l) const;
  Step bind(const codegen::Copy& c) const;
  Step bind(const codegen::Program& program, const codegen::Library& call) const;
  template <class Call, class Library>
  Step bind_call(const Library& library, const codegen::Library& call) const;
  Launch bind_persistent(const codegen::Kernel& k) const;
  Launch bind_turns(const codegen::Kernel& k) const;
  Entry load(const codegen::Program& program, const codegen::Entry& entry) const;

  void launch(const Launch& l) const;
  void launch(const Copy& c) const;
  void launch(Loop& l) const;
  void launch(const CublasltCall& c) const;
  static void launch(const CudnnCall& c);
  void launch(Step& s) const;
  static void advance(Step& s, size_t loop, int64_t turns);
  void launch_persistent(const Launch& l, int64_t steps) const;
  GraphExecHandle record(std::span<Step> steps, int64_t repeats) const;
  void upload() const;
  void check(cuda::Status status, const char* call) const { driver_.check(status, call); }

  const Driver& driver_;
  Segments segments_;
  LoadOptions options_;
  std::vector<ModuleHandle> modules_;
  std::unique_ptr<Cublaslt> cublaslt_;  // only where a step calls it
  std::unique_ptr<Cudnn> cudnn_;        // likewise
  std::vector<Entry> entries_;
};

}  // namespace heddle::runtime
