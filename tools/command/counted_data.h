// The rows of a model's data as far as the headers of its files tell, for who reads none of them.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "tools/driver/load_data.h"

namespace heddle::tools {

struct CountedData {
  std::optional<driver::DataHeader> header;
  std::string note;  // why there is none, where the model names data
};
CountedData count_data(const frontend::TrainingPlan& plan, const std::filesystem::path& folder);

// Of the rows as they are stored, and of their order.
int64_t data_bytes(const frontend::TrainingPlan& plan, const driver::DataHeader& header);

}  // namespace heddle::tools
