"""The rules of the product as pure functions: no I/O, no framework."""
