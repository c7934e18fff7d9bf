// Readers of text: which elements a row has, where windows begin, what is at the ends of documents and behind targets.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "frontend/read/read_model.h"
#include "runtime/files/temporary.h"
#include "runtime/text/tokenizer.h"
#include "tools/driver/load_data.h"

namespace heddle {
namespace {

using Rows = std::vector<std::vector<int64_t>>;

class TextReaders : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.path() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  // A model of integer inputs [N, length], 0: [N], whose data section is given.
  void load(const std::map<std::string, int64_t>& inputs, const std::string& data) {
    std::string shapes, read;
    for (const auto& [name, length] : inputs) {
      const std::string shape = length == 0 ? R"(["N"])" : R"(["N", )" + std::to_string(length) + "]";
      shapes += (shapes.empty() ? "\"" : ", \"") + name + R"(": {"shape": )" + shape + R"(, "dtype": "i32"})";
    }
    const std::string text = R"({"format": "heddle-model/1", "name": "m", "inputs": {)" + shapes + R"(},
        "nodes": [{"name": "first", "op": "cast", "in": ")" +
                             inputs.begin()->first + R"(", "dtype": "f32"}, {"name": "all", "op": "mean"}],
        "train": {"batch": {"N": 2}, "steps": 1, "loss": {"op": "value", "in": "all"}, "optimizer": "sgd"},
        "data": )" + data + "}";
    const frontend::Model model = frontend::read_model(sources_, sources_.add("m.json", text));
    const frontend::TrainingPlan plan = frontend::plan_training(model);
    const driver::DataRequest request{.plan = &plan, .root = folder_.path(), .train = true};
    header_ = driver::read_headers(request);
    splits_ = driver::load_splits(request, header_);
    inputs_.clear();
    for (const auto& input : plan.inputs) inputs_.push_back(input.name);
  }

  static Rows rows(const runtime::Split& split, const std::string& input) {
    const runtime::data::Column& column = *split.table.find(input);
    Rows out;
    runtime::data::visit(column.type, [&](auto element) {
      for (int64_t row = 0; row < split.rows(); ++row) {
        out.emplace_back();
        for (int64_t i = 0; i < column.row_elements(); ++i) {
          std::memcpy(
              &element,
              column.content().data() + (row * column.row_elements() + i) * static_cast<int64_t>(sizeof element),
              sizeof element);
          out.back().push_back(static_cast<int64_t>(element));
        }
      }
    });
    return out;
  }
  Rows train(const std::string& input) const { return rows(*splits_.train, input); }

  // What a row's ids are the tokens of.
  std::string text(const std::string& input, const std::vector<int64_t>& ids) const {
    const auto number = static_cast<size_t>(std::find(inputs_.begin(), inputs_.end(), input) - inputs_.begin());
    const SourceFile file{"tokenizer.json", header_.tokenizers.at(number)};
    const runtime::text::Tokenizer tokenizer = runtime::text::read_tokenizer_json(file);
    std::string out;
    for (const int64_t id : ids) out += id < 0 ? "_" : std::string(*tokenizer.token(static_cast<uint32_t>(id)));
    return out;
  }
  std::vector<std::string> texts(const std::string& input) const {
    std::vector<std::string> out;
    for (const auto& row : train(input)) out.push_back(text(input, row));
    return out;
  }
  std::string error(const std::map<std::string, int64_t>& inputs, const std::string& data) {
    try {
      load(inputs, data);
    } catch (const UserError& e) {
      return e.what();
    }
    return "no error";
  }

  frontend::Sources sources_;
  runtime::TemporaryFolder folder_;
  driver::DataHeader header_;
  driver::Splits splits_;
  std::vector<std::string> inputs_;
};

using Texts = std::vector<std::string>;

