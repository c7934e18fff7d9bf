// Child: a program that runs as a child process. It can be started, polled for its end, and sent signals.
//
//   Child child({"/proc/self/exe", "train", "m.json"});
//   while (!child.ended()) ...;
//   child.status();   // 0; 128 + signal where a signal ended it
//
// The child has its own process group, so that a terminal's Ctrl-C reaches only this process. The child is killed when
// the thread that started it ends, even by SIGKILL.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace heddle::runtime {

class Child {
 public:
  // arguments[0] is the program's path. The child's standard input is empty; its output is held in memory. Throws
  // UserError (limit) where the system cannot start a process.
  explicit Child(const std::vector<std::string>& arguments);
  ~Child();  // if it has not ended, kills it with the processes that it started
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool ended();
  int status() const { return status_; }
  void tell(int signal);  // sends it to the program, not to processes that it started
  // What it has written so far to standard output and standard error, at most the first megabyte of each.
  std::string output() const;
  std::string errors() const;

 private:
  int output_ = -1, errors_ = -1;
  pid_t pid_ = 0;  // 0: it has ended
  int status_ = 0;
};

}  // namespace heddle::runtime
