// A module that a test writes as text.
#pragma once
#include <string>

#include "ir/text/parse.h"

namespace heddle::testing {

// IR text with its file, which the module's locations point into.
struct ModuleText {
  SourceFile file;
  ir::Module module;
  explicit ModuleText(const std::string& text) : file{"test.hir", text}, module(ir::parse(file)) {}
};

}  // namespace heddle::testing
