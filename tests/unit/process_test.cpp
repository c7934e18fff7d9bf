#include "runtime/process/process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "runtime/files/temporary.h"
#include "runtime/process/exit_cleanup.h"

namespace heddle::runtime {
namespace {

TEST(Process, ReturnsStatusAndOutput) {
  const TemporaryFolder folder;
  const std::string shell = find_program("sh"), log = folder.path() + "/log";
  ASSERT_NE(shell, "");
  const ProcessResult r = run_process({shell, "-c", "echo out; echo err >&2; exit 7"}, log, 10);
  EXPECT_EQ(r.status, 7);
  EXPECT_FALSE(r.timed_out);
  EXPECT_EQ(r.output, "out\nerr\n");
}

// Arguments reach the program as they are; no shell reads them.
TEST(Process, ArgumentsAreNotInterpreted) {
  const TemporaryFolder folder;
  const ProcessResult r = run_process({find_program("echo"), "$HOME; `id`  'x'"}, folder.path() + "/log", 10);
  EXPECT_EQ(r.output, "$HOME; `id`  'x'\n");
}

// The deadline ends the program and what it has started.
TEST(Process, DeadlineKillsTheWholeGroup) {
  const TemporaryFolder folder;
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult r =
      run_process({find_program("sh"), "-c", "sleep 30 & sleep 30; true"}, folder.path() + "/log", 0.2);
  EXPECT_TRUE(r.timed_out);
  EXPECT_EQ(r.status, 128 + 9);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Process, WhatCannotStart) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_process({folder.path() + "/nothing"}, folder.path() + "/log", 10).status, -1);
  EXPECT_EQ(find_program("no-such-program-anywhere"), "");
  EXPECT_EQ(find_program(""), "");
  EXPECT_EQ(find_program(folder.path()), "");  // a folder is no program
}

// What this thread blocks and the command line ignores does not reach a child; what was ignored before stays so.
TEST(Process, ChildrenAnswerSignalsAsUsual) {
  const TemporaryFolder folder;
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &before);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  const std::string sh = find_program("sh"), log = folder.path() + "/log";
  EXPECT_EQ(run_process({sh, "-c", "kill -TERM $$; sleep 5"}, log, 10).status, 128 + SIGTERM);
  EXPECT_EQ(run_process({sh, "-c", "kill -PIPE $$; sleep 5"}, log, 10).status, 128 + SIGPIPE);
  EXPECT_EQ(run_process({sh, "-c", "kill -HUP $$; exit 7"}, log, 10).status, 7);
  signal(SIGHUP, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A compiler's own temporary files lie in the folder of its log.
TEST(Process, ChildrenKeepTheirTemporariesInTheFolder) {
  const TemporaryFolder folder;
  const ProcessResult r = run_process({find_program("sh"), "-c", "echo $TMPDIR"}, folder.path() + "/log", 10);
  EXPECT_EQ(r.output, folder.path() + "\n");
}

// Just before a process ends: its children die with what they started, its temporaries go, and no
// thread makes new ones.
TEST(ProcessDeathTest, CleanUpForExitLeavesNothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [] {
    std::string folder = testing::TempDir() + "heddle-test-XXXXXX";
    setenv("TMPDIR", mkdtemp(folder.data()), 1);
    std::thread([] {
      const TemporaryFolder own;
      run_process({find_program("sh"), "-c", "while :; do : > $TMPDIR/f$i; i=$((i + 1)); done & sleep 60"},
                  own.path() + "/log", 60);
    }).detach();
    while (std::filesystem::is_empty(folder)) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    clean_up_for_exit();
    std::thread([] { const TemporaryFolder late; }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    _exit(std::filesystem::remove(folder) ? 7 : 8);  // succeeds where it is empty
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace heddle::runtime
