"""Plays a GLB with morph targets in Blender and compares its vertices with a point cache of the same frames.

    toile animate --garment dress --motion walk --seconds 2 --out walk.glb
    toile animate --garment dress --motion walk --seconds 2 --out walk.pc2
    python examples/blender/check_glb.py walk.glb walk.pc2

Also for a learned garment: `toile convert dress.toile --morphs dress.glb --garment dress --motion walk` beside
`toile animate --tier stable --model dress.toile --garment dress --motion walk --out walk.pc2`. Needs `pip install bpy`.
Exits 1 where they differ by more than 0.01 mm.
"""

import sys

import numpy as np

from check_pc2 import read_pc2


def main(glb, pc2, fps=30):
    import bpy

    cache, _, _ = read_pc2(pc2)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = fps
    bpy.ops.import_scene.gltf(filepath=glb)
    garment = next(o for o in bpy.data.objects if o.type == "MESH" and o.data.shape_keys)
    keys = garment.data.shape_keys.key_blocks[1:]
    for key in keys:
        # Coefficients are negative as often as not; sliders stop at zero by default.
        key.slider_min, key.slider_max = -10.0, 10.0
    worst = 0.0
    for sample in range(cache.shape[0]):
        scene.frame_set(sample)
        evaluated = garment.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = np.empty(len(evaluated.data.vertices) * 3, np.float32)
        evaluated.data.vertices.foreach_get("co", points)
        place = np.array(evaluated.matrix_world)
        world = points.reshape(-1, 3) @ place[:3, :3].T + place[:3, 3]
        # Blender is Z up; glTF and the cache are Y up.
        world = np.stack([world[:, 0], world[:, 2], -world[:, 1]], axis=1)
        worst = max(worst, float(np.abs(world - cache[sample]).max()))
    print(
        f"{glb}: {len(keys)} shape keys, {cache.shape[0]} frames of {cache.shape[1]} vertices in Blender "
        f"{bpy.app.version_string}: worst difference to {pc2} {worst:.2e} m"
    )
    return 0 if worst < 1e-5 else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
