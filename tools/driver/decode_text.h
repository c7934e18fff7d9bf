// Finds what a model needs to generate text: the logits of the next token, the text input that they continue, and the
// source input, if any.
//
//   translation: english i32[N,12], size i32[N], other i32[N,12] -> logits f32[N,12,135]
//     -> text %other, source %english, its sizes %size; decoded as passes/decode says
#pragma once
#include <string>

#include "frontend/model.h"
#include "passes/decode/decode.h"

namespace heddle::driver {

// The logits: the value that the loss compares with the next tokens, else the only output. Throws UserError where there
// is neither.
frontend::OutputDef logits_of(const frontend::Model& model);

struct DecodedText {
  ir::ValueId text, source,
      sizes;          // graph inputs [N,T], [N,S], [N]; source, sizes: invalid if none
  int64_t chunk = 1;  // tokens per call of @prefill
  passes::Decoded decoded;
};

// `forward` is the prediction graph of `m`, with the logits as its only output. Each row holds one text, so the values
// of inputs for the "document" and the "position" of tokens are known. Where there are several text inputs, the
// generated text is the one whose tokens the model can compute one after another; the source is the one that an encoder
// reads as a whole. Throws UserError where the model cannot generate.
DecodedText decode_text(const frontend::Model& model, const ir::Module& m, const ir::Graph& forward);

}  // namespace heddle::driver
