#include "tests/random/child.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <stdexcept>

namespace heddle::testing {
namespace {

[[noreturn]] void work_in_child(const std::function<void()>& work, int out, unsigned seconds) {
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  close(out);
  setpgid(0, 0);
  alarm(seconds);
  try {
    work();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "an exception ends the work: %s\n", e.what());
    std::fflush(nullptr);
    _exit(2);
  }
  std::fflush(nullptr);
  _exit(0);
}

std::string read_to_end(int in) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (ssize_t n = 0; (n = read(in, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<size_t>(n));
  return text;
}

}  // namespace

ChildResult run_in_child(const std::function<void()>& work, unsigned seconds) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) throw std::runtime_error("no pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    close(pipe_ends[0]);
    work_in_child(work, pipe_ends[1], seconds);
  }
  close(pipe_ends[1]);
  ChildResult result;
  result.output = read_to_end(pipe_ends[0]);
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  result.ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    result.how = fmt::format("took longer than {} s", seconds);
  else if (WIFSIGNALED(status))
    result.how = fmt::format("signal {}", WTERMSIG(status));
  else
    result.how = fmt::format("exit code {}", WEXITSTATUS(status));
  return result;
}

}  // namespace heddle::testing
