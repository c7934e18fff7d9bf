// Files of other tools, known by their content: what they are, and what to do.
//
//   foreign_file("net.pt", Wanted::weights)
//     -> {"a PyTorch checkpoint", "in PyTorch: safetensors.torch.save_file(model.state_dict(), \"w.safetensors\")"}
#pragma once
#include <optional>
#include <string>

namespace heddle::runtime {

enum class Wanted { model, weights };
struct ForeignFile {
  std::string what, help;
};
// Nothing where the file is none of them, or cannot be read. Looks at the first and the last bytes
// of regular files only.
std::optional<ForeignFile> foreign_file(const std::string& path, Wanted wanted);

// Whether it begins as a file of weights (safetensors) does.
bool is_weights_file(const std::string& path);

}  // namespace heddle::runtime
