"""How documents become searchable.

discover -> read -> normalize -> chunk -> embed -> write, in `pipeline.py`. `catalog.py` is the truth about
the corpus (documents, versions, texts, chunks, statuses); `index/` finds chunks by vector and by term.
"""
