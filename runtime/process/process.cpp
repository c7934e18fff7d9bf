#include "runtime/process/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string_view>
#include <thread>

#include "runtime/process/exit_cleanup.h"

extern char** environ;

namespace heddle::runtime {
namespace {

// The environment with TMPDIR at `folder`, and with a PATH: a compiler finds its linker by it.
std::vector<std::string> environment_with(const std::string& folder) {
  std::vector<std::string> list;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!std::string_view(*variable).starts_with("TMPDIR=")) list.emplace_back(*variable);
  list.push_back("TMPDIR=" + folder);
  if (std::getenv("PATH") == nullptr) list.emplace_back("PATH=/usr/local/bin:/usr/bin:/bin");
  return list;
}

// Pointers to texts that outlive the result, closed by nullptr, as the system takes them.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (const std::string& t : texts) list.push_back(const_cast<char*>(t.c_str()));
  list.push_back(nullptr);
  return list;
}

// How a child starts: in a process group of its own; with no signal blocked, whatever this thread blocks; and with the
// default answer to the two signals that the command line ignores (any other that is ignored was so before us, and
// stays so: nohup).
class SpawnAttributes {
 public:
  SpawnAttributes() {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t set;
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes_, &set);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes_, &set);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

// Standard input empty, both outputs to `log`.
class SpawnFiles {
 public:
  explicit SpawnFiles(const std::string& log) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files_, STDOUT_FILENO, STDERR_FILENO);
  }
  ~SpawnFiles() { posix_spawn_file_actions_destroy(&files_); }
  SpawnFiles(const SpawnFiles&) = delete;
  SpawnFiles& operator=(const SpawnFiles&) = delete;
  const posix_spawn_file_actions_t* get() const { return &files_; }

 private:
  posix_spawn_file_actions_t files_;
};

// The child, or 0 when it cannot be started.
pid_t start(const std::vector<std::string>& arguments, const std::string& log) {
  const std::vector<std::string> environment = environment_with(std::filesystem::path(log).parent_path().string());
  const SpawnFiles files(log);
  const SpawnAttributes attributes;
  const std::lock_guard lock(exit_cleanup().mutex);
  pid_t child = 0;
  if (posix_spawn(&child, arguments[0].c_str(), files.get(), attributes.get(), pointers_to(arguments).data(),
                  pointers_to(environment).data()) != 0)
    return 0;
  exit_cleanup().children.insert(child);
  return child;
}

// Whether the child has ended. Under the lock, so that nobody kills a process that got its number later.
bool reap(pid_t child, int options, int& status) {
  const std::lock_guard lock(exit_cleanup().mutex);
  if (waitpid(child, &status, options) == 0) return false;
  exit_cleanup().children.erase(child);
  return true;
}

// Waits until the child ends or the deadline passes; its own children are in its process group and go with it.
int wait_with_deadline(pid_t child, double seconds, bool& timed_out) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  while (!reap(child, WNOHANG, status)) {
    if (std::chrono::steady_clock::now() > deadline) {
      timed_out = true;
      kill(-child, SIGKILL);
      reap(child, 0, status);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string read_output(const std::string& log) {
  std::ifstream in(log, std::ios::binary);
  std::string text(kMaxOutput, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, const std::string& log, double seconds) {
  ProcessResult result;
  if (const pid_t child = start(arguments, log); child != 0) {
    result.status = wait_with_deadline(child, seconds, result.timed_out);
    result.output = read_output(log);
  }
  return result;
}

std::string find_program(const std::string& name) {
  const auto runnable = [](const std::string& path) {
    std::error_code ec;
    return std::filesystem::is_regular_file(path, ec) && access(path.c_str(), X_OK) == 0;
  };
  if (name.empty()) return {};
  if (name.find('/') != std::string::npos) return runnable(name) ? name : "";
  const char* variable = std::getenv("PATH");
  const std::string folders = variable == nullptr ? "/usr/bin:/bin" : variable;
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    std::string path = folders.substr(begin, end - begin) + "/" + name;
    if (path.front() == '/' && runnable(path)) return path;
    begin = end + 1;
  }
  return {};
}

}  // namespace heddle::runtime
