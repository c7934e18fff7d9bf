// Files appear as a whole, temporaries disappear, and nothing else is touched.
#include "runtime/files/write_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "ir/diagnostic.h"
#include "runtime/files/temporary.h"
#include "runtime/weights/read_weights.h"
#include "runtime/weights/safetensors.h"
#include "tests/support/text_files.h"

namespace heddle::runtime {
namespace {
using heddle::testing::read_text;
using heddle::testing::write_text;
namespace fs = std::filesystem;

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const UserError& error) {
    return error.diagnostics().at(0).message;
  }
  return "no error";
}

// Root may write anywhere: while this lives, the process acts as another user, to whom the folder belongs.
class AsOrdinaryUser {
 public:
  explicit AsOrdinaryUser(const std::string& folder) {
    if (geteuid() != 0) return;
    constexpr uid_t kNobody = 65534;
    EXPECT_EQ(chown(folder.c_str(), kNobody, static_cast<gid_t>(-1)), 0);
    EXPECT_EQ(seteuid(kNobody), 0);
  }
  ~AsOrdinaryUser() { EXPECT_EQ(seteuid(getuid()), 0); }
  AsOrdinaryUser(const AsOrdinaryUser&) = delete;
  AsOrdinaryUser& operator=(const AsOrdinaryUser&) = delete;
};

class WriteFile : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
  int64_t files() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }
};

