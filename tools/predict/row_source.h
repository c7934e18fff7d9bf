// Where rows to predict come from: files of arrays, tables, pictures, lines of JSON, or standard input.
//
//   {"x.npy"}, {"label=y.idx", "image=pictures"}, {"-"}
//
// A source reads some rows at a time, so that a file may be larger than memory and a pipe may have no end.
#pragma once
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "tools/driver/predictor.h"

namespace heddle::tools {

struct PredictRows {
  int64_t count = 0;
  int64_t first = 0;                           // of all rows, the number of the first of these
  std::vector<runtime::data::Column> columns;  // one for each input of the predictor
  std::vector<std::string> names;              // of the pictures or sounds that the rows are; empty: they are none
};

// Fills the columns of its inputs with at most `most` rows: none at the end, and fewer than that where waiting for more
// would keep a producer from its answers.
using RowSource = std::function<int64_t(int64_t most, PredictRows& rows)>;

struct OpenedSource {
  std::string name;  // for messages
  std::vector<size_t> inputs;
  RowSource read;
  std::function<std::vector<std::string>()> notes = {};  // what is to be told of the rows so far
};

// What a file of rows may hold.
inline const std::vector<std::string> kRowFormats = {"npy", "csv", "idx", "image", "wav", "jsonl", "txt"};

struct SourceRequest {
  std::string path;    // or "-"
  std::string format;  // one of kRowFormats
  std::vector<size_t> inputs;
  std::string name() const { return path == "-" ? "<stdin>" : path; }
};

// One row after another of what all sources hold. Throws UserError where they do not hold the same number.
class RowReader {
 public:
  // `in` are the words of --in; `format` that of --in-format, "" to go by the files' names.
  RowReader(const driver::Predictor& predictor, const std::vector<std::string>& in, const std::string& format);
  bool next(int64_t most, PredictRows& rows);  // false at the end
  const std::string& source_of(size_t input) const;
  std::vector<std::string> notes() const;  // of the rows so far: which texts were cut

 private:
  std::vector<OpenedSource> sources_;
  int64_t read_ = 0;
};

// How many rows the words of --in have in all, 0 where only reading them tells. What is wrong with
// a file says RowReader.
int64_t known_rows(const std::vector<std::string>& in, const std::string& format);
// Of a picture's file, or a folder of such; of a sound's.
int64_t picture_count(const std::string& path);
int64_t sound_count(const std::string& path);
// Whether a folder holds a wav file.
bool holds_sounds(const std::string& folder);

OpenedSource open_npy(const driver::Predictor& predictor, const SourceRequest& request);
OpenedSource open_idx(const driver::Predictor& predictor, const SourceRequest& request);
OpenedSource open_pictures(const driver::Predictor& predictor, const std::vector<SourceRequest>& requests);
OpenedSource open_sounds(const driver::Predictor& predictor, const std::vector<SourceRequest>& requests);
OpenedSource open_csv(const driver::Predictor& predictor, const SourceRequest& request);
OpenedSource open_text(const driver::Predictor& predictor, const SourceRequest& request);
OpenedSource open_json_lines(const driver::Predictor& predictor, const SourceRequest& request);

// A fault in a row waits until the rows before it have got their results.
class HeldFault {
 public:
  void rethrow() const {
    if (fault_) std::rethrow_exception(fault_);
  }
  // Whether the row could be read. Throws where no row is before it.
  template <class F>
  bool try_row(int64_t rows_before, const F& read) {
    try {
      read();
      return true;
    } catch (const UserError&) {
      if (rows_before == 0) throw;
      fault_ = std::current_exception();
      return false;
    }
  }

 private:
  std::exception_ptr fault_;
};

// Why this element cannot be what the input takes, or "".
std::string value_fault(const runtime::data::ColumnRequest& request, runtime::data::ElementType type,
                        const std::byte* element);
// The type that values written as text are read as.
runtime::data::ElementType text_type(const runtime::data::ColumnRequest& request);

}  // namespace heddle::tools
