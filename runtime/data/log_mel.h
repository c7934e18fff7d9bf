// LogMel: log-mel features of a sound, its energy in bands of the mel scale for each frame, as torchaudio's
// MelSpectrogram and librosa's melspectrogram define them.
//
//   LogMel mel({.rate = 8000, .n_fft = 512, .window = 512, .hop = 256, .mels = 40, .high = 4000});
//   mel.frames(8000)                    -> 32
//   mel.compute(samples, 32, to)        -> f32[32, 40] at `to`
//
// For each frame: the sound is multiplied by a periodic Hann window, which lies in the middle of n_fft samples; kissfft
// computes the Fourier transform; its magnitudes are raised to `power`, and summed with triangular weights on the mel
// scale; the logarithm is taken. All is computed in doubles and rounded once.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heddle::runtime::data {

enum class MelScale { htk, slaney };
enum class MelLog { none, natural, log10, db };

struct LogMelSettings {
  int64_t rate = 16'000;  // samples in a second
  int64_t n_fft = 400, window = 400,
          hop = 160;  // samples of a transform, which is even, of its window, and to the next
  int64_t mels = 80;
  double low = 0, high = 8'000;  // Hz: where the first triangle begins and the last one ends
  MelScale scale = MelScale::htk;
  bool norm = false;  // triangles of area 1 ("slaney"), else of height 1
  double power = 2;
  MelLog log = MelLog::natural;
  double floor = 1e-10;  // smaller energies are raised to this before the logarithm
  bool center = true;    // the middle of frame t is sample t * hop; false: frame t begins there
  bool reflect = true;   // beyond its ends the sound is mirrored; false: zeros
};

// Limits. Longer transforms, or lengths with larger prime factors, would take too long.
inline constexpr int64_t kMostTransform = 1 << 16, kMostPrimeFactor = 31, kMostMels = 4096;
// What is wrong with the length of a transform, or "".
std::string transform_fault(int64_t n_fft);

class LogMel {
 public:
  // Requires: transform_fault(n_fft) is "", window is in [1, n_fft], and 0 <= low < high.
  explicit LogMel(const LogMelSettings& settings);
  ~LogMel();
  LogMel(const LogMel&) = delete;
  LogMel& operator=(const LogMel&) = delete;

  const LogMelSettings& settings() const { return settings_; }
  // The number of frames in so many samples; 0 where they are too few.
  int64_t frames(int64_t samples) const;
  // How many samples, counted from the beginning, the first `frames` frames depend on.
  int64_t samples_of(int64_t frames) const;
  // The number of bands that hold no frequency of the transform, and so are always silent.
  int64_t empty_bands() const;
  // Writes the first `frames` frames, f32 [frames, mels]. Where the sound has fewer, silence follows. Any thread may
  // call it.
  void compute(std::span<const double> samples, int64_t frames, float* to) const;

 private:
  struct Transform;
  struct Band {
    int64_t first = 0;            // frequency
    std::vector<double> weights;  // of `first` and the frequencies after it
  };
  double logarithm(double energy) const;

  LogMelSettings settings_;
  std::unique_ptr<Transform> transform_;
  std::vector<double> window_;  // n_fft
  std::vector<Band> bands_;
};

}  // namespace heddle::runtime::data
