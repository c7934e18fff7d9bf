#include "runtime/compile/kernel_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "runtime/compile/source_parts.h"
#include "runtime/files/temporary.h"
#include "tests/support/text_files.h"

namespace heddle::runtime {
namespace {
using heddle::testing::read_text;
using heddle::testing::write_text;
namespace fs = std::filesystem;

TEST(KernelCache, FindsWhatWasStored) {
  const TemporaryFolder folder;
  const KernelCache cache(folder.path() + "/deep/er");  // made when missing
  const std::string key = cache_key({"source", "options"}), content("binary\0content", 14);
  EXPECT_EQ(cache.find(key, ".so"), std::nullopt);
  EXPECT_TRUE(cache.store(key, ".so", content));
  EXPECT_EQ(cache.find(key, ".so"), content);
  EXPECT_EQ(cache.find(key, ".cubin"), std::nullopt);
  EXPECT_TRUE(cache.store(key, ".so", ""));  // an empty entry is an entry
  EXPECT_EQ(cache.find(key, ".so"), "");
}

// Any single altered byte, content or trailer, and any truncation makes the entry absent; storing repairs it.
TEST(KernelCache, DamagedEntriesAreAbsent) {
  const TemporaryFolder folder;
  const KernelCache cache(folder.path());
  const std::string key = cache_key({"a"});
  ASSERT_TRUE(cache.store(key, ".so", "0123456789"));
  const std::string whole = read_text(cache.path(key, ".so"));
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write_text(cache.path(key, ".so"), damaged);
    EXPECT_EQ(cache.find(key, ".so"), std::nullopt) << "byte " << i;
    write_text(cache.path(key, ".so"), whole.substr(0, i));
    EXPECT_EQ(cache.find(key, ".so"), std::nullopt) << "cut at " << i;
  }
  ASSERT_TRUE(cache.store(key, ".so", "0123456789"));
  EXPECT_EQ(cache.find(key, ".so"), "0123456789");
}

// An entry under another entry's name is not taken for it.
TEST(KernelCache, EntriesCarryTheirKey) {
  const TemporaryFolder folder;
  const KernelCache cache(folder.path());
  const std::string a = cache_key({"a"}), b = cache_key({"b"});
  ASSERT_TRUE(cache.store(a, ".so", "code of a"));
  fs::copy_file(cache.path(a, ".so"), cache.path(b, ".so"));
  EXPECT_EQ(cache.find(b, ".so"), std::nullopt);
}

TEST(KernelCache, KeysSeparateTheirParts) {
  EXPECT_NE(cache_key({"ab", "c"}), cache_key({"a", "bc"}));
  EXPECT_NE(cache_key({"a"}), cache_key({"a", ""}));
  EXPECT_EQ(cache_key({"a", "b"}), cache_key({"a", "b"}));
  EXPECT_EQ(cache_key({"a"}).size(), 32U);
}

TEST(KernelCache, DropsWhatWasUsedLongestAgo) {
  const TemporaryFolder folder;
  const KernelCache cache(folder.path(), 3000);
  const std::string content(1000, 'x'), a = cache_key({"a"}), b = cache_key({"b"}), c = cache_key({"c"});
  const auto age = [&](const std::string& key, int seconds) {
    fs::last_write_time(cache.path(key, ".so"), fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  };
  ASSERT_TRUE(cache.store(a, ".so", content));
  ASSERT_TRUE(cache.store(b, ".so", content));
  age(a, 20);
  age(b, 10);
  EXPECT_TRUE(cache.find(a, ".so"));            // now b is the older one
  ASSERT_TRUE(cache.store(c, ".so", content));  // 3 x (1000 + trailer) is above 3000
  EXPECT_TRUE(cache.find(a, ".so"));
  EXPECT_FALSE(cache.find(b, ".so"));
  EXPECT_TRUE(cache.find(c, ".so"));
}

// Readers see nothing or the whole entry while several writers replace it.
TEST(KernelCache, ConcurrentUse) {
  const TemporaryFolder folder;
  const std::string key = cache_key({"k"}), content(100000, 'c');
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const KernelCache cache(folder.path());
      for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(cache.store(key, ".so", content));
        EXPECT_EQ(cache.find(key, ".so"), content);
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2);  // the mark, the entry: no drafts are left
}

// A folder with anybody's document in it is not the cache's: nothing is stored there, nothing is removed.
TEST(KernelCache, LeavesOtherFoldersAlone) {
  const TemporaryFolder folder;
  write_text(folder.path() + "/thesis.txt", "years of work");
  const KernelCache cache(folder.path(), /*limit=*/1);
  EXPECT_EQ(cache.problem(), "it holds 'thesis.txt', which is not the cache's");
  EXPECT_FALSE(cache.store(cache_key({"a"}), ".so", "code"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
  EXPECT_EQ(read_text(folder.path() + "/thesis.txt"), "years of work");
}

// What came into a marked folder later stays there, whatever its age and size; only names that the cache gives are its.
TEST(KernelCache, RemovesItsOwnNamesOnly) {
  const TemporaryFolder folder;
  const KernelCache cache(folder.path(), /*limit=*/1);
  const std::string hash(32, 'a');
  const std::vector<std::string> foreign = {"thesis.txt", ".tmp-1-2", hash, hash + ".txt", "x" + hash + ".so"};
  for (const std::string& name : foreign) {
    write_text(folder.path() + "/" + name, std::string(100, 'x'));
    fs::last_write_time(folder.path() + "/" + name, fs::file_time_type::clock::now() - std::chrono::hours(1000));
  }
  fs::create_directory(folder.path() + "/" + std::string(32, 'b') + ".so");
  fs::create_symlink(folder.path() + "/thesis.txt", folder.path() + "/" + std::string(32, 'c') + ".so");
  EXPECT_TRUE(cache.store(cache_key({"a"}), ".so", "code"));
  for (const std::string& name : foreign) EXPECT_TRUE(fs::exists(folder.path() + "/" + name)) << name;
  EXPECT_TRUE(fs::is_directory(folder.path() + "/" + std::string(32, 'b') + ".so"));
  EXPECT_TRUE(fs::is_symlink(folder.path() + "/" + std::string(32, 'c') + ".so"));
}

// An entry that is no file counts as absent and is not replaced: no crash, and a FIFO's reader does not wait.
TEST(KernelCache, EntriesThatAreNoFiles) {
  const TemporaryFolder folder;
  const KernelCache cache(folder.path());
  const std::string directory = cache_key({"d"}), fifo = cache_key({"f"}), link = cache_key({"l"});
  fs::create_directories(cache.path(directory, ".so") + "/inside");
  ASSERT_EQ(mkfifo(cache.path(fifo, ".so").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", cache.path(link, ".so"));
  for (const std::string& key : {directory, fifo, link}) {
    EXPECT_EQ(cache.find(key, ".so"), std::nullopt);
    EXPECT_FALSE(cache.store(key, ".so", "code"));
    EXPECT_EQ(cache.find(key, ".so"), std::nullopt);
  }
}

// Processes that find the folder empty at the same moment all use it.
TEST(KernelCache, ManyMarkOneFolder) {
  for (int round = 0; round < 20; ++round) {
    const TemporaryFolder folder;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const KernelCache cache(folder.path() + "/kernels");
        EXPECT_EQ(cache.problem(), "");
        EXPECT_TRUE(cache.store(cache_key({std::string(1, static_cast<char>('a' + t))}), ".so", "code"));
      });
    for (auto& t : threads) t.join();
  }
}

// A cache that cannot exist is no error: nothing is found, nothing stored.
TEST(KernelCache, WithoutAFolder) {
  const TemporaryFolder folder;
  write_text(folder.path() + "/file", "");
  const KernelCache cache(folder.path() + "/file/below");
  EXPECT_FALSE(cache.store(cache_key({"a"}), ".so", "x"));
  EXPECT_EQ(cache.find(cache_key({"a"}), ".so"), std::nullopt);
}

std::string kernel(const std::string& name) {
  return "// " + name + "\nHD_KERNEL(" + name + ")(float* x) {\n  x[0] = 0;\n}\nHD_HOST_ENTRY(" + name + ", 1)\n\n";
}

TEST(SourceParts, EachPartIsCompleteAndKernelsKeepTheirOrder) {
  std::string source = "#define HD_KERNEL(x)\n// preamble\n\n", all;
  for (char c = 'a'; c < 'k'; ++c) source += kernel(std::string(1, c));
  const std::vector<std::string> parts = split_source(source, 2);
  ASSERT_EQ(parts.size(), 2U);
  for (const std::string& p : parts) {
    EXPECT_TRUE(p.starts_with("#define HD_KERNEL(x)\n// preamble\n\n"));
    all += p.substr(p.find("// preamble\n\n") + 13);
  }
  EXPECT_EQ("#define HD_KERNEL(x)\n// preamble\n\n" + all, source);
  EXPECT_TRUE(parts[1].find("// f\nHD_KERNEL(f)") != std::string::npos) << parts[1];  // the comment travels along
}

TEST(SourceParts, PersistentKernelsAreCompiledApart) {
  std::string kernels = "// preamble\n";
  for (char c = 'a'; c < 'k'; ++c) kernels += kernel(std::string(1, c));
  const std::string all =
      kernels + "\n// Persistent kernels: with HD_PERSISTENT, some.\n#if defined(HD_PERSISTENT)\nvoid all();\n#endif\n";
  EXPECT_EQ(split_source(all, 2), split_source(kernels + "\n", 2));
  EXPECT_EQ(persistent_source(kernels), "");
  EXPECT_EQ(persistent_source(all), "#define HD_PERSISTENT\n" + all);
}

TEST(SourceParts, SmallOrUnknownTextStaysWhole) {
  const std::string small = kernel("a") + kernel("b");
  EXPECT_EQ(split_source(small, 2), std::vector<std::string>{small});
  EXPECT_EQ(split_source("int x;\n", 2), std::vector<std::string>{"int x;\n"});
  EXPECT_EQ(split_source("", 2), std::vector<std::string>{""});
}

TEST(SourceParts, NumbersLines) {
  EXPECT_EQ(numbered_lines("a\nb\nc\nd\n", 2, 1), "      1 | a\n>     2 | b\n      3 | c\n");
  EXPECT_EQ(numbered_lines("a", 1, 3), ">     1 | a\n");
}

}  // namespace
}  // namespace heddle::runtime
