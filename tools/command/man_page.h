// Makes the manual page from the definitions of the command line. `heddle help --man` prints it; the build installs it.
//
//   man_page(line, "Heddle compiles ...", "heddle 0.1.0") -> ".TH HEDDLE 1 ...\n.SH NAME\n..."
//
// The page has no date and no property of the machine, so equal sources make equal pages.
#pragma once
#include <string>

#include "tools/command/command_line.h"

namespace heddle::tools {

std::string man_page(const CommandLine& line, const std::string& description, const std::string& version);

}  // namespace heddle::tools
