// A model as it was read, and where the files lie that it names.
//
//   ReadModel read;
//   read_model(read, "mnist_cnn", {.set = {"train.epochs=1"}});   // models/mnist_cnn.json
//   read.folder("")                                              // "models"
#pragma once
#include <filesystem>
#include <string>

#include "frontend/read/read_model.h"

namespace heddle::driver {

// A model with the texts that its locations, and those of errors, point into.
struct ReadModel {
  frontend::Sources sources;
  std::string path;  // empty: of no file
  frontend::Model model;

  // Of the data files: the one that is given, else the model's own.
  std::filesystem::path folder(const std::string& given) const;
};

// `name` is a path, the name of a file in models/ of the working folder or of the program, or - for
// standard input. Throws UserError where there is no such file, or with every fault of the model.
void read_model(ReadModel& read, const std::string& name, const frontend::ReadOptions& options);

}  // namespace heddle::driver
