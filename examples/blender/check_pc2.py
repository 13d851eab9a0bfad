"""Opens a point cache in Blender on its partner OBJ and compares points.

    pip install bpy            # Blender as a module; its wheels fit one Python version each (5.0: 3.11)
    toile animate --garment dress --motion walk --out walk.pc2
    python examples/blender/check_pc2.py walk.pc2

Does what an artist does: File > Import > OBJ, then a Mesh Cache modifier with the PC2 on it. The cache is in the
OBJ's own axes (metres, +Y up); Blender's importer leaves vertices as they are and turns the object, so the modifier
needs no axes of its own. Every sample is compared with the numbers in the file. Exits 1 where they differ.
"""

import struct
import sys
from pathlib import Path

import numpy as np


def read_pc2(path):
    """The samples of a cache, frames x points x 3, read without Blender."""
    data = Path(path).read_bytes()
    magic, version, points, start, rate, samples = struct.unpack("<12siiffi", data[:32])
    assert magic == b"POINTCACHE2\0" and version == 1, "not a PC2 file"
    array = np.frombuffer(data, "<f4", offset=32)
    assert array.size == samples * points * 3, "cut short"
    return array.reshape(samples, points, 3), start, rate


def read_obj_vertices(path):
    lines = Path(path).read_text().splitlines()
    return np.array([[float(x) for x in line.split()[1:4]] for line in lines if line.startswith("v ")])


def main(path):
    import bpy

    cache, _, _ = read_pc2(path)
    partner = Path(path).with_suffix(".obj")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.obj_import(filepath=str(partner))
    garment = bpy.context.selected_objects[0]

    vertices = np.empty(len(garment.data.vertices) * 3, np.float32)
    garment.data.vertices.foreach_get("co", vertices)
    vertices = vertices.reshape(-1, 3)
    own = read_obj_vertices(partner)
    assert len(vertices) == cache.shape[1] == len(own), (
        f"Blender has {len(vertices)} vertices, the OBJ {len(own)}, the cache {cache.shape[1]}"
    )
    order = float(np.abs(vertices - own).max())

    modifier = garment.modifiers.new("cache", "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = str(Path(path).resolve())
    modifier.frame_start = 1.0
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, cache.shape[0]

    worst, moved = 0.0, 0.0
    points = np.empty(cache.shape[1] * 3, np.float32)
    for sample in range(cache.shape[0]):
        scene.frame_set(1 + sample)
        evaluated = garment.evaluated_get(bpy.context.evaluated_depsgraph_get())
        evaluated.data.vertices.foreach_get("co", points)
        worst = max(worst, float(np.abs(points.reshape(-1, 3) - cache[sample]).max()))
        moved = max(moved, float(np.abs(cache[sample] - cache[0]).max()))
    print(
        f"{path}: {cache.shape[0]} samples of {cache.shape[1]} points in Blender {bpy.app.version_string}: "
        f"worst difference {worst:.2e} m (import {order:.2e} m; the garment moves up to {moved:.2f} m)"
    )
    return 0 if worst < 1e-6 and order < 1e-6 else 1


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(max(main(path) for path in sys.argv[1:]))
