#include "runtime/data/log_mel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <kissfft/kissfft.hh>
#include <numbers>

#include "ir/check.h"

namespace heddle::runtime::data {
namespace {

constexpr double kPi = std::numbers::pi;

// Slaney's scale (Auditory Toolbox, 1998): linear below 1000 Hz, 27 steps to 6400 Hz above.
constexpr double kLinearHz = 200.0 / 3, kBreakHz = 1000, kBreakMel = kBreakHz / kLinearHz;
double log_step() { return std::log(6.4) / 27; }

// The HTK Book, section 5.4: 2595 log10(1 + f / 700).
double to_mel(double hz, MelScale scale) {
  if (scale == MelScale::htk) return 2595 * std::log10(1 + hz / 700);
  return hz < kBreakHz ? hz / kLinearHz : kBreakMel + std::log(hz / kBreakHz) / log_step();
}

double to_hz(double mel, MelScale scale) {
  if (scale == MelScale::htk) return 700 * (std::pow(10, mel / 2595) - 1);
  return mel < kBreakMel ? mel * kLinearHz : kBreakHz * std::exp(log_step() * (mel - kBreakMel));
}

// Maps an index outside of the sound to its mirror image; the edge element is not repeated. For a short sound, mirrors
// repeatedly.
int64_t reflected(int64_t at, int64_t size) {
  if (size == 1) return 0;
  const int64_t period = 2 * (size - 1);
  at = ((at % period) + period) % period;
  return at < size ? at : period - at;
}

}  // namespace

std::string transform_fault(int64_t n_fft) {
  if (n_fft < 2 || n_fft > kMostTransform || n_fft % 2 != 0)
    return fmt::format("must be even, from 2 to {}, is {}", kMostTransform, n_fft);
  int64_t rest = n_fft;
  for (int64_t p = 2; p <= kMostPrimeFactor; ++p)
    while (rest % p == 0) rest /= p;
  if (rest > 1) return fmt::format("must be a product of small numbers, {} has the factor {}", n_fft, rest);
  return {};
}

struct LogMel::Transform {
  kissfft<double> half;  // of pairs of real numbers
};

LogMel::LogMel(const LogMelSettings& settings)
    : settings_(settings),
      transform_(std::make_unique<Transform>(
          Transform{kissfft<double>(static_cast<size_t>(settings.n_fft / 2), /*inverse=*/false)})),
      window_(static_cast<size_t>(settings.n_fft)) {
  const LogMelSettings& s = settings_;
  HEDDLE_CHECK(transform_fault(s.n_fft).empty() && s.window >= 1 && s.window <= s.n_fft, "checked by the reader");
  const int64_t left = (s.n_fft - s.window) / 2;
  for (int64_t i = 0; i < s.window; ++i)
    window_[static_cast<size_t>(left + i)] =
        0.5 - 0.5 * std::cos(2 * kPi * static_cast<double>(i) / static_cast<double>(s.window));
  const double first = to_mel(s.low, s.scale),
               step = (to_mel(s.high, s.scale) - first) / static_cast<double>(s.mels + 1);
  const auto corner = [&](int64_t m) { return to_hz(first + step * static_cast<double>(m), s.scale); };
  for (int64_t m = 0; m < s.mels; ++m) {
    const double low = corner(m), middle = corner(m + 1), high = corner(m + 2);
    const double height = s.norm ? 2 / (high - low) : 1;
    Band band;
    for (int64_t k = 0; k <= s.n_fft / 2; ++k) {
      const double hz = static_cast<double>(k) * static_cast<double>(s.rate) / static_cast<double>(s.n_fft);
      const double weight = std::min((hz - low) / (middle - low), (high - hz) / (high - middle));
      if (!(weight > 0)) continue;
      if (band.weights.empty()) band.first = k;
      band.weights.push_back(weight * height);
    }
    bands_.push_back(std::move(band));
  }
}

LogMel::~LogMel() = default;

int64_t LogMel::frames(int64_t samples) const {
  if (samples <= 0) return 0;
  if (settings_.center) return 1 + samples / settings_.hop;
  return samples < settings_.n_fft ? 0 : 1 + (samples - settings_.n_fft) / settings_.hop;
}

int64_t LogMel::samples_of(int64_t frames) const { return (frames - 1) * settings_.hop + settings_.n_fft; }

int64_t LogMel::empty_bands() const {
  return std::ranges::count_if(bands_, [](const Band& band) { return band.weights.empty(); });
}

double LogMel::logarithm(double energy) const {
  const double kept = std::max(energy, settings_.floor);
  switch (settings_.log) {
    case MelLog::none: return energy;
    case MelLog::natural: return std::log(kept);
    case MelLog::log10: return std::log10(kept);
    case MelLog::db: return 20 / settings_.power * std::log10(kept);
  }
  return energy;
}

void LogMel::compute(std::span<const double> samples, int64_t frames, float* to) const {
  const int64_t n = settings_.n_fft, size = std::ssize(samples), own = std::min(frames, this->frames(size));
  std::vector<double> read(static_cast<size_t>(n)), energies(static_cast<size_t>(n / 2 + 1));
  std::vector<std::complex<double>> found(static_cast<size_t>(n / 2));
  const auto energy = [&](std::complex<double> x) {
    const double square = std::norm(x);
    return settings_.power == 2 ? square : std::pow(square, settings_.power / 2);
  };
  for (int64_t t = 0; t < own; ++t) {
    const int64_t begin = t * settings_.hop - (settings_.center ? n / 2 : 0);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = begin + i;
      double x = 0;
      if (at >= 0 && at < size)
        x = samples[static_cast<size_t>(at)];
      else if (settings_.reflect)
        x = samples[static_cast<size_t>(reflected(at, size))];
      read[static_cast<size_t>(i)] = x * window_[static_cast<size_t>(i)];
    }
    transform_->half.transform_real(read.data(), found.data());
    energies.front() = energy(found[0].real());
    energies.back() = energy(found[0].imag());  // where kissfft puts the highest frequency
    for (size_t k = 1; k < found.size(); ++k) energies[k] = energy(found[k]);
    for (const Band& band : bands_) {
      double sum = 0;
      for (size_t k = 0; k < band.weights.size(); ++k)
        sum += band.weights[k] * energies[static_cast<size_t>(band.first) + k];
      *to++ = static_cast<float>(logarithm(sum));
    }
  }
  std::fill_n(to, (frames - own) * settings_.mels, static_cast<float>(logarithm(0)));
}

}  // namespace heddle::runtime::data
