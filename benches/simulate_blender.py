"""Blender's cloth on scenario S, with the measures of `benches/simulate.rs`.

    pip install bpy                                     # Blender 5.0 as a module; wants Python 3.11
    python benches/simulate_blender.py 28 58            # all settings below, the cheapest valid one is named
    python benches/simulate_blender.py 28 --out a.json
    taskset -c 1 python benches/simulate_blender.py 28 --runs 10        # one thread; the mean of ten runs, frame by frame

Scenario S: a 1 m x 1 m grid of n x n vertices with alternating diagonals, 0.2 kg/m2, starts 5 cm above a fixed sphere
of radius 0.3 m, self-collision on, 90 frames of 1/30 s, no air. Blender's stiffnesses are not in SI units, so a small
sweep of settings is run and the cheapest run that keeps p99 edge strain within 5 % counts.
A run is valid if besides no vertex is more than 1 mm inside the sphere, no edge crosses a triangle and the lowest point
is 0.23 to 0.26 m below the sphere's centre.
"""

import argparse
import json
import os
import platform
import time

import bpy
import numpy as np

RADIUS, START, FRAMES, FPS = 0.3, 0.35, 90, 30
# Quality steps, tension (= compression), shear, bending, damping, collision quality, friction. Blender counts time in
# frames (its gravity is a thousandth of ours), so a tension of 0.5 is a spring of 500 N/m.
SWEEP = [
    (2, 0.5, 0.05, 1e-5, 0.05, 1, 5.0),
    (3, 0.5, 0.05, 1e-5, 0.01, 1, 5.0),
    (3, 1.0, 0.1, 1e-5, 0.05, 1, 5.0),
    (4, 0.5, 0.05, 1e-6, 0.003, 1, 1.0),
    (5, 0.5, 0.05, 1e-5, 0.01, 1, 5.0),
]


def grid(n):
    side = np.linspace(-0.5, 0.5, n)
    x, y = np.meshgrid(side, side, indexing="xy")
    verts = np.stack([x.ravel(), y.ravel(), np.full(n * n, START)], axis=1)
    faces = []
    for j in range(n - 1):
        for i in range(n - 1):
            a, b, c, d = j * n + i, j * n + i + 1, (j + 1) * n + i + 1, (j + 1) * n + i
            faces += [(a, b, c), (a, c, d)] if (i + j) % 2 == 0 else [(a, b, d), (b, c, d)]
    return verts, np.array(faces)


def edges_of(faces):
    pairs = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    return np.unique(pairs, axis=0)


def crossings(x, faces, edges):
    """Pairs of an edge and a triangle without a common vertex that cross, by the signs of five tetrahedra."""
    p, q = x[edges[:, 0]], x[edges[:, 1]]
    lo_e, hi_e = np.minimum(p, q), np.maximum(p, q)
    count = 0
    for tri in faces:
        a, b, c = x[tri]
        lo, hi = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
        near = np.all((hi_e >= lo) & (lo_e <= hi), axis=1) & ~np.isin(edges, tri).any(axis=1)
        k = np.nonzero(near)[0]
        if len(k) == 0:
            continue
        pp, qq = p[k], q[k]
        volume = lambda a, b, c, d: np.sum(np.cross(b - a, c - a) * (d - a), axis=-1)
        s, t = volume(a, b, c, pp), volume(a, b, c, qq)
        u, v, w = volume(pp, qq, a, b), volume(pp, qq, b, c), volume(pp, qq, c, a)
        inside = ((u > 0) & (v > 0) & (w > 0)) | ((u < 0) & (v < 0) & (w < 0))
        count += int(np.sum((s * t < 0) & inside))
    return count


def times_of(times, cpu):
    return {
        "total_ms_per_frame": float(np.mean(times)),
        "median_ms": float(np.median(times[10:70])),
        "p95_ms": float(np.percentile(times[10:70], 95)),
        # Processor time of all threads: what a busy machine does not spoil.
        "median_cpu_ms": float(np.median(cpu[10:70])),
        "mean_cpu_ms": float(np.mean(cpu[10:70])),
    }