TEST_F(WriteFile, ReplacesTheWholeAndKeepsPermissions) {
  replace_file(at("f"), {"one", "two"});
  EXPECT_EQ(read_text(at("f")), "onetwo");
  ASSERT_EQ(chmod(at("f").c_str(), 0640), 0);
  replace_file(at("f"), {"x"});
  EXPECT_EQ(read_text(at("f")), "x");
  struct stat info {};
  ASSERT_EQ(stat(at("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640U);
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, FollowsALinkAndLeavesIt) {
  fs::create_directory(at("there"));
  write_text(at("there/f"), "old");
  fs::create_symlink("there/f", at("link"));
  replace_file(at("link"), {"new"});
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(read_text(at("there/f")), "new");
}

// What must not be replaced is refused with its reason, at the start of a run and at the end of one, and stays.
TEST_F(WriteFile, RefusesWhatIsNotARegularFile) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  fs::create_symlink("nowhere", at("dangling"));
  fs::create_symlink("/dev/null", at("null"));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {folder_.path(), "it is a folder"},
      {at("pipe"), "it is a device or a pipe, not a regular file"},
      {"/dev/null", "it is a device or a pipe, not a regular file"},
      {at("null"), "it is a device or a pipe, not a regular file"},
      {at("dangling"), "it is a symbolic link to a file that does not exist"},
      {at("no/f"), "there is no folder '" + at("no") + "'"},
      {at("new/"), "it names a folder"},
      {at(std::string(300, 'x')), "File name too long"},
  };
  for (const auto& [path, reason] : cases) {
    const std::string expected = path + ": cannot be written: " + reason;
    EXPECT_EQ(error_of([&p = path] { require_replaceable(p); }), expected);
    EXPECT_EQ(error_of([&p = path] { replace_file(p, {"x"}); }), expected);
  }
  EXPECT_TRUE(fs::is_fifo(at("pipe")));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(files(), 3);
}

TEST_F(WriteFile, RespectsWriteProtection) {
  const AsOrdinaryUser user(folder_.path());
  if (faccessat(AT_FDCWD, folder_.path().c_str(), W_OK, AT_EACCESS) != 0)
    GTEST_SKIP() << "the temporary folder is closed to other users";
  write_text(at("f"), "mine");
  fs::permissions(at("f"), fs::perms::owner_read);
  EXPECT_EQ(error_of([&] { require_replaceable(at("f")); }),
            at("f") + ": cannot be written: the file is write-protected");
  fs::create_directory(at("closed"));
  fs::permissions(at("closed"), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(error_of([&] { require_replaceable(at("closed/f")); }),
            at("closed/f") + ": cannot be opened: Permission denied");
}

TEST_F(WriteFile, TriesOutATargetWithoutMakingIt) {
  require_replaceable(at("f"));
  EXPECT_EQ(files(), 0);
}

// A device that is full: the error arrives, and the device stays one.
TEST_F(WriteFile, WritesStreamsInPlace) {
  write_file("/dev/null", "text");
  EXPECT_EQ(error_of([] { write_file("/dev/full", "text"); }), "/dev/full: cannot be written: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { write_file(at("pipe"), "x"); }),
            at("pipe") + ": cannot be opened: No such device or address");
}

// Weights replace weights and empty files, nothing else.
TEST_F(WriteFile, SavesWeightsOnlyOverWeights) {
  require_weights_path(at("new"));
  write_text(at("empty"), "");
  require_weights_path(at("empty"));
  write_safetensors(at("weights"), {});
  require_weights_path(at("weights"));
  write_text(at("model.json"), "{\"format\": \"heddle-model/1\"}");
  const std::string error = error_of([&] { require_weights_path(at("model.json")); });
  EXPECT_TRUE(
      error.starts_with("weights are not saved over another kind of file: " + at("model.json") + ": not a safe"))
      << error;
  EXPECT_EQ(read_text(at("model.json")), "{\"format\": \"heddle-model/1\"}");
  write_safetensors(at("checkpoint"), {.name = {}, .tensors = {}, .metadata = {{kCheckpointMark, "1"}}, .data = {}});
  EXPECT_NE(error_of([&] { require_weights_path(at("checkpoint")); }).find("checkpoint: a checkpoint"),
            std::string::npos);
}

TEST(Temporary, NamesAreOursAlone) {
  EXPECT_TRUE(is_temporary_name("heddle-0123456789abcdef.tmp"));
  for (const char* other :
       {"heddle-0123456789abcde.tmp", "heddle-0123456789abcdeF.tmp", "heddle-0123456789abcdef.tmp2",
        "heddle-backup.tmp", "heddle-", "", ".heddle-0123456789abcdef.tmp", "heddle-0123456789abcdeg.tmp"})
    EXPECT_FALSE(is_temporary_name(other)) << other;
}

// What a killed process left is removed; what lives, and what is not ours, stays.
TEST(Temporary, SweepsWhatNobodyLocks) {
  const TemporaryFolder folder;
  const auto at = [&](const std::string& name) { return folder.path() + "/" + name; };
  const std::string dead = at("heddle-00000000000000aa.tmp"), dead_folder = at("heddle-00000000000000bb.tmp"),
                    device = at("heddle-00000000000000cc.tmp"), other = at("heddle-models");
  write_text(dead, "half");
  fs::create_directory(dead_folder);
  write_text(dead_folder + "/kernels.cpp", "");
  ASSERT_EQ(mkfifo(device.c_str(), 0600), 0);
  fs::create_directory(other);
  TemporaryFile living(folder.path(), "living");  // sweeps this place, for the first time in this process
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_FALSE(fs::exists(dead_folder));
  EXPECT_TRUE(fs::exists(device));
  EXPECT_TRUE(fs::exists(other));
  sweep_temporaries(folder.path());
  living.rename_to(at("kept"));  // it was locked, so it is still there
  EXPECT_TRUE(fs::exists(at("kept")));
}

// A killed process unlocks its temporaries: those of a child are swept after its death, not before.
TEST(Temporary, AreLockedWhileTheirProcessLives) {
  const TemporaryFolder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const TemporaryFolder own;
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const auto count = [&] { return std::distance(fs::directory_iterator(folder.path()), {}); };
  sweep_temporaries(folder.path());
  EXPECT_EQ(count(), 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(count(), 1);
  sweep_temporaries(folder.path());
  EXPECT_EQ(count(), 0);
  unsetenv("TMPDIR");
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace heddle::runtime
