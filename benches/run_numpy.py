#!/usr/bin/env python3
"""The work of `benches/run.rs` in numpy, on one core, for comparison.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python3 benches/run_numpy.py [seconds]

Plain: as one writes it, with the world transform. Tuned: one matrix product into memory kept from frame to frame,
without mean and transform: the bare product that BLAS can do. Both in f32, 766 vertices, 64 dims, 1,000 garments.
CPU time of this thread, so that what else runs on the machine counts less.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import sys
import time

import numpy as np

VERTICES, DIMS, BATCH = 766, 64, 1000


def timed(work, seconds):
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(times) < 12:
        start = time.thread_time()
        work()
        times.append((time.thread_time() - start) * 1e6 / BATCH)
    times = sorted(times[2:])
    return times[0], times[len(times) // 2], times[int(0.95 * (len(times) - 1))]


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    rng = np.random.default_rng(1)
    basis = rng.standard_normal((3 * VERTICES, DIMS)).astype(np.float32)
    mean = rng.standard_normal(3 * VERTICES).astype(np.float32)
    y = rng.standard_normal((BATCH, DIMS)).astype(np.float32)
    heading = rng.standard_normal(BATCH).astype(np.float32)
    place = rng.standard_normal((BATCH, 1, 3)).astype(np.float32)
    columns = np.ascontiguousarray(basis.T)
    out = np.empty((BATCH, 3 * VERTICES), np.float32)

    def plain():
        points = (y @ basis.T + mean).reshape(BATCH, VERTICES, 3)
        c, s, zero = np.cos(heading), np.sin(heading), np.zeros(BATCH, np.float32)
        one = np.ones(BATCH, np.float32)
        turn = np.stack([c, zero, s, zero, one, zero, -s, zero, c], 1).reshape(BATCH, 3, 3)
        return points @ turn.transpose(0, 2, 1) + place

    def tuned():
        np.matmul(y, columns, out=out)

    print(f"numpy {np.__version__}, µs a garment: least, median, p95")
    for name, work in (("plain, with the world transform", plain), ("tuned, without it", tuned)):
        least, median, p95 = timed(work, seconds)
        print(f"{name:34} {least:8.3f} {median:8.3f} {p95:8.3f}   {1e6 / median:9.0f} a second")


if __name__ == "__main__":
    main()
