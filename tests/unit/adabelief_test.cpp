// adabelief over 100 steps, against algorithm 2 of the paper written out.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/followed_training.h"

namespace heddle::frontend {
namespace {

using Vector = std::vector<double>;

TEST(OptimizerFormula, Adabelief) {
  constexpr double kRate = 0.01, kFirst = 0.8, kSecond = 0.95, kEps = 1e-4, kDecay = 0.1;
  Vector m(3, 0), s(3, 0);
  follow(R"("optimizer": {"op": "adabelief", "lr": 0.01, "betas": [0.8, 0.95], "eps": 1e-4, "weight_decay": 0.1})",
         [&](Vector& w, const Vector& g, int step) {
           for (size_t i = 0; i < 3; ++i) {
             m[i] = kFirst * m[i] + (1 - kFirst) * g[i];
             s[i] = kSecond * s[i] + (1 - kSecond) * std::pow(g[i] - m[i], 2) + kEps;
             const double mean = m[i] / (1 - std::pow(kFirst, step + 1));
             const double belief = s[i] / (1 - std::pow(kSecond, step + 1));
             w[i] = w[i] * (1 - kRate * kDecay) - kRate * mean / (std::sqrt(belief) + kEps);
           }
         },
         100, 1e-9);
}

}  // namespace
}  // namespace heddle::frontend
