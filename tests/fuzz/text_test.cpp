// Mutated models and IR text through everything that reads them: an answer or a UserError, never a crash or a hang.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "codegen/lower.h"
#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "frontend/training/training_plan.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "ir/verify/verify.h"
#include "passes/pipeline.h"
#include "tests/fuzz/campaign.h"
#include "tests/support/source_dir.h"
#include "tests/support/text_files.h"

namespace heddle::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(testing::source_dir() / folder))
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());  // so that a case's number means the same everywhere
  std::vector<std::string> texts;
  texts.reserve(paths.size());
  for (const fs::path& path : paths) texts.push_back(testing::read_text(path));
  return texts;
}

// Without the comments, whose mutations are of no interest.
std::string without_comments(const std::string& text) {
  std::string out;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (!line.starts_with("//") || line.starts_with("//---")) out += line + "\n";
    begin = end + 1;
  }
  return out;
}

std::vector<std::string> join(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  for (std::string& text : a) text = without_comments(text);
  return a;
}

// Each graph for itself where graphs share nothing: a fault in one would hide the others.
std::vector<std::string> graphs(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) {
    const bool shares = text.find("kernel @") != std::string::npos || text.find("group @") != std::string::npos;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = shares ? text.size() : std::min(text.find("\ngraph @", begin + 1), text.size());
      all.push_back(text.substr(begin, end - begin));
      begin = end;
    }
  }
  return all;
}

// What `heddle compile --emit=cuda` does, without the library.
void compile(const frontend::Model& model) {
  frontend::plan_training(model);
  ir::Module module = frontend::build_module(model, frontend::default_build_options(model));
  passes::run_pipeline(module, {});
  codegen::lower(module, model.name, ir::host());
}

TEST(Fuzz, Models) {
  Campaign c{.name = "model", .corpus = join(files("models", ".json"), files("tests/frontend", ".json")), .target = {}};
  c.target = [](const std::string& text) {
    frontend::Sources sources;
    const frontend::ReadOptions options{.set = {}, .small = true};
    compile(frontend::read_model(sources, sources.add("m.json", text), options));
  };
  run(c, 200);
}

TEST(Fuzz, Overrides) {
  const std::vector<std::string> models = files("models", ".json");
  Campaign c{.name = "override", .corpus = {}, .target = {}};
  c.corpus = {"train.optimizer.lr=3e-4",
              "nodes.fc1.units=24",
              "train.batch.N=7",
              "nodes.0.name=\"x\"",
              "let.width=\"2*N\"",
              "train.loss.op=\"mse\"",
              "data.map.x.0.by=-1.5",
              "train.metrics=[]",
              "layout=\"NCHW\"",
              "inputs.x.shape=[\"N\",4]",
              "train.seed=18446744073709551615"};
  c.target = [&](const std::string& text) {
    frontend::Sources sources;
    const std::string& model = models[text.size() % models.size()];
    compile(frontend::read_model(sources, sources.add("m.json", model), {.set = {text}, .small = true}));
  };
  run(c, 150);
}

// Text that parses is well formed, and what is printed of it reads back equal.
TEST(Fuzz, IrText) {
  Campaign c{
      .name = "ir", .corpus = graphs(join(files("tests/ir", ".hir"), files("tests/passes", ".hir"))), .target = {}};
  c.target = [](const std::string& text) {
    const SourceFile file{"m.hir", text};
    const ir::Module module = ir::parse(file);
    if (!ir::verify(module).empty()) return;
    const SourceFile again{"again.hir", ir::print(module)};
    if (!ir::structurally_equal(module, ir::parse(again))) throw std::runtime_error("its print reads back as another");
  };
  run(c, 3000);
}

// A well-formed module passes through every pass, alone and in order.
TEST(Fuzz, Passes) {
  Campaign c{.name = "passes",
             .corpus = graphs(join(files("tests/passes", ".hir"), files("tests/codegen", ".hir"))),
             .target = {}};
  c.target = [](const std::string& text) {
    const SourceFile file{"m.hir", text};
    const ir::Module module = ir::parse(file);
    if (!ir::verify(module).empty()) return;
    for (const passes::Pass& pass : passes::all_passes()) {
      ir::Module alone = module;
      try {
        passes::run_pass(pass, alone, {});
      } catch (const UserError&) {  // such as a gradient of what has none
      }
    }
    ir::Module whole = module;
    passes::run_pipeline(whole, {});
    codegen::lower(whole, "m", ir::host());
  };
  run(c, 1500);
}

}  // namespace
}  // namespace heddle::testing
