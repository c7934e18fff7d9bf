// JsonTree: the JSON of a tokenizer file as a compact tree, with 28 bytes for each value. Each value knows its place in
// the file.
//
//   JsonTree tree(file);  tree.root().find("model")->find("type")->text("'type'")  -> "BPE"
//
// A tokenizer.json can hold a million values, so strings are decoded only when they are read. Errors are UserErrors at
// their place: bad syntax, invalid UTF-8, a malformed number, nesting or size over the limits.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::runtime::text {

class JsonTree;

// A value of a tree. The tree must outlive it.
class JsonValue {
 public:
  enum class Kind : uint8_t { null, flag, number, text, list, object };

  Kind kind() const;
  bool is_null() const { return kind() == Kind::null; }
  Location where() const;
  Location key_where() const;  // of a member
  std::string key() const;     // of a member

  uint32_t size() const;  // of a list or an object
  // first: the first item or member. next: the item or member after this one.
  std::optional<JsonValue> first() const;
  std::optional<JsonValue> next() const;
  std::optional<JsonValue> find(std::string_view member) const;  // of an object

  // These throw UserError at the value where it has another kind. `what` names it in the message: "'vocab'".
  std::string text(std::string_view what) const;
  bool flag(std::string_view what) const;
  double real(std::string_view what) const;
  uint32_t id(std::string_view what) const;  // an integer from 0 to kMaxIds - 1
  JsonValue list(std::string_view what) const;
  JsonValue object(std::string_view what) const;

  [[noreturn]] void fail(std::string message, std::string help = {}) const;

 private:
  friend class JsonTree;
  JsonValue(const JsonTree* tree, uint32_t index) : tree_(tree), index_(index) {}
  void expect(Kind kind, std::string_view what) const;
  std::string_view source() const;
  const JsonTree* tree_;
  uint32_t index_;
};

// The limit of ids: all are smaller.
inline constexpr uint32_t kMaxIds = 1U << 22;

class JsonTree {
 public:
  explicit JsonTree(const SourceFile& file);
  JsonValue root() const { return {this, 0}; }

 private:
  friend class JsonValue;
  friend class JsonParser;
  struct Node {
    uint32_t begin, end;          // of the value's bytes
    uint32_t key_begin, key_end;  // of its key with quotes; both 0 in a list
    uint32_t next;                // 0: the last
    uint32_t size;                // of a list or an object, whose first value is the next node
    JsonValue::Kind kind;
  };
  const SourceFile* file_;
  std::vector<Node> nodes_;
};

// "an object", for messages.
std::string_view describe(JsonValue::Kind kind);

// Throws at the first member that is not in `known`, or is given twice. `what` names the object in messages: "BPE".
void require_members(const JsonValue& object, std::initializer_list<std::string_view> known, std::string_view what);

}  // namespace heddle::runtime::text
