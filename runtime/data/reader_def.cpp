#include "runtime/data/reader_def.h"

#include "ir/check.h"

namespace heddle::runtime::data {
namespace {

// Filled at start-up.
std::vector<std::function<ReaderDef()>>& makers() {
  static std::vector<std::function<ReaderDef()>> all;
  return all;
}

using Readers = std::map<std::string, ReaderDef, std::less<>>;

Readers make_all() {
  Readers readers;
  for (const auto& make : makers()) {
    ReaderDef def = make();
    const std::string name = def.name;
    HEDDLE_CHECK(readers.emplace(name, std::move(def)).second, "the reader " + name + " is registered twice");
  }
  return readers;
}

const Readers& registry() {
  static const Readers readers = make_all();
  return readers;
}

}  // namespace

RegisterReader::RegisterReader(ReaderDef def) {
  makers().emplace_back([made = std::move(def)] { return made; });
}
RegisterReader::RegisterReader(ReaderDef (*make)()) { makers().emplace_back(make); }

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
