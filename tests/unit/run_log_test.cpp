// The log of a run: where it may be written, and what becomes of lines that cannot be.
#include "runtime/train/run_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "ir/diagnostic.h"
#include "runtime/temporary.h"

namespace heddle::runtime {
namespace {

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

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
  const std::string first = slurp(path);
  EXPECT_TRUE(first.starts_with("{\"event\": \"start\", \"at\": ")) << first;
  { const RunLog unused(path); }
  EXPECT_EQ(slurp(path), first);
  RunLog log(path);
  log.event("end", JsonObject().integer("steps", 3));
  log.finish();
  EXPECT_TRUE(slurp(path).starts_with("{\"event\": \"end\", \"steps\": 3, ")) << slurp(path);
}

TEST(RunLog, RefusesAnotherKindOfFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/model.json", pipe = folder.path() + "/pipe";
  std::ofstream(path) << "{\"format\": \"heddle-model/1\"}";
  EXPECT_EQ(error_of(path), path + ": cannot be written: it is a file of another kind than a log");
  EXPECT_EQ(slurp(path), "{\"format\": \"heddle-model/1\"}");
  EXPECT_EQ(error_of(folder.path()), folder.path() + ": cannot be written: Is a directory");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of(pipe), pipe + ": cannot be written: No such device or address");  // nobody reads it
}

TEST(RunLog, TellsOfAFullDiskAtTheEnd) {
  EXPECT_EQ(error_of("/dev/null"), "no error");
  EXPECT_EQ(error_of("/dev/full"), "/dev/full: cannot be written: No space left on device");
}

}  // namespace
}  // namespace heddle::runtime
