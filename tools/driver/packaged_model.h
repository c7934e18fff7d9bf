// The model of a package, and the device that executes its code.
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

// Throws UserError as read_package does, and (exit 2) where the options would change the model: a package holds the code
// of one.
Package read_packaged_model(ReadModel& read, const std::string& path, const frontend::ReadOptions& options);
// Of options that say how a program is planned. Throws UserError (exit 2) where either is given.
void require_as_packaged(const std::string& libraries, const std::string& choices);
// The choices that its programs for a target were made with, none where it has none; of no file, since they hold
// wherever the package runs.
Choices packaged_choices(const Package& package, const std::string& target);
// A package's text. Its name, which kernels' comments have, is always the same; messages name the file before it, which
// holds it or was made into it.
void read_model_text(ReadModel& read, const std::string& text, const std::string& file);

// As open_device. The device loads programs that the package was made with, and no others. Throws UserError (exit 3)
// where the package has no code for what is asked for.
OpenedDevice open_packaged_device(const DeviceRequest& request, const Package& package);

// The rows at once that the package predicts on this target, whatever is planned elsewhere. Throws UserError (exit 2)
// where others are asked for.
BatchRequest packaged_batch(const BatchRequest& asked, const Package& package, const ir::Target& target);
// The outputs that the package predicts. Throws UserError (exit 2) where others are asked for.
std::vector<std::string> packaged_outputs(const std::vector<std::string>& asked, const Package& package);

}  // namespace heddle::driver
