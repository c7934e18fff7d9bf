#include "runtime/weights/weights_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <unordered_map>

#include "ir/diagnostic.h"
#include "ir/read_text.h"
#include "runtime/files/foreign_file.h"
#include "runtime/text/json_tree.h"

namespace heddle::runtime {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;  // of an index
constexpr size_t kMostFiles = 10'000;

[[noreturn]] void fail(const Location& where, const std::string& message, const std::string& help = {}) {
  throw UserError(where, message, help);
}

// Throws unless it is a plain name: an index must not refer to files of other folders.
void require_name(const text::JsonValue& value, const std::string& name) {
  if (name.ends_with(".safetensors") && name.find_first_of("/\\") == std::string::npos && name.size() < 256 &&
      std::ranges::none_of(name, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    return;
  fail(value.where(),
       fmt::format("tensor '{}': expected the name of a .safetensors file beside the index", value.key()));
}

struct Shard {
  Location where;  // of the first tensor that is in it
  std::set<std::string> tensors;
};

std::map<std::string, Shard> read_shards(const SourceFile& file) {
  const text::JsonTree tree(file);
  const std::optional<text::JsonValue> map = tree.root().object("the index").find("weight_map");
  if (!map) fail(tree.root().where(), "no 'weight_map': this is no index of weights");
  std::map<std::string, Shard> shards;
  std::set<std::string> names;
  for (auto item = map->object("'weight_map'").first(); item; item = item->next()) {
    const std::string name = item->text("a tensor's file");
    require_name(*item, name);
    if (!names.insert(item->key()).second) fail(item->key_where(), fmt::format("'{}' is there twice", item->key()));
    const auto [shard, fresh] = shards.emplace(name, Shard{item->where(), {}});
    if (fresh && shards.size() > kMostFiles) fail(item->where(), fmt::format("more than {} files", kMostFiles));
    shard->second.tensors.insert(item->key());
  }
  if (shards.empty()) fail(map->where(), "'weight_map' names no file");
  return shards;
}

void add(WeightsFile& all, const WeightsFile& part, const Shard& shard) {
  std::set<std::string> left = shard.tensors;
  for (const SavedTensor& t : part.tensors) {
    if (left.erase(t.name) == 0)
      fail(shard.where, fmt::format("{} holds '{}', of which the index does not speak there", part.name, t.name),
           "the index is of other files: take both from one place");
    const std::span<const std::byte> bytes = part.bytes(t);
    std::ranges::copy(bytes, all.add(t.name, t.dtype, t.dims, std::ssize(bytes)).begin());
  }
  if (!left.empty())
    fail(shard.where, fmt::format("{} holds no '{}', which the index says is there", part.name, *left.begin()),
         "the index is of other files: take both from one place");
}

WeightsFile read_files(const SourceFile& index) {
  const std::map<std::string, Shard> shards = read_shards(index);
  const std::filesystem::path folder = std::filesystem::path(index.name).parent_path();
  WeightsFile all{.name = index.name, .tensors = {}, .metadata = {}, .data = {}};
  size_t bytes = 0;
  std::error_code ec;
  for (const auto& [name, shard] : shards) {
    const uintmax_t size = std::filesystem::file_size(folder / name, ec);
    if (ec)
      fail(shard.where, fmt::format("{}: {}", (folder / name).string(), ec.message()),
           "the files of an index lie beside it");
    bytes += static_cast<size_t>(size);
  }
  all.data.own().reserve(bytes);
  for (const auto& [name, shard] : shards) add(all, read_safetensors((folder / name).string()), shard);
  return all;
}

}  // namespace

bool is_weights_index(const std::string& path) {
  return path.ends_with(".json") && !foreign_file(path, Wanted::weights);
}

WeightsFile read_weights_index(const std::string& path) {
  const SourceFile index{path, read_text(path, path, kMostBytes)};
  try {
    return read_files(index);
  } catch (const UserError& error) {
    // What points into the index's text is told before the text is gone.
    const Diagnostic& first = error.diagnostics().front();
    if (!first.where.valid()) throw;
    throw UserError(ExitCode::failed, fmt::format("{}: {}", to_string(first.where), first.message), first.help);
  }
}

std::vector<std::string> files_of_weights(const std::string& path) {
  std::vector<std::string> files = {path};
  if (!is_weights_index(path)) return files;
  try {
    const SourceFile index{path, read_text(path, path, kMostBytes)};
    for (const auto& [name, shard] : read_shards(index))
      files.push_back((std::filesystem::path(path).parent_path() / name).string());
  } catch (const UserError&) {  // whoever reads the weights tells it
  }
  return files;
}

}  // namespace heddle::runtime
