// Reads the rows to predict from files (arrays, tables, pictures, sounds, texts, JSON lines) or from standard input.
//
//   {"x.npy"}, {"label=y.idx", "image=pictures"}, {"-"}
//
// A source reads a few rows at a time, so a file may be larger than memory and a pipe may be endless.
#pragma once
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "tools/driver/predictor.h"

namespace heddle::tools {

struct PredictRows {
  int64_t count = 0;
  int64_t first = 0;                           // number of the first of these among all rows
  std::vector<runtime::data::Column> columns;  // one for each input of the predictor
  std::vector<std::string> names;              // file names of pictures or sounds; empty: the rows are neither
};

// Fills the columns of its inputs with at most `most` rows. Returns their number; 0 at the end. Returns early where
// more rows would have to be waited for, so that a producer gets its results at once.
using RowSource = std::function<int64_t(int64_t most, PredictRows& rows)>;

struct OpenedSource {
  std::string name;  // for messages
  std::vector<size_t> inputs;
  RowSource read;
  std::function<std::vector<std::string>()> notes = {};  // notes for the user about the rows so far
};

// The formats of rows.
inline const std::vector<std::string> kRowFormats = {"npy", "csv", "idx", "image", "wav", "jsonl", "txt"};

struct SourceRequest {
  std::string path;    // or "-"
  std::string format;  // one of kRowFormats
  std::vector<size_t> inputs;
  std::string name() const { return path == "-" ? "<stdin>" : path; }
};

// RowReader: reads rows from all sources in step. Throws UserError where the sources have different numbers of rows.
class RowReader {
 public:
  // `in`: the values of --in. `format`: that of --in-format; "": by the files' names.
  RowReader(const driver::Predictor& predictor, const std::vector<std::string>& in, const std::string& format);
  bool next(int64_t most, PredictRows& rows);  // false at the end
  const std::string& source_of(size_t input) const;
  std::vector<std::string> notes() const;  // about the rows so far, such as cut texts

 private:
  std::vector<OpenedSource> sources_;
  int64_t read_ = 0;
};

// How many rows the values of --in have in all; 0 where they must be read to know it. Ignores errors in the files,
// which RowReader reports.
int64_t known_rows(const std::vector<std::string>& in, const std::string& format);
// The number of pictures (or sounds): 1 for a file, else those in a folder.
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

// Holds an error in a row until the rows before it have their results.
class HeldFault {
 public:
  void rethrow() const {
    if (fault_) std::rethrow_exception(fault_);
  }
  // Returns whether the row could be read. Throws the error at once where there are no rows before it.
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

// Why the input cannot take this element, or "".
std::string value_fault(const runtime::data::ColumnRequest& request, runtime::data::ElementType type,
                        const std::byte* element);
// The type in which values that are written as text are read.
runtime::data::ElementType text_type(const runtime::data::ColumnRequest& request);

}  // namespace heddle::tools
