"""Runs outside test suites (ONNX, StableHLO) through Heddle's operators."""
