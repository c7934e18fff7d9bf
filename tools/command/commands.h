// The subcommands of heddle. Each function adds one subcommand with its options to the command line.
//
// A shared_ptr holds a subcommand's arguments. They must live as long as the callback, which CLI11 copies.
#pragma once

namespace heddle::tools {

class CommandLine;

void add_bench(CommandLine& line);
void add_check(CommandLine& line);
void add_compile(CommandLine& line);
void add_completion(CommandLine& line);
void add_doctor(CommandLine& line);
void add_eval(CommandLine& line);
void add_generate(CommandLine& line);
void add_inspect(CommandLine& line);
void add_merge(CommandLine& line);
void add_ops(CommandLine& line);
void add_opt(CommandLine& line);
void add_package(CommandLine& line);
void add_predict(CommandLine& line);
void add_profile(CommandLine& line);
void add_quantize(CommandLine& line);
void add_schema(CommandLine& line);
void add_summary(CommandLine& line);
void add_sweep(CommandLine& line);
void add_tokenize(CommandLine& line);
void add_train(CommandLine& line);
void add_tune(CommandLine& line);

// Seconds since the system started the process.
double process_seconds();

}  // namespace heddle::tools
