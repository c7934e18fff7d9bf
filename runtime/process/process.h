// Runs another program without a shell and with a deadline.
#pragma once
#include <string>
#include <vector>

namespace heddle::runtime {

struct ProcessResult {
  int status = -1;         // exit status; 128 + signal when it was killed; -1 when it could not be started
  bool timed_out = false;  // it was killed, with its children, because the deadline passed
  std::string output;      // stdout and stderr together, at most kMaxOutput bytes
};
constexpr size_t kMaxOutput = 1 << 20;

// arguments[0] is the program's path. Standard input is empty. `log` is a file that takes the output; its folder also
// takes the program's own temporary files (TMPDIR), so that nothing of a program that is killed stays elsewhere.
ProcessResult run_process(const std::vector<std::string>& arguments, const std::string& log, double seconds);

// The first executable of this name in $PATH, or "".
std::string find_program(const std::string& name);

}  // namespace heddle::runtime
