// Recognises files of other tools by their content, and tells how to convert them.
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
// Returns nothing where the file is not recognised or cannot be read. Reads only the beginning and the end of the file,
// which must be a regular one.
std::optional<ForeignFile> foreign_file(const std::string& path, Wanted wanted);

// Whether the file begins as a weights file (safetensors) does.
bool is_weights_file(const std::string& path);

}  // namespace heddle::runtime
