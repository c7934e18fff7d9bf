// The manifest of a package: JSON, of which every value is checked before it is used.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/json/json.h"
#include "ir/diagnostic.h"
#include "runtime/compile/kernel_cache.h"
#include "runtime/json_text.h"
#include "tools/driver/package.h"
#include "tools/driver/plan_batch.h"

namespace heddle::driver {
namespace {

using frontend::Json;
using runtime::JsonObject;

constexpr const char* kFormat = "heddle-package/1";
constexpr const char* kAgain = "make the package anew: heddle package MODEL -o FILE";
constexpr size_t kMostTargets = 64, kMostPrograms = 3, kMostWords = 256, kLongest = 4096;

std::string_view bytes_of(const Package& p, const runtime::SavedTensor& t) {
  const auto bytes = p.content.bytes(t);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string print(const PackedProgram& p) {
  return JsonObject()
      .text("for", p.purpose)
      .text("entries", p.entries)
      .integer("kernels", p.kernels)
      .integer("state_bytes", p.state_bytes)
      .integer("arena_bytes", p.arena_bytes)
      .integer("ring_bytes", p.ring_bytes)
      .text("hash", p.hash)
      .str();
}

std::string print(const PackedTarget& t) {
  std::vector<std::string> programs;
  for (const PackedProgram& p : t.programs) programs.push_back(print(p));
  JsonObject out;
  out.text("target", t.name).text("arch", t.arch).text("made_by", t.maker).text("ptx", t.ptx);
  out.text("machine", t.machine).raw("instructions", runtime::json_texts(t.instructions)).text("onednn", t.onednn);
  return out.integer("predict_rows", t.predict_rows).raw("programs", runtime::json_list(programs)).str();
}

// --- reading ---

const Json& member(const Json& object, std::string_view name) {
  frontend::as_object(object, "the manifest's part");
  if (const Json* found = object.find(name)) return *found;
  throw UserError(object.where, fmt::format("the manifest lacks '{}'", name));
}

std::string text_of(const Json& object, std::string_view name) {
  const Json& value = member(object, name);
  std::string text = frontend::as_text(value, fmt::format("'{}'", name));
  const auto printable = [](unsigned char c) { return c >= ' ' && c != 0x7f; };
  if (text.size() > kLongest || !std::all_of(text.begin(), text.end(), printable))
    throw UserError(value.where, fmt::format("'{}' is no line of text", name));
  return text;
}

int64_t count_of(const Json& object, std::string_view name, int64_t most) {
  const Json& value = member(object, name);
  const int64_t count = frontend::as_integer(value, fmt::format("'{}'", name));
  if (count < 0 || count > most)
    throw UserError(value.where, fmt::format("'{}' is {}, expected 0 ... {}", name, count, most));
  return count;
}

const std::vector<Json>& list_of(const Json& object, std::string_view name, size_t most) {
  const Json& value = frontend::as_list(member(object, name), fmt::format("'{}'", name));
  if (value.items.size() > most)
    throw UserError(value.where, fmt::format("'{}' has {} items, expected at most {}", name, value.items.size(), most));
  return value.items;
}

PackedProgram read_program(const Json& json) {
  constexpr int64_t kMostBytes = int64_t{1} << 50, kMostKernels = 1 << 20;
  return {.purpose = text_of(json, "for"),
          .entries = text_of(json, "entries"),
          .hash = text_of(json, "hash"),
          .state_bytes = count_of(json, "state_bytes", kMostBytes),
          .arena_bytes = count_of(json, "arena_bytes", kMostBytes),
          .ring_bytes = count_of(json, "ring_bytes", kMostBytes),
          .kernels = count_of(json, "kernels", kMostKernels)};
}

PackedTarget read_target(const Json& json) {
  PackedTarget t;
  t.name = text_of(json, "target"), t.arch = text_of(json, "arch"), t.maker = text_of(json, "made_by");
  t.ptx = text_of(json, "ptx"), t.machine = text_of(json, "machine"), t.onednn = text_of(json, "onednn");
  if (std::ranges::count(ir::target_names(), t.name) == 0)
    throw UserError(json.where, fmt::format("there is no target '{}'", t.name));
  t.predict_rows = count_of(json, "predict_rows", kMostBatch);
  for (const Json& name : list_of(json, "instructions", kMostWords))
    t.instructions.push_back(frontend::as_text(name, "an instruction"));
  for (const Json& program : list_of(json, "programs", kMostPrograms)) t.programs.push_back(read_program(program));
  return t;
}

// What the file holds is what the manifest says, no more and no less.
void require_files(const Package& package, const Json& manifest) {
  std::set<std::string> known;
  for (const Json& file : list_of(manifest, "files", package.content.tensors.size())) {
    const std::string name = text_of(file, "name");
    const runtime::SavedTensor* tensor = package.content.find(name);
    if (tensor == nullptr || !known.insert(name).second)
      throw UserError(file.where, fmt::format("the package does not hold '{}'", name));
    if (tensor->dtype != "u8" || tensor->dims.size() != 1)
      throw UserError(file.where, fmt::format("'{}' is no list of bytes", name));
    const std::string_view bytes = bytes_of(package, *tensor);
    if (std::ssize(bytes) != count_of(file, "bytes", std::ssize(bytes)) ||
        runtime::cache_key({bytes}) != text_of(file, "hash"))
      throw UserError(file.where, fmt::format("'{}' does not have its checksum", name));
  }
  if (known.size() != package.content.tensors.size())
    throw UserError(manifest.where, "the package holds files that its manifest does not name");
}

}  // namespace

std::string print_manifest(const Package& package) {
  std::vector<std::string> targets, files;
  for (const PackedTarget& t : package.targets) targets.push_back(print(t));
  for (const runtime::SavedTensor& t : package.content.tensors)
    files.push_back(JsonObject()
                        .text("name", t.name)
                        .integer("bytes", t.end - t.begin)
                        .text("hash", runtime::cache_key({bytes_of(package, t)}))
                        .str());
  JsonObject out;
  out.text("format", kFormat).text("heddle", package.heddle).text("model", package.model_name);
  out.raw("outputs", runtime::json_texts(package.outputs));
  return out.raw("targets", runtime::json_list(targets)).raw("files", runtime::json_list(files)).str();
}

void read_manifest(Package& package, const std::string& text) {
  const SourceFile source{package.file + ": manifest", text};
  const Json json = frontend::parse_json(source);
  if (const std::string format = text_of(json, "format"); format != kFormat)
    throw UserError(
        ExitCode::failed,
        fmt::format("{}: the format is {}, this Heddle reads {}", package.file, frontend::quote(format), kFormat),
        kAgain);
  package.heddle = text_of(json, "heddle");
  if (package.heddle != HEDDLE_VERSION)
    throw UserError(ExitCode::failed,
                    fmt::format("{}: made by Heddle {}, this is {}: a package runs with the version that made it",
                                package.file, package.heddle, HEDDLE_VERSION),
                    kAgain);
  package.model_name = text_of(json, "model");
  for (const Json& output : list_of(json, "outputs", kMostWords))
    package.outputs.push_back(frontend::as_text(output, "an output"));
  for (const Json& target : list_of(json, "targets", kMostTargets)) package.targets.push_back(read_target(target));
  require_files(package, json);
}

}  // namespace heddle::driver
