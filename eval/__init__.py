"""How judgements of both are made."""
