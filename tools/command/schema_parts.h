// Helpers that write the pieces of a JSON Schema; each returns a JSON text.
//
//   closed({{"rate", type({"number"})}}, {"rate"})
//     -> {"type": "object", "properties": {"rate": {"type": ["number"]}}, "additionalProperties": false, "required": ["rate"]}
//
// A member whose value is null counts as absent (docs/model-format.md), so members that are not required may be null.
// An unknown key may not be null, so that editors report it.
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

// Whether the schema begins with a list of types or of schemas, to which null and a description can be added.
bool begins_with_list(const std::string& schema);

// A rule: "if" the op matches the schema `op`, "then" the object has `properties`. `required` must be present, or the
// property `instead`. Other properties must match `others`; empty: there may be none.
std::string when(const std::string& op, const std::string& doc, const Members& properties,
                 const std::vector<std::string>& required, const std::string& others = {},
                 const std::string& instead = {});
// The same for one operator name.
std::string when_op(const std::string& name, const std::string& doc, const Members& properties,
                    const std::vector<std::string>& required, const std::string& others = {},
                    const std::string& instead = {});
// An object whose op selects, by these rules, its other members.
std::string by_op(const std::string& op, const std::vector<std::string>& rules);
// One of these names, or an object with the name as its op.
std::string named(const std::vector<std::string>& names, const std::vector<std::string>& rules);

}  // namespace heddle::tools::schema
