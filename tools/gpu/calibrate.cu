// What a GPU does at best, for the cost model's constants: a row each of name, value, unit, reference, ratio, verdict.
//
//   nvcc -O3 -arch=native -o calibrate calibrate.cu && ./calibrate
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "error: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(1);
}
#define CHECK(call) check(call, #call)

__global__ void copy(const float4* __restrict__ from, float4* __restrict__ to, size_t count) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) to[i] = from[i];
}

// Around L1: every word comes from L2 once `from` lies there. The sum is never this value; the compiler does not know.
__global__ void read_again(const float4* from, float4* to, size_t count, int times) {
  float sum = 0;
  for (int t = 0; t < times; ++t)
    for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
      const float4 v = __ldcg(from + i);
      sum += v.x + v.y + v.z + v.w;
    }
  if (sum == 12345.678F) to[0].x = sum;
}

__global__ void nothing() {}

__global__ void barriers(int times) {
  for (int t = 0; t < times; ++t) cooperative_groups::this_grid().sync();
}

// The least of several runs, in seconds.
template <class Work>
double least(cudaStream_t stream, Work work) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  float best = 1e30F;
  for (int run = 0; run < 12; ++run) {
    CHECK(cudaEventRecord(begin, stream));
    work();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    best = std::min(best, milliseconds);
  }
  return 1e-3 * best;
}

void row(const char* name, double value, const char* unit) {
  std::printf("%s\t%.4g\t%s\t\t\tok\n", name, value, unit);
  std::fflush(stdout);
}

double graph_seconds(cudaStream_t stream, int nodes) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < nodes; ++i) nothing<<<1, 32, 0, stream>>>();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  const double seconds = least(stream, [&] { CHECK(cudaGraphLaunch(exec, stream)); });
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  return seconds;
}

}  // namespace

int main() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const int blocks = 8 * device.multiProcessorCount, threads = 256;
  row("multiprocessors", device.multiProcessorCount, "");
  row("L2", device.l2CacheSize / 1e6, "MB");

  const size_t large = size_t{2} << 30;
  float4 *from, *to;
  CHECK(cudaMalloc(&from, large));
  CHECK(cudaMalloc(&to, large));
  CHECK(cudaMemset(from, 0, large));
  const double copied = least(stream, [&] { copy<<<blocks, threads, 0, stream>>>(from, to, large / 16); });
  row("copy, read and written", 2.0 * static_cast<double>(large) / copied / 1e9, "GB/s");

  const size_t small = static_cast<size_t>(device.l2CacheSize) / 4 / 16 * 16;
  const int times = 64;
  const double read = least(stream, [&] { read_again<<<blocks, threads, 0, stream>>>(from, to, small / 16, times); });
  row("L2, read", static_cast<double>(small) * times / read / 1e9, "GB/s");

  const double one = graph_seconds(stream, 1), many = graph_seconds(stream, 1001);
  row("graph of one kernel", one * 1e6, "us");
  row("kernel within a graph", (many - one) / 1000 * 1e6, "us");

  const auto synchronize = [&](int count) {
    void* arguments[] = {&count};
    return least(stream, [&] {
      CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(barriers), device.multiProcessorCount, 128, arguments, 0, stream));
    });
  };
  row("grid barrier, a block on each multiprocessor", (synchronize(1001) - synchronize(1)) / 1000 * 1e6, "us");
  return 0;
}
