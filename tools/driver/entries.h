// Which entries a program has, of which batches, and what feeds them.
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

// Whether some of them train or evaluate.
bool takes_rows(const frontend::BuildOptions& entries);

// How the entries of training and evaluation make their batches of columns of these types; none: of the inputs' own.
std::vector<ir::FedColumn> fed_columns(const frontend::TrainingPlan& plan, const std::vector<ir::DType>& stored = {});

// The batch sizes of the entries: full batches, the remainder of train, and a size that divides every other remainder.
frontend::BuildOptions entry_batches(const frontend::TrainingPlan& plan, const RowCounts& rows, bool training);

// The entries that the model has, for who trains nothing. Where a schedule needs the length of the
// training, the rows of the data tell it, if they are at hand in `folder`; else it is assumed, and
// told.
frontend::BuildOptions all_entries(const frontend::Model& model, const frontend::TrainingPlan& plan,
                                   const std::filesystem::path& folder, const Tell& tell);

// The program of a training whose rows are only counted: what the headers of the files say, and statistics that are
// assumed and told.
void compile_as_trained(Planned& planned, const DataHeader& header, CompileOptions& options);

}  // namespace heddle::driver
