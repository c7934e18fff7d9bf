// Text of primitives: a call of a function in the preamble, or for `feed` loops over the rows of a batch.
#include <fmt/format.h>

#include <cctype>
#include <map>

#include "codegen/emit_parts.h"
#include "codegen/feed_text.h"
#include "ir/kernel/plan_primitive.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Replaces words of the text by their names in the kernel. A word after a colon or a point is a member and stays.
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

// Replaces "#3" by the pointer to operand 3. Operators with any number of operands need it, because these have no
// names.
std::string with_operands(const std::string& text, const std::vector<std::string>& operands) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '#') {
      out += text[i];
      continue;
    }
    size_t number = 0;
    for (; i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0; ++i)
      number = number * 10 + static_cast<size_t>(text[i + 1] - '0');
    out += operands.at(number);
  }
  return out;
}

// The text of a scalar attribute: the kernel's parameter, or the number.
std::string scalar_of(const KernelText& text, const Attr& value) {
  if (const auto* scalar = std::get_if<ScalarName>(&value)) return text.scalars.at(scalar->name);
  return std::get<int64_t>(value) == INT64_MIN ? "(-9223372036854775807LL - 1)" : to_string(value) + "LL";
}

// The last operand of a variadic operator repeats: told, told_1, told_2.
std::string operand_name(const OpDef& op, size_t i) {
  const size_t last = op.operands.size() - 1;
  return i <= last ? op.operands[i] : fmt::format("{}_{}", op.operands[last], i - last);
}

std::string call_of(const KernelText& text, const Node& n) {
  const auto& primitive = std::get<Primitive>(n.op->kind);
  std::map<std::string, std::string> words{{"Index", text.index_type}}, pointers;
  std::vector<std::string> operands;
  for (const ValueId v : n.operands) operands.push_back(text.inputs.at(v));
  for (const auto& [name, value] : primitive.plan(signature(text.kernel, n)).words)
    words[name] = with_operands(value, operands);
  for (const Key& attr : n.op->attrs)
    if (attr.scalar) pointers[attr.name] = scalar_of(text, attribute(*n.op, n.attrs, attr.name));
  for (size_t i = 0; i < operands.size(); ++i) pointers[operand_name(*n.op, i)] = operands[i];
  for (size_t i = 0; i < n.results.size(); ++i) pointers[n.op->results[i]] = text.outputs.at(n.results[i])[0];
  return with_names(with_names(primitive.call, words), pointers) + place_comment(n.loc);
}

// What operators that join overwrite is one storage, whose pointers are the kernel's: as it is read and as it is written.
std::vector<std::string> gathering(KernelText& text, const Node& n) {
  const Graph& k = text.kernel;
  const FedInput fed = fed_input(n);
  FeedText feed(fed,
                {text.inputs.at(k.inputs[0]), text.outputs.at(k.outputs.back())[0], text.outputs.at(n.results[0])[0]},
                text.symbol, text.names);
  std::vector<std::string> lines = feed.lines();
  text.tables.insert(text.tables.end(), feed.tables.begin(), feed.tables.end());
  return lines;
}

}  // namespace

std::vector<std::string> emit_primitive(KernelText& text, const Node& n) {
  if (n.op->traits.gathers_rows) return gathering(text, n);
  return {call_of(text, n)};
}

}  // namespace heddle::codegen
