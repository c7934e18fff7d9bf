#include "tools/predict/json_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "frontend/json/json.h"
#include "runtime/data/hash_rule.h"
#include "runtime/data/parse_number.h"
#include "tools/predict/lines.h"
#include "tools/predict/text_inputs.h"

namespace heddle::tools {
namespace {

using frontend::Json;
using runtime::data::ElementType;

// One value at a time into the row's memory.
class RowFiller {
 public:
  RowFiller(const driver::PredictInput& input, std::byte* to)
      : request_(input.request),
        missing_(input.missing),
        other_(input.other),
        hash_(input.hash),
        type_(text_type(request_)),
        to_(to) {}

  void fill(const Json& value) {
    const std::vector<int64_t> dims = request_.dims;
    int64_t elements = 1;
    for (const int64_t d : dims) elements *= d;
    const bool list = value.kind == Json::Kind::list && !nested(value);
    const int64_t half = list ? std::ssize(value.items) : 1;
    if (!nested(value) && runtime::data::has_indicators(missing_, elements, half)) return indicated(value, half);
    const bool flat = list && std::ssize(value.items) == elements;
    if (flat || dims.empty() || elements == 1) {
      one_axis(value, elements);
    } else {
      axis(value, dims, 0);
    }
  }

 private:
  static bool nested(const Json& value) { return !value.items.empty() && value.items[0].kind == Json::Kind::list; }

  // The values, and which of them are missing.
  void indicated(const Json& value, int64_t count) {
    indicated_ = true;
    one_axis(value, count);
    const auto flag = [&](const Json& item) {
      runtime::data::parse_number(item.kind == Json::Kind::null ? "1" : "0", type_, to_);
      to_ += runtime::data::size_of(type_);
    };
    if (value.kind != Json::Kind::list) return flag(value);
    for (const Json& item : value.items) flag(item);
  }

  // A row of one element may be written as a number or within lists.
  void one_axis(const Json& value, int64_t elements) {
    if (value.kind == Json::Kind::list && elements == 1 && value.items.size() == 1) return one_axis(value.items[0], 1);
    if (value.kind != Json::Kind::list) {
      if (elements != 1) wrong_shape(value, fmt::format("a list of {}", elements));
      return element(value);
    }
    if (std::ssize(value.items) != elements)
      wrong_shape(value, elements == 1 ? "one value" : fmt::format("a list of {}", elements));
    for (const Json& item : value.items) element(item);
  }

  // Trailing axes of one element need no lists of their own.
  void axis(const Json& value, const std::vector<int64_t>& dims, size_t d) {
    if (d == dims.size()) return element(value);
    const bool only_ones =
        std::all_of(dims.begin() + static_cast<ptrdiff_t>(d), dims.end(), [](int64_t n) { return n == 1; });
    if (only_ones && value.kind != Json::Kind::list) return element(value);
    if (value.kind != Json::Kind::list || std::ssize(value.items) != dims[d])
      wrong_shape(value, fmt::format("a list of {} on axis {}", dims[d], d));
    for (const Json& item : value.items) axis(item, dims, d + 1);
  }

  [[noreturn]] void wrong_shape(const Json& value, const std::string& wanted) const {
    const std::string found =
        value.kind == Json::Kind::list ? fmt::format("a list of {}", value.items.size()) : frontend::describe(value);
    throw UserError(value.where, fmt::format("input '{}': expected {}, found {}", request_.input, wanted, found),
                    fmt::format("a row of it is {}[{}]", request_.dtype, fmt::join(request_.dims, ",")));
  }

  void element(const Json& value) {
    std::string fault;
    const size_t place = place_++;
    const std::optional<double> fill = value.kind == Json::Kind::null
                                           ? runtime::data::fill_of(missing_, request_.fills, place, indicated_)
                                           : std::nullopt;
    if (fill) {
      fault = runtime::data::parse_number(fmt::format("{}", *fill), type_, to_);
    } else if (value.kind == Json::Kind::text && hash_ > 0) {
      fault = runtime::data::parse_number(std::to_string(runtime::data::hashed(value.text, hash_)), type_, to_);
    } else if (hash_ > 0) {
      throw UserError(value.where,
                      fmt::format("input '{}': expected a text, found {}", request_.input, frontend::describe(value)),
                      "a hash is one of a text");
    } else if (value.kind == Json::Kind::text && !request_.class_names.empty()) {
      const auto& names = request_.class_names;
      auto name = std::ranges::find(names, value.text);
      if (name == names.end() && !other_.empty()) name = std::ranges::find(names, other_);
      if (name == names.end())
        throw UserError(value.where,
                        fmt::format("input '{}': {} is none of the names that the weights know", request_.input,
                                    frontend::quote(value.text)),
                        frontend::suggest(value.text, names));
      fault = runtime::data::parse_number(std::to_string(name - names.begin()), type_, to_);
    } else if (value.kind == Json::Kind::integer) {
      fault = runtime::data::parse_number(std::to_string(value.integer), type_, to_);
    } else if (value.kind == Json::Kind::flag) {
      fault = runtime::data::parse_number(value.flag ? "1" : "0", type_, to_);
    } else if (value.kind == Json::Kind::real) {
      fault = runtime::data::parse_number(fmt::format("{}", value.real), type_, to_);
    } else {
      throw UserError(value.where,
                      fmt::format("input '{}': expected a number, found {}", request_.input, frontend::describe(value)),
                      value.kind == Json::Kind::text && request_.classes > 0
                          ? "the weights hold no names for it: give the class's number"
                          : fmt::format("the input takes {}", request_.dtype));
    }
    const auto refuse = [&](const std::string& help, const std::vector<Diagnostic>& notes) {
      throw UserError(value.where, fmt::format("input '{}': {} {}", request_.input, frontend::describe(value), fault),
                      help, notes);
    };
    if (!fault.empty()) refuse(fmt::format("the input takes {}", request_.dtype), {});
    fault = value_fault(request_, type_, to_);
    if (!fault.empty()) refuse("", request_.bounded_by);
    to_ += runtime::data::size_of(type_);
  }

