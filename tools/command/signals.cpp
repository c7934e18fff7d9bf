#include "tools/command/signals.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "ir/diagnostic.h"
#include "runtime/process/exit_cleanup.h"
#include "runtime/process/terminal.h"

namespace heddle::tools {
namespace {

std::atomic<bool> guarded{false};
std::atomic<int> noted{0};

// Prints without blocking: a reader that has stopped must not keep the process alive.
void say(std::string_view text) {
  struct pollfd error {
    STDERR_FILENO, POLLOUT, 0
  };
  if (poll(&error, 1, 0) != 1 || (error.revents & POLLOUT) == 0) return;
  // In one write, so that nothing of another thread comes between.
  const std::string line = (runtime::line_is_open().exchange(false) ? "\n" : "") + std::string(text);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

// Not by exit(): other threads are in the middle of their work, on objects that exit() would destroy.
[[noreturn]] void end_process(int code, std::string_view text) {
  runtime::clean_up_for_exit();
  say(text);
  _exit(code);
}

// A thread read behind the end of a mapped file. Kernels that read data are made by the system's
// compiler, whose stack is one; the thread stops where it is, and the one that waits for signals
// does the rest.
void read_behind_end(int number, siginfo_t* info, void*) {
  if (info->si_code != BUS_ADRERR) {
    signal(number, SIG_DFL);
    return;
  }
  kill(getpid(), SIGUSR2);
  for (;;) pause();
}

// A terminal that closes sends SIGHUP twice: once by the shell, once by the system when the shell has ended.
bool repeats_hangup(int number, std::chrono::steady_clock::time_point first) {
  return number == SIGHUP && std::chrono::steady_clock::now() - first < std::chrono::seconds(1);
}

// Children lead process groups of their own, which a terminal's Ctrl-Z does not reach: they stop and go on with this one.
// The lock is held meanwhile, so that none is started.
void stop_with_children(sigset_t set) {
  const std::lock_guard lock(runtime::exit_cleanup().mutex);
  const auto tell = [](int number) {
    for (const pid_t child : runtime::exit_cleanup().children) kill(-child, number);
  };
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  tell(SIGSTOP);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  raise(SIGTSTP);  // as by the system, which lets a process be that nobody could make go on; behind it this one does
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  tell(SIGCONT);
}

void wait_for_signals(sigset_t set) {
  std::chrono::steady_clock::time_point first;
  for (;;) {
    int number = 0;
    if (sigwait(&set, &number) != 0) continue;
    if (number == SIGTSTP) {
      stop_with_children(set);
      continue;
    }
    if (number == SIGUSR2)
      end_process(static_cast<int>(ExitCode::failed),
                  "heddle: error: a data file became shorter while it was read\n"
                  "help: files of arrays are not copied but mapped: let them be until the run has ended\n");
    if (!guarded) end_process(128 + number, "heddle: interrupted\n");
    if (noted == 0) {
      first = std::chrono::steady_clock::now();
      noted = number;
    } else if (!repeats_hangup(number, first)) {
      end_process(128 + number, "heddle: ended at once by a second signal\n");
    }
  }
}

bool ignored(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void watch_signals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGTSTP})
    if (!ignored(number)) sigaddset(&set, number);
  sigaddset(&set, SIGUSR2);
  struct sigaction shortened {};
  shortened.sa_sigaction = read_behind_end;
  shortened.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &shortened, nullptr);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);  // threads inherit it
  try {
    std::thread(wait_for_signals, set).detach();
  } catch (const std::system_error& error) {
    throw UserError(ExitCode::limit, "cannot start the thread that waits for signals: " + error.code().message(),
                    "raise the limits that ulimit -u and ulimit -v show");
  }
}

InterruptGuard::InterruptGuard() {
  noted = 0;
  guarded = true;
}

InterruptGuard::~InterruptGuard() { guarded = false; }

int InterruptGuard::signal() { return noted; }

}  // namespace heddle::tools
