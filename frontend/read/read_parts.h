// The functions of read_model, one per section of the file. Each adds its faults to `errors` and returns the parts that
// it could read.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "frontend/keys/fields.h"
#include "frontend/model.h"

namespace heddle::frontend {

std::vector<NodeDef> read_nodes(const Json& list, Diagnostics& errors);
Train read_train(const Json& json, const Model& model, Diagnostics& errors);
void read_precision(const Fields& precision, const Scope& let, Train& train, Diagnostics& errors);  // after `phases`
EarlyStop read_early_stop(const Fields& fields);
CheckpointRule read_checkpoint_rule(const Fields& fields);
Lora read_lora(const Fields& fields);
Prune read_prune(const Fields& fields, const Scope& let);
Quantize read_quantize(const Fields& fields);
Data read_data(const Json& json, const Model& model, Diagnostics& errors);
// Reads data.buckets. Must be called after the inputs are read.
std::optional<Buckets> read_buckets(const Fields& fields, const Model& model, Diagnostics& errors);
// A copy of the model's tree for rows of this length. Null members must already be in `nulls`.
Json shortened(const Json& root, const Buckets& buckets, int64_t length);
// The same faults, each with a note that names the length.
UserError at_length(const UserError& error, const Buckets& buckets, int64_t length);
WeightsTable read_weights_table(const Json& json, const Model& model, Diagnostics& errors);
// A text, or a list of them.
std::vector<Named> read_globs(const Json& json, const std::string& what);
// The name of a node in messages: "dense 'fc1'", or "dense" if it has no name.
std::string title_of(const NodeDef& node);
// The error for a node whose `out` names another number of results than the node has: `count`, or several if that is
// nullopt.
UserError wrong_results(const NodeDef& node, std::optional<size_t> count);
// The error for a reference to a node whose `out` names its results: its own name is no value.
UserError no_value(const Reference& reference, const NodeDef& node);
// Copies settings to nodes that share the parameters of another node; see take_shares.cpp.
void take_shares(Model& model, Diagnostics& errors);
// Checks that names refer to inputs, parameters and earlier nodes, that blocks exist, and that no block contains
// itself.
void check_references(const Model& model, Diagnostics& errors);

// Reads `in`: a name, a number, a list of these, or an object by port.
std::vector<Reference> read_in(const Json& json, const std::string& what);

// Throw UserError at `where` if the name is invalid.
void check_name(const std::string& name, const Location& where, const std::string& what);
void check_value_name(const std::string& name, const Location& where, const std::string& what);  // or reserved
Number evaluate_number(const Json& value, const Scope& scope, const std::string& what);
ir::DType read_dtype(const Json& value, const std::string& what);

}  // namespace heddle::frontend
