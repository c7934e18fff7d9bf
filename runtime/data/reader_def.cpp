#include "runtime/data/reader_def.h"

#include "ir/check.h"

namespace heddle::runtime::data {
namespace {

// Filled at start-up and frozen after.
std::map<std::string, ReaderDef, std::less<>>& registry() {
  static std::map<std::string, ReaderDef, std::less<>> readers;
  return readers;
}

}  // namespace

RegisterReader::RegisterReader(ReaderDef def) {
  const std::string name = def.name;
  HEDDLE_CHECK(registry().emplace(name, std::move(def)).second, "the reader " + name + " is registered twice");
}

const ReaderDef* find_reader(std::string_view name) {
  const auto it = registry().find(name);
  return it == registry().end() ? nullptr : &it->second;
}

std::vector<std::string> reader_names() {
  std::vector<std::string> names;
  for (const auto& [name, def] : registry()) names.push_back(name);
  return names;
}

}  // namespace heddle::runtime::data
