// Numbers texts by a hash, where there is no list of all texts: words of an open vocabulary, ids of users.
//
//   "hash": {"user": 1000} -> hash_ids(settings, "user") = 1000; "abc" is number XXH64("abc") % 1000 = 249
//
// XXH64 is that of xxHash with seed 0 over the text's UTF-8 bytes: the same on every machine and in every programming
// language. No table is kept: every text has a number, also one that no training row has. Two texts may share a number.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/reader_def.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {

// How many numbers the input's texts can have; 0: the input has no hash.
int64_t hash_ids(const std::vector<ReaderSetting>& settings, const std::string& input);
// The same for a reader's column. Throws UserError where the numbers do not fit the column, or the column also has
// classes, text or sound.
int64_t hash_ids(const ReaderRequest& request, const ColumnRequest& column);
int64_t hashed(std::string_view text, int64_t ids);
Key hash_key();

}  // namespace heddle::runtime::data
