#include "tools/driver/load_data.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "frontend/build_graph.h"
#include "frontend/row_drawing.h"
#include "ir/diagnostic.h"
#include "tools/driver/drawn_rows.h"
#include "tools/driver/row_buckets.h"
#include "tools/driver/row_drawing.h"

namespace heddle::driver {
namespace {

using frontend::DataReader;
using runtime::data::ReaderRequest;
using runtime::data::Table;

// What the training rows, or weights, say that holds for all splits; empty: not known.
struct Known {
  ClassNames names;
  Tokenizers tokenizers;
  Fills fills;
};

ReaderRequest reader_request(const DataReader& reader, const frontend::TrainingPlan& plan, const Known& known) {
  ReaderRequest request{.op = reader.op, .columns = {}, .settings = reader.settings, .where = reader.where};
  for (const frontend::PlannedInput& input : plan.inputs) {
    const auto column = reader.columns.find(input.name);
    if (column == reader.columns.end())
      throw UserError(reader.where, fmt::format("the reader does not feed input '{}'", input.name));
    const size_t i = request.columns.size();
    request.columns.push_back(
        column_request(input, i < known.names.size() ? known.names[i] : std::vector<std::string>()));
    runtime::data::ColumnRequest& made = request.columns.back();
    if (i < known.tokenizers.size()) made.tokenizer = known.tokenizers[i];
    if (i < known.fills.size()) made.fills = known.fills[i];
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

// Windows at drawn offsets train; rows that are measured are the same each time.
void require_fixed_offsets(const DataReader& reader, const char* why, const char* help) {
  const runtime::data::ReaderSetting* offsets = runtime::data::find_setting(reader.settings, "offsets");
  if (offsets != nullptr && std::get<std::vector<std::string>>(offsets->value).at(0) == "drawn")
    throw UserError(offsets->where, fmt::format("data: 'offsets' are drawn {}", why), help);
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

namespace {

void take(Known& known, runtime::data::TableHeader& header, const Known& given) {
  if (given.names.empty()) known.names = std::move(header.class_names);
  if (given.tokenizers.empty()) known.tokenizers = std::move(header.tokenizers);
  known.fills = either(given.fills, header.fills);
}

// Reads the headers of a model's splits, the training rows first, for they say what classes and tokens there are.
class HeaderReader {
 public:
  explicit HeaderReader(const DataRequest& request)
      : request_(request),
        data_(request.plan->data),
        given_{request.class_names, request.tokenizers, request.fills},
        known_(given_) {}

  DataHeader read() {
    // Those of the training rows are asked for their names, too.
    const bool trained = request_.train || data_.validation_fraction > 0;
    if (data_.train && trained) read_train();
    read_others();
    if (data_.train && !trained && found_) {
      ask_train_rows();
      types_.clear(), header_.notes.clear();
      own_fills_ = nullptr;
      read_others();
    }
    if (own_fills_ != nullptr)
      throw UserError(own_fills_->where,
                      "the mean or median for what is missing is one of training rows, and there is none",
                      "give the reader of \"train\" the same \"missing\", or weights that keep it");
    header_.class_names = std::move(known_.names);
    header_.tokenizers = std::move(known_.tokenizers);
    header_.fills = std::move(known_.fills);
    store_types();
    return std::move(header_);
  }

 private:
  void read_others() {
    if (data_.validation) header_.rows.validation = rows(*data_.validation);
    if (data_.test) header_.rows.test = rows(*data_.test);
  }

  runtime::data::TableHeader header_of(const DataReader& reader, const Known& known,
                                       std::shared_ptr<const std::vector<uint8_t>> held) const {
    ReaderRequest request = reader_request(reader, *request_.plan, known);
    request.held = std::move(held);
    return runtime::data::read_table_header(request, request_.root);
  }

  int64_t rows(const DataReader& reader) {
    require_fixed_offsets(reader, "in training: validation and test measure the same rows in each epoch",
                          "leave it out here");
    runtime::data::TableHeader h = header_of(reader, known_, nullptr);
    require_names(reader, *request_.plan, h.class_names, known_.names);
    types_.push_back(std::move(h.types));
    found_ = found_ || (h.names_found && known_.names.empty()) || (h.tokens_found && known_.tokenizers.empty()) ||
             h.fills_found;
    if (h.fills_found) own_fills_ = &reader;
    header_.notes.insert(header_.notes.end(), h.notes.begin(), h.notes.end());
    return h.rows;
  }

  void read_train() {
    runtime::data::TableHeader h = header_of(*data_.train, given_, nullptr);
    require_names(*data_.train, *request_.plan, h.class_names, given_.names);
    const int64_t all = h.rows;
    const bool found = h.names_found || h.tokens_found || h.fills_found;
    if (data_.validation_fraction > 0) header_.rows.validation = hold(h, found);
    take(known_, h, given_);
    header_.rows.train = all - header_.rows.validation;
    header_.notes = std::move(h.notes);
    types_.push_back(std::move(h.types));
  }

  // The rows of validation; of all others `h` then says names and tokens.
  int64_t hold(runtime::data::TableHeader& h, bool found) {
    if (!data_.draw) {
      const int64_t held = validation_rows(data_, h.rows);
      if (!found) return held;
      auto last = std::make_shared<std::vector<uint8_t>>(static_cast<size_t>(h.rows));
      std::fill(last->end() - held, last->end(), uint8_t{1});
      h = header_of(*data_.train, given_, std::move(last));
      return held;
    }
    require_fixed_offsets(*data_.train,
                          "in windows side by side, and a drawn validation takes some out of their middle",
                          "give the validation a reader with a \"range\" of its own");
    Known all = given_;
    runtime::data::TableHeader first = h;
    take(all, first, given_);
    const DrawnRows rows(data_, reader_request(*data_.train, *request_.plan, all), request_.root, h.rows);
    std::vector<uint8_t> kept;
    // A row that alone has a name or a character teaches it: it stays, and another is drawn in its place.
    for (;;) {
      auto drawn = std::make_shared<const std::vector<uint8_t>>(rows.draw(kept));
      header_.drawn = drawn;
      if (found) h = header_of(*data_.train, given_, drawn);
      if (h.strange.empty()) return std::ranges::count(*drawn, 1);
      kept.resize(static_cast<size_t>(h.rows));
      for (const int64_t row : h.strange) kept[static_cast<size_t>(row)] = 1;
    }
  }

  void ask_train_rows() {
    runtime::data::TableHeader h = header_of(*data_.train, given_, nullptr);
    require_names(*data_.train, *request_.plan, h.class_names, given_.names);
    take(known_, h, given_);
  }

  // A type that all splits store an input in is kept.
  void store_types() {
    for (size_t i = 0; i < request_.plan->inputs.size(); ++i) {
      header_.stored.push_back(own_type(request_.plan->inputs[i]));
      const auto differs = [&](const auto& split) { return split[i] != types_[0][i]; };
      if (!types_.empty() && std::ranges::none_of(types_, differs))
        if (const auto dtype = ir::parse_dtype(runtime::data::to_string(types_[0][i]))) header_.stored.back() = *dtype;
    }
  }

  const DataRequest& request_;
  const frontend::Data& data_;
  Known given_, known_;
  DataHeader header_;
  std::vector<std::vector<runtime::data::ElementType>> types_;
  bool found_ = false;
  const DataReader* own_fills_ = nullptr;  // that took a mean of rows which do not train
};

}  // namespace

DataHeader read_headers(const DataRequest& request) { return HeaderReader(request).read(); }

Splits load_splits(const DataRequest& request, const DataHeader& header) {
  const frontend::Data& data = request.plan->data;
  std::vector<std::string> notes = header.notes;
  const auto load = [&](const std::optional<DataReader>& reader, int64_t rows) -> std::optional<Table> {
    if (!reader) return std::nullopt;
    Table table = runtime::data::read_table(
        reader_request(*reader, *request.plan, {header.class_names, header.tokenizers, header.fills}), request.root);
    require_rows(*reader, table.rows, rows);
    notes.insert(notes.end(), table.notes.begin(), table.notes.end());
    for (size_t i = 0; i < table.columns.size(); ++i)
      if (const auto type = runtime::data::element_type(ir::to_string(header.stored[i])))
        convert(table.columns[i], *type);
    return table;
  };
  const auto split = [&](const char* name, std::optional<Table> table) -> std::optional<runtime::Split> {
    if (!table) return std::nullopt;
    std::vector<uint8_t> bucket = row_buckets(*request.plan, *table);
    if (const std::string told = bucket_note(*request.plan, *table, bucket, name); !told.empty()) notes.push_back(told);
    return runtime::Split{name, std::move(*table), std::move(bucket)};
  };
  Splits splits;
  splits.test = split("test", load(data.test, header.rows.test));
  splits.validation = split("validation", load(data.validation, header.rows.validation));
  if (!data.train || !(request.train || data.validation_fraction > 0)) {
    splits.notes = std::move(notes);
    return splits;
  }
  const int64_t validation = data.validation_fraction > 0 ? header.rows.validation : 0;
  std::optional<Table> train = load(data.train, header.rows.train + validation);
  if (header.drawn != nullptr)
    splits.validation =
        split("validation", runtime::data::split_rows(*train, *header.drawn, runtime::data::most_resident_bytes()));
  else if (data.validation_fraction > 0)
    splits.validation = split("validation", runtime::data::split_tail(*train, validation_rows(data, train->rows)));
  std::optional<runtime::data::RowDraw> draw;
  if (request.train && frontend::row_drawing(data)) {
    std::vector<uint8_t> held(static_cast<size_t>(train->rows + validation));
    std::fill(held.begin() + train->rows, held.end(), uint8_t{1});
    const Known known{header.class_names, header.tokenizers, header.fills};
    draw = row_drawing(*request.plan, *train, reader_request(*data.train, *request.plan, known), request.root,
                       header.drawn != nullptr ? *header.drawn : held);
  }
  splits.train = split("training", std::move(train));
  splits.train->draw = std::move(draw);
  splits.notes = std::move(notes);
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
