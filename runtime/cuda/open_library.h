// What all tables of a library's functions have in common: how they are filled, and which of the libraries found is taken.
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

// The first candidate that `open(candidate, api)` does not refuse; nullptr where it refuses all: then `reason` says why, or
// that `name` was not found. The first reason is of what was to be taken: the loader's own search comes last.
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

// What `open` gives when it is first asked for, for the whole process; each Api has one.
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
