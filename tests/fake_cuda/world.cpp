#include "tests/fake_cuda/world.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "tests/fake_cuda/stream.h"

namespace heddle::fake_cuda {

World::World() {
  const char* fail = std::getenv("HEDDLE_FAKE_CUDA_FAIL");
  if (fail == nullptr) return;
  const std::string text = fail;
  const size_t colon = text.find(':');
  fail_call_ = text.substr(0, colon);
  fail_for_good_ = text.ends_with('+');
  fail_at_ = colon == std::string::npos ? 1 : std::atoll(text.c_str() + colon + 1);
}

// What a program has not given back by its end.
World::~World() {
  if (sticky == kSuccess) report_leaks();  // else nothing could be given back
  const char* path = std::getenv("HEDDLE_FAKE_CUDA_REPORT");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file == nullptr) return;
  std::fputs(report().c_str(), file);
  std::fclose(file);
}

void World::report_leaks() {
  for (const auto& [kind, count] : alive)
    if (count != 0) violate(fmt::format("{} of kind '{}' never given back", count, kind));
  if (!memory.allocations().empty())
    violate(fmt::format("{} allocations of device memory never freed", memory.allocations().size()));
  if (!pinned.empty()) violate(fmt::format("{} allocations of host memory never freed", pinned.size()));
}

void World::violate(const std::string& what) { violations.push_back(what); }

std::string World::report() const {
  std::string out;
  for (const std::string& v : violations) out += "violation: " + v + "\n";
  for (const auto& [what, count] : counts) out += fmt::format("count: {} {}\n", what, count);
  return out + fmt::format("{} violations\n", violations.size());
}

bool World::fails(const std::string& call) { return call == fail_call_ && counts[call] == fail_at_; }

World& world() {
  static World only;
  return only;
}

Call::Call(const char* name) : lock_(world().lock) {
  World& w = world();
  ++w.counts[name];
  if (w.fails(name)) {
    status_ = std::string(name).find("Alloc") != std::string::npos ? kOutOfMemory : kLaunchFailed;
    if (w.fail_for_good()) w.sticky = status_;
  } else if (!w.initialised) {
    status_ = kNotInitialized;
  } else {
    status_ = w.sticky;
  }
}

}  // namespace heddle::fake_cuda

// For tests in the same process: what the report would say now, and the end of all that it says.
extern "C" const char* fake_cuda_report() {
  static std::string text;
  text = heddle::fake_cuda::world().report();
  return text.c_str();
}
extern "C" void fake_cuda_forget() {
  heddle::fake_cuda::world().violations.clear();
  heddle::fake_cuda::world().counts.clear();
}
