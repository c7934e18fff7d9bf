#include "frontend/foreign_names.h"

#include <gtest/gtest.h>

#include "frontend/initializer.h"
#include "frontend/layer_def.h"
#include "frontend/training_def.h"

namespace heddle::frontend {
namespace {

TEST(ForeignNames, AreCalledOurs) {
  EXPECT_EQ(foreign_hint("Linear", layer_names()), "'Linear' is called 'dense' here");
  EXPECT_EQ(foreign_hint("MaxPooling2D", layer_names()), "'MaxPooling2D' is called 'max_pool2d' here");
  EXPECT_EQ(foreign_hint("swish", layer_names()), "'swish' is called 'silu' here");
  EXPECT_EQ(foreign_hint("randn_like", layer_names()), "'randn_like' is called 'random_normal' here");
  EXPECT_EQ(foreign_hint("SparseCategoricalCrossentropy", loss_names()),
            "'SparseCategoricalCrossentropy' is called 'cross_entropy' here");
  EXPECT_EQ(foreign_hint("mean_iou", metric_names()), "'mean_iou' is called 'iou' here");
  EXPECT_EQ(foreign_hint("AdamW", optimizer_names()), "'AdamW' is called 'adamw' here");
  EXPECT_EQ(foreign_hint("CosineAnnealingWarmRestarts", schedule_names()),
            "'CosineAnnealingWarmRestarts' is called 'cosine_restarts' here");
  EXPECT_EQ(foreign_hint("xavier_uniform", initializer_names()), "'xavier_uniform' is called 'glorot_uniform' here");
  EXPECT_EQ(foreign_hint("lecun_normal", initializer_names()), "write {\"op\": \"variance_scaling\"}");
}

// What a word means depends on where it stands, and where it can mean nothing, nothing is said.
TEST(ForeignNames, MeanWhatMayStandThere) {
  EXPECT_EQ(foreign_hint("kernel_size", {"filters", "kernel"}), "'kernel_size' is called 'kernel' here");
  EXPECT_EQ(foreign_hint("kernel_size", {"window", "stride"}), "'kernel_size' is called 'window' here");
  EXPECT_EQ(foreign_hint("kernel_size", {"units"}), "");
  EXPECT_EQ(foreign_hint("num_embeddings", {"vocab", "units"}), "'num_embeddings' is called 'vocab' here");
  EXPECT_EQ(foreign_hint("embedding_dim", {"vocab", "units"}), "'embedding_dim' is called 'units' here");
  EXPECT_EQ(foreign_hint("index_select", layer_names()), "'index_select' is called 'gather' here");
  EXPECT_EQ(foreign_hint("gatherND", layer_names()), "'gatherND' is called 'gather_nd' here");
  EXPECT_EQ(foreign_hint("scatter_add", layer_names()), "'scatter_add' is called 'scatter' here");
  EXPECT_EQ(foreign_hint("l2", loss_names()), "'l2' is called 'mse' here");
  EXPECT_EQ(foreign_hint("l2", {"lr", "weight_decay"}), "'l2' is called 'weight_decay' here");
  EXPECT_EQ(foreign_hint("Linear", schedule_names()), "'Linear' is called 'linear' here");
  EXPECT_EQ(foreign_hint("frobnicate", layer_names()), "");
}

TEST(ForeignNames, SayWhatToUseInstead) {
  EXPECT_EQ(instead_of("accumulate"), "a larger train.batch has the same gradient");
  EXPECT_NE(instead_of("lstm"), "");
}

}  // namespace
}  // namespace heddle::frontend
