"""These run only under Triton's interpreter, in the processes that `test_interpreter.py` starts."""

import os

collect_ignore_glob = [] if os.environ.get("TRITON_INTERPRET") == "1" else ["test_*.py"]
