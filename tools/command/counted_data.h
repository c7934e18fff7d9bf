// Counts the rows of a model's data from the headers of the files, for commands that do not read the rows.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "tools/driver/load_data.h"

namespace heddle::tools {

struct CountedData {
  std::optional<driver::DataHeader> header;
  std::string note;  // why there is no header, where the model names data
};
CountedData count_data(const frontend::TrainingPlan& plan, const std::filesystem::path& folder);

// Bytes of the rows as stored, and of their order.
int64_t data_bytes(const frontend::TrainingPlan& plan, const driver::DataHeader& header);

}  // namespace heddle::tools
