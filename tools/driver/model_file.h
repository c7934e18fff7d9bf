// ReadModel: a model that was read from a file, and the folder of its data files.
//
//   ReadModel read;
//   read_model(read, "mnist_cnn", {.set = {"train.epochs=1"}});   // models/mnist_cnn.json
//   read.folder("")                                              // "models"
#pragma once
#include <filesystem>
#include <string>

#include "frontend/read/read_model.h"

namespace heddle::driver {

// A model, with the texts into which its locations and those of errors point.
struct ReadModel {
  frontend::Sources sources;
  std::string path;  // empty: not from a file
  frontend::Model model;

  // The folder of the data files: `given`, else the model's folder.
  std::filesystem::path folder(const std::string& given) const;
};

// `name` is a path; or the name of a file in models/, in the working folder or beside the program; or - for standard
// input. Throws UserError where there is no such file, or with every error of the model.
void read_model(ReadModel& read, const std::string& name, const frontend::ReadOptions& options);

}  // namespace heddle::driver
