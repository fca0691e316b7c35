"""How chunks are found: by vector and by term."""
