#include "runtime/data/in_parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace heddle::runtime::data {

void in_parallel(int64_t count, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next = 0;
  std::mutex mutex;
  std::map<int64_t, std::exception_ptr> faults;
  const auto run = [&] {
    for (int64_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        faults.emplace(i, std::current_exception());
        next = count;
      }
    }
  };
  std::vector<std::jthread> workers;
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1U, 16U);
  try {
    for (unsigned t = 1; t < threads; ++t) workers.emplace_back(run);
  } catch (const std::system_error&) {  // fewer, where the system gives no more
  }
  run();
  workers.clear();  // joins
  if (!faults.empty()) std::rethrow_exception(faults.begin()->second);
}

}  // namespace heddle::runtime::data
