// Checks that a command does not overwrite the weights that it reads.
//
//   require_no_source("-o", "w.safetensors", {"w.safetensors.index.json"})   ->   "--weights and -o name one file"
#pragma once
#include <string>
#include <vector>

namespace heddle::tools {

// Throws UserError (wrong usage) where `path` is one of the weights files, or one of the files that their indices name.
void require_no_source(const std::string& option, const std::string& path, const std::vector<std::string>& weights);

}  // namespace heddle::tools
