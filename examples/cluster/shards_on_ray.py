"""Run `toile simulate` in shares on a Ray cluster.

    python shards_on_ray.py --shards 16 [--address auto | --workers 2] [--cpus 1] [--retries 2] [--toile toile] -- ARGUMENTS OF simulate
"""

import argparse
import os
import subprocess
import sys

import ray


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, required=True, help="shares that the clips are dealt into")
    parser.add_argument("--address", help="a running cluster (`auto`); without it, Ray is started here")
    parser.add_argument("--workers", type=int, help="cores of the Ray started here; without it, all")
    parser.add_argument("--cpus", type=int, default=1, help="cores of each share")
    parser.add_argument("--retries", type=int, default=2, help="how often a share that failed is run again")
    parser.add_argument("--toile", default="toile", help="the program, as every machine finds it")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="after --: what `toile simulate` gets")
    args = parser.parse_args()
    args.arguments = [a for i, a in enumerate(args.arguments) if not (i == 0 and a == "--")]
    if args.address and args.workers:
        parser.error("--workers is for the Ray started here, not for a running cluster")
    if args.shards < 1:
        parser.error("--shards is at least 1")
    if "--out" not in args.arguments:
        parser.error("after -- comes what `toile simulate` needs, --out among it")
    return args


def share(command, cpus):
    """One share: exit code and the last lines of what it said."""
    environment = dict(os.environ, RAYON_NUM_THREADS=str(cpus))
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode not in (0, 2):
        # Worth another try; Ray runs it again, and what is finished is kept. Code 2 is bad input and stays so.
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-400:].strip()}")
    return done.returncode, done.stderr[-400:].strip()


def main():
    args = parse()
    ray.init(address=args.address, num_cpus=args.workers, log_to_driver=False, include_dashboard=False)
    task = ray.remote(num_cpus=args.cpus, max_retries=args.retries, retry_exceptions=True)(share)
    commands = {}
    for i in range(1, args.shards + 1):
        command = [args.toile, "simulate", *args.arguments, "--shard", f"{i}/{args.shards}"]
        commands[task.remote(command, args.cpus)] = i
    failed, waiting = 0, list(commands)
    while waiting:
        (ready,), waiting = ray.wait(waiting, num_returns=1)
        i = commands[ready]
        try:
            code, said = ray.get(ready)
        except ray.exceptions.RayError as error:
            code, said = 1, str(error).strip().splitlines()[-1]
        failed += code != 0
        print(f"share {i}/{args.shards}: {'done' if code == 0 else f'failed, {said}'}", flush=True)
    ray.shutdown()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
