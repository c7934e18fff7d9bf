#include "runtime/host/compiler_check.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <charconv>

#include "ir/diagnostic.h"
#include "runtime/host/host_target.h"

namespace heddle::runtime {
namespace {

constexpr const char* kExtension = ".checked";

const std::string& known_answers() {
  static const std::string text =
#include "known_answers.inc"
      ;
  return text;
}

std::string key_of(const std::string& compiler) {
  std::vector<std::string> options = compiler_options(CompilerOptions::fast);
  const std::vector<std::string>& plain = compiler_options(CompilerOptions::plain);
  options.insert(options.end(), plain.begin(), plain.end());
  return compile_key(known_answers(), compiler, options);
}

struct Answers {
  int cases = 0;
  std::string wrong;
};

Answers answers_with(const std::string& compiler, CompilerOptions options) {
  void* object = load_shared_object(compile_shared_object(known_answers(), compiler, compiler_options(options)));
  const auto function = reinterpret_cast<int (*)(char*, int)>(dlsym(object, "heddle_known_answers"));
  if (function == nullptr) return {0, "the function heddle_known_answers is missing"};
  std::string wrong(2000, '\0');
  const int cases = function(wrong.data(), static_cast<int>(wrong.size()));
  wrong.resize(wrong.find('\0'));
  return {cases, wrong};
}

}  // namespace

// The entry is "20 guarded rows of 2": the number of cases, and what the fast options get wrong.
std::optional<CompilerCheck> find_compiler_check(const std::string& compiler, const KernelCache& cache) {
  const std::optional<std::string> entry = cache.find(key_of(compiler), kExtension);
  if (!entry) return std::nullopt;
  CompilerCheck check;
  const char* end = entry->data() + entry->size();
  const auto [rest, error] = std::from_chars(entry->data(), end, check.cases);
  if (error != std::errc() || rest == end) return std::nullopt;
  check.wrong.assign(rest + 1, end);
  if (!check.wrong.empty()) check.options = CompilerOptions::plain;
  return check;
}

CompilerCheck check_compiler(const std::string& compiler, const KernelCache& cache) {
  if (const auto known = find_compiler_check(compiler, cache)) return *known;
  check_host_target(compiler);
  CompilerCheck check;
  const Answers fast = answers_with(compiler, CompilerOptions::fast);
  check.cases = fast.cases;
  check.wrong = fast.wrong;
  if (!fast.wrong.empty()) {
    check.options = CompilerOptions::plain;
    const Answers plain = answers_with(compiler, CompilerOptions::plain);
    if (!plain.wrong.empty())
      throw UserError(
          ExitCode::missing,
          fmt::format("{} compiles known programs wrongly, also without vectorisation: {}", compiler, plain.wrong),
          "set HEDDLE_CXX to another compiler");
  }
  cache.store(key_of(compiler), kExtension, fmt::format("{} {}", check.cases, check.wrong));
  return check;
}

}  // namespace heddle::runtime
