#include "runtime/host/host_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "ir/diagnostic.h"
#include "runtime/compile/compiler_seconds.h"
#include "runtime/files/temporary.h"
#include "runtime/process/process.h"

namespace heddle::runtime {
namespace {

constexpr const char* kHelp =
    "set it to a name that the compiler's option -march takes and this processor is at least, such as haswell; without "
    "it kernels are compiled for this processor";

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_.+").find(c) != std::string_view::npos;
}

// Of sets of instructions that compilers use where nobody asked for them. Others, such as haswell's
// for transactions, do no harm where they are missing.
bool names_instructions(const std::string& macro) {
  for (const char* start : {"__SSE", "__SSSE", "__AVX", "__FMA", "__F16C_", "__BMI", "__LZCNT", "__POPCNT", "__MOVBE",
                            "__XOP_", "__TBM_", "__APX", "__ARM_FEATURE_"})
    if (macro.starts_with(start)) return true;
  return false;
}

// What the compiler predefines for such a processor, and nothing where it does not know it.
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

}  // namespace

std::string host_target() {
  const char* given = std::getenv("HEDDLE_MARCH");
  if (given == nullptr || *given == '\0') return kThisProcessor;
  std::string name = given;
  if (!std::all_of(name.begin(), name.end(), in_name))
    throw UserError(ExitCode::missing, fmt::format("HEDDLE_MARCH is '{}', which is no processor's name", name), kHelp);
  return name;
}

void check_host_target(const std::string& compiler) {
  const std::string name = host_target();
  if (name == kThisProcessor) return;
  const std::set<std::string> wanted = instructions(compiler, name), here = instructions(compiler, kThisProcessor);
  if (wanted.empty())
    throw UserError(ExitCode::missing, fmt::format("HEDDLE_MARCH is '{}', which {} does not know", name, compiler),
                    kHelp);
  for (const std::string& macro : wanted)
    if (!here.contains(macro))
      throw UserError(ExitCode::missing,
                      fmt::format("HEDDLE_MARCH is '{}', but this processor has no {}", name,
                                  macro.substr(2, macro.find_last_not_of('_') - 1)),
                      kHelp);
}

}  // namespace heddle::runtime
