#include "ir/decoding.h"

#include <map>

#include "ir/check.h"

namespace heddle::ir {
namespace {

std::map<std::string, Decoding>& records() {
  static std::map<std::string, Decoding> all;
  return all;
}

}  // namespace

const Decoding* find_decoding(const OpDef& op) {
  const auto found = records().find(op.name);
  return found == records().end() ? nullptr : &found->second;
}

RegisterDecoding::RegisterDecoding(Decoding decoding) {
  const std::string op = decoding.op;
  const bool is_new = records().emplace(op, std::move(decoding)).second;
  HEDDLE_CHECK(is_new, op + " has two records of decoding");
}

}  // namespace heddle::ir
