#include "runtime/host/peaks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <new>
#include <string>

#include "ir/check.h"
#include "runtime/host/host_compiler.h"
#include "runtime/host/thread_pool.h"

namespace heddle::runtime {
namespace {

const std::string& peaks_text() {
  static const std::string text =
#include "peaks.inc"
      ;
  return text;
}

constexpr size_t kAlignment = 4096;
constexpr int64_t kUnit = 256;  // bytes: four of the widest vectors
// The fastest round of each measurement counts: at least so many, and for so long, as other programs may be in the way.
constexpr int kRounds = 5;
constexpr double kSeconds = 0.06;

// Pages of their own, written once by the thread that uses them.
struct Memory {
  explicit Memory(int64_t bytes)
      : begin(static_cast<char*>(::operator new (static_cast<size_t>(bytes), std::align_val_t{kAlignment}))) {}
  ~Memory() { ::operator delete (begin, std::align_val_t{kAlignment}); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  char* begin;
};

// The least seconds of work(thread) on all threads at once.
template <class Work>
double least_seconds(ThreadPool& pool, Work work) {
  double least = std::numeric_limits<double>::infinity();
  const double end = seconds_now() + kSeconds;
  for (int round = 0; round < kRounds || seconds_now() < end; ++round) {
    const double begin = seconds_now();
    pool.run(pool.threads(), work);
    least = std::min(least, seconds_now() - begin);
  }
  return least;
}

double measure_flops(HostKernel kernel, ThreadPool& pool) {
  int64_t turns = 100'000;  // less than a millisecond
  double operations = 0;
  const double seconds = least_seconds(pool, [&](int64_t) {
    float sum = 0;
    double mine = 0;
    const std::array<void*, 3> arguments = {&turns, &sum, &mine};
    kernel(arguments.data(), 0, 1);
    if (sum == sum) operations = mine;  // the same of every thread; a sum that nobody reads might not be made
  });
  return operations * pool.threads() / seconds;
}

// Each thread has its part of `bytes`, half of which is copied into the other half, or all of which is read.
double measure_bandwidth(const HostLibrary& text, ThreadPool& pool, int64_t bytes) {
  constexpr int64_t kMoved = int64_t{8} << 20;  // in a round, so that a clock can tell
  const int64_t half = std::max(bytes / pool.threads() / 2 / kUnit, int64_t{1}) * kUnit,
                times = std::max<int64_t>(1, kMoved / bytes);
  const Memory memory(2 * half * pool.threads());
  const HostKernel copy = text.find("peak_copy"), read = text.find("peak_read");
  const auto part = [&](int64_t thread) { return memory.begin + 2 * half * thread; };
  pool.run(pool.threads(), [&](int64_t t) { std::fill_n(part(t), 2 * half, static_cast<char>(t)); });
  const double copied = least_seconds(pool, [&](int64_t t) {
    int64_t size = half;
    const std::array<void*, 3> arguments = {part(t), part(t) + half, &size};
    for (int64_t i = 0; i < times; ++i) copy(arguments.data(), 0, 1);
  });
  const double only_read = least_seconds(pool, [&](int64_t t) {
    int64_t size = 2 * half;
    uint32_t word = 0;
    const std::array<void*, 3> arguments = {part(t), &word, &size};
    for (int64_t i = 0; i < times; ++i) read(arguments.data(), 0, 1);
  });
  return static_cast<double>(2 * half * pool.threads() * times) / std::min(copied, only_read);
}

}  // namespace

Peaks measure_peaks(int threads) {
  ThreadPool pool(threads > 0 ? threads : available_processors());
  const HostLibrary text = compile_for_host(peaks_text(), KernelCache(kernel_cache_folder()));
  const HostKernel flops = text.find("peak_flops");
  HEDDLE_CHECK(flops != nullptr, "the text of peaks has its functions");
  // A second-level cache of each processor holds the first; a last-level one the second; none the third.
  const int64_t near = (int64_t{1} << 19) * pool.threads();
  const int64_t far = std::max<int64_t>(int64_t{16} << 20, 2 * near), memory = int64_t{128} << 20;
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  Peaks peaks{.flops = measure_flops(flops, pool), .bandwidths = {}};
  for (const auto& [bytes, up_to] : {std::pair{near, near}, std::pair{far, far}, std::pair{memory, kAny}})
    peaks.bandwidths.push_back({up_to, measure_bandwidth(text, pool, bytes)});
  // Smaller sizes are never slower; on a disturbed machine a measurement may say so, so correct it.
  for (size_t i = peaks.bandwidths.size() - 1; i > 0; --i)
    peaks.bandwidths[i - 1].bytes_per_second =
        std::max(peaks.bandwidths[i - 1].bytes_per_second, peaks.bandwidths[i].bytes_per_second);
  return peaks;
}

}  // namespace heddle::runtime
