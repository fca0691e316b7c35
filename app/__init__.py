"""How a question becomes a cited answer.

`core` decides, `agent` does, `runs` keeps; `cli`, `api` and the page are thin over `runs.service`.
"""
