"""How runs are started, kept, resumed and read."""
