"""How fast is the program, and how much memory does it take? Always beside a reference, in the same run.

Machines are shared and noisy: what counts are the medians and the ratios, never a number of seconds alone.
"""

from eval.bench.answer import bench_answer
from eval.bench.ingest import bench_ingest
from eval.bench.result import BenchResult, Row, show
from eval.bench.search import bench_search

__all__ = ["BenchResult", "Row", "bench_answer", "bench_ingest", "bench_search", "show"]
