#include "codegen/feed.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/c_text.h"
#include "codegen/feed_picture.h"
#include "ir/check.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

constexpr int64_t kThreads = 128;

bool is_real(DType t) { return t == DType::f32 || t == DType::f64; }

// The largest magnitude that an element may have after the maps; infinity where it may be anything.
double largest_magnitude(const FeedSpec& spec) {
  if (is_real(spec.stored) && spec.classes == 0) return std::numeric_limits<double>::infinity();
  double largest = spec.classes > 0 ? 1 : std::ldexp(1.0, static_cast<int>(bits(spec.stored)));
  const auto most = [](const std::vector<double>& values) {
    double m = 0;
    for (double v : values) m = std::max(m, std::abs(v));
    return m;
  };
  for (const FeedMap& map : spec.maps) {
    if (!map.scale.empty()) largest *= most(map.scale);
    largest = std::max(largest + most(map.shift), std::abs(map.fill));
  }
  return largest;
}

// The text that makes one input: from its column's row to the row of the batch.
class InputText {
 public:
  // `first_draw` is the cursor's word, or 0 where nothing is random.
  InputText(const Buffer& input, const FeedSpec& spec, int64_t column, int64_t rows, int64_t first_draw,
            const std::string& symbol, Names& names)
      : spec_(spec), column_(column), rows_(rows), symbol_(symbol), names_(names) {
    const std::optional<DType> dtype = parse_dtype(input.dtype);
    HEDDLE_CHECK(dtype.has_value(), "input '" + input.name + "' has a dtype");
    dtype_ = *dtype;
    int64_t elements = 1;
    for (size_t i = 1; i < input.dims.size(); ++i) elements *= input.dims[i];
    elements_ = elements;
    last_axis_ = input.dims.size() > 1 ? input.dims.back() : 1;
    packet_ = elements % 4 == 0 ? 4 : 1;
    const int64_t packets = elements / packet_;
    team_ = packets > kThreads / 4 ? kThreads : 1;
    while (team_ < 32 && team_ < packets) team_ *= 2;
    if (first_draw > 0 && draws(spec)) {
      first_draw_ = first_draw;
      const std::vector<int64_t>& d = input.dims;
      const bool first = spec.channels_first;
      HEDDLE_CHECK(d.size() == 3 || d.size() == 4, "what is changed as a picture is one");
      shape_ = {.height = d[first ? 2 : 1],
                .width = d[first ? 3 : 2],
                .channels = d.size() == 3 ? 1 : d[first ? 1 : 3],
                .channels_first = first};
    }
    parameter = names.fresh(input.name);
    comment = fmt::format("// {}: {}[{}] -> {}[{}]", comment_text(input.name), to_string(spec.stored),
                          stored_elements(), input.dtype, fmt::join(input.dims, ","));
  }

  std::vector<std::string> lines() {
    const std::string stored = storage_type(spec_.stored), type = storage_type(dtype_);
    std::vector<std::string> row = {
        fmt::format("const auto* from = hd::fed_column<{}>(cursor, {}) + hd::fed_row(cursor, row) * {};", stored,
                    column_, stored_elements()),
        fmt::format("{}* to = {} + (hd::i64)row * {};", type, parameter, elements_)};
    const bool checked = is_real(dtype_) && !(largest_magnitude(spec_) < largest_of(dtype_));
    if (first_draw_ > 0) append(row, picture_draws(spec_.maps, shape_, first_draw_));
    if (checked) row.emplace_back("int wrong = 0;");
    const std::string columns =
        fmt::format("HD_COLUMNS({}, column, slot, {}, {}, {})", index_type(), elements_, team_, packet_);
    append(row, block(columns, packet_lines(type, checked)));
    if (checked) append(row, block("if (wrong)", block(columns, {fault_line()})));
    return block(fmt::format("HD_ROWS(int, row, {}, {})", rows_, team_), row);
  }