def run(n, quality, tension, shear, bending, damping, collision_quality, friction):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = FPS
    scene.frame_start, scene.frame_end = 1, FRAMES + 1
    scene.use_gravity, scene.gravity = True, (0.0, 0.0, -9.81)

    bpy.ops.mesh.primitive_uv_sphere_add(segments=96, ring_count=48, radius=RADIUS)
    ball = bpy.context.object
    ball.modifiers.new("collision", "COLLISION")
    # The smallest outer distance Blender allows; its friction (0..80, default 5) is not a Coulomb coefficient.
    ball.collision.thickness_outer = 0.001
    ball.collision.cloth_friction = friction
    ball.collision.damping = 0.0

    verts, faces = grid(n)
    mesh = bpy.data.meshes.new("cloth")
    mesh.from_pydata(verts.tolist(), [], faces.tolist())
    cloth = bpy.data.objects.new("cloth", mesh)
    scene.collection.objects.link(cloth)
    modifier = cloth.modifiers.new("cloth", "CLOTH")
    s = modifier.settings
    s.quality = quality
    s.mass = 0.2 / (n * n)
    s.air_damping = 0.0
    s.tension_stiffness = s.compression_stiffness = tension
    s.shear_stiffness = shear
    s.bending_stiffness = bending
    # The defaults (5, 5, 5, 0.5) are meant for heavier vertices: with 0.2 kg/m2 they hold the cloth up in the air.
    s.tension_damping = s.compression_damping = s.shear_damping = damping
    s.bending_damping = 0.1 * damping
    c = modifier.collision_settings
    c.use_collision = True
    c.friction = friction
    c.collision_quality = collision_quality
    c.distance_min = 0.002
    c.use_self_collision = True
    c.self_distance_min = 0.002
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, FRAMES + 1

    scene.frame_set(1)
    times, cpu = [], []
    for frame in range(2, FRAMES + 2):
        begun, used = time.perf_counter(), time.process_time()
        scene.frame_set(frame)
        times.append(1e3 * (time.perf_counter() - begun))
        cpu.append(1e3 * (time.process_time() - used))
    shape = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    x = np.empty(3 * n * n)
    shape.vertices.foreach_get("co", x)
    x = x.reshape(-1, 3)

    edges = edges_of(faces)
    rest = np.linalg.norm(verts[edges[:, 0]] - verts[edges[:, 1]], axis=1)
    strain = np.abs(np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1) / rest - 1.0)
    result = {
        "n": n,
        "quality": quality,
        "tension": tension,
        "shear": shear,
        "bending": bending,
        "damping": damping,
        "friction": friction,
        "collision_quality": collision_quality,
        "frame_ms": times,
        "frame_cpu_ms": cpu,
        "p99_strain_percent": float(100 * np.percentile(strain, 99)),
        "max_strain_percent": float(100 * strain.max()),
        "deepest_mm": float(1e3 * max(0.0, (RADIUS - np.linalg.norm(x, axis=1)).max())),
        "crossings": crossings(x, faces, edges),
        "lowest_m": float(x[:, 2].min()),
        "centre_m": float(x[:, 2].mean()),
    }
    result["valid"] = bool(
        np.isfinite(x).all()
        and result["p99_strain_percent"] <= 5.0
        and result["deepest_mm"] <= 1.0
        and result["crossings"] == 0
        and 0.23 <= -result["lowest_m"] <= 0.26
    )
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", type=int, nargs="*", default=[28, 58])
    parser.add_argument("--out", help="JSON file for all runs")
    parser.add_argument("--quick", action="store_true", help="only one of the settings")
    parser.add_argument("--runs", type=int, default=1, help="a frame's time is the mean of so many runs")
    args = parser.parse_args()
    runs = []
    print(f"Blender {bpy.app.version_string}, {platform.processor() or platform.machine()}, {os.cpu_count()} threads")
    for n in args.n:
        for settings in SWEEP[1:2] if args.quick else SWEEP:
            r = run(n, *settings)
            for _ in range(1, args.runs):
                again = run(n, *settings)
                for name in ("frame_ms", "frame_cpu_ms"):
                    r[name] = (np.array(r[name]) + again[name]).tolist()
            for name in ("frame_ms", "frame_cpu_ms"):
                r[name] = (np.array(r[name]) / args.runs).tolist()
            r.update(times_of(r["frame_ms"], r["frame_cpu_ms"]))
            runs.append(r)
            print(
                f"n {n}: quality {r['quality']} tension {r['tension']} shear {r['shear']} friction {r['friction']}: "
                f"total/90 {r['total_ms_per_frame']:.1f} ms, median {r['median_ms']:.1f} (processor {r['median_cpu_ms']:.1f}, mean {r['mean_cpu_ms']:.1f}), p95 {r['p95_ms']:.1f}; "
                f"p99 strain {r['p99_strain_percent']:.2f} %, lowest {r['lowest_m']:.3f} m, centre {r['centre_m']:.4f} m, "
                f"deepest {r['deepest_mm']:.2f} mm, crossings {r['crossings']}, "
                f"{'valid' if r['valid'] else 'not valid'}",
                flush=True,
            )
        on_ball = [r for r in runs if r["n"] == n and r["deepest_mm"] <= 5.0 and r["lowest_m"] > -RADIUS]
        strain_kept = [r for r in on_ball if r["p99_strain_percent"] <= 5.0]
        valid = [r for r in strain_kept if r["valid"]]
        for name, some in (("valid", valid), ("that keeps the strain and stays on the ball", strain_kept)):
            if some:
                best = min(some, key=lambda r: r["median_cpu_ms"])
                print(
                    f"n {n}: cheapest run {name}: median {best['median_ms']:.1f} ms a frame, "
                    f"processor {best['median_cpu_ms']:.1f} ms",
                    flush=True,
                )
    if args.out:
        with open(args.out, "w") as f:
            json.dump({"blender": bpy.app.version_string, "threads": os.cpu_count(), "runs": runs}, f, indent=1)


if __name__ == "__main__":
    main()
