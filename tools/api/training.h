// Training: a compiled training of the C++ interface. It holds a session, and can take its states from another
// Training.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tools/api/heddle.h"
#include "tools/driver/session.h"
#include "tools/generate/generated_metrics.h"

namespace heddle::api {

class Training {
 public:
  // For rows that the caller gives, one batch at a time.
  Training(const frontend::Model& model, const driver::CompileOptions& options, runtime::Device& device);
  // For the model's own data in `folder`. The model must outlive this. `open_device` opens devices for the programs
  // that metrics of generated texts need; empty: these metrics are left out.
  Training(const frontend::Model& model, const driver::CompileOptions& options, runtime::Device& device,
           const std::filesystem::path& folder, const runtime::WeightsFile* weights,
           const tools::OpenDevice& open_device);

  bool has_data() const { return session_.splits.train.has_value(); }
  // Sets the states from the initializers, then from `weights` where given.
  void start(std::optional<runtime::WeightsFile> weights);
  const std::string& note() const { return note_; }  // about these weights; mostly empty
  void go_on_from(Training& before);                 // copies every state
  double step(const Inputs& rows);
  FitResult fit(const std::function<bool(const Epoch&)>& each);
  runtime::WeightsFile weights();
  runtime::WeightsFile saved();  // the part of weights() that is saved: with train.lora the adapters

 private:
  driver::Session session_;
  // Makes the object that measures generated texts; empty: the model has no such metric.
  std::function<std::unique_ptr<tools::GeneratedMetrics>()> open_generated_ = {};
  std::string note_;
  int64_t steps_ = 0;
};

}  // namespace heddle::api
