// A compiled training as a program has it: a session, and how its state goes on where another one takes over.
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
  // For rows that are given, one batch at a time.
  Training(const frontend::Model& model, const driver::CompileOptions& options, runtime::Device& device);
  // For the model's own data, which lie in `folder`. The model must outlive this. `open_device`: of programs that write
  // texts for metrics; empty: these are left out.
  Training(const frontend::Model& model, const driver::CompileOptions& options, runtime::Device& device,
           const std::filesystem::path& folder, const runtime::WeightsFile* weights,
           const tools::OpenDevice& open_device);

  bool has_data() const { return session_.splits.train.has_value(); }
  // From the initializers, then from weights where there are any.
  void start(std::optional<runtime::WeightsFile> weights);
  const std::string& note() const { return note_; }  // of these weights; mostly empty
  void go_on_from(Training& before);                 // every state
  double step(const Inputs& rows);
  FitResult fit(const std::function<bool(const Epoch&)>& each);
  runtime::WeightsFile weights();
  runtime::WeightsFile saved();  // of these what a file gets: with train.lora the adapters

 private:
  driver::Session session_;
  // Makes what measures texts that the model writes; empty: it has no such metric.
  std::function<std::unique_ptr<tools::GeneratedMetrics>()> open_generated_ = {};
  std::string note_;
  int64_t steps_ = 0;
};

}  // namespace heddle::api
