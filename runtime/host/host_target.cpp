#include "runtime/host/host_target.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "ir/diagnostic.h"
#include "runtime/compile/compiler_seconds.h"
#include "runtime/files/temporary.h"
#include "runtime/process/process.h"

namespace heddle::runtime {
namespace {

constexpr const char* kHelp =
    "give it a name that the compiler's option -march takes and this processor is at least, such as haswell; without "
    "it kernels are compiled for this processor";

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_.+").find(c) != std::string_view::npos;
}

// Whether the macro names an instruction set that compilers use without intrinsics. Others, such as haswell's
// transactions, may be missing.
bool names_instructions(const std::string& macro) {
  for (const char* start : {"__SSE", "__SSSE", "__AVX", "__FMA", "__F16C_", "__BMI", "__LZCNT", "__POPCNT", "__MOVBE",
                            "__XOP_", "__TBM_", "__APX", "__ARM_FEATURE_"})
    if (macro.starts_with(start)) return true;
  return false;
}

// The compiler's predefined macros for such a processor; nothing where it does not know the processor.
std::set<std::string> instructions(const std::string& compiler, const std::string& target) {
  const TemporaryFolder folder;
  const ProcessResult result = run_process({compiler, "-march=" + target, "-dM", "-E", "-x", "c++", "/dev/null"},
                                           folder.path() + "/log", compiler_seconds());
  std::set<std::string> found;
  if (result.status != 0) return found;
  std::istringstream in(result.output);
  for (std::string define, macro, rest; in >> define >> macro && std::getline(in, rest);)
    if (names_instructions(macro)) found.insert(macro);
  return found;
}

// Two words for one set of instructions: "__AVX512_VNNI__" and "avx512_vnni" are "avx512vnni".
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [linux_word, word] : {std::pair("pni", "sse3"), {"abm", "lzcnt"}, {"bmi1", "bmi"}})
    if (plain == linux_word) return word;
  return plain;
}

// As Linux lists them, by their plain names.
std::map<std::string, std::string> instructions_here() {
  std::ifstream in("/proc/cpuinfo");
  std::map<std::string, std::string> found;
  for (std::string line; found.empty() && std::getline(in, line);) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;) found.emplace(plain_name(word), word);
  }
  return found;
}

}  // namespace

std::vector<std::string> host_instructions(const std::string& compiler) {
  const std::map<std::string, std::string> here = instructions_here();
  std::set<std::string> names;
  for (const std::string& macro : instructions(compiler, host_target()))
    if (const auto at = here.find(plain_name(macro)); at != here.end()) names.insert(at->second);
  return {names.begin(), names.end()};
}

std::string missing_instruction(const std::vector<std::string>& names) {
  const std::map<std::string, std::string> here = instructions_here();
  for (const std::string& name : names)
    if (!here.contains(plain_name(name))) return name;
  return {};
}

std::string machine_name() {
  utsname name{};
  return uname(&name) == 0 ? name.machine : "";
}

std::string host_target() {
  const char* given = std::getenv("HEDDLE_MARCH");
  if (given == nullptr || *given == '\0') return kThisProcessor;
  std::string name = given;
  if (!std::all_of(name.begin(), name.end(), in_name))
    throw UserError(ExitCode::missing,
                    fmt::format("HEDDLE_MARCH or --arch host= is '{}', which is no processor's name", name), kHelp);
  return name;
}

void check_host_target(const std::string& compiler) {
  const std::string name = host_target();
  if (name == kThisProcessor) return;
  const std::set<std::string> wanted = instructions(compiler, name), here = instructions(compiler, kThisProcessor);
  if (wanted.empty())
    throw UserError(ExitCode::missing,
                    fmt::format("HEDDLE_MARCH or --arch host= is '{}', which {} does not know", name, compiler), kHelp);
  for (const std::string& macro : wanted)
    if (!here.contains(macro))
      throw UserError(ExitCode::missing,
                      fmt::format("HEDDLE_MARCH or --arch host= is '{}', but this processor has no {}", name,
                                  macro.substr(2, macro.find_last_not_of('_') - 1)),
                      kHelp);
}

}  // namespace heddle::runtime
