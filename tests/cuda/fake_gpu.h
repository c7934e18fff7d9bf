// What tests of a library's calls stand on: a context and memory of the fake driver, what it reports, and numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/handle.h"

namespace heddle::testing {

void* fake_driver();        // the library, where it is loaded
std::string fake_report();  // violations and counts
void forget_report();

// A context, a stream, and memory that goes back at the end.
class FakeGpu {
 public:
  FakeGpu();
  ~FakeGpu();
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;

  runtime::cuda::Stream stream() const { return stream_.get(); }
  runtime::cuda::Address allocate(size_t bytes);  // zeros
  runtime::cuda::Address put(const std::vector<std::byte>& bytes);
  std::vector<std::byte> get(runtime::cuda::Address at, size_t bytes) const;

  const runtime::Driver& driver;

 private:
  runtime::cuda::Context context_ = nullptr;
  runtime::StreamHandle stream_;
  std::vector<runtime::cuda::Address> all_;
};

// Numbers of a tensor between -1 and 1, rounded to its type.
struct Numbers {
  std::vector<double> values;
  std::vector<std::byte> bytes;
};
size_t width_of(const std::string& dtype);
double number(const std::string& dtype, const std::byte* at);
Numbers draw_numbers(const codegen::TensorDesc& t, uint64_t seed);

}  // namespace heddle::testing
