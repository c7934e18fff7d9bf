// Writes and reads profiles as JSON, as `heddle profile --json` prints them (docs/profile.md has the keys).
//
//   {"format": "heddle-profile/1", "model": "mnist_mlp", "entry": "train", ..., "kernels": [{"title": ...}, ...]}
#pragma once
#include <string>

#include "ir/diagnostic.h"
#include "tools/driver/profile.h"

namespace heddle::driver {

std::string profile_json(const Profile& p);
// Whether a text begins as a profile does. The rest may be damaged.
bool is_profile(std::string_view text);
// Throws UserError at the place where the file is not what profile_json writes.
Profile read_profile(const SourceFile& file);

// Writes a time line for Perfetto and chrome://tracing, with an event for each execution of a step and a track for each
// thread. Without spans, as on a GPU, the kernels follow each other, each as long as it takes alone.
std::string trace_json(const Profile& p, const std::vector<runtime::StepSpan>& spans);
// The beginning of such a file. Only files that begin so are overwritten without an option.
constexpr std::string_view kTraceHead = R"({"otherData": {"format": "heddle-trace/1")";

}  // namespace heddle::driver
