// OnednnParts: the primitives of one library call. `before` packs, then the slices run, then `after` unpacks.
//
//   conv2d_filter_grad in 4 slices
//     -> slices: 4 primitives that write 4 partial results; after: one reorder of their sum
//
// Private to the runtime's oneDNN files. Only they include oneDNN's header.
#pragma once
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <vector>

#include "codegen/program.h"
#include "runtime/host/row_product.h"

namespace heddle::runtime {

// The memory where relu is applied after a primitive has written it: rows of `columns` floats, `stride` floats apart.
struct ReluRegion {
  float* first = nullptr;
  int64_t rows = 0, columns = 0, stride = 0;
};

// Copies a result that a primitive has written without gaps into rows of a wider matrix, `stride` floats apart.
struct Placement {
  const float* from = nullptr;
  float* to = nullptr;
  int64_t rows = 0, columns = 0, stride = 0;
};

// Adds partial results: `parts` of them, which lie one after another, are added to `total`. After the last task, the
// sum is rounded into `to`.
struct Addition {
  double* total = nullptr;
  const float* from = nullptr;
  float* to = nullptr;
  int64_t parts = 0, length = 0;
  bool first = true, last = true;
};

// Used instead of a primitive: `count` row products (row_product.h). The three fields at the end are the distances in
// floats from one product to the next.
struct RowProducts {
  RowProduct first = {};
  int64_t count = 0, a_apart = 0, b_apart = 0, c_apart = 0;
};

// One primitive with its memory, ready to run, and what follows while its result is in the cache. The relu is Heddle's,
// because oneDNN's turns nan into 0.
struct OnednnTask {
  dnnl::primitive primitive = {};
  std::vector<dnnl_exec_arg_t> arguments = {};
  Addition addition = {};
  ReluRegion relu = {};
  Placement placement = {};
  RowProducts rows = {};
};
using OnednnTasks = std::vector<OnednnTask>;

// All parts of a call.
struct OnednnParts {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<dnnl::memory> memories;  // kept alive for the tasks
  OnednnTasks before, after;
  std::vector<OnednnTasks> slices;  // the tasks of one slice run in order, on one thread
  std::vector<float*> partials;     // `length` floats each; their sum, in doubles, goes to `sum`
  float* sum = nullptr;
  int64_t length = 0;
  int64_t workspace = 0;
};

// Builds the parts. With null addresses the call is only measured. Throws dnnl::error when oneDNN has no
// implementation. The calling thread must be set to one OpenMP thread.
OnednnParts build_onednn(const codegen::Library& call, std::span<void* const> arguments, void* workspace);

}  // namespace heddle::runtime
