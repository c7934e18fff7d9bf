// PackedCode: the machine code of a package, which was compiled earlier, so that no compiler is needed. Code is found
// by the text that it was compiled from.
//
//   packed_name("sm_90a", text, ".cubin")   -> "sm_90a/9f86d081884c7d659f86d081884c7d65.cubin"
//   packed.find(text, ".cubin")             -> the bytes that the file has under this name
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "codegen/program.h"

namespace heddle::runtime {

struct PackedCode {
  std::string file;                              // the package's file, for messages
  std::string maker;                             // "g++ (Debian 12.2.0-14) 12.2.0"
  std::string folder;                            // "host", "sm_90a"
  std::map<std::string, std::string> code = {};  // by name
  // Called for each program before it is loaded. Throws UserError where the code was made for another program.
  std::function<void(const codegen::Program&)> require = {};

  // Throws UserError where there is no code for the text.
  const std::string& find(const std::string& text, std::string_view extension) const;
};

std::string packed_name(const std::string& folder, const std::string& text, std::string_view extension);

}  // namespace heddle::runtime
