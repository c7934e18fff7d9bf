// Weights that a command reads are not what it writes over.
//
//   require_no_source("-o", "w.safetensors", {"w.safetensors.index.json"})   ->   "--weights and -o name one file"
#pragma once
#include <string>
#include <vector>

namespace heddle::tools {

// Throws UserError (wrong usage) where the path is one of the files of weights, or of those that their indices name.
void require_no_source(const std::string& option, const std::string& path, const std::vector<std::string>& weights);

}  // namespace heddle::tools
