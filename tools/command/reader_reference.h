// What `heddle ops` says of readers, which the runtime knows and the frontend does not.
#pragma once
#include <string>

#include "frontend/reference.h"

namespace heddle::tools {

frontend::ReferenceEntry reader_entry(const std::string& name);
// The table of docs/model-format.md.
std::string readers_table();

}  // namespace heddle::tools
