// Decides which entries a program has, their batch sizes, and what feeds them.
//
//   batch 64, 1000 rows of train, 300 of test  ->  {train = 64, train_last = 40, eval = 64, eval_last = 44}
#pragma once
#include <filesystem>
#include <vector>

#include "frontend/build_graph.h"
#include "frontend/training/training_plan.h"
#include "ir/fed_column.h"
#include "tools/driver/compile.h"
#include "tools/driver/load_data.h"

namespace heddle::driver {

// Whether any of the entries trains or evaluates.
bool takes_rows(const frontend::BuildOptions& entries);

// How the entries of training and evaluation make their inputs from columns of the types `stored`; empty: the inputs'
// own types.
std::vector<ir::FedColumn> fed_columns(const frontend::TrainingPlan& plan, const std::vector<ir::DType>& stored = {});

// The batch sizes of the entries: full batches, the remainder of the training rows, and for evaluation a size that
// divides every remainder.
frontend::BuildOptions entry_batches(const frontend::TrainingPlan& plan, const RowCounts& rows, bool training);

// All entries that the model has, for commands that do not train. Where a schedule needs the length of the training, it
// is counted from the rows in `folder`, if they are available. Else it is assumed, and `tell` gets a note.
frontend::BuildOptions all_entries(const frontend::Model& model, const frontend::TrainingPlan& plan,
                                   const std::filesystem::path& folder, const Tell& tell);

// Sets plan and options for a training whose rows are only counted: types and numbers of rows come from the files'
// headers, statistics are assumed with a note.
void compile_as_trained(Planned& planned, const DataHeader& header, CompileOptions& options);

}  // namespace heddle::driver
