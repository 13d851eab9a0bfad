"""Check: two shares on a local Ray cluster of two workers make the takes that one run makes, byte for byte.

    python check_ray.py [--toile target/release/toile]
"""

import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

CLIPS = ["stand", "turn:45", "walk"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--toile", default="target/release/toile")
    args = parser.parse_args()
    if importlib.util.find_spec("ray") is None:
        print("skipped: Ray is not installed (pip install ray)")
        return 0
    toile = os.path.abspath(args.toile)
    here = pathlib.Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        one, many = pathlib.Path(folder, "one"), pathlib.Path(folder, "many")
        asked = ["--garment", "skirt:300", "--trim", ":1", "--motion", *CLIPS]
        subprocess.run([toile, "simulate", *asked, "--out", str(one)], check=True, capture_output=True)
        driver = [sys.executable, str(here / "shards_on_ray.py"), "--shards", "2", "--workers", "2", "--toile", toile, "--"]
        subprocess.run([*driver, *asked, "--out", str(many)], check=True)
        names = sorted(p.name for p in one.glob("*.take"))
        assert len(names) == len(CLIPS), names
        assert names == sorted(p.name for p in many.glob("*.take")), "other takes"
        for name in names:
            assert (one / name).read_bytes() == (many / name).read_bytes(), f"{name} differs"
    print(f"{len(names)} takes from two shares on Ray are those of one run, byte for byte")
    return 0


if __name__ == "__main__":
    sys.exit(main())
