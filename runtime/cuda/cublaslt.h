// Matrix products by cuBLASLt, in f32 or of 16-bit operands, with or without a bias.
//
//   Library{impl = "cublaslt", op = "matmul", operands = {f32[128,784], f32[64,784]}, results = {f32[128,64]},
//           integers = {transpose_b = {1}}, precision = "tf32"}
//   -> a = f32 784 x 64, ld 784, transposed; b = f32 784 x 128, ld 784; d = f32 64 x 128, ld 64; sums of tf32
//
// The library counts matrices by columns. A matrix that lies by rows is its transpose by columns, and y = x w is
// y^T = w^T x^T: the operands change places, and nothing is moved. A bias along our last axis lies along the rows of d,
// as the library's epilogue adds it. There is no relu: the library does not say that nan stays nan.
//
// The first algorithm that the library's heuristic names is taken when the program is loaded, before anything is
// recorded, and is kept. None that adds partial results (split-K) is admitted: their order would be the library's own.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "runtime/cuda/cublaslt_api.h"
#include "runtime/cuda/driver.h"

namespace heddle::runtime {

// Scratch that a call may take, of a GPU with this architecture ("sm_90a"): what the library itself takes by default.
int64_t cublaslt_workspace(const std::string& arch);

struct CublasltLayout {
  int type = cublaslt::kF32;
  uint64_t rows = 0, columns = 0;  // as the library counts
  int64_t ld = 0;                  // elements from column to column
  int64_t apart = 0;               // elements from matrix to matrix of the batch
};
// What one call computes: d = a' b', of each matrix of the batch.
struct CublasltProduct {
  CublasltLayout a, b, d;
  bool transpose_a = false, transpose_b = false;
  int32_t batch = 1;
  int compute = cublaslt::kCompute32;
  bool bias = false;
};
// Why the library does not take the call: "dtype i32"; "" where it may. A function of the call alone.
std::string cublaslt_refusal(const codegen::Library& call);
// Of a call that is not refused.
CublasltProduct describe_cublaslt(const codegen::Library& call);
// The operands and the result, for messages: "f32[128,64] = f32[128,784] by f32[64,784] transposed".
std::string cublaslt_shapes(const codegen::Library& call);

// The library and its handle, of the GPU whose context is current.
class Cublaslt {
 public:
  // Throws UserError: exit 3 where there is no library; else what it answers.
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
  // An address, and how far it moves from one turn of each loop around the call to the next, the outermost first.
  struct Place {
    cuda::Address at = 0;
    std::vector<int64_t> strides = {};
  };
  // `places`: of operands, then the result. `workspace` has call.workspace.bytes. Throws UserError where the library has
  // no algorithm for the call, or answers with an error.
  CublasltCall(const Cublaslt& library, const codegen::Library& call, std::vector<Place> places,
               cuda::Address workspace);
  ~CublasltCall();
  CublasltCall(CublasltCall&&) noexcept;
  CublasltCall& operator=(CublasltCall&&) = delete;

  // Queues the product on the stream, or records it.
  void run(cuda::Stream stream) const;
  void advance(size_t loop, int64_t turns);  // moves the arguments to where they are so many turns later
  std::string algorithm() const;             // what was taken: "algorithm 66, tile 20, stages 36"

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle::runtime
