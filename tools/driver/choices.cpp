#include "tools/driver/choices.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "frontend/json/json.h"
#include "ir/op_def.h"
#include "runtime/host/host_target.h"

namespace heddle::driver {
namespace {

using frontend::Json;

constexpr const char* kHelp = "heddle tune MODEL -o TABLE writes such tables";
constexpr std::string_view kFormat = "heddle-choices/1";

const Json& member(const Json& object, std::string_view key, std::string_view what) {
  if (const Json* value = object.find(key)) return *value;
  throw UserError(object.where, fmt::format("{} has no '{}'", what, key), kHelp);
}
std::string text(const Json& object, std::string_view key, std::string_view what) {
  return frontend::as_text(member(object, key, what), fmt::format("'{}'", key));
}
const Json& list(const Json& object, std::string_view key, std::string_view what) {
  return frontend::as_list(member(object, key, what), fmt::format("'{}'", key));
}

void require_keys(const Json& object, const std::vector<std::string>& known, std::string_view what) {
  frontend::as_object(object, what);
  for (const Json& item : object.items)
    if (std::ranges::count(known, item.key) == 0)
      throw UserError(item.key_where, fmt::format("{} has no key {}", what, frontend::quote(item.key)), kHelp);
}

// Which tiles a product may have, the kernel says.
bool is_candidate(const std::string& name, const std::vector<std::string>& candidates) {
  return std::ranges::count(candidates, name) > 0 || name.starts_with(passes::kTiles);
}

std::map<std::string, double> read_seconds(const Json& json, const std::vector<std::string>& candidates) {
  std::map<std::string, double> seconds;
  for (const Json& item : frontend::as_object(json, "'seconds'").items) {
    if (!is_candidate(item.key, candidates))
      throw UserError(item.key_where, fmt::format("there is no candidate {}", frontend::quote(item.key)),
                      frontend::suggest_defined(item.key, candidates));
    const double value = frontend::as_real(item, "a time");
    if (!std::isfinite(value) || !(value > 0))
      throw UserError(item.where, fmt::format("the time of '{}' is no number above 0", item.key), kHelp);
    seconds[item.key] = value;
  }
  return seconds;
}

// One of those that were measured.
std::string candidate(const Json& json, std::string_view key, const std::map<std::string, double>& seconds) {
  const Json& value = member(json, key, "a choice");
  const std::string& name = frontend::as_text(value, fmt::format("'{}'", key));
  if (!seconds.contains(name))
    throw UserError(value.where,
                    fmt::format("'{}' is {}, and 'seconds' has no such candidate", key, frontend::quote(name)), kHelp);
  return name;
}

passes::MeasuredChoices read_list(const Json& items, const std::vector<std::string>& candidates) {
  passes::MeasuredChoices choices;
  for (const Json& json : items.items) {
    require_keys(json, {"body", "default", "chosen", "seconds"}, "a choice");
    const std::string body = text(json, "body", "a choice");
    passes::MeasuredChoice choice{
        .chosen = {}, .seconds = read_seconds(member(json, "seconds", "a choice"), candidates), .origin = {}};
    candidate(json, "default", choice.seconds);
    choice.chosen = candidate(json, "chosen", choice.seconds);
    choice.origin = to_string(member(json, "chosen", "a choice").where) + ": ";
    if (!choices.emplace(body, std::move(choice)).second)
      throw UserError(json.where, "a choice for this body was made before", kHelp);
  }
  return choices;
}

std::string model_of_processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (const size_t colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  return runtime::machine_name();
}

std::string hash_text(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

Choices read_choices(const SourceFile& file) {
  const Json json = frontend::parse_json(file);
  constexpr std::string_view kTable = "the table of choices";
  frontend::as_object(json, kTable);
  if (text(json, "format", kTable) != kFormat)
    throw UserError(member(json, "format", kTable).where,
                    fmt::format("expected '{}', found {}", kFormat, frontend::quote(text(json, "format", kTable))),
                    kHelp);
  require_keys(
      json,
      {"format", "heddle", "processor", "device", "model", "entry", "libraries", "kernels", "steps", "step_seconds"},
      kTable);
  Choices choices;
  choices.file = file.name;
  choices.heddle = text(json, "heddle", kTable), choices.processor = text(json, "processor", kTable);
  std::vector<std::string> libraries;
  for (const Json& library : list(json, "libraries", kTable).items) {
    frontend::require_word(library, {"cublaslt", "cudnn"}, "a library");
    libraries.push_back(library.text);
  }
  choices.libraries = libraries_named(libraries);
  choices.kernels = read_list(list(json, "kernels", kTable), passes::candidate_names());
  choices.steps = read_list(list(json, "steps", kTable), {kLaunches, kOneKernel});
  return choices;
}

std::string processor_name(const ir::Target& target) {
  if (target.gpu) return fmt::format("{}, {}, {} multiprocessors", target.name, target.arch, target.sm_count);
  return fmt::format("{}, {}", model_of_processor(), runtime::host_target());
}

void require_choices_for(const Choices& choices, const ir::Target& target) {
  if (choices.file.empty()) return;
  const std::string help = "measure here: heddle tune MODEL -o TABLE";
  if (choices.heddle != HEDDLE_VERSION)
    throw UserError(ExitCode::failed,
                    fmt::format("{}: its choices were measured with Heddle {}, and this is {}", choices.file,
                                frontend::quote(choices.heddle), HEDDLE_VERSION),
                    help);
  const std::string here = processor_name(target);
  if (choices.processor != here)
    throw UserError(ExitCode::failed,
                    fmt::format("{}: its choices were measured on {}, and this is '{}'", choices.file,
                                frontend::quote(choices.processor), here),
                    help);
}

std::string hash_of(const Choices& choices) {
  if (choices.empty() && !choices.libraries.any()) return {};
  std::string all;
  for (const std::string& library : choices.libraries.names()) all += library + "\n";
  for (const passes::MeasuredChoices* list : {&choices.kernels, &choices.steps})
    for (const auto& [body, choice] : *list) all += body + " -> " + choice.chosen + "\n";
  return hash_text(all);
}

// How rows come in is another matter: a benchmark and a training feed themselves from columns of other types.
std::string step_body(const ir::Module& m, const ir::Graph& entry) {
  std::vector<std::string> bodies;
  for (const ir::NodeId n : entry.order)
    if (const ir::Graph* k = m.find_kernel(entry[n].callee); k != nullptr)
      if (!std::holds_alternative<ir::schedules::Primitive>(k->schedule->how))
        bodies.push_back(passes::choice_body(*k));
  std::ranges::sort(bodies);
  std::string all;
  for (const std::string& body : bodies) all += body + "\n";
  return entry.name + " " + hash_text(all);
}

codegen::OneKernels one_kernels(const Choices& choices, const ir::Module& m) {
  codegen::OneKernels kernels;
  if (choices.steps.empty()) return kernels;
  for (const ir::Graph& g : m.graphs)
    if (const auto found = choices.steps.find(step_body(m, g)); found != choices.steps.end())
      kernels[g.name] =
          found->second.chosen == kOneKernel ? codegen::OneKernel::where_possible : codegen::OneKernel::nowhere;
  return kernels;
}

std::string told_of_unused(const Choices& choices) {
  return choices.file + (choices.empty() ? ": it holds no choices" : ": none of its choices is about this program");
}

}  // namespace heddle::driver
