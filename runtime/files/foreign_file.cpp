#include "runtime/files/foreign_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace heddle::runtime {
namespace {

constexpr std::streamoff kLooked = 64 << 10;  // bytes at each end: an archive's table of contents stands at its end

struct Ends {
  std::string head, tail;
  bool has(std::string_view word) const {
    return head.find(word) != std::string::npos || tail.find(word) != std::string::npos;
  }
};

std::string bytes_at(std::ifstream& in, std::streamoff begin) {
  std::string text(static_cast<size_t>(kLooked), '\0');
  in.clear();
  in.seekg(begin);
  in.read(text.data(), kLooked);
  text.resize(static_cast<size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

std::optional<Ends> ends_of(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return std::nullopt;
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path, ec));
  std::ifstream in(path, std::ios::binary);
  if (ec || !in) return std::nullopt;
  return Ends{bytes_at(in, 0), bytes_at(in, std::max<std::streamoff>(0, size - kLooked))};
}

const std::string kFromTorch =
    "in PyTorch: safetensors.torch.save_file(model.state_dict(), \"w.safetensors\"), and give that file";
const std::string kFromKeras =
    "in Keras: write model.get_weights() into a safetensors file, under the names and in the shapes that heddle "
    "inspect MODEL lists";
const std::string kModel = "write the network as nodes: docs/model-format.md says how";

// What a zip archive of one of them holds.
ForeignFile archive(const Ends& file, Wanted wanted) {
  const std::string& torch = wanted == Wanted::model ? kModel : kFromTorch;
  if (file.has("constants.pkl")) return {"a TorchScript archive", torch};
  if (file.has("data.pkl")) return {"a PyTorch checkpoint", torch};
  if (file.has("model.weights.h5")) return {"a Keras archive", wanted == Wanted::model ? kModel : kFromKeras};
  if (file.has(".npy"))
    return {"a NumPy archive (.npz)",
            "in Python: safetensors.numpy.save_file(dict(numpy.load(FILE)), \"w.safetensors\")"};
  return {"a zip archive", "unpack it, and give the file that is meant"};
}

// The length of a header, eight bytes, and JSON.
bool is_safetensors(const std::string& head) {
  return head.size() > 9 && head[8] == '{' && head[5] == '\0' && head[6] == '\0' && head[7] == '\0';
}

// The version of the format, a small number, and then a text or a message of the fields that come first.
bool is_onnx(const std::string& head) {
  return head.size() > 4 && head[0] == '\x08' && head[1] > 0 && head[1] < 32 &&
         std::string_view("\x12\x1a\x22\x2a\x32\x3a\x42").find(head[2]) != std::string_view::npos;
}

bool is_keras_json(const std::string& head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string::npos && head[first] == '{' && head.find("\"class_name\"") != std::string::npos &&
         head.find("\"config\"") != std::string::npos && head.find("heddle-model/") == std::string::npos;
}

}  // namespace

bool is_weights_file(const std::string& path) {
  const std::optional<Ends> file = ends_of(path);
  return file && is_safetensors(file->head);
}

std::optional<ForeignFile> foreign_file(const std::string& path, Wanted wanted) {
  const std::optional<Ends> file = ends_of(path);
  if (!file) return std::nullopt;
  const std::string_view head = file->head;
  const bool model = wanted == Wanted::model;
  if (head.starts_with("PK\x03\x04")) return archive(*file, wanted);
  if (head.starts_with("\x89HDF\r\n\x1a\n"))
    return ForeignFile{"an HDF5 file, as Keras writes it", model ? kModel : kFromKeras};
  if (head.starts_with("GGUF"))
    return ForeignFile{"a GGUF file", "convert its tensors to safetensors; what is quantised cannot be read"};
  if (head.starts_with("\x93NUMPY"))
    return ForeignFile{"a NumPy array (.npy)",
                       model ? "arrays are data: the reader npy takes them"
                             : "in Python: safetensors.numpy.save_file({NAME: numpy.load(FILE)}, \"w.safetensors\")"};
  if (head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5)
    return ForeignFile{"a Python pickle, which is a program and is not run", model ? kModel : kFromTorch};
  if (is_onnx(file->head))
    return ForeignFile{"an ONNX model", model ? kModel : "write its initializers into a safetensors file"};
  if (model && is_safetensors(file->head))
    return ForeignFile{
        "a file of weights (safetensors)",
        "give a model; train, evaluate and predict take the weights with --weights, and inspect shows them"};
  if (is_keras_json(file->head))
    return ForeignFile{"a Keras model in JSON", model ? kModel : "its weights are in another file"};
  return std::nullopt;
}

}  // namespace heddle::runtime
