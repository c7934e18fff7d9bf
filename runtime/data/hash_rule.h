// Numbers of texts of which nobody has a list: words of an open vocabulary, ids of users.
//
//   "hash": {"user": 1000} -> hash_ids(settings, "user") = 1000; "abc" is number XXH64("abc") % 1000 = 249
//
// XXH64 is that of xxHash with seed 0, of the text's bytes of UTF-8: the same on every machine and in every language.
// Nothing is kept: texts that no training row has have their numbers, too, and two of them may share one.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/reader_def.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {

// How many numbers there are for the texts of an input; 0: it has none by a hash.
int64_t hash_ids(const std::vector<ReaderSetting>& settings, const std::string& input);
// Likewise of a reader's column. UserError where they do not fit it, or the column is something else, too.
int64_t hash_ids(const ReaderRequest& request, const ColumnRequest& column);
int64_t hashed(std::string_view text, int64_t ids);
Key hash_key();

}  // namespace heddle::runtime::data
