// precision, recall, f1, iou, jaccard, specificity: ratios of the counts of rows or labels that were predicted as a
// class, that are of the class, and both.
#include "frontend/metrics/counts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

ValueId both(MeasureContext&, const Counts& n) { return n.both; }
ValueId predicted(MeasureContext&, const Counts& n) { return n.predicted; }
ValueId actual(MeasureContext&, const Counts& n) { return n.actual; }
ValueId twice(MeasureContext& c, const Counts& n) { return c.emit("add", {n.both, n.both}, {}, "twice"); }
ValueId sizes(MeasureContext& c, const Counts& n) { return c.emit("add", {n.predicted, n.actual}, {}, "sizes"); }
ValueId either(MeasureContext& c, const Counts& n) { return c.emit("sub", {sizes(c, n), n.both}, {}, "union"); }
ValueId others(MeasureContext& c, const Counts& n) { return c.emit("sub", {n.rows, n.actual}, {}, "others"); }
ValueId neither(MeasureContext& c, const Counts& n) { return c.emit("sub", {n.rows, either(c, n)}, {}, "neither"); }

const RegisterMetric of_predicted(counted_metric("precision", "share of the rows predicted as the class that are of it",
                                                 {both, predicted}));
const RegisterMetric of_actual(counted_metric("recall", "share of the class's rows that are predicted as it",
                                              {both, actual}));
const RegisterMetric f1(counted_metric("f1", "harmonic mean of precision and recall", {twice, sizes}));
const RegisterMetric iou(counted_metric("iou", "rows of the class predicted as it over rows that are one of the two",
                                        {both, either}));
const RegisterMetric jaccard(counted_metric("jaccard", "the same as iou, by scikit-learn's name", {both, either}));
const RegisterMetric of_others(counted_metric("specificity",
                                              "share of the other rows that are not predicted as the class",
                                              {neither, others, /*needs_rows=*/true}));

}  // namespace
}  // namespace heddle::frontend
