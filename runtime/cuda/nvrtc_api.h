// NvrtcApi: the functions of NVRTC that Heddle calls. They are looked up when they are first needed.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "runtime/compile/library_search.h"

namespace heddle::runtime {

// Names are those of the library without "nvrtc". Statuses and handles are those of its C interface.
struct NvrtcApi {
  using Program = struct NvrtcProgram*;
  int (*Version)(int*, int*) = nullptr;
  const char* (*GetErrorString)(int) = nullptr;
  int (*GetNumSupportedArchs)(int*) = nullptr;
  int (*GetSupportedArchs)(int*) = nullptr;
  int (*CreateProgram)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*DestroyProgram)(Program*) = nullptr;
  int (*CompileProgram)(Program, int, const char* const*) = nullptr;
  int (*GetCUBINSize)(Program, size_t*) = nullptr;
  int (*GetCUBIN)(Program, char*) = nullptr;
  int (*GetPTXSize)(Program, size_t*) = nullptr;
  int (*GetPTX)(Program, char*) = nullptr;
  int (*GetProgramLogSize)(Program, size_t*) = nullptr;
  int (*GetProgramLog)(Program, char*) = nullptr;
  LibraryCandidate from;

  // Throws UserError where `status` is not success.
  void check(int status, const char* call) const;
};

// Returns nullptr where there is no NVRTC. The library stays open.
std::unique_ptr<NvrtcApi> open_nvrtc();

}  // namespace heddle::runtime
