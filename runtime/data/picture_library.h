// Opens the libraries for WebP, TIFF and GIF when the first such picture is read. If they were linked, every start of
// Heddle would take longer (libtiff brings seven more libraries).
//
//   const GifLibrary* gif = gif_library(&reason);     nullptr: `reason` says what was not found
//
// The file names come from CMake, so that the library fits the header that was compiled.
#pragma once
#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "runtime/cuda/open_library.h"

namespace heddle::runtime::data {

// `resolve_all(library, api)` fills the table of functions, and returns whether the library has all of them.
template <class Api, class Resolve>
std::unique_ptr<Api> open_picture_library(const char* name, std::string* reason, Resolve resolve_all) {
  auto api = std::make_unique<Api>();
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr && resolve_all(library, *api)) return api;
  if (reason != nullptr) *reason = fmt::format("{} {}", name, library == nullptr ? "was not found" : "is too old");
  return nullptr;
}

inline constexpr const char* kInstallHelp = "install it: docs/install.md lists Debian's packages";

// For `heddle doctor`: `state` is the version, such as "1.2.4", or says what is missing.
struct PictureLibraryState {
  std::string library, state;
  bool found = false;
};
PictureLibraryState webp_state();
PictureLibraryState tiff_state();
PictureLibraryState gif_state();

}  // namespace heddle::runtime::data
