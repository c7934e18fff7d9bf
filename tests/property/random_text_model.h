// Drawn models of text that can be decoded: tokens in, the logits of the next ones out.
//
//   random_text_model(7)  ->  {"format": "heddle-model/1", ..., "inputs": {"text": {"shape": ["N", 5], "dtype": "i32"}, ...},
//     embedding, positions of some kind; then some of: attention with rotations, window, shared keys, soft cap or ALiBi,
//     layers of transformers, recurrent layers, scans of blocks, feed-forward networks, norms, movements within a token,
//     and blocks of these that are repeated; each alone or with a sum around it}
#pragma once
#include <cstdint>
#include <string>

namespace heddle::testing {

struct RandomTextModel {
  std::string json;
  int64_t rows = 0, tokens = 0, vocabulary = 0;
};
RandomTextModel random_text_model(uint32_t seed);

}  // namespace heddle::testing