  std::string declaration() const { return fmt::format("{}* __restrict__ {}", storage_type(dtype_), parameter); }
  int64_t bytes_read() const { return rows_ * stored_elements() * bits(spec_.stored) / 8; }
  int64_t bytes_written() const { return rows_ * elements_ * bits(dtype_) / 8; }
  double flops() const {
    return static_cast<double>(rows_ * elements_) * (1 + 2 * static_cast<double>(spec_.maps.size()));
  }
  int64_t most_blocks() const { return std::max<int64_t>(1, (rows_ * team_ + kThreads - 1) / kThreads); }

  std::string parameter, comment;
  std::vector<std::string> tables;  // constants of one number per element of the last axis

 private:
  static void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }
  static double largest_of(DType t) {
    return t == DType::f32 ? static_cast<double>(std::numeric_limits<float>::max())
                           : std::numeric_limits<double>::max();
  }
  int64_t stored_elements() const { return spec_.classes > 0 ? elements_ / spec_.classes : elements_; }
  std::string index_type() const { return elements_ < (int64_t{1} << 30) ? "int" : "hd::i64"; }

  std::vector<std::string> packet_lines(const std::string& type, bool checked) {
    std::vector<std::string> element = element_lines();
    if (checked) element.emplace_back("wrong |= hd::not_finite(x);");
    element.emplace_back("result[k] = x;");
    std::vector<std::string> lines;
    if (spec_.classes == 0 && first_draw_ == 0)
      lines.push_back(fmt::format("const auto packet = hd::load<{}>(from + column);", packet_));
    lines.push_back(fmt::format("hd::Packet<{}, {}> result;", type, packet_));
    append(lines, block(fmt::format("HD_EACH(k, {})", packet_), element));
    lines.emplace_back("hd::store(to + column, result);");
    return lines;
  }

  std::vector<std::string> element_lines() {
    const std::string type = compute_type(dtype_);
    std::vector<std::string> lines;
    if (first_draw_ > 0) append(lines, picture_place(spec_.maps, shape_, index_type(), "column + k"));
    lines.push_back(spec_.classes > 0 ? one_hot(type)
                    : first_draw_ > 0 ? fmt::format("{0} x = ({0})from[place];", type)
                                      : fmt::format("{0} x = ({0})packet[k];", type));
    for (size_t i = 0; i < spec_.maps.size(); ++i) {
      const FeedMap& map = spec_.maps[i];
      if (!map.scale.empty()) lines.push_back(fmt::format("x = x * {};", number(map.scale)));
      if (!map.shift.empty()) lines.push_back(fmt::format("x = x + {};", number(map.shift)));
      if (first_draw_ > 0 && (map.op == PictureOp::crop || map.op == PictureOp::cutout))
        lines.push_back(fmt::format("x = out_{} ? {} : x;", i, literal(map.fill, dtype_)));
    }
    return lines;
  }

  std::string one_hot(const std::string& type) const {
    const bool one = stored_elements() == 1;
    const std::string from = one ? "0" : fmt::format("(column + k) / {}", spec_.classes);
    const std::string place = one ? "column + k" : fmt::format("(column + k) % {}", spec_.classes);
    return fmt::format("{0} x = (hd::i64)from[{1}] == {2} ? {0}(1) : {0}(0);", type, from, place);
  }

  // The one number, or the last axis' element of a table.
  std::string number(const std::vector<double>& values) {
    if (values.size() == 1) return literal(values[0], dtype_);
    HEDDLE_CHECK(std::ssize(values) == last_axis_,
                 "a map of an input holds one number, or one per element of the axis");
    std::vector<std::string> literals;
    literals.reserve(values.size());
    for (double v : values) literals.push_back(literal(v, dtype_));
    const std::string name = names_.fresh(fmt::format("{}_table", symbol_));
    tables.push_back(fmt::format("HD_TABLE const {} {}[{}] = {{{}}};", compute_type(dtype_), name, values.size(),
                                 joined(literals, ", ")));
    return fmt::format("{}[{}]", name,
                       last_axis_ == elements_ ? "column + k" : fmt::format("(column + k) % {}", last_axis_));
  }

  std::string fault_line() const {
    return fmt::format(
        "HD_EACH(k, {}) if (hd::not_finite(to[column + k])) hd::note_fault(cursor, {}, row, to[column + k]);", packet_,
        column_);
  }

  const FeedSpec& spec_;
  int64_t column_, rows_;
  std::string symbol_;
  Names& names_;
  DType dtype_ = DType::f32;
  int64_t elements_ = 1, last_axis_ = 1, packet_ = 1, team_ = 1;
  int64_t first_draw_ = 0;  // 0: nothing is random here
  PictureShape shape_;
};

