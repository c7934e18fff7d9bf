// A primitive's text: the call of the preamble.
#include <fmt/format.h>

#include <cctype>
#include <map>

#include "codegen/emit_parts.h"
#include "ir/kernel/plan_primitive.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The words that have another name here; what follows a colon or a point is a member's.
std::string with_names(const std::string& text, const std::map<std::string, std::string>& names) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string word = text.substr(i, end - i);
    const bool member = i > 0 && (text[i - 1] == ':' || text[i - 1] == '.');
    const auto found = names.find(word);
    out += member || found == names.end() ? word : found->second;
    if (end == i) out += text[end++];
    i = end;
  }
  return out;
}

}  // namespace

std::string primitive_call(const KernelText& text, const Node& n) {
  std::map<std::string, std::string> names{{"Index", text.index_type}};
  for (const auto& [name, value] : primitive_of(text.kernel).words) names[name] = value;
  for (size_t i = 0; i < n.operands.size(); ++i) names[n.op->operands[i]] = text.inputs.at(n.operands[i]);
  for (size_t i = 0; i < n.results.size(); ++i) names[n.op->results[i]] = text.outputs.at(n.results[i])[0];
  return with_names(std::get<Primitive>(n.op->kind).call, names) + place_comment(n.loc);
}

}  // namespace heddle::codegen
