// The pieces of read_model, one per section of the file. Each collects its faults and returns what it could read.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "frontend/keys/fields.h"
#include "frontend/model.h"

namespace heddle::frontend {

std::vector<NodeDef> read_nodes(const Json& list, Diagnostics& errors);
Train read_train(const Json& json, const Model& model, Diagnostics& errors);
void read_precision(const Fields& precision, const Scope& let, Train& train, Diagnostics& errors);  // behind `phases`
EarlyStop read_early_stop(const Fields& fields);
CheckpointRule read_checkpoint_rule(const Fields& fields);
Lora read_lora(const Fields& fields);
Prune read_prune(const Fields& fields, const Scope& let);
Quantize read_quantize(const Fields& fields);
Data read_data(const Json& json, const Model& model, Diagnostics& errors);
// Of data.buckets, once the inputs are known.
std::optional<Buckets> read_buckets(const Fields& fields, const Model& model, Diagnostics& errors);
// The tree of the model, whose null members are set apart, as the one of rows of this length.
Json shortened(const Json& root, const Buckets& buckets, int64_t length);
// The same faults with a note that says of which length they are.
UserError at_length(const UserError& error, const Buckets& buckets, int64_t length);
WeightsTable read_weights_table(const Json& json, const Model& model, Diagnostics& errors);
// A text, or a list of them.
std::vector<Named> read_globs(const Json& json, const std::string& what);
// How messages call a node: "dense 'fc1'", or "dense" where it has no name.
std::string title_of(const NodeDef& node);
// Of a node whose `out` names another number of results than the `count` that it has, or none where it has several.
UserError wrong_results(const NodeDef& node, std::optional<size_t> count);
// Nodes that share the parameters of another one get its settings; see take_shares.cpp.
void take_shares(Model& model, Diagnostics& errors);
// Names refer to inputs, parameters and earlier nodes; blocks exist and do not contain themselves.
void check_references(const Model& model, Diagnostics& errors);

// `in`: a name, a number, a list of them, or an object by port.
std::vector<Reference> read_in(const Json& json, const std::string& what);

// Throw UserError at `where`.
void check_name(const std::string& name, const Location& where, const std::string& what);
void check_value_name(const std::string& name, const Location& where, const std::string& what);  // and not reserved
Number evaluate_number(const Json& value, const Scope& scope, const std::string& what);
ir::DType read_dtype(const Json& value, const std::string& what);

}  // namespace heddle::frontend