TEST_F(TextReaders, CutWindowsOutOfAStream) {
  write("t.txt", "hello world\n");
  load({{"x", 4}, {"y", 4}},
       R"({"train": {"op": "tokens", "file": "t.txt", "window": 4, "x": "window", "y": "next"}})");
  EXPECT_EQ(texts("x"), (Texts{"hell", "o wo"}));
  EXPECT_EQ(texts("y"), (Texts{"ello", " wor"}));
  EXPECT_EQ(splits_.train->table.find("x")->type, runtime::data::ElementType::u8);
  // Sorted code points: line feed, blank, d, e, h, l, o, r, w.
  EXPECT_EQ(train("x")[0], (std::vector<int64_t>{4, 3, 5, 5}));
  load({{"x", 4}, {"y", 4}},
       R"({"train": {"op": "tokens", "file": "t.txt", "stride": 3, "x": "window", "y": "next"}})");
  EXPECT_EQ(texts("x"), (Texts{"hell", "lo w", "worl"}));
  EXPECT_EQ(texts("y"), (Texts{"ello", "o wo", "orld"}));
  load({{"x", 4}}, R"({"train": {"op": "tokens", "file": "t.txt", "stride": 1, "x": "window"}})");
  EXPECT_EQ(texts("x").size(), 9U);
  EXPECT_EQ(texts("x").back(), "rld\n");
}

// Both splits have the characters of the whole file.
TEST_F(TextReaders, TakeAPartOfTheTokens) {
  write("t.txt", "aaaaaaaaazbbbbbbbbbb");
  load({{"x", 2}, {"y", 2}},
       R"({"train": {"op": "tokens", "file": "t.txt", "range": [0, 0.5], "x": "window", "y": "next"},
           "validation": {"op": "tokens", "file": "t.txt", "range": [0.5, 1], "x": "window", "y": "next"}})");
  EXPECT_EQ(texts("x"), (Texts{"aa", "aa", "aa", "aa"}));
  EXPECT_EQ(texts("y"), (Texts{"aa", "aa", "aa", "aa"}));
  EXPECT_EQ(rows(*splits_.validation, "x")[0], (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(splits_.validation->rows(), 4);
}

TEST_F(TextReaders, TellDocumentsApart) {
  write("t.txt", "ab\ncde\n\nf\n");
  load(
      {{"d", 4}, {"p", 4}, {"x", 4}, {"y", 4}},
      R"({"train": {"op": "tokens", "file": "t.txt", "documents": "lines", "end": "<e>", "d": "document", "p": "position",
                     "x": "window", "y": "next"}})");
  EXPECT_EQ(texts("x"), (Texts{"ab<e>c", "de<e>f"}));
  EXPECT_EQ(texts("y"), (Texts{"b<e>_d", "e<e>_<e>"}));
  EXPECT_EQ(train("d"), (Rows{{0, 0, 0, 1}, {0, 0, 0, 1}}));
  EXPECT_EQ(train("p"), (Rows{{0, 1, 2, 0}, {0, 1, 2, 0}}));
  EXPECT_EQ(train("y")[0][2], -100);
  // Without them the stream goes on.
  load(
      {{"x", 4}, {"y", 4}},
      R"({"train": {"op": "tokens", "file": "t.txt", "documents": "lines", "end": "<e>", "x": "window", "y": "next"}})");
  EXPECT_EQ(texts("y"), (Texts{"b<e>cd", "e<e>f<e>"}));
}

// Row n of each batch goes on where row n of the one before stopped; what is left of the text is no row.
TEST_F(TextReaders, CutTheTextIntoStrands) {
  write("t.txt", "abcdefghijklmnopqrstuvwxyz");
  load({{"x", 4}, {"y", 4}},
       R"({"train": {"op": "tokens", "file": "t.txt", "strands": 2, "x": "window", "y": "next"}})");
  EXPECT_EQ(texts("x"), (Texts{"abcd", "mnop", "efgh", "qrst", "ijkl", "uvwx"}));
  EXPECT_EQ(texts("y"), (Texts{"bcde", "nopq", "fghi", "rstu", "jklm", "vwxy"}));
  load({{"x", 4}, {"y", 4}},
       R"({"train": {"op": "tokens", "file": "t.txt", "strands": 4, "x": "window", "y": "next"}})");
  EXPECT_EQ(texts("x"), (Texts{"abcd", "efgh", "ijkl", "mnop"}));  // one of six is enough for each
  load({{"x", 4}, {"y", 4}},
       R"({"train": {"op": "tokens", "file": "t.txt", "strands": 1, "x": "window", "y": "next"}})");
  EXPECT_EQ(texts("x").size(), 6U);
  EXPECT_EQ(texts("x")[1], "efgh");
}

