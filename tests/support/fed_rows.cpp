#include "tests/support/fed_rows.h"

#include <algorithm>

#include "ir/text/parse.h"
#include "passes/pipeline.h"
#include "runtime/host/host_device.h"
#include "tests/support/host_run.h"

namespace heddle::testing {

codegen::Program fed_program(const std::string& type, const ir::FedColumn& column, const std::string& entry) {
  const std::string axes = std::ranges::count(type, ',') == 3 ? "[0,1,2,3]" : "[0,1,2]";
  const std::string real = "f32" + type.substr(type.find('['));
  const SourceFile source{"feed.hir", "graph @" + entry + "(input %x: " + type + ") {\n  %real: " + real +
                                          " = cast(%x) {dtype = \"f32\"}\n  %loss: f32[] = reduce_sum(%real) {axes = " +
                                          axes + "}\n  return %loss, %x\n}\n"};
  ir::Module m = ir::parse(source);
  passes::Options options = host_options();
  options.columns = {column};
  passes::run_pipeline(m, options);
  return codegen::lower(m, "fed", ir::host());
}

std::vector<float> fed_rows(const codegen::Program& program, const std::string& entry,
                            const runtime::data::Table& table, const std::vector<uint32_t>& order, runtime::Draws draws,
                            FedRun how) {
  runtime::HostDevice device({.threads = how.threads, .kernel_cache = {}});
  runtime::Executable executable(program, device);
  runtime::Feed feed(executable, {.resident_bytes = how.resident});
  const codegen::Entry& e = *program.find_entry(ir::entry_kind(entry));
  feed.begin(table, order, draws);
  std::vector<float> all;
  const auto steps = std::ssize(order) / how.batch;
  for (int64_t step = 0; step < steps; ++step) {
    feed.provide(how.batch);
    executable.wait(executable.submit(e, 1));
    std::vector<float> x(static_cast<size_t>(e.outputs.at(1).bytes) / sizeof(float));
    executable.read(e.outputs.at(1), x.data());
    all.insert(all.end(), x.begin(), x.end());
  }
  feed.take(steps);
  return all;
}

}  // namespace heddle::testing
