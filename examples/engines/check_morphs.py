"""Morphs a GLB the way an engine does and compares its vertices with a point cache of the same garment and motion.

    toile convert dress.toile --morphs dress.glb --garment dress --motion walk
    toile animate --tier stable --model dress.toile --garment dress --motion walk --out walk.pc2
    python examples/engines/check_morphs.py dress.glb walk.pc2

Needs numpy alone and shares no code with Toile: it reads the GLB by the glTF 2.0 specification, blends morph targets
with the animated weights, places the node, and compares with every sample. Exits 1 where they differ by 0.1 mm.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np

COMPONENTS = {5121: "<u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def read_glb(path):
    data = Path(path).read_bytes()
    magic, version, length = struct.unpack("<4sII", data[:12])
    assert magic == b"glTF" and version == 2 and length == len(data), "not a GLB"
    chunks, at = {}, 12
    while at < length:
        size, kind = struct.unpack("<I4s", data[at : at + 8])
        chunks[kind] = data[at + 8 : at + 8 + size]
        at += 8 + size
    return json.loads(chunks[b"JSON"]), chunks[b"BIN\0"]


def accessor(root, binary, index):
    a = root["accessors"][index]
    view = root["bufferViews"][a["bufferView"]]
    start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
    width = WIDTHS[a["type"]]
    flat = np.frombuffer(binary, COMPONENTS[a["componentType"]], a["count"] * width, start)
    return flat.reshape(a["count"], width) if width > 1 else flat


def rotated(q, points):
    """Points turned by a quaternion (x, y, z, w)."""
    axis, w = np.asarray(q[:3], float), float(q[3])
    return points + 2 * np.cross(axis, np.cross(axis, points) + w * points)


def main(glb, pc2):
    root, binary = read_glb(glb)
    node = next(i for i, n in enumerate(root["nodes"]) if "mesh" in n)
    mesh = root["meshes"][root["nodes"][node]["mesh"]]
    primitive = mesh["primitives"][0]
    base = accessor(root, binary, primitive["attributes"]["POSITION"]).astype(float)
    targets = np.stack([accessor(root, binary, t["POSITION"]) for t in primitive["targets"]]).astype(float)
    assert len(mesh["extras"]["targetNames"]) == len(targets) == len(mesh["extras"]["toile"]["scale"])

    tracks = {}
    animation = root["animations"][0]
    for channel in animation["channels"]:
        if channel["target"]["node"] == node:
            sampler = animation["samplers"][channel["sampler"]]
            tracks[channel["target"]["path"]] = accessor(root, binary, sampler["output"])
    weights = tracks["weights"].reshape(-1, len(targets)).astype(float)

    data = Path(pc2).read_bytes()
    _, _, points, _, _, samples = struct.unpack("<12siiffi", data[:32])
    cache = np.frombuffer(data, "<f4", offset=32).reshape(samples, points, 3)
    assert cache.shape[:2] == (len(weights), len(base)), f"{cache.shape} samples, {len(weights)} keys of {len(base)}"

    worst = moved = 0.0
    for f, w in enumerate(weights):
        local = base + np.tensordot(w, targets, 1)
        world = rotated(tracks["rotation"][f], local) + tracks["translation"][f]
        worst = max(worst, float(np.abs(world - cache[f]).max()))
        moved = max(moved, float(np.linalg.norm(local - base, axis=1).max()))
    print(
        f"{glb}: {len(weights)} keys of {len(targets)} targets on {len(base)} vertices, "
        f"weights within {weights.min():.2f}…{weights.max():.2f}, up to {moved:.2f} m from the mean: "
        f"worst difference to {pc2} {worst:.2e} m"
    )
    return 0 if worst < 1e-4 else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