TEST_F(TextReaders, PartDocumentsInStrands) {
  write("t.txt", "ab\ncde\nf\ng\n");
  load({{"d", 2}, {"p", 2}, {"x", 2}, {"y", 2}},
       R"({"train": {"op": "tokens", "file": "t.txt", "documents": "lines", "end": "<e>", "strands": 2, "d": "document",
                     "p": "position", "x": "window", "y": "next"}})");
  EXPECT_EQ(texts("x"), (Texts{"ab", "de", "<e>c", "<e>f"}));
  EXPECT_EQ(texts("y"), (Texts{"b<e>", "e<e>", "_d", "_<e>"}));
  EXPECT_EQ(train("d"), (Rows{{0, 0}, {0, 0}, {0, 1}, {0, 1}}));
  EXPECT_EQ(train("p"), (Rows{{0, 1}, {0, 1}, {0, 0}, {0, 0}}));
}

TEST_F(TextReaders, SayWhichWindowsAreNoStrandsAndHaveNoDrawnOffsets) {
  write("t.txt", "abcdefghijklmnopqrstuvwxyz");
  const auto fault = [&](const std::string& settings) {
    return error({{"x", 4}}, R"({"train": {"op": "tokens", "file": "t.txt", "x": "window", )" + settings + "}}");
  };
  EXPECT_NE(fault(R"("strands": 7)").find("6 windows are less than one for each of 7 strands"), std::string::npos);
  EXPECT_NE(fault(R"("strands": 2, "stride": 2)").find("'strands' goes with windows side by side"), std::string::npos);
  EXPECT_NE(fault(R"("offsets": "drawn", "stride": 1)")
                .find("'offsets' goes with windows side by side, not with a "
                      "stride of 1 in windows of 4"),
            std::string::npos);
  EXPECT_NE(fault(R"("offsets": "drawn", "strands": 2)").find("a strand goes on where it stopped"), std::string::npos);
  EXPECT_NE(error({{"p", 4}, {"x", 4}}, R"({"train": {"op": "tokens", "file": "t.txt", "x": "window", "p": "position",
                                                      "offsets": "drawn"}})")
                .find(R"(the "position" of each token is of windows that stay where they are)"),
            std::string::npos);
  EXPECT_NE(fault(R"("offsets": "drawn"}, "validation": {"fraction": 0.5, "draw": 1)")
                .find("a drawn validation takes some out of their middle"),
            std::string::npos);
  EXPECT_NE(fault(R"("offsets": "fixed"}, "test": {"op": "tokens", "file": "t.txt", "x": "window", "offsets": "drawn")")
                .find("validation and test measure the same rows in each epoch"),
            std::string::npos);
}

TEST_F(TextReaders, ReadBytesAndSeveralFiles) {
  write("a.txt", "\xc3\xa9");
  write("b.txt", "AB");
  load({{"x", 2}}, R"({"train": {"op": "tokens", "file": ["*.txt"], "unit": "bytes", "x": "window"}})");
  EXPECT_EQ(train("x"), (Rows{{0xc3, 0xa9}, {'A', 'B'}}));
  load({{"x", 3}}, R"({"train": {"op": "tokens", "file": "*.txt", "unit": "bytes", "begin": "<b>", "x": "window"}})");
  EXPECT_EQ(train("x"), (Rows{{0, 0xc4, 0xaa}, {0, 'A' + 1, 'B' + 1}}));
}

TEST_F(TextReaders, SayWhyThereAreNoWindows) {
  write("t.txt", "abcd");
  const std::map<std::string, int64_t> inputs = {{"x", 4}, {"y", 4}};
  EXPECT_NE(error(inputs, R"({"train": {"op": "tokens", "file": "t.txt", "x": "window", "y": "next"}})")
                .find("t.txt: 4 tokens, and a window needs 5"),
            std::string::npos);
  EXPECT_NE(error(inputs, R"({"train": {"op": "tokens", "file": "t.txt", "window": 3, "x": "window", "y": "next"}})")
                .find("the window is 3, input 'x' takes 4 tokens"),
            std::string::npos);
  EXPECT_NE(
      error(inputs, R"({"train": {"op": "tokens", "file": "t.txt", "range": [0.5, 0.5], "x": "window", "y": "next"}})")
          .find("'range' is [FROM, TO]"),
      std::string::npos);
  EXPECT_NE(error(inputs, R"({"train": {"op": "tokens", "file": "t.txt", "x": "window", "y": "last"}})")
                .find(R"(tokens are "window", "next", "document" or "position", not "last")"),
            std::string::npos);
  write("t.txt", "");
  EXPECT_NE(error(inputs, R"({"train": {"op": "tokens", "file": "t.txt", "x": "window", "y": "next"}})")
                .find("0 tokens, and a window needs 5"),
            std::string::npos);
}

