// Trains a small network on drawn digits, saves it, and applies it to a picture: heddle/heddle.h in about thirty lines.
#include <heddle/heddle.h>

#include <algorithm>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "example MODEL WEIGHTS\n"), 2;
  try {
    heddle::Model model = heddle::Model::load(argv[1], {.set = {"train.epochs=1"}});
    const heddle::FitResult trained = model.fit([](const heddle::Epoch& epoch) {
      std::printf("epoch %d: loss %.3f\n", static_cast<int>(epoch.number), epoch.train.at("loss"));
      return true;
    });
    model.save(argv[2]);
    std::printf("%s: %d steps, validation accuracy %.2f\n", model.name().c_str(), static_cast<int>(trained.steps),
                trained.validation.at("accuracy"));

    std::vector<unsigned char> picture(28 * 28);
    for (int row = 4; row < 24; ++row)  // a one
      for (int column = 13; column < 16; ++column) picture[row * 28 + column] = 255;
    const heddle::Outputs out = model.predict({{"image", heddle::Array::u8({1, 28, 28}, picture)}}, {"probs"});
    const std::vector<float> p = out.at("probs").floats();
    const auto best = std::max_element(p.begin(), p.end());
    std::printf("a %d, with probability %.2f\n", static_cast<int>(best - p.begin()), *best);
  } catch (const heddle::Error& error) {
    return std::fputs(error.what(), stderr), error.code();
  }
}
