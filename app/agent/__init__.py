"""The graph: thin nodes that do what `app.core` decides."""