  const runtime::data::ColumnRequest& request_;
  const runtime::data::MissingRule& missing_;
  const std::string& other_;
  int64_t hash_;
  ElementType type_;
  std::byte* to_;
  size_t place_ = 0;  // of the next value
  bool indicated_ = false;
};

// Values that are text, of inputs that take it, and the lengths that the row does not give.
void read_texts(const Json& row, std::span<const driver::PredictInput* const> inputs, std::span<std::byte* const> to,
                TextInputs& texts) {
  texts.begin_row();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Json* value = row.find(inputs[i]->request.input);
    if (value == nullptr || value->kind != Json::Kind::text) continue;
    texts.put_text(i, value->text, to[i], [&](size_t, const std::string& message, const std::string& help) {
      throw UserError(value->where, fmt::format("input '{}': {}", inputs[i]->request.input, message), help);
    });
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (row.find(inputs[i]->request.input) == nullptr) texts.put_size(i, to[i]);
}

void read_row(const SourceFile& source, std::span<const driver::PredictInput* const> inputs,
              std::span<std::byte* const> to, TextInputs* texts) {
  const Json row = frontend::parse_json(source);
  if (row.kind != Json::Kind::object)
    throw UserError(row.where, fmt::format("expected an object, found {}", frontend::describe(row)),
                    "a line is {\"INPUT\": VALUES, ...}");
  if (texts != nullptr) read_texts(row, inputs, to, *texts);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (texts != nullptr && texts->filled(i)) continue;
    const std::string& name = inputs[i]->request.input;
    const Json* value = row.find(name);
    if (value == nullptr) {
      std::vector<std::string> keys;
      for (const Json& item : row.items) keys.push_back(item.key);
      const std::string near = did_you_mean(name, keys);
      throw UserError(row.where, fmt::format("input '{}' is missing", name),
                      near.empty() ? fmt::format("add \"{}\": ... to the line", name)
                                   : fmt::format("is one of its keys meant for '{}'? {}", name, near));
    }
    RowFiller(*inputs[i], to[i]).fill(*value);
  }
}

struct JsonRows {
  JsonRows(const driver::Predictor& predictor, const SourceRequest& asked)
      : name(asked.name()), lines(asked), numbers(asked.inputs), texts(predictor, asked.inputs) {
    for (const size_t i : numbers) inputs.push_back(&predictor.inputs()[i]);
  }

  int64_t fill(int64_t most, PredictRows& into) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      runtime::data::Column& column = into.columns.at(numbers[i]);
      column = {
          .input = inputs[i]->request.input, .type = text_type(inputs[i]->request), .dims = inputs[i]->request.dims};
      column.bytes.resize(static_cast<size_t>(most * column.row_bytes()));
    }
    held.rethrow();
    int64_t count = 0;
    std::string line;
    std::vector<std::byte*> to(inputs.size());
    while (count < most && (count == 0 || lines.ready()) && lines.next(line)) {
      if (line.find_first_not_of(" \t") == std::string::npos) continue;  // an empty line is no row
      for (size_t i = 0; i < inputs.size(); ++i) {
        runtime::data::Column& column = into.columns[numbers[i]];
        to[i] = column.bytes.data() + count * column.row_bytes();
      }
      if (!held.try_row(count, [&] { read_json_row(line, name, lines.number, inputs, to, &texts); })) break;
      ++count;
    }
    return count;
  }

  std::string name;
  Lines lines;
  HeldFault held;
  std::vector<size_t> numbers;
  TextInputs texts;
  std::vector<const driver::PredictInput*> inputs;
};

}  // namespace

// The text is gone when the message is read: the place becomes part of it.
void read_json_row(const std::string& text, const std::string& name, int64_t line,
                   std::span<const driver::PredictInput* const> inputs, std::span<std::byte* const> to,
                   TextInputs* texts) {
  const SourceFile source{name, text};
  try {
    read_row(source, inputs, to, texts);
  } catch (const UserError& error) {
    const Diagnostic& first = error.diagnostics().front();
    const int column = first.where.valid() ? line_column(first.where).column : 1;
    throw UserError(Location{}, fmt::format("{}:{}:{}: {}", name, line, column, first.message), first.help,
                    first.notes);
  }
}

OpenedSource open_json_lines(const driver::Predictor& predictor, const SourceRequest& asked) {
  const auto rows = std::make_shared<JsonRows>(predictor, asked);
  return {asked.name(), asked.inputs, [rows](int64_t most, PredictRows& into) { return rows->fill(most, into); },
          [rows] { return rows->texts.notes(); }};
}

}  // namespace heddle::tools
