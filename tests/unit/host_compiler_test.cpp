// The system compiler: what its options promise, and what happens when it compiles wrongly.
#include "runtime/host/host_compiler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ir/diagnostic.h"
#include "runtime/files/temporary.h"

namespace heddle::runtime {
namespace {
namespace fs = std::filesystem;

// A script in place of the compiler, which notes each call in a file.
class PlantedCompiler {
 public:
  explicit PlantedCompiler(const std::string& script) {
    const std::string path = folder_.path() + "/g++";
    std::ofstream(path) << "#!/bin/sh\necho call >> " << folder_.path() << "/calls\n" << script;
    fs::permissions(path, fs::perms::owner_all);
    setenv("HEDDLE_CXX", path.c_str(), 1);
  }
  ~PlantedCompiler() { unsetenv("HEDDLE_CXX"); }
  PlantedCompiler(const PlantedCompiler&) = delete;
  PlantedCompiler& operator=(const PlantedCompiler&) = delete;
  int64_t calls() const {
    std::ifstream in(folder_.path() + "/calls");
    return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
  }

 private:
  TemporaryFolder folder_;
};

// Sums are reassociated, or nan is taken for impossible, which no option of ours allows.
const std::string kReassociates = "exec g++ \"$@\" -fassociative-math -fno-signed-zeros\n";
const std::string kKnowsNoNan = "exec g++ \"$@\" -ffinite-math-only\n";
const std::string kWrongAtO3 = "case \" $* \" in *\" -O3 \"*) " + kReassociates + ";; esac\nexec g++ \"$@\"\n";

std::string returns(int value) {
  return fmt::format("extern \"C\" void f_host(void* const* a, int, int) {{ *(int*)a[0] = {}; }}\n", value);
}

TEST(HostCompiler, TheKeyCoversTextOptionsAndCompiler) {
  const std::string key = compile_key("text", "/bin/sh", {"-O3"});
  EXPECT_EQ(key, compile_key("text", "/bin/sh", {"-O3"}));
  EXPECT_NE(key, compile_key("texts", "/bin/sh", {"-O3"}));
  EXPECT_NE(key, compile_key("text", "/bin/sh", {"-O2"}));
  EXPECT_NE(key, compile_key("text", "/bin/sh", {"-O3", "-w"}));
  EXPECT_NE(key, compile_key("text", "/bin/ls", {"-O3"}));
}

// a * a rounds to 1 + 2^-11, so the difference is 0; contracted into one operation it would be 2^-24.
TEST(HostCompiler, DoesNotContract) {
  const TemporaryFolder folder;
  const HostLibrary library = compile_for_host(
      "extern \"C\" void f_host(void* const* a, int, int) {\n"
      "  for (int i = 0; i < 37; ++i) ((float*)a[1])[i] = ((float*)a[0])[i] * ((float*)a[0])[i] - (1 + 0x1p-11f);\n"
      "}\n",
      KernelCache(folder.path()));
  std::vector<float> x(37, 1 + 0x1p-12F), y(37, -1);
  void* arguments[] = {x.data(), y.data()};
  library.find("f")(arguments, 0, 1);
  EXPECT_EQ(y, std::vector<float>(37, 0));
}

TEST(HostCompiler, IsCheckedOnce) {
  const PlantedCompiler compiler("exec g++ \"$@\"\n");
  const TemporaryFolder folder;
  const KernelCache cache(folder.path());
  const HostLibrary first = compile_for_host(returns(1), cache);
  EXPECT_EQ(first.check.wrong, "");
  EXPECT_GE(first.check.cases, 20);
  EXPECT_EQ(compiler.calls(), 2);  // the known answers, the program
  compile_for_host(returns(2), cache);
  EXPECT_EQ(compiler.calls(), 3);
  EXPECT_TRUE(compile_for_host(returns(2), cache).cached);
  EXPECT_EQ(compiler.calls(), 3);
}

TEST(HostCompiler, WrongAnswersCostItVectorisation) {
  const PlantedCompiler compiler(kWrongAtO3);
  const TemporaryFolder folder;
  const KernelCache cache(folder.path());
  for (const bool cached : {false, true}) {
    const HostLibrary library = compile_for_host(returns(3), cache);
    EXPECT_EQ(library.cached, cached);
    EXPECT_EQ(library.check.options, CompilerOptions::plain);
    EXPECT_EQ(library.check.wrong, "no reassociation");
    int value = 0;
    void* arguments[] = {&value};
    library.find("f")(arguments, 0, 1);
    EXPECT_EQ(value, 3);
  }
  EXPECT_EQ(compiler.calls(), 4);  // the known answers twice, the program twice; nothing the second time
}

TEST(HostCompiler, IsRefusedWhereItIsAlwaysWrong) {
  const PlantedCompiler compiler(kKnowsNoNan);
  const TemporaryFolder folder;
  try {
    compile_for_host(returns(4), KernelCache(folder.path()));
    FAIL() << "trusted";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::missing);
    EXPECT_NE(std::string(error.what()).find("compiles known programs wrongly"), std::string::npos) << error.what();
    EXPECT_EQ(error.diagnostics().front().help, "set HEDDLE_CXX to another compiler");
  }
}

}  // namespace
}  // namespace heddle::runtime
