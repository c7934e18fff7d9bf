// Parts of losses and metrics: checks of their inputs, the rows that count, and means over these.
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
// Checks that the first input is floating, and that the targets have its type, i32 or bool.
void check_target_types(MeasureContext& c);
// Checks the second input, and returns it in the type of the first one. It has the same shape, and that type, i32 or
// bool.
ir::ValueId check_targets(MeasureContext& c);

// For `dims` [..., classes]: the axes of the rows, which are all but the last one; and the last axis.
ir::Dims leading_axes(const ir::Dims& dims);
ir::Dims last_axis(const ir::Dims& dims);

Key ignore_setting();
Key class_weights_setting();

ir::ValueId like(MeasureContext& c, double value, ir::ValueId v);                          // a constant of v's type
ir::ValueId as_number(MeasureContext& c, ir::ValueId condition, const std::string& what);  // f32: 1 or 0
ir::ValueId sum_of(MeasureContext& c, ir::ValueId v, const ir::Dims& axes, const std::string& what);
ir::ValueId valid_rows(MeasureContext& c);    // bool: the label is not ignore_index
ir::ValueId valid_labels(MeasureContext& c);  // f32[]: the number of valid rows
ir::ValueId label_hits(MeasureContext& c);    // bool [..., classes]: whether the class is the row's label
ir::ValueId class_hits(MeasureContext& c, ir::ValueId numbers, const std::string& what);  // the same for given numbers

// sum / count; 0 if count is 0.
ir::ValueId ratio(MeasureContext& c, ir::ValueId sum, ir::ValueId count);
// The weights of rows, broadcast to values whose first axis is that of the rows.
ir::ValueId spread_weights(MeasureContext& c, const ir::Dims& dims);

// The next values of the two totals of `name`: a batch adds its sum and its count, in f64, so that ten million batches
// lose nothing. If the count is 0, `sum` may be nan, and adds nothing.
ir::Values with_counted(ir::Builder& b, const std::string& name, const ir::Values& old, ir::ValueId sum,
                        ir::ValueId count);
// A metric that is the first total divided by the second. `finish` is an elementwise operator on the ratio, such as
// "sqrt".
using Measure = std::function<ir::ValueId(MeasureContext&)>;
MetricDef ratio_metric(MetricDef def, Measure numerator, Measure denominator, const std::string& finish = {});
ir::ValueId wide(ir::Builder& b, ir::ValueId v);  // v in f64
// The states, with `more` of a batch added to each.
ir::Values with_batch(MeasureContext& c, const ir::Values& old, const ir::Values& more);

// The mean of a value that has the shape of the first input, and the count of its elements. Both use the weights of
// rows, if given.
ir::ValueId mean_of_elements(MeasureContext& c, ir::ValueId values);
ir::ValueId count_of_elements(MeasureContext& c);

// The mean of -log probability of the labels over the rows that count, with class_weights, and with label smoothing if
// `smoothing` is above 0; and the sum of the rows' weights.
ir::ValueId mean_of_labels(MeasureContext& c, ir::ValueId log_probabilities, double smoothing);
ir::ValueId count_of_labels(MeasureContext& c);
// The weights of rows without class weights, f32 [...]: 0 where the label is ignore_index.
ir::ValueId weights_of_valid(MeasureContext& c);
// The cost of each row, f32 [...]: `row`, or infinity if its label is none of the classes. `hits` are label_hits.
ir::ValueId infinite_where_unknown(MeasureContext& c, ir::ValueId row, ir::ValueId hits);
void check_class_weights(MeasureContext& c);
bool has_class_weights(const MeasureContext& c);

// A setting with a number for each class (the last axis of the first input). The check requires one number per class,
// each of them nonnegative and within f32. The numbers have the first input's type; the spread form also has its shape.
void check_class_numbers(MeasureContext& c, const std::string& setting);
ir::ValueId class_numbers(MeasureContext& c, const std::string& setting);  // [classes]
ir::ValueId spread_class_numbers(MeasureContext& c, const std::string& setting);

}  // namespace heddle::frontend
