# Model files are tests: their // RUN: lines run as those of tests/ do.
import os

lit_config.load_config(config, os.path.join(lit_config.params["source"], "tests", "lit.cfg.py"))
config.name = "models"
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(lit_config.params["build"], "tests", "models")
