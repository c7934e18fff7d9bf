// The pieces that a JSON Schema is written with; each is a JSON text.
//
//   closed({{"rate", type({"number"})}}, {"rate"})
//     -> {"type": "object", "properties": {"rate": {"type": ["number"]}}, "additionalProperties": false, "required": ["rate"]}
//
// A member of an object whose value is null counts as absent (docs/model-format.md): what is not
// required may be null. A key that nobody knows may not, as editors shall tell of it.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace heddle::tools::schema {

// A JSON object of members whose values are JSON texts.
using Members = std::vector<std::pair<std::string, std::string>>;
std::string object(const Members& members);
std::string list(const std::vector<std::string>& items);
std::string words(const std::vector<std::string>& texts);
std::string type(const std::vector<std::string>& names);
std::string ref(const std::string& name);
std::string list_of(const std::string& item);
std::string map_of(const std::string& item);
std::string one_of(const std::vector<std::string>& schemas);
std::string closed(const Members& properties, const std::vector<std::string>& required = {});

// Whether it begins with a list of types, or of schemas, to which null and a description can be added.
bool begins_with_list(const std::string& schema);

// "if" its op is as `op` says, "then" it has these properties, of which these are required, or the one that stands
// `instead` of them, and others only as `others` says; empty: none.
std::string when(const std::string& op, const std::string& doc, const Members& properties,
                 const std::vector<std::string>& required, const std::string& others = {},
                 const std::string& instead = {});
// The same of one name.
std::string when_op(const std::string& name, const std::string& doc, const Members& properties,
                    const std::vector<std::string>& required, const std::string& others = {},
                    const std::string& instead = {});
// An object whose op decides, by these rules, what else it has.
std::string by_op(const std::string& op, const std::vector<std::string>& rules);
// One of these names, or an object with it for its op.
std::string named(const std::vector<std::string>& names, const std::vector<std::string>& rules);

}  // namespace heddle::tools::schema
