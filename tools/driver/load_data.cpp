#include "tools/driver/load_data.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "frontend/build_graph.h"
#include "ir/diagnostic.h"

namespace heddle::driver {
namespace {

using frontend::DataReader;
using runtime::data::ReaderRequest;
using runtime::data::Table;

// `names` are those that the training rows gave their classes, so that all splits number them alike; empty: not known.
ReaderRequest reader_request(const DataReader& reader, const frontend::TrainingPlan& plan, const ClassNames& names) {
  ReaderRequest request{.op = reader.op, .columns = {}, .settings = reader.settings, .where = reader.where};
  for (const frontend::PlannedInput& input : plan.inputs) {
    const auto column = reader.columns.find(input.name);
    if (column == reader.columns.end())
      throw UserError(reader.where, fmt::format("the reader does not feed input '{}'", input.name));
    const size_t i = request.columns.size();
    request.columns.push_back(column_request(input, i < names.size() ? names[i] : std::vector<std::string>()));
    runtime::data::ColumnRequest& made = request.columns.back();
    made.sources.clear();
    for (const frontend::Named& word : column->second) made.sources.push_back({word.text, word.where});
    made.where = column->second.at(0).where;
  }
  return request;
}

// Rows of train that serve as validation.
int64_t validation_rows(const frontend::Data& data, int64_t rows) {
  constexpr double kRounding = 1e-6;  // 0.29 of 100 rows are 29, not 28.999999999999996
  const auto n = static_cast<int64_t>(std::floor(static_cast<double>(rows) * data.validation_fraction + kRounding));
  if (data.validation_fraction > 0 && (n == 0 || n == rows))
    throw UserError(data.fraction_where,
                    fmt::format("a validation fraction of {} of {} rows leaves {} empty", data.validation_fraction,
                                rows, n == 0 ? "the validation" : "the training"),
                    fmt::format("each row is {:.3g} of all", 1 / static_cast<double>(rows)));
  return n;
}

// Where a reader states names, they are those that all splits have.
void require_names(const DataReader& reader, const frontend::TrainingPlan& plan, const ClassNames& stated,
                   const ClassNames& known) {
  for (size_t i = 0; i < std::min(stated.size(), known.size()); ++i) {
    if (stated[i].empty() || known[i].empty() || stated[i] == known[i]) continue;
    const auto differs = std::ranges::mismatch(stated[i], known[i]);
    const auto name = [](const auto& it, const std::vector<std::string>& of) {
      return it == of.end() ? std::string("none") : "'" + *it + "'";
    };
    throw UserError(reader.where,
                    fmt::format("class {} of input '{}' is {}, of the weights or the training rows it is {}",
                                differs.in1 - stated[i].begin(), plan.inputs[i].name, name(differs.in1, stated[i]),
                                name(differs.in2, known[i])),
                    "weights know their classes by these names");
  }
}

void require_rows(const DataReader& reader, int64_t rows, int64_t promised) {
  if (rows != promised)
    throw UserError(
        reader.where,
        fmt::format("{} rows were promised and {} are there: the data changed while it was read", promised, rows));
}

}  // namespace

runtime::data::ColumnRequest column_request(const frontend::PlannedInput& input, std::vector<std::string> names) {
  return {.input = input.name,
          .sources = {{input.name}},
          .dtype = ir::to_string(input.row.dtype),
          .dims = input.stored,
          .classes = input.one_hot > 0 ? input.one_hot : std::max<int64_t>(input.below, 0),
          .one_hot = input.one_hot > 0,
          .where = {},
          .class_names = std::move(names),
          .cast = input.cast,
          .looked_up = input.looked_up,
          .bounded_by = input.bounded_by};
}

DataHeader read_headers(const DataRequest& request) {
  const frontend::Data& data = request.plan->data;
  DataHeader header;
  std::vector<std::vector<runtime::data::ElementType>> types;
  header.class_names = request.class_names;
  bool names_found = false;
  const auto rows = [&](const std::optional<DataReader>& reader, bool used) -> int64_t {
    if (!reader || !used) return 0;
    runtime::data::TableHeader h =
        runtime::data::read_table_header(reader_request(*reader, *request.plan, header.class_names), request.root);
    types.push_back(std::move(h.types));
    require_names(*reader, *request.plan, h.class_names, header.class_names);
    if (&reader == &data.train && header.class_names.empty()) header.class_names = std::move(h.class_names);
    names_found = names_found || h.names_found;
    return h.rows;
  };
  // The training rows first, for they name the classes.
  const bool trained = request.train || data.validation_fraction > 0;
  header.rows.train = rows(data.train, trained);
  if (data.train && data.validation_fraction > 0) {
    header.rows.validation = validation_rows(data, header.rows.train);
    header.rows.train -= header.rows.validation;
  }
  if (data.validation) header.rows.validation = rows(data.validation, true);
  header.rows.test = rows(data.test, true);
  if (!trained && names_found && header.class_names.empty()) rows(data.train, true);
  for (size_t i = 0; i < request.plan->inputs.size(); ++i) {
    header.stored.push_back(own_type(request.plan->inputs[i]));
    const auto differs = [&](const auto& split) { return split[i] != types[0][i]; };
    if (!types.empty() && std::ranges::none_of(types, differs))
      if (const auto dtype = ir::parse_dtype(runtime::data::to_string(types[0][i]))) header.stored.back() = *dtype;
  }
  return header;
}

Splits load_splits(const DataRequest& request, const DataHeader& header) {
  const frontend::Data& data = request.plan->data;
  const auto load = [&](const std::optional<DataReader>& reader, int64_t rows) -> std::optional<Table> {
    if (!reader) return std::nullopt;
    Table table = runtime::data::read_table(reader_request(*reader, *request.plan, header.class_names), request.root);
    require_rows(*reader, table.rows, rows);
    for (size_t i = 0; i < table.columns.size(); ++i)
      if (const auto type = runtime::data::element_type(ir::to_string(header.stored[i])))
        convert(table.columns[i], *type);
    return table;
  };
  const auto split = [&](const char* name, std::optional<Table> table) -> std::optional<runtime::Split> {
    if (!table) return std::nullopt;
    return runtime::Split{name, std::move(*table)};
  };
  Splits splits;
  splits.test = split("test", load(data.test, header.rows.test));
  splits.validation = split("validation", load(data.validation, header.rows.validation));
  if (!data.train || !(request.train || data.validation_fraction > 0)) return splits;
  const int64_t validation = data.validation_fraction > 0 ? header.rows.validation : 0;
  std::optional<Table> train = load(data.train, header.rows.train + validation);
  if (data.validation_fraction > 0)
    splits.validation = split("validation", runtime::data::split_tail(*train, validation_rows(data, train->rows)));
  splits.train = split("training", std::move(train));
  return splits;
}

std::string data_text(const Splits& splits) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> hash(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(hash.get());
  for (const auto* split : {&splits.train, &splits.validation}) {
    if (!*split) continue;
    for (const runtime::data::Column& column : (*split)->table.columns) {
      const auto bytes = column.content();
      XXH3_128bits_update(hash.get(), column.input.data(), column.input.size());
      XXH3_128bits_update(hash.get(), bytes.data(), bytes.size());
    }
  }
  const XXH128_hash_t digest = XXH3_128bits_digest(hash.get());
  return fmt::format("{} rows{}, hash {:016x}", splits.train ? splits.train->rows() : 0,
                     splits.validation ? fmt::format(" and {} for validation", splits.validation->rows()) : "",
                     digest.high64 ^ digest.low64);
}

void require_trainable(const frontend::Model& model) {
  if (!model.data.train)
    throw UserError(model.train.where, "the model has no data to train on", "add \"data\": {\"train\": {...}}");
  frontend::require_training(model);
}

}  // namespace heddle::driver
