// nll, by torch.nn.NLLLoss: cross_entropy of what is log-probabilities already.
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

const RegisterLoss nll({.name = "nll",
                        .doc = "mean of -log_probabilities[label] over rows whose label is not ignore_index",
                        .inputs = {"log_probabilities", "labels"},
                        .settings = {ignore_setting(), class_weights_setting()},
                        .classes = true,
                        .mean =
                            [](MeasureContext& c) {
                              check_classes(c);
                              check_class_weights(c);
                              return mean_of_labels(c, c.in[0], 0);
                            },
                        .count = count_of_labels});

}  // namespace
}  // namespace heddle::frontend
