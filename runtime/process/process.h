// Runs another program without a shell and with a deadline.
#pragma once
#include <string>
#include <vector>

namespace heddle::runtime {

struct ProcessResult {
  int status = -1;         // exit status; 128 + signal when it was killed; -1 when it could not be started
  bool timed_out = false;  // it was killed with its children at the deadline
  std::string output;      // stdout and stderr together, at most kMaxOutput bytes
};
constexpr size_t kMaxOutput = 1 << 20;

// Runs a program for at most `seconds`. arguments[0] is its path. Its standard input is empty. Its output goes to the
// file `log`. TMPDIR is the folder of `log`, so that the temporary files of a killed program stay there.
ProcessResult run_process(const std::vector<std::string>& arguments, const std::string& log, double seconds);

// The path of the first executable of this name in $PATH, or "".
std::string find_program(const std::string& name);

}  // namespace heddle::runtime
