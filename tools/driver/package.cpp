#include "tools/driver/package.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "ir/diagnostic.h"
#include "runtime/compile/kernel_cache.h"
#include "runtime/files/write_file.h"
#include "runtime/process/terminal.h"
#include "runtime/weights/safetensors_header.h"
#include "runtime/weights/sealed.h"

namespace heddle::driver {
namespace {

constexpr const char* kManifest = runtime::kPackageMark;
constexpr const char* kModel = "model.json";
constexpr const char* kAgain = "copy it again, or make it anew: heddle package MODEL -o FILE";

bool is_package_text(std::string_view text) {
  return text.find(fmt::format("{{\"__metadata__\": {{\"{}\": ", kManifest)) == 8;
}

std::string first_bytes(const std::string& path) {
  constexpr std::streamsize kLooked = 256;
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return {};
  std::ifstream in(path, std::ios::binary);
  std::string head(static_cast<size_t>(kLooked), '\0');
  in.read(head.data(), kLooked);
  head.resize(static_cast<size_t>(in.gcount()));
  return head;
}

bool begins_as_package(const std::string& path) { return is_package_text(first_bytes(path)); }

// A model under a package's name.
void require_no_json(const Package& package, const std::string& path) {
  const std::string head = first_bytes(path);
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (head[first] != '{' && head[first] != '/') || is_package_text(head)) return;
  throw UserError(ExitCode::failed, fmt::format("{}: no package: it is text", package.file),
                  "give a model file a name that does not end with .heddle, such as model.json");
}

std::string purpose_of(const codegen::Program& program) {
  if (program.find_entry(ir::Phase::train) != nullptr) return "train";
  return program.find_entry(ir::Phase::predict) != nullptr ? "predict" : "evaluate";
}

}  // namespace

ir::Target PackedTarget::target() const {
  ir::Target target = ir::target_by_name(name);
  if (target.gpu) target.arch = arch;
  return target;
}

runtime::PackedCode Package::code_of(const PackedTarget& target) const {
  runtime::PackedCode code{.file = file, .maker = target.maker, .folder = target.folder()};
  for (const runtime::SavedTensor& t : content.tensors) {
    if (!t.name.starts_with(target.folder() + "/")) continue;
    const auto bytes = content.bytes(t);
    code.code.emplace(t.name, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  code.require = [name = file, target](const codegen::Program& program) { require_program(name, target, program); };
  return code;
}

void require_no_package(std::string_view text) {
  if (is_package_text(text))
    throw UserError(ExitCode::usage, "standard input is a package, where a model's text is expected",
                    "give the package's name");
}

bool is_package(const std::string& path) {
  std::error_code ec;
  return begins_as_package(path) || (path.ends_with(".heddle") && std::filesystem::is_regular_file(path, ec));
}

void require_model_file(const std::string& path, const std::string& help) {
  if (is_package(path))
    throw UserError(ExitCode::failed,
                    fmt::format("{}: a package, where a model file is expected", runtime::visible(path)), help);
}

Package read_package(const std::string& path) {
  Package package;
  package.file = runtime::visible(path);
  require_no_json(package, path);
  try {
    package.content = runtime::read_sealed(path, "package");
    const auto manifest = package.content.metadata.find(kManifest);
    if (manifest == package.content.metadata.end())
      throw UserError(ExitCode::failed, fmt::format("{}: no package: it has no manifest", package.file), kAgain);
    read_manifest(package, manifest->second);
    const runtime::SavedTensor* model = package.content.find(kModel);
    if (model == nullptr)
      throw UserError(ExitCode::failed, fmt::format("{}: no package: it holds no model", package.file), kAgain);
    const auto bytes = package.content.bytes(*model);
    package.model.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } catch (const UserError& error) {
    const Diagnostic& first = error.diagnostics().front();
    if (!first.help.empty()) throw;
    throw UserError(
        error.code(),
        first.message.starts_with(package.file) ? first.message : fmt::format("{}: {}", package.file, first.message),
        kAgain);
  }
  return package;
}

void require_package_path(const std::string& path) {
  runtime::require_no_pipe(path);
  runtime::require_replaceable(path);
  std::error_code ec;
  if (!std::filesystem::exists(path, ec) || std::filesystem::file_size(path, ec) == 0 || begins_as_package(path))
    return;
  throw UserError(ExitCode::failed,
                  fmt::format("{}: a package is not written over another kind of file", runtime::visible(path)),
                  "name another file, or remove this one first");
}

void write_package(const std::string& path, const Package& package) {
  Package made = package;
  std::span<std::byte> to = made.content.add(kModel, "u8", {std::ssize(made.model)}, std::ssize(made.model));
  std::ranges::copy(std::as_bytes(std::span(made.model)), to.begin());
  made.content.metadata = {{kManifest, print_manifest(made)}};
  runtime::write_sealed(path, made.content);
}

PackedProgram describe_program(const codegen::Program& program) {
  std::vector<std::string> entries;
  for (const codegen::Entry& entry : program.entries) {
    std::vector<std::string> words{entry.name};
    if (entry.fed_rows > 0) words.push_back(fmt::format("{}", entry.fed_rows));
    if (entry.kind() == ir::EntryKind{.phase = ir::Phase::predict}) {
      if (!entry.inputs.empty() && !entry.inputs[0].dims.empty())
        words.push_back(fmt::format("{}", entry.inputs[0].dims[0]));
      for (const codegen::Buffer& output : entry.outputs)
        if (output.role == codegen::BufferRole::result) words.push_back(output.name);
    }
    if (entry.fed_rows > 0 || words.size() > 1) entries.push_back(fmt::format("{}", fmt::join(words, " ")));
  }
  return {.purpose = purpose_of(program),
          .entries = fmt::format("{}", fmt::join(entries, ", ")),
          .hash = runtime::cache_key({codegen::print(program), program.source}),
          .state_bytes = program.state_bytes,
          .arena_bytes = program.arena_bytes,
          .ring_bytes = program.feeding.ring_bytes(),
          .kernels = std::ssize(program.kernels)};
}

void require_program(const std::string& file, const PackedTarget& target, const codegen::Program& program) {
  const PackedProgram wanted = describe_program(program);
  const auto known = std::ranges::find(target.programs, wanted.purpose, &PackedProgram::purpose);
  if (known == target.programs.end())
    throw UserError(ExitCode::failed, fmt::format("{}: the package was not made for '{}'", file, wanted.purpose),
                    fmt::format("heddle package MODEL --for {} -o FILE makes one that is", wanted.purpose));
  if (known->hash == wanted.hash) return;
  if (known->entries != wanted.entries)
    throw UserError(ExitCode::failed,
                    fmt::format("{}: made for batches of other rows: {}; these data and options need {}", file,
                                known->entries, wanted.entries),
                    "make a package for these data: heddle package MODEL --data DIR -o FILE; or give the model file");
  throw UserError(ExitCode::failed,
                  fmt::format("{}: its program for '{}' is another: made of other rows (how many, their types, means "
                              "and classes), or by another build of Heddle",
                              file, wanted.purpose),
                  "make a package for these data: heddle package MODEL --data DIR -o FILE; or give the model file");
}

}  // namespace heddle::driver
