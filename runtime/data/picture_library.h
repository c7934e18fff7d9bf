// Libraries of pictures that are opened when the first such picture is: linked, they would make every start later
// (libtiff brings seven more).
//
//   const GifLibrary* gif = gif_library(&reason);     nullptr: `reason` says what was not found
//
// CMake says under which names the loader finds those whose headers were compiled.
#pragma once
#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "runtime/cuda/open_library.h"

namespace heddle::runtime::data {

// `resolve_all(library, api)` says whether the library has all functions.
template <class Api, class Resolve>
std::unique_ptr<Api> open_picture_library(const char* name, std::string* reason, Resolve resolve_all) {
  auto api = std::make_unique<Api>();
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr && resolve_all(library, *api)) return api;
  if (reason != nullptr) *reason = fmt::format("{} {}", name, library == nullptr ? "was not found" : "is too old");
  return nullptr;
}

inline constexpr const char* kInstallHelp = "install it: docs/install.md lists Debian's packages";

// "1.2.4", or what is missing: for `heddle doctor`.
struct PictureLibraryState {
  std::string library, state;
  bool found = false;
};
PictureLibraryState webp_state();
PictureLibraryState tiff_state();
PictureLibraryState gif_state();

}  // namespace heddle::runtime::data
