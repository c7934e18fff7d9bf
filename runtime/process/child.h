// Another program that runs beside this one: started, asked whether it has ended, told to end.
//
//   Child child({"/proc/self/exe", "train", "m.json"});
//   while (!child.ended()) ...;
//   child.status();   // 0; 128 + signal where a signal ended it
//
// It is in a process group of its own, so that a terminal's Ctrl-C reaches this process alone. It is killed when the
// thread that started it ends, however that ends: SIGKILL included.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace heddle::runtime {

class Child {
 public:
  // arguments[0] is the program's path. Its standard input is empty; what it writes is held in memory. Throws UserError
  // (limit) where the system gives no process.
  explicit Child(const std::vector<std::string>& arguments);
  ~Child();  // kills it, with what it started, where it has not ended
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool ended();
  int status() const { return status_; }
  void tell(int signal);  // to the program, not to what it started
  // What it has written so far, at most the first megabyte of each.
  std::string output() const;
  std::string errors() const;

 private:
  int output_ = -1, errors_ = -1;
  pid_t pid_ = 0;  // 0: it has ended
  int status_ = 0;
};

}  // namespace heddle::runtime
