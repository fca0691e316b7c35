"""How texts become vectors."""
