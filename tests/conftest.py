from __future__ import annotations

import os

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"  # read when langgraph is imported, which a test may do before `app`
