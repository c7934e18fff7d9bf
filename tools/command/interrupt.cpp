#include "tools/command/interrupt.h"

#include <csignal>

namespace heddle::tools {
namespace {

volatile std::sig_atomic_t noted = 0;  // a signal handler can reach nothing else

void note(int number) {
  noted = number;
  std::signal(number, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  noted = 0;
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int InterruptGuard::signal() { return noted; }

}  // namespace heddle::tools