std::string kernel_text(const Kernel& facts, const std::vector<std::string>& parameters,
                        const std::vector<std::string>& body) {
  std::string text = fmt::format("// kernel {}\n", facts.form);
  const std::string head =
      fmt::format("HD_KERNEL({}, {})(\n    {})", facts.name, facts.block, joined(parameters, ",\n    "));
  for (const std::string& line : block(head, body)) text += line + "\n";
  return text + fmt::format("HD_HOST_ENTRY({}, {})\n", facts.name, facts.arguments);
}

}  // namespace

bool draws(const FeedSpec& spec) {
  return std::ranges::any_of(spec.maps, [](const FeedMap& map) { return map.op != PictureOp::none; });
}

EmittedKernel emit_feed(const std::vector<Buffer>& inputs, const std::vector<FeedSpec>& columns, int64_t rows,
                        bool training, const std::string& symbol) {
  EmittedKernel out;
  Kernel& k = out.facts;
  k.name = symbol, k.title = k.form = "feed";
  k.arguments = 1 + std::ssize(inputs);
  k.block = kThreads;
  Names names;
  const std::string cursor = "hd::u64* " + names.fresh("cursor");
  std::vector<std::string> parameters, body, tables;
  for (const Buffer& input : inputs) {
    const auto spec = std::ranges::find(columns, input.name, &FeedSpec::input);
    HEDDLE_CHECK(spec != columns.end(), "no column feeds input '" + input.name + "'");
    const int64_t first_draw = training ? kCursorColumns + std::ssize(columns) : 0;
    InputText text(input, *spec, spec - columns.begin(), rows, first_draw, symbol, names);
    body.push_back(text.comment);
    for (std::string& line : text.lines()) body.push_back(std::move(line));
    parameters.push_back(text.declaration());
    tables.insert(tables.end(), text.tables.begin(), text.tables.end());
    k.bytes_read += text.bytes_read(), k.bytes_written += text.bytes_written();
    k.flops += text.flops();
    k.max_blocks = std::max(k.max_blocks, text.most_blocks());
  }
  parameters.push_back(cursor);
  for (const std::string& table : tables) out.text += table + "\n";
  out.text += kernel_text(k, parameters, body);
  return out;
}

EmittedKernel emit_record(const Buffer& loss, const Buffer* count, int64_t rows, int64_t records,
                          const std::string& symbol) {
  EmittedKernel out;
  Kernel& k = out.facts;
  k.name = symbol, k.title = k.form = "record";
  k.block = kThreads;
  std::vector<std::string> parameters;
  const auto add = [&](const Buffer& b, const char* name) {
    const std::optional<DType> dtype = parse_dtype(b.dtype);
    HEDDLE_CHECK(dtype && b.dims.empty(), "what is recorded is a scalar: " + b.name);
    parameters.push_back(fmt::format("const {}* __restrict__ {}", storage_type(*dtype), name));
    k.bytes_read += b.bytes;
  };
  add(loss, "loss");
  if (count != nullptr) add(*count, "count");
  parameters.emplace_back("hd::u64* cursor");
  parameters.emplace_back("hd::u64* ring");
  k.arguments = std::ssize(parameters);
  k.bytes_written = (kRecordWords + 3) * 8;
  out.text = kernel_text(k, parameters,
                         {fmt::format("HD_ONE_OF_ALL hd::record(cursor, ring, {}, {}, (double)loss[0], (double){});",
                                      records, rows, count != nullptr ? "count[0]" : integer_literal(rows))});
  return out;
}

}  // namespace heddle::codegen
