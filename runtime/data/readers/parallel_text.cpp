// The reader `parallel_text`: two text files whose lines correspond, a source and a target, as in translation.
//
//   {"op": "parallel_text", "from": "a.en", "to": "a.de", "begin": "<s>", "end": "</s>",
//    "x": "source", "y": "target", "next": "next"}
//     -> x: "the sea", y: "<s> das Meer", next: "das Meer </s>", -100 behind it
#include <fmt/format.h>

#include <algorithm>

#include "runtime/data/input_file.h"
#include "runtime/data/printable.h"
#include "runtime/data/text_columns.h"
#include "runtime/data/text_file.h"
#include "runtime/data/text_pairs.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

// Throws UserError at a word that names no part of a pair.
std::vector<PairPart> parts_of(const ReaderRequest& request) {
  std::vector<PairPart> parts;
  for (const ColumnRequest& column : request.columns) {
    const std::optional<PairPart> part = pair_part(column.source());
    if (!part)
      throw UserError(column.where,
                      fmt::format(R"(a pair of texts has "source", "target", "next", "source_length" and )"
                                  R"("target_length", not "{}")",
                                  printable(column.source())));
    parts.push_back(*part);
  }
  return parts;
}

class ParallelText {
 public:
  ParallelText(const ReaderRequest& request, const fs::path& root)
      : request_(request),
        root_(root),
        from_(root, request.text("from"), request.place("from")),
        to_(root, request.text("to"), request.place("to")),
        parts_(parts_of(request)),
        texts_(request, text_settings(request), words(), sources()) {
    for (size_t i = 0; i < parts_.size(); ++i) texts_.shape(i) = parts_[i].shape;
    for (const char* key : {"begin", "end"})
      if (request.find(key) == nullptr &&
          std::ranges::any_of(parts_, [](const PairPart& part) { return part.shape.targets; }))
        throw UserError(request.where, fmt::format("parallel_text: \"next\" needs the token '{}'", key),
                        fmt::format("add \"{}\": \"{}\", the name of a token", key, key[0] == 'b' ? "<s>" : "</s>"));
  }

  TableHeader header() {
    TableHeader out;
    out.types.assign(request_.columns.size(), ElementType::i32);
    out.class_names.resize(request_.columns.size());
    each_pair([&](const TextLine& from, const TextLine& to) {
      for (size_t i = 0; i < request_.columns.size(); ++i) texts_.collect(i, text_of(i, from, to), out.rows);
      ++out.rows;
    });
    if (out.rows == 0)
      throw UserError(request_.place("from"), fmt::format("{}: no text in it", request_.text("from")), kNoRowsHelp);
    require_text_room(request_, out.rows);
    texts_.finish(out, root_);
    return out;
  }

  Table read() {
    const TableHeader head = header();
    Table table{.rows = head.rows, .columns = {}};
    std::vector<std::byte*> places;
    for (size_t i = 0; i < head.types.size(); ++i) {
      const ColumnRequest& asked = request_.columns[i];
      const auto dims = texts_.is_text(i) ? asked.dims : std::vector<int64_t>();
      places.push_back(
          add_column(table, {.input = asked.input, .type = head.types[i], .dims = dims}, request_.resident));
    }
    each_pair([&](const TextLine& from, const TextLine& to) {
      for (size_t i = 0; i < places.size(); ++i)
        if (texts_.is_text(i)) encode(i, from, to);
      for (size_t i = 0; i < places.size(); ++i) {
        texts_.store(i, table.columns[i].type, places[i]);
        places[i] += table.columns[i].row_bytes();
      }
    });
    for (const std::string& note : texts_.notes())
      table.notes.push_back(fmt::format("{}, {}: {}", request_.text("from"), request_.text("to"), note));
    return table;
  }

 private:
  std::vector<std::string> words() const {
    std::vector<std::string> words;
    for (const PairPart& part : parts_) words.push_back(part.length ? "length" : pair_unit(request_));
    return words;
  }

  // The source name of each column, its side: each side has one vocabulary.
  std::vector<std::string> sources() const {
    std::vector<std::string> sources;
    for (const PairPart& part : parts_) sources.push_back(part.side);
    return sources;
  }

  bool of_target(size_t column) const { return parts_[column].side == "target"; }

  std::string_view text_of(size_t column, const TextLine& from, const TextLine& to) const {
    return of_target(column) ? to.text : from.text;
  }

  void encode(size_t i, const TextLine& from, const TextLine& to) {
    texts_.encode(i, text_of(i, from, to), [&](size_t offset, const std::string& message, const std::string& help) {
      (of_target(i) ? to_ : from_).fail(from.number, static_cast<int64_t>(offset) + 1, message, help);
    });
  }

  template <class F>
  void each_pair(const F& f) const {
    TextLine from, to;
    size_t at_from = 0, at_to = 0;
    for (;;) {
      const bool more_from = from_.next_line(at_from, from), more_to = to_.next_line(at_to, to);
      if (!more_from && !more_to) return;
      if (more_from != more_to)
        throw UserError(request_.place("to"),
                        fmt::format("{} has {} lines, {} has more", request_.text(more_from ? "to" : "from"),
                                    more_from ? to.number : from.number, request_.text(more_from ? "from" : "to")),
                        "a line of one is a line of the other");
      if (from.text.empty() && to.text.empty()) continue;
      if (from.text.empty() || to.text.empty())
        (from.text.empty() ? from_ : to_)
            .fail(from.number, 1,
                  fmt::format("the line is empty, and that of {} is not",
                              request_.text(from.text.empty() ? "to" : "from")),
                  "remove the pair, or mend it");
      f(from, to);
    }
  }

  const ReaderRequest& request_;
  fs::path root_;
  TextFile from_, to_;
  std::vector<PairPart> parts_;
  TextColumns texts_;
};

std::vector<Key> keys() {
  std::vector<Key> all = {
      {.name = "from", .type = KeyType::path, .doc = "the texts that are given, plain or .gz", .required = true},
      {.name = "to", .type = KeyType::path, .doc = "what each of them becomes", .required = true},
      {.name = "unit",
       .type = KeyType::text,
       .doc = "what a token is: characters, or tokens where there is a tokenizer",
       .words = {"characters", "bytes", "tokens"}}};
  all.insert(all.end(), text_keys().begin(), text_keys().end());
  return all;
}

const RegisterReader parallel_text({
    .name = "parallel_text",
    .doc = "two files of texts, line by line; an input is the \"source\", the \"target\" behind `begin`, what comes "
           "\"next\" up to `end`, -100 behind it, \"source_length\" or \"target_length\"",
    .keys = keys(),
    .pairs = true,
    .header = [](const ReaderRequest& request, const fs::path& root) { return ParallelText(request, root).header(); },
    .read = [](const ReaderRequest& request, const fs::path& root) { return ParallelText(request, root).read(); },
});

}  // namespace
}  // namespace heddle::runtime::data
