// Parts of losses and metrics: checks of what they read, rows that count, means over them.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "frontend/training/training_def.h"

namespace heddle::frontend {

std::vector<std::string> class_inputs();  // logits, labels
std::vector<std::string> pair_inputs();   // predicted, target

void check_classes(MeasureContext& c);  // logits [..., classes] and i32 labels [...]
void check_values(MeasureContext& c);   // two floating values of one type and shape
// A floating value, and targets of its type, i32 or bool.
void check_target_types(MeasureContext& c);
// The second input as numbers of the first one's type and shape: of that type itself, or i32 or bool.
ir::ValueId check_targets(MeasureContext& c);

// [0, 1, ...] without the last, where rows lie in [rows, classes]; and the last one.
ir::Dims leading_axes(const ir::Dims& dims);
ir::Dims last_axis(const ir::Dims& dims);

Key ignore_setting();
Key class_weights_setting();

ir::ValueId like(MeasureContext& c, double value, ir::ValueId v);                          // a constant of v's type
ir::ValueId as_number(MeasureContext& c, ir::ValueId condition, const std::string& what);  // f32: 1 or 0
ir::ValueId sum_of(MeasureContext& c, ir::ValueId v, const ir::Dims& axes, const std::string& what);
ir::ValueId valid_rows(MeasureContext& c);    // bool: the label is not ignore_index
ir::ValueId valid_labels(MeasureContext& c);  // how many of them: f32[]
ir::ValueId label_hits(MeasureContext& c);    // bool [..., classes]: this class is the row's label
ir::ValueId class_hits(MeasureContext& c, ir::ValueId numbers, const std::string& what);  // or is the row's number

// sum / count; 0 where nothing counts.
ir::ValueId ratio(MeasureContext& c, ir::ValueId sum, ir::ValueId count);
// The weights of rows for values whose first axis is that of the rows.
ir::ValueId spread_weights(MeasureContext& c, const ir::Dims& dims);

// The next of two totals, of `name`, to which a batch adds a sum and what counted in it, in f64:
// ten million of them lose nothing. Where nothing counts, `sum` may be 0 / 0 of nothing, and adds
// nothing.
ir::Values with_counted(ir::Builder& b, const std::string& name, const ir::Values& old, ir::ValueId sum,
                        ir::ValueId count);
// A metric that is the first total over the second, and `finish` of that: an elementwise operator, "sqrt".
using Measure = std::function<ir::ValueId(MeasureContext&)>;
MetricDef ratio_metric(MetricDef def, Measure numerator, Measure denominator, const std::string& finish = {});
ir::ValueId wide(ir::Builder& b, ir::ValueId v);  // in f64
// States plus what a batch adds to each.
ir::Values with_batch(MeasureContext& c, const ir::Values& old, const ir::Values& more);

// Mean and count of a value for each element of the first input, rows weighed where weights are given.
ir::ValueId mean_of_elements(MeasureContext& c, ir::ValueId values);
ir::ValueId count_of_elements(MeasureContext& c);

// Mean of -log probability of the labels, over rows that count, with class_weights and, where it is above 0, smoothing;
// and the sum of the rows' weights.
ir::ValueId mean_of_labels(MeasureContext& c, ir::ValueId log_probabilities, double smoothing);
ir::ValueId count_of_labels(MeasureContext& c);
// What rows that count weigh beside their class: f32 [...], 0 where the label is ignore_index.
ir::ValueId weights_of_valid(MeasureContext& c);
// What each row costs, f32 [...], infinitely much where its label is none of the classes; `hits` are label_hits.
ir::ValueId infinite_where_unknown(MeasureContext& c, ir::ValueId row, ir::ValueId hits);
void check_class_weights(MeasureContext& c);
bool has_class_weights(const MeasureContext& c);

// A setting that is a number for each class, which is the last axis of the first input: as many as there are classes,
// each not negative and an f32; in the first input's type, and spread over its shape.
void check_class_numbers(MeasureContext& c, const std::string& setting);
ir::ValueId class_numbers(MeasureContext& c, const std::string& setting);  // [classes]
ir::ValueId spread_class_numbers(MeasureContext& c, const std::string& setting);

}  // namespace heddle::frontend
