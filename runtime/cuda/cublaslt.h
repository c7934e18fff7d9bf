// Matrix products by cuBLASLt: f32 or 16-bit operands, with or without a bias.
//
//   Library{impl = "cublaslt", op = "matmul", operands = {f32[128,784], f32[64,784]}, results = {f32[128,64]},
//           integers = {transpose_b = {1}}, precision = "tf32"}
//   -> a = f32 784 x 64, ld 784, transposed; b = f32 784 x 128, ld 784; d = f32 64 x 128, ld 64; sums of tf32
//
// The library's matrices are column-major; Heddle's are row-major. A row-major matrix read as column-major is its
// transpose, and y = x w is y^T = w^T x^T. So the operands change places, and no element is moved. A bias along our
// last axis then lies along the rows of d, where the library's epilogue adds it. relu is not left to the library,
// because it does not promise that nan stays nan.
//
// When the program is loaded, before any graph is recorded, the call takes the first algorithm that the library's
// heuristic names, and keeps it. Algorithms that add partial results (split-K) are not admitted, because the order of
// the sum would depend on the library.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "runtime/cuda/cublaslt_api.h"
#include "runtime/cuda/driver.h"

namespace heddle::runtime {

// The scratch bytes that a call may take on a GPU of this architecture ("sm_90a"): the library's own default.
int64_t cublaslt_workspace(const std::string& arch);

struct CublasltLayout {
  int type = cublaslt::kF32;
  uint64_t rows = 0, columns = 0;  // column-major
  int64_t ld = 0;                  // elements from column to column
  int64_t apart = 0;               // elements from matrix to matrix of the batch
};
// What one call computes: d = a' b' for each matrix of the batch; a' and b' are a and b, or their transposes.
struct CublasltProduct {
  CublasltLayout a, b, d;
  bool transpose_a = false, transpose_b = false;
  int32_t batch = 1;
  int compute = cublaslt::kCompute32;
  bool bias = false;
};
// Why the library does not take the call, such as "dtype i32"; "" where it may take it. A function of the call alone.
std::string cublaslt_refusal(const codegen::Library& call);
// Describes a call for the library. The call must not be refused.
CublasltProduct describe_cublaslt(const codegen::Library& call);
// The operands and the result, for messages: "f32[128,64] = f32[128,784] by f32[64,784] transposed".
std::string cublaslt_shapes(const codegen::Library& call);

// The library, and a handle for the GPU whose context is current.
class Cublaslt {
 public:
  // Throws UserError: exit 3 where there is no library, else with the library's error.
  Cublaslt();
  ~Cublaslt();
  Cublaslt(const Cublaslt&) = delete;
  Cublaslt& operator=(const Cublaslt&) = delete;

  const CublasltApi& api() const { return api_; }
  cublaslt::Handle handle() const { return handle_; }

 private:
  const CublasltApi& api_;
  cublaslt::Handle handle_ = nullptr;
};

// One call bound to its memory. `library` must outlive it.
class CublasltCall {
 public:
  // An address, and how many bytes it moves from one turn of a loop to the next, for each loop around the call, the
  // outermost first.
  struct Place {
    cuda::Address at = 0;
    std::vector<int64_t> strides = {};
  };
  // `places`: those of the operands, then that of the result. `workspace` has call.workspace.bytes. Throws UserError
  // where the library has no algorithm for the call, or returns an error.
  CublasltCall(const Cublaslt& library, const codegen::Library& call, std::vector<Place> places,
               cuda::Address workspace);
  ~CublasltCall();
  CublasltCall(CublasltCall&&) noexcept;
  CublasltCall& operator=(CublasltCall&&) = delete;

  // Queues the product on the stream; where the stream is captured, records it.
  void run(cuda::Stream stream) const;
  void advance(size_t loop, int64_t turns);  // moves the arguments to where they lie `turns` turns later
  std::string algorithm() const;             // the chosen one: "algorithm 66, tile 20, stages 36"

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle::runtime
