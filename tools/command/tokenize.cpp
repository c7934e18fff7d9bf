// heddle tokenize: ids of a text and the text of ids, by a tokenizer; and training of tokenizers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <filesystem>
#include <memory>

#include "ir/read_text.h"
#include "runtime/data/printable.h"
#include "runtime/files/write_file.h"
#include "runtime/json_text.h"
#include "runtime/text/tokenizer.h"
#include "runtime/text/train.h"
#include "runtime/text/unicode.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/output.h"
#include "tools/command/read_file.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;
using runtime::text::Encoder;
using runtime::text::Range;
using runtime::text::Specials;
using runtime::text::Tokenizer;

constexpr size_t kMostText =
    size_t{1} << 30;  // bytes of a file: pieces may be several times as long, and their places have 32 bits

struct TokenizeArguments {
  std::vector<std::string> words, special_tokens;
  std::string train, out;
  int vocab = 0;
  bool tokens = false, decode = false, special = false, around = false, overwrite = false;
};

// Calls for each line without its end.
template <class Visit>
void each_line(const SourceFile& file, Visit visit) {
  const std::string& text = file.text;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    visit(Range{static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
  }
}

void print_ids(const Tokenizer& tokenizer, const SourceFile& file, const TokenizeArguments& a) {
  runtime::text::require_utf8(file);
  Encoder encoder(tokenizer);
  std::vector<uint32_t> ids;
  std::vector<std::string> tokens;
  each_line(file, [&](Range line) {
    ids.clear();
    encoder.encode(file, line, {.special = a.special, .around = a.around}, ids);
    if (!a.tokens) {
      print_result("{}\n", fmt::join(ids, " "));
      return;
    }
    tokens.clear();
    for (const uint32_t id : ids) tokens.push_back(runtime::json_quoted(tokenizer.token(id).value_or("")));
    write_result(runtime::json_list(tokens) + "\n");
  });
}

// Ids of a line, with blanks between them.
void print_text(const Tokenizer& tokenizer, const SourceFile& file, const TokenizeArguments& a) {
  const Specials specials = a.special ? Specials::keep : Specials::leave_out;
  each_line(file, [&](Range line) {
    std::vector<uint32_t> ids;
    for (uint32_t at = line.begin; at < line.end;) {
      const auto blank = [&] { return std::string_view(" \t\r").find(file.text[at]) != std::string_view::npos; };
      if (blank()) {
        ++at;
        continue;
      }
      const uint32_t begin = at;
      while (at < line.end && !blank()) ++at;
      const std::string_view word = std::string_view(file.text).substr(begin, at - begin);
      uint32_t id = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
      const Location where{&file, begin, at};
      if (error != std::errc() || end != word.data() + word.size())
        throw UserError(where, fmt::format("expected an id, found '{}'", runtime::data::printable(word)),
                        "--decode reads integers with blanks between them");
      if (!tokenizer.token(id))
        throw UserError(where, fmt::format("no token has the id {}; the ids end with {}", id, tokenizer.size() - 1),
                        "give ids that this tokenizer made");
      ids.push_back(id);
    }
    write_result(tokenizer.decode(ids, specials) + "\n");
  });
}

void use_tokenizer(const TokenizeArguments& a) {
  if (a.words.empty())
    throw UserError(ExitCode::usage, "tokenize needs a tokenizer",
                    "heddle tokenize TOKENIZER [FILE], or --train KIND FILES");
  if (a.words.size() > 2)
    throw UserError(ExitCode::usage, fmt::format("'{}' is one word too many", a.words[2]),
                    "one file is read at a time");
  if (!a.out.empty() || a.vocab != 0 || !a.special_tokens.empty() || a.overwrite)
    throw UserError(ExitCode::usage, "--vocab, --special-token, -o and --overwrite are those of --train",
                    "add --train KIND");
  if (a.decode && (a.tokens || a.around))
    throw UserError(ExitCode::usage, "--decode prints text: --tokens and --template do not go with it",
                    "leave one out");
  std::deque<SourceFile> files;
  const Tokenizer tokenizer = runtime::text::read_tokenizer(files, a.words[0]);
  const SourceFile text = read_file(a.words.size() > 1 ? a.words[1] : "-", kMostText);
  a.decode ? print_text(tokenizer, text, a) : print_ids(tokenizer, text, a);
}

// A file, or all of a folder in the order of their names; hidden ones are left out.
void add_files(const std::string& path, std::vector<std::string>& files) {
  std::error_code ec;
  if (!fs::is_directory(path, ec)) {
    files.push_back(path);
    return;
  }
  const size_t first = files.size();
  for (fs::recursive_directory_iterator at(path, ec), end; !ec && at != end; at.increment(ec)) {
    const bool hidden = at->path().filename().string().starts_with('.');
    if (hidden && at->is_directory(ec)) at.disable_recursion_pending();
    if (!hidden && at->is_regular_file(ec)) files.push_back(at->path().string());
  }
  if (ec) throw UserError(ExitCode::failed, fmt::format("cannot read '{}': {}", path, ec.message()));
  std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
}

void train(const TokenizeArguments& a) {
  if (a.words.empty()) throw UserError(ExitCode::usage, "--train needs files of text", "name files or folders");
  if (a.tokens || a.decode || a.special || a.around)
    throw UserError(ExitCode::usage, "--train makes a tokenizer: --tokens, --decode, --special and --template use one",
                    "leave them out; special tokens of the new one are named by --special-token");
  if (a.vocab == 0 && a.train != "bytes" && a.train != "characters")
    throw UserError(ExitCode::usage, fmt::format("--train {} needs --vocab", a.train), "--vocab 8000, for example");
  if (a.vocab != 0 && a.train == "bytes")
    throw UserError(ExitCode::usage, "--train bytes has a token for each of the 256 bytes, whatever --vocab says",
                    "leave --vocab out");
  std::vector<std::string> paths;
  for (const std::string& path : a.words) add_files(path, paths);
  for (const std::string& path : paths)
    if (!a.out.empty()) require_different("-o", a.out, "the text", path);
  if (!a.out.empty() && !runtime::is_stream(a.out)) {
    if (!a.overwrite) runtime::require_new(a.out);  // nothing in a tokenizer.json says who made it
    runtime::require_replaceable(a.out);
  }
  std::vector<SourceFile> texts;
  texts.reserve(paths.size());
  for (const std::string& path : paths) texts.push_back(read_file(path, kMostText));
  const std::string json = runtime::text::train_tokenizer(
      {.kind = a.train, .size = static_cast<uint32_t>(a.vocab), .special = a.special_tokens}, texts);
  if (a.out.empty())
    write_result(json);
  else
    runtime::write_file(a.out, json);
}

}  // namespace

