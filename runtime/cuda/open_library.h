// Shared code of the tables of library functions (Driver, CublasltApi ...): fills them, and chooses among the libraries
// that were found.
//
//   resolve(library, "cuInit", driver.Init)   ->   whether the library has it, and where
#pragma once
#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/compile/library_search.h"

namespace heddle::runtime {

template <class Function>
bool resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// Opens the first candidate that `open(candidate, api)` accepts: `open` returns "" or the reason for a refusal. Returns
// nullptr where it refuses all; `reason` then holds the first refusal of a file, or says that `name` was not found. The
// first file is the one that the user meant: the search by the dynamic loader comes last.
template <class Api, class Open>
std::unique_ptr<Api> open_first(const std::vector<LibraryCandidate>& candidates, const char* name, Open open,
                                std::string* reason) {
  std::string why;
  for (const LibraryCandidate& candidate : candidates) {
    auto api = std::make_unique<Api>();
    const std::string refusal = open(candidate, *api);
    if (refusal.empty()) return api;
    const bool is_file = candidate.path.find('/') != std::string::npos;
    if (why.empty() && is_file) why = fmt::format("{}: {}", candidate.path, refusal);
  }
  if (reason != nullptr) *reason = why.empty() ? fmt::format("{} was not found", name) : why;
  return nullptr;
}

// Calls `open` at the first use and returns its result from then on: there is one table of each Api in the process.
template <class Api>
const Api* find_once(std::unique_ptr<Api> (*open)(std::string* reason), std::string* reason) {
  struct Found {
    std::string reason;
    std::unique_ptr<Api> api;
  };
  static const Found found = [&] {
    Found opened;
    opened.api = open(&opened.reason);
    return opened;
  }();
  if (found.api == nullptr && reason != nullptr) *reason = found.reason;
  return found.api.get();
}

}  // namespace heddle::runtime
