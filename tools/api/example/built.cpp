// Builds a small network by calls, without a model file, and trains it on rows of its own: y = x0 - 2 x1.
#include <heddle/heddle.h>

#include <cstdio>
#include <vector>

int main() {
  try {
    heddle::ModelBuilder net("line");
    net.input("x", {"N", 2}).input("target", {"N", 1});
    net.node("h", "dense", {"x"}, {{"units", 8}, {"activation", "tanh"}});
    net.node("y", "dense", {}, {{"units", 1}}).output("y", "y");
    net.set("train", {{"batch", {{"N", 16}}},
                      {"loss", {{"op", "mse"}, {"in", heddle::Value::list({"y", "target"})}}},
                      {"optimizer", {{"op", "adam"}, {"lr", 0.02}}}});
    heddle::Model model = heddle::Model::build(net, {.device = "host"});

    std::vector<float> x, target;
    for (int i = 0; i < 16; ++i) {
      const float a = static_cast<float>(i % 4) / 4, b = static_cast<float>(i / 4) / 4;
      x.insert(x.end(), {a, b});
      target.push_back(a - 2 * b);
    }
    const heddle::Inputs rows = {{"x", heddle::Array::f32({16, 2}, x)},
                                 {"target", heddle::Array::f32({16, 1}, target)}};
    double loss = 0;
    for (int step = 0; step < 400; ++step) loss = model.train_step(rows);
    const std::vector<float> y = model.predict({{"x", heddle::Array::f32({1, 2}, {0.5F, 0.25F})}}).at("y").floats();
    std::printf("loss %.4f, y(0.5, 0.25) = %.1f\n", loss, y[0]);
  } catch (const heddle::Error& error) {
    return std::fputs(error.what(), stderr), error.code();
  }
}
