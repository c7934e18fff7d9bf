#include "runtime/process/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ir/diagnostic.h"
#include "runtime/process/exit_cleanup.h"

namespace heddle::runtime {
namespace {

constexpr size_t kMostRead = 1 << 20;

[[noreturn]] void refuse(const char* what) {
  throw UserError(ExitCode::limit, fmt::format("{}: {}", what, std::strerror(errno)),
                  "raise the limits that ulimit -u and ulimit -n show");
}

int memory_file(const char* name) {
  const int fd = ::memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) refuse("a file in memory cannot be made");
  return fd;
}

std::string read_from(int fd) {
  std::string text(kMostRead, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t n = ::pread(fd, text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    size += static_cast<size_t>(n);
  }
  text.resize(size);
  return text;
}

// In the new process, which is a copy of one thread of this one: only calls that are safe in a signal handler, until it
// becomes the other program. No signal stays blocked, and the two that the command line ignores are as they were.
[[noreturn]] void become(char* const* arguments, pid_t parent, int output, int errors) {
  constexpr int kNotStarted = 127;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) _exit(kNotStarted);  // it has died before that
  ::setpgid(0, 0);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &usual, nullptr);
  ::sigaction(SIGXFSZ, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0 || ::dup2(input, STDIN_FILENO) < 0 || ::dup2(output, STDOUT_FILENO) < 0 ||
      ::dup2(errors, STDERR_FILENO) < 0)
    _exit(kNotStarted);
  ::execv(arguments[0], arguments);
  _exit(kNotStarted);
}

}  // namespace

Child::Child(const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  try {
    output_ = memory_file("heddle-output");
    errors_ = memory_file("heddle-errors");
    const std::lock_guard lock(exit_cleanup().mutex);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) refuse("a process cannot be started");
    if (child == 0) become(pointers.data(), parent, output_, errors_);
    ::setpgid(child, child);  // as it does itself: whoever comes first
    exit_cleanup().children.insert(child);
    pid_ = child;
  } catch (...) {
    if (output_ >= 0) ::close(output_);
    if (errors_ >= 0) ::close(errors_);
    throw;
  }
}

Child::~Child() {
  if (pid_ != 0) {
    const std::lock_guard lock(exit_cleanup().mutex);
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
    exit_cleanup().children.erase(pid_);
  }
  ::close(output_);
  ::close(errors_);
}

bool Child::ended() {
  if (pid_ == 0) return true;
  const std::lock_guard lock(exit_cleanup().mutex);
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  exit_cleanup().children.erase(pid_);
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = 0;
  return true;
}

void Child::tell(int signal) {
  const std::lock_guard lock(exit_cleanup().mutex);
  if (pid_ != 0) ::kill(pid_, signal);
}

std::string Child::output() const { return read_from(output_); }
std::string Child::errors() const { return read_from(errors_); }

}  // namespace heddle::runtime
