// The log of a run: where it may be written, and what becomes of lines that cannot be.
#include "runtime/train/run_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "ir/diagnostic.h"
#include "runtime/files/temporary.h"
#include "tests/support/text_files.h"

namespace heddle::runtime {
namespace {
using heddle::testing::read_text;

std::string error_of(const std::string& path) {
  try {
    RunLog log(path);
    log.event("start", {});
    log.finish();
  } catch (const UserError& error) {
    return error.diagnostics().at(0).message;
  }
  return "no error";
}

TEST(RunLog, ReplacesAnOlderLogOnceTheRunBegins) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  EXPECT_EQ(error_of(path), "no error");
  const std::string first = read_text(path);
  EXPECT_TRUE(first.starts_with("{\"event\": \"start\", \"at\": ")) << first;
  { const RunLog unused(path); }
  EXPECT_EQ(read_text(path), first);
  RunLog log(path);
  log.event("end", JsonObject().integer("steps", 3));
  log.finish();
  EXPECT_TRUE(read_text(path).starts_with("{\"event\": \"end\", \"steps\": 3, ")) << read_text(path);
}

TEST(RunLog, RefusesAnotherKindOfFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/model.json", pipe = folder.path() + "/pipe";
  std::ofstream(path) << "{\"format\": \"heddle-model/1\"}";
  EXPECT_EQ(error_of(path), path + ": cannot be written: it is a file of another kind than a log");
  EXPECT_EQ(read_text(path), "{\"format\": \"heddle-model/1\"}");
  EXPECT_EQ(error_of(folder.path()), folder.path() + ": cannot be written: Is a directory");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of(pipe), pipe + ": cannot be written: No such device or address");  // nobody reads it
}

// As a watchdog's thread does while the run goes on.
TEST(RunLog, NothingComesBehindTheEndThatAnotherThreadTells) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  RunLog log(path);
  log.event("start", {});
  std::thread watchdog([&] {
    while (log.last_step() < 1000) std::this_thread::yield();
    log.end({});
    log.finish();
  });
  for (int64_t step = 1; !log.ended() || step <= 2000; ++step) log.step({.total_step = step, .gradient_norm = {}});
  watchdog.join();
  log.finish();
  const std::string text = read_text(path);
  EXPECT_EQ(text.rfind("{\"event\": "), text.find("{\"event\": \"end\"")) << text.substr(text.size() - 200);
  EXPECT_TRUE(text.ends_with("}\n"));
  const int64_t steps = std::ranges::count(text, '\n') - 2;  // but the start and the end
  EXPECT_NE(text.find(fmt::format("{{\"event\": \"end\", \"steps\": {},", steps)), std::string::npos)
      << text.substr(text.size() - 200);
}

TEST(RunLog, TellsOfAFullDiskAtTheEnd) {
  EXPECT_EQ(error_of("/dev/null"), "no error");
  EXPECT_EQ(error_of("/dev/full"), "/dev/full: cannot be written: No space left on device");
}

}  // namespace
}  // namespace heddle::runtime
