#include "tests/fuzz/campaign.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "ir/diagnostic.h"
#include "tests/fuzz/mutate.h"

namespace heddle::testing {
namespace {

// Of the processor, per case; sanitizers take their time. Other work on the machine counts for nothing, but a case that
// waits for ever ends, too.
unsigned seconds() { return HEDDLE_SANITIZED ? 20 : 2; }
constexpr int kMostFailures = 10;

std::string input_of(const Campaign& c, int64_t number) {
  Mutator mutator(static_cast<uint64_t>(number));
  const std::string& seed = c.corpus[static_cast<size_t>(number) % c.corpus.size()];
  return c.binary ? mutator.bytes(seed) : mutator.text(seed);
}

// What a target owes beyond not crashing: an error says something.
void check_one(const Campaign& c, const std::string& input) {
  try {
    c.target(input);
  } catch (const UserError& error) {
    if (error.diagnostics().empty() || error.diagnostics().front().message.empty()) _exit(3);
  }
}

// The sanitizers write their reports to the descriptor itself.
void be_quiet() {
  std::cout.rdbuf(nullptr);
  stdout = stderr = std::fopen("/dev/null", "w");
}

// In the child: cases from `begin`, the number of the one in work in `*current`.
[[noreturn]] void work(const Campaign& c, int64_t begin, int64_t end, volatile int64_t* current) {
  if (c.quiet) be_quiet();
  for (int64_t i = begin; i < end; ++i) {
    *current = i;
    const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = seconds(), .tv_usec = 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
    alarm(10 * seconds());
    try {
      check_one(c, input_of(c, i));
    } catch (const std::exception& e) {
      std::cerr << "an exception that is no UserError: " << e.what() << "\n";
      _exit(2);
    }
  }
  _exit(0);
}

std::string describe(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
    return fmt::format("took longer than {} s of the processor", seconds());
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return fmt::format("took longer than {} s", 10 * seconds());
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

void run(const Campaign& c, int64_t cases) {
  ASSERT_FALSE(c.corpus.empty());
  if (const char* wanted = std::getenv("HEDDLE_FUZZ_CASES")) cases = std::atoll(wanted);
  const char* first = std::getenv("HEDDLE_FUZZ_FIRST");
  const int64_t from = first == nullptr ? 0 : std::atoll(first);
  auto* current = static_cast<volatile int64_t*>(
      mmap(nullptr, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<volatile void*>(current), MAP_FAILED);
  int failures = 0;
  for (int64_t begin = from; begin < from + cases && failures < kMostFailures;) {
    std::cout.flush();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) work(c, begin, from + cases, current);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    const int64_t number = *current;
    const std::string path = fmt::format("fuzz_{}_{}", c.name, number);
    std::ofstream(path, std::ios::binary) << input_of(c, number);
    ADD_FAILURE() << c.name << " case " << number << ": " << describe(status) << ", its input is in ./" << path;
    ++failures;
    begin = number + 1;
  }
  munmap(const_cast<int64_t*>(current), sizeof(int64_t));
}

}  // namespace heddle::testing
