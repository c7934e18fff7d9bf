// A convolution along the tokens of a text that reads those before alone: the last ones of them are kept.
//
//   %y = conv2d(%x, %w) {pads = [0,2,0,0]}, x: f32[2,1,64,8], w: f32[16,1,3,8]
//     -> state %y.before: f32[4,8]: the two tokens before, of each of 2 texts; nothing is there before the first one
//        %y = conv2d(%y.before and the token, %w), f32[2,1,1,16]
#include <fmt/format.h>

#include "ir/decoding.h"
#include "ir/ops/convolution.h"

namespace heddle::ir {
namespace {

Conv of(const Signature& s) { return conv(s, /*axes=*/2, s.operands[0], s.operands[1]); }
const Window& along_tokens(const Conv& c) { return c.axes[1]; }
int64_t tokens_before(const Conv& c) { return (along_tokens(c).size - 1) * along_tokens(c).dilation; }

DecodeRefusal refusal(const Signature& s) {
  const Conv c = of(s);
  if (c.image[1] != 1 || c.axes[0].size != 1)
    return {.reason = "is a convolution over more than the tokens", .help = {}};
  if (along_tokens(c).stride != 1)
    return {fmt::format("goes on by {} tokens at once", along_tokens(c).stride), R"(leave "stride" out)"};
  if (along_tokens(c).low != tokens_before(c) || along_tokens(c).high != 0)
    return {"is not causal: it reads tokens behind its own, or others than the last ones before",
            fmt::format("\"pad\": [{}, 0] lets it read those before alone", tokens_before(c))};
  return {};
}

class NextTokens {
 public:
  NextTokens(DecodeStep& step, const Signature& s, std::string name)
      : step_(step), b_(step.b), c_(of(s)), attrs_(s.attrs), name_(std::move(name)) {}

  ValueId build(const Values& operands) {
    const Type kept{b_.type(operands[0]).dtype, {rows() * before(), channels()}};
    const ValueId state = step_.state(name_ + ".before", kept);
    const ValueId seen = b_("concat", {known(state), operands[0]}, {{"axis", int64_t{2}}});
    step_.update(state, b_.reshape(last(seen), kept.dims));
    Attrs attrs = attrs_;
    attrs["pads"] = Dims{0, 0, 0, 0};
    return b_("conv2d", {seen, operands[1]}, attrs, name_);
  }

 private:
  int64_t rows() const { return c_.batch; }
  int64_t channels() const { return c_.image[3]; }
  int64_t before() const { return tokens_before(c_); }

  // What is kept, or nothing where the text begins.
  ValueId known(ValueId state) {
    const Dims dims{rows(), 1, before(), channels()};
    const ValueId first = b_("slice", {step_.places}, {{"starts", Dims{0, 0}}, {"limits", Dims{rows(), 1}}});
    const ValueId begins = b_.reshape(b_("eq", {first, b_.like(0, first)}), {rows()});
    const ValueId kept = b_.reshape(state, dims);
    return b_("select", {b_("broadcast", {begins}, {{"shape", dims}, {"dims", Dims{0}}}), b_.like(0, kept), kept});
  }

  // The last tokens up to those that a row has.
  ValueId last(ValueId seen) {
    const int64_t all = before() + step_.tokens;
    if (!step_.count.valid())
      return b_("slice", {seen}, {{"starts", Dims{0, 0, 1, 0}}, {"limits", Dims{rows(), 1, all, channels()}}});
    const Dims dims{rows(), before()};
    const auto number = [&](int64_t axis) { return b_("iota", {}, {{"shape", dims}, {"axis", axis}}); };
    const ValueId row = number(0), count = b_("broadcast", {step_.count}, {{"shape", dims}, {"dims", Dims{0}}});
    const ValueId first = b_("mul", {row, b_.like(static_cast<double>(all), row)});
    const ValueId at = b_("add", {b_("add", {first, count}), number(1)});
    return b_("gather", {b_.reshape(seen, {rows() * all, channels()}), at});
  }

  DecodeStep& step_;
  Builder& b_;
  const Conv c_;
  const Attrs attrs_;
  const std::string name_;
};

}  // namespace

const Decoding& conv2d_decoding() {
  static const Decoding decoding{
      .sequences = 1,
      .tokens_axis = [](const Signature&, size_t operand) -> int64_t { return operand == 0 ? 2 : -1; },
      .refusal = refusal,
      .build = [](DecodeStep& step, const Signature& s, const std::string& name,
                  const Values& operands) { return NextTokens(step, s, name).build(operands); }};
  return decoding;
}

}  // namespace heddle::ir
