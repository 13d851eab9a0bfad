"""Opens an Alembic file in Blender and compares its vertices with a point cache of the same frames.

    toile animate --garment dress --motion walk --seconds 2 --out walk.abc
    toile animate --garment dress --motion walk --seconds 2 --out walk.pc2
    python examples/blender/check_abc.py walk.abc walk.pc2

Blender reads it with the Alembic library itself. Needs `pip install bpy`. Exits 1 where they differ by more than 0.01 mm
or a face is turned over.
"""

import sys

import numpy as np

from check_pc2 import read_pc2


def main(abc, pc2, fps=30):
    import bpy

    cache, _, _ = read_pc2(pc2)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = fps
    bpy.ops.wm.alembic_import(filepath=abc, as_background_job=False)
    garment = next(o for o in bpy.data.objects if o.type == "MESH")
    worst = 0.0
    for sample in range(cache.shape[0]):
        scene.frame_set(sample)
        evaluated = garment.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = np.empty(len(evaluated.data.vertices) * 3, np.float32)
        evaluated.data.vertices.foreach_get("co", points)
        place = np.array(evaluated.matrix_world)
        world = points.reshape(-1, 3) @ place[:3, :3].T + place[:3, 3]
        # Blender is Z up; Alembic and the cache are Y up.
        world = np.stack([world[:, 0], world[:, 2], -world[:, 1]], axis=1)
        worst = max(worst, float(np.abs(world - cache[sample]).max()))
    # Faces as the partner OBJ has them.
    faces = [line.split()[1:] for line in open(pc2[:-3] + "obj") if line.startswith("f ")]
    faces = [[int(corner.split("/")[0]) - 1 for corner in face] for face in faces]
    first = [list(p.vertices) for p in garment.data.polygons]
    turned = sum(not any(a == b[k:] + b[:k] for k in range(3)) for a, b in zip(first, faces))
    print(
        f"{abc}: {cache.shape[0]} frames of {cache.shape[1]} vertices, {len(first)} faces, {turned} turned over, "
        f"{len(garment.data.uv_layers)} uv layers, in Blender {bpy.app.version_string}: worst difference to {pc2} {worst:.2e} m"
    )
    return 0 if worst < 1e-5 and turned == 0 and len(first) == len(faces) else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
