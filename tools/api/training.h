// A compiled training: its program, its state, and how both go on where another program takes over.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "frontend/training_plan.h"
#include "runtime/executable.h"
#include "runtime/weights/safetensors.h"
#include "tools/api/heddle.h"
#include "tools/command/compile_model.h"
#include "tools/command/load_data.h"
#include "tools/command/open_device.h"

namespace heddle::api {

class Training {
 public:
  // For rows that are given, one batch at a time.
  Training(const frontend::Model& model, const tools::CompileOptions& options, runtime::Device& device);
  // For the model's own data, which lie in `folder`.
  Training(const frontend::Model& model, const tools::CompileOptions& options, runtime::Device& device,
           const std::filesystem::path& folder, const runtime::WeightsFile* weights);

  bool has_data() const { return splits_.train.has_value(); }
  // From the initializers, then from weights where there are any.
  void start(const runtime::WeightsFile* weights);
  const std::string& note() const { return note_; }  // of these weights; mostly empty
  void go_on_from(Training& before);                 // every state
  double step(const Inputs& rows);
  FitResult fit(const std::function<bool(const Epoch&)>& each);
  runtime::WeightsFile weights();

 private:
  void compile(const frontend::Model& model, const tools::RowCounts& rows, const std::vector<ir::DType>& stored,
               const tools::CompileOptions& options, runtime::Device& device);

  frontend::TrainingPlan plan_;
  std::string note_;
  tools::Splits splits_;
  std::map<std::string, std::string> metadata_;
  codegen::Program program_;
  std::unique_ptr<runtime::Executable> executable_;
  int64_t steps_ = 0;
};

}  // namespace heddle::api