TEST_F(TextReaders, ShiftTheTargetsOfParallelText) {
  write("a", "sea\nrain\n");
  write("b", "Meer\nR\n");
  const std::string reader =
      R"("op": "parallel_text", "from": "a", "to": "b", "padding": "<p>", "begin": "<s>", "end": "</s>")";
  load({{"n", 5}, {"s", 5}, {"t", 5}}, R"({"train": {)" + reader + R"(, "n": "next", "s": "source", "t": "target"}})");
  EXPECT_EQ(texts("s"), (Texts{"sea<p><p>", "rain<p>"}));
  EXPECT_EQ(texts("t"), (Texts{"<s>Meer", "<s>R<p><p><p>"}));
  EXPECT_EQ(texts("n"), (Texts{"Meer</s>", "R</s>___"}));
  EXPECT_EQ(train("n")[1][2], -100);
  // Cut, both keep their places: element i of one follows element i of the other.
  load({{"n", 3}, {"t", 3}}, R"({"train": {)" + reader + R"(, "n": "next", "t": "target"}})");
  EXPECT_EQ(texts("t")[0], "<s>Me");
  EXPECT_EQ(texts("n")[0], "Mee");
  load({{"k", 0}, {"l", 0}, {"s", 5}, {"t", 5}},
       R"({"train": {)" + reader + R"(, "k": "source_length", "l": "target_length", "s": "source", "t": "target"}})");
  EXPECT_EQ(train("k"), (Rows{{3}, {4}}));
  EXPECT_EQ(train("l"), (Rows{{5}, {2}}));
}

TEST_F(TextReaders, RefuseTextsThatAreNotParallel) {
  const std::string data =
      R"({"train": {"op": "parallel_text", "from": "a", "to": "b", "padding": "<p>", "x": "source"}})";
  write("a", "sea\nrain\n");
  write("b", "Meer\n");
  EXPECT_NE(error({{"x", 5}}, data).find("b has 1 lines, a has more"), std::string::npos) << error({{"x", 5}}, data);
  write("b", "Meer\n\n");
  EXPECT_NE(error({{"x", 5}}, data).find("b:2:1: the line is empty, and that of a is not"), std::string::npos);
  write("a", "\n\n");
  write("b", "\n\n");
  EXPECT_NE(error({{"x", 5}}, data).find("a: no text in it"), std::string::npos);
  EXPECT_NE(error({{"x", 5}}, R"({"train": {"op": "parallel_text", "from": "a", "to": "b", "x": "next"}})")
                .find(R"("next" needs the token 'begin')"),
            std::string::npos);
}

TEST_F(TextReaders, SayWhyNoRowIsDrawn) {
  write("t/one.txt", "a\nb\nc\n");
  const std::string text = error({{"l", 0}, {"x", 1}},
                                 R"({"train": {"op": "text_folder", "folder": "t", "x": "characters", "l": "file"},
                                     "validation": {"fraction": 0.4, "draw": 1}})");
  EXPECT_NE(text.find("leaves the validation empty; 3 rows stay, which alone have a name or a character"),
            std::string::npos)
      << text;
}

// Of rows that are drawn: every character of the validation is one of the training's, whatever the seed.
TEST_F(TextReaders, DrawNoCharacterAway) {
  std::string text;
  for (char c = 'a'; c <= 'z'; ++c) text += std::string(1, c) + "\n" + (c < 'n' ? std::string(1, c) + "\n" : "");
  write("t/one.txt", text);
  write("t/two.txt", text);
  for (int seed = 0; seed < 10; ++seed) {
    load({{"l", 0}, {"x", 1}},
         R"({"train": {"op": "text_folder", "folder": "t", "x": "characters", "l": "file"},
             "validation": {"fraction": 0.4, "by": "l", "draw": )" +
             std::to_string(seed) + "}}");
    EXPECT_EQ(splits_.validation->rows(), 32);  // 16 of 39, twice
    const SourceFile file{"tokenizer.json", header_.tokenizers.at(1)};
    EXPECT_EQ(runtime::text::read_tokenizer_json(file).size(), 26U);
  }
}

}  // namespace
}  // namespace heddle
