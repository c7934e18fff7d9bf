// Reads the model of a package, and opens a device that executes its code.
//
//   ReadModel read;
//   const Package package = read_packaged_model(read, "mnist.heddle", {});
//   OpenedDevice device = open_packaged_device({.device = "auto"}, package);   // compiles nothing, loads its code alone
#pragma once
#include <string>

#include "tools/driver/model_file.h"
#include "tools/driver/open_device.h"
#include "tools/driver/package.h"
#include "tools/driver/plan_batch.h"

namespace heddle::driver {

inline const std::string kPackedChoices = "choices.json";

// Throws UserError as read_package does, and (exit 2) where the options would change the model: a package has code for
// one model only.
Package read_packaged_model(ReadModel& read, const std::string& path, const frontend::ReadOptions& options);
// Throws UserError (exit 2) where --libraries or --choices is given: the programs of a package are already planned.
void require_as_packaged(const std::string& libraries, const std::string& choices);
// The choices with which the programs for a target were made; empty where there are none. Their `file` is empty,
// because they are valid wherever the package runs.
Choices packaged_choices(const Package& package, const std::string& target);
// Reads a package's model text. Kernel comments hold the text's name, so it is always "model.json". Messages also name
// `file`, which holds the text or was packed.
void read_model_text(ReadModel& read, const std::string& text, const std::string& file);

// As open_device. The device loads only programs of the package. Throws UserError (exit 3) where the package has no
// code for the requested device.
OpenedDevice open_packaged_device(const DeviceRequest& request, const Package& package);

// The batch size with which the package predicts on this target. Throws UserError (exit 2) where another one is
// requested.
BatchRequest packaged_batch(const BatchRequest& asked, const Package& package, const ir::Target& target);
// The outputs that the package predicts. Throws UserError (exit 2) where others are requested.
std::vector<std::string> packaged_outputs(const std::vector<std::string>& asked, const Package& package);

}  // namespace heddle::driver
