#include "runtime/process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "runtime/kernel_cache.h"

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

}  // namespace
}  // namespace heddle::runtime
