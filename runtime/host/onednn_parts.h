// The primitives of one library call: what is packed first, the slices, what is unpacked last.
//
//   conv2d_filter_grad in 4 slices
//     -> slices: 4 primitives that write 4 partial results; after: one reorder of their sum
//
// Private to the runtime's oneDNN files: the only ones that include its header.
#pragma once
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <vector>

#include "codegen/program.h"
#include "runtime/host/row_product.h"

namespace heddle::runtime {

// Where relu is applied once a primitive has written it: rows of `columns` floats, `stride` floats apart.
struct ReluRegion {
  float* first = nullptr;
  int64_t rows = 0, columns = 0, stride = 0;
};

// Where a result that a primitive has written without gaps belongs: rows of a wider matrix, `stride` floats apart.
struct Placement {
  const float* from = nullptr;
  float* to = nullptr;
  int64_t rows = 0, columns = 0, stride = 0;
};

// Results of which the sum is asked for: `parts` of them, one behind the other, are added to
// `total`. Behind the last task's the sum is rounded into `to`.
struct Addition {
  double* total = nullptr;
  const float* from = nullptr;
  float* to = nullptr;
  int64_t parts = 0, length = 0;
  bool first = true, last = true;
};

// In the place of a primitive: `count` products whose rows have the bits that they have alone, so many floats apart.
struct RowProducts {
  RowProduct first = {};
  int64_t count = 0, a_apart = 0, b_apart = 0, c_apart = 0;
};

// One primitive with its memory, ready to run, and the relu that follows while its result is in the cache. The relu is
// not oneDNN's own: that one turns nan into 0.
struct OnednnTask {
  dnnl::primitive primitive = {};
  std::vector<dnnl_exec_arg_t> arguments = {};
  Addition addition = {};
  ReluRegion relu = {};
  Placement placement = {};
  RowProducts rows = {};
};
using OnednnTasks = std::vector<OnednnTask>;

// Everything a call consists of. With null addresses it is only measured.
struct OnednnParts {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<dnnl::memory> memories;  // kept alive for the tasks
  OnednnTasks before, after;
  std::vector<OnednnTasks> slices;  // the tasks of one slice run in order, on one thread
  std::vector<float*> partials;     // of `length` floats each, added in doubles into `sum`
  float* sum = nullptr;
  int64_t length = 0;
  int64_t workspace = 0;
};

// With null addresses the call is only measured. Throws dnnl::error when oneDNN has no implementation. The calling
// thread must be set to one OpenMP thread.
OnednnParts build_onednn(const codegen::Library& call, std::span<void* const> arguments, void* workspace);

}  // namespace heddle::runtime