void add_tokenize(CommandLine& line) {
  Command command = line.add_subcommand("tokenize", "ids of a text by a tokenizer, and tokenizers trained on text");
  const auto a = std::make_shared<TokenizeArguments>();
  command
      .add_option("files", a->words,
                  "TOKENIZER [FILE]: a tokenizer.json, or a folder with it or with vocab.json and merges.txt, and the "
                  "text, one line at a time (default -, standard input); with --train: files and folders of text")
      .takes(Takes::file);
  command.add_flag("--tokens", a->tokens, "print the tokens of each line as a JSON list instead of their ids");
  command.add_flag("--decode", a->decode, "read ids and print their text");
  command.add_flag("--special", a->special,
                   "read special tokens in the text as special tokens, not as plain text; --decode prints them");
  command.add_flag("--template", a->around, "add what the tokenizer puts around a text, such as [CLS] and [SEP]");
  command.add_option("--train", a->train, "make a tokenizer of this kind").one_of(runtime::text::train_kinds());
  command.add_option("--vocab", a->vocab, "with --train: the number of tokens, special ones included")
      .between(1, static_cast<int>(runtime::text::kMaxIds) - 1);
  command.add_option("--special-token", a->special_tokens,
                     "with --train: a special token; repeated, their ids are 0, 1, ...");
  command.add_option("-o,--out", a->out, "with --train: where the tokenizer.json goes (default: standard output)")
      .takes(Takes::file);
  command.add_flag("--overwrite", a->overwrite, "with -o: replace an existing file");
  command.run([a] { a->train.empty() ? use_tokenizer(*a) : train(*a); });
}

}  // namespace heddle::tools
