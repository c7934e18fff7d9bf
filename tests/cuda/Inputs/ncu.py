#!/usr/bin/env python3
"""A stand-in for NVIDIA's ncu: notes how it was called in $FAKE_NCU, and writes a table as ncu does. $FAKE_NCU may also be
"refuse" (the driver gives no counters) or "nothing" (no kernel was executed)."""
import os
import sys

words = sys.argv[1:]
mode = os.environ["FAKE_NCU"]
out = words[words.index("--log-file") + 1]
if mode == "refuse":
    with open(out, "w") as log:
        log.write("==PROF== Connected to process 17\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access "
                  "NVIDIA GPU Performance Counters on the target device 0.\n")
    sys.exit(1)
if mode == "nothing":
    with open(out, "w") as log:
        log.write("==PROF== Disconnected\n==WARNING== No kernels were profiled.\n")
    sys.exit(0)
with open(mode, "w") as log:
    log.write(f"{os.environ['HEDDLE_CUDA_STEPS']} {' '.join(words)}\n")
with open(out, "w") as log:
    log.write('==PROF== Connected to process 17\n"ID","Process ID","Process Name","Kernel Name","Block Size","dram__bytes.sum",'
              '"gpu__time_duration.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","smsp__inst_executed.sum"\n'
              '"","","","","","byte","ns","sector","inst"\n')
    for number, (name, took) in enumerate([("k_feed", "9,000"), ("k_feed", "2,500"), ("k_feed", "2,400"), ("other(int, int)", "100")]):
        log.write(f'"{number}","17","heddle","{name}","(256, 1, 1)","1,234","{took}","16,000","2,000"\n')
    log.write("==PROF== Disconnected\n")
