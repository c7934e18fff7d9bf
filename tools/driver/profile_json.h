// Profiles as JSON, to keep and to compare: what `heddle profile --json` prints (docs/profile.md has the keys).
//
//   {"format": "heddle-profile/1", "model": "mnist_mlp", "entry": "train", ..., "kernels": [{"title": ...}, ...]}
#pragma once
#include <string>

#include "ir/diagnostic.h"
#include "tools/driver/profile.h"

namespace heddle::driver {

std::string profile_json(const Profile& p);
// Whether a text begins as profiles do: what follows may be damaged.
bool is_profile(std::string_view text);
// Throws UserError at the place where the file is not what profile_json writes.
Profile read_profile(const SourceFile& file);

// The run as a time line that Perfetto and chrome://tracing open: an event for each execution of a step, a track for
// each thread. Without spans, as on a GPU, the kernels lie end to end, as long as each takes alone.
std::string trace_json(const Profile& p, const std::vector<runtime::StepSpan>& spans);
// How that begins: only such a file is written over unasked.
constexpr std::string_view kTraceHead = R"({"otherData": {"format": "heddle-trace/1")";

}  // namespace heddle::driver
