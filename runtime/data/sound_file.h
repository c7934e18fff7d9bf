// Reads wav files as samples in [-1, 1), by libsndfile.
//
//   read_sound("yes/7.wav", "yes/7.wav", where, {.rate = 16000, .mono = true, .most = 16000})
//     -> {samples = {0.0, 0.0031, ...}, size = 15890}
//
// Integers of 8, 16, 24 and 32 bits are divided by half of their range. Floats are not changed. A-law and mu-law are
// expanded. Nothing is resampled.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {

struct SoundRequest {
  int64_t rate = 0;  // samples in a second
  bool mono = true;  // several channels become their mean; false: they are an error
  int64_t most = 0;  // samples: the rest of a longer sound is not read
};

struct Sound {
  std::vector<double> samples;
  int64_t size = 0;  // samples of the whole file
};

// Throws UserError at `where` where the file is not a wav file, is damaged, or has another rate.
Sound read_sound(const std::filesystem::path& file, const std::string& name, const Location& where,
                 const SoundRequest& request);

}  // namespace heddle::runtime::data
