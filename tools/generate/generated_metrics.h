// GeneratedMetrics: metrics of what a model writes itself of a split's rows (frontend/metrics/generated.h).
//
//   GeneratedMetrics generated(model, weights, compile_options, open_device);
//   generated.measure(split, weights, {})   ->   {"exact_match_generated": 0.87}
//
// Of a row the prompt is what the model is told up to the first label that counts. Each next token is the likeliest one,
// as `heddle generate --temperature 0` takes it, until the metric's "end", or until there are as many as labels. With
// "beams" the text is the likeliest that `heddle generate --beams` finds. Rows that are written at once do not depend on
// each other (tools/generate/generate.h).
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frontend/metrics/generated.h"
#include "runtime/train/trainer.h"
#include "tools/driver/generator.h"

namespace heddle::tools {

// A device holds one program, and there are several: one that writes, and one that compares for each metric and split.
using OpenDevice = std::function<std::unique_ptr<runtime::Device>()>;

class GeneratedMetrics {
 public:
  // The model must outlive this. Throws UserError where the model does not generate, or its labels do not
  // stand beside the tokens of its text.
  GeneratedMetrics(const frontend::Model& model, const runtime::WeightsFile& weights,
                   const driver::CompileOptions& options, OpenDevice open_device);
  ~GeneratedMetrics();

  // Whether the model has such a metric.
  static bool needed(const frontend::Model& model);

  // In the model's order; none where `interrupted` has returned something else than 0.
  runtime::MetricValues measure(const runtime::Split& split, runtime::WeightsFile weights,
                                const std::function<int()>& interrupted);

 private:
  struct Measure;
  struct Texts;
  Texts write(const runtime::Split& split, const frontend::GeneratedMetric& metric,
              const std::function<int()>& interrupted);
  runtime::MetricValue compare(const runtime::Split& split, const frontend::GeneratedMetric& metric,
                               const Texts& texts);

  const frontend::Model& model_;
  driver::CompileOptions options_;
  OpenDevice open_device_;
  std::unique_ptr<runtime::Device> device_;  // of the generator
  std::vector<frontend::GeneratedMetric> metrics_;
  std::unique_ptr<driver::Generator> generator_;
  int64_t tokens_ = 0;  // of them there are so many; others are never written
  std::map<std::string, std::unique_ptr<Measure>, std::less<>> measures_;  // by split and metric
};

}  // namespace heddle::tools
