#!/usr/bin/env python3
"""Reads a take and a model without Toile, and runs the model over the take.

    pip install numpy safetensors
    python read_take.py walk.take                # what was simulated
    python read_take.py walk.take dress.toile    # and how far the learned garment is from it

Both files are safetensors: named arrays, and text in the header. Metres, +Y up, 30 frames a second.
"""

import json
import sys

import numpy as np
from safetensors import safe_open

TAKE = {
    "positions": "frames x vertices x 3: the garment in the world",
    "bones": "frames x joints x 12: world_from_bind of every joint, three columns and the translation",
    "roots": "frames x 4: position of the hips and heading about +Y in radians, unwrapped",
    "triangles": "triangles x 3: vertices of every triangle",
    "reports": "frames x 5: ms, substeps, retries, largest stretch in percent, deepest vertex in mm",
    "draped": "vertices x 3: the garment at rest on the body's rest pose, before the motion",
}
MODEL = {
    "cloth_mean": "vertices x 3: mean garment in the canonical frame (hips at the origin, facing +Z)",
    "cloth_basis": "3 vertices x cloth dims: orthonormal directions around that mean",
    "bones_mean": "12 joints: mean of the canonical bone matrices",
    "body_from_bones": "body dims x 12 joints: body coefficients x straight from bones",
    "a": "cloth dims x body dims: what the pose does",
    "b": "order x cloth dims x cloth dims: what the frames before do",
    "c": "order x cloth dims x 5: what the root's motion does",
    "bias": "cloth dims",
    "a0": "cloth dims x body dims: the order-0 model that starts the recursion",
    "bias0": "cloth dims",
    "body_min": "body dims: x is clamped to the box that the certificate holds for",
    "body_max": "body dims",
    "travel_bound_m": "vertices: no input can carry a vertex farther from its mean",
    "hidden_triangles": "triangles of the body that the garment always covers",
}


def read(path):
    """All arrays and all text of a file."""
    with safe_open(path, "numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()


def about_y(angle):
    """Rotations about +Y, one per angle."""
    c, s, zero, one = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    return np.stack([np.stack([c, zero, s], -1), np.stack([zero, one, zero], -1), np.stack([-s, zero, c], -1)], -2)


def canonical(take):
    """Garment and bones with the hips at the origin, facing +Z."""
    position, heading = take["roots"][:, :3], take["roots"][:, 3]
    turn = about_y(-heading)
    cloth = np.einsum("fij,fvj->fvi", turn, take["positions"] - position[:, None])
    frames, joints, _ = take["bones"].shape
    columns = take["bones"].astype(float).reshape(frames, joints, 4, 3)
    columns[:, :, 3] -= position[:, None]
    bones = np.einsum("fij,fkcj->fkci", turn, columns)
    return cloth, bones.reshape(frames, 12 * joints)


def root_change(now, then):
    """The five meta-parameters: displacement in the older frame, sine and cosine - 1 of the turn."""
    turn = now[3] - then[3]
    return np.concatenate([about_y(-then[3]) @ (now[:3] - then[:3]), [np.sin(turn), np.cos(turn) - 1.0]])


def free_run(model, take):
    """The learned garment over a take: it sees bones and roots, never the simulated cloth."""
    _, bones = canonical(take)
    x = np.clip((bones - model["bones_mean"]) @ model["body_from_bones"].T, model["body_min"], model["body_max"])
    order, frames = len(model["b"]), len(bones)
    y = x @ model["a0"].T + model["bias0"]
    for f in range(order, frames):
        step = model["a"] @ x[f] + model["bias"]
        for i in range(order):
            step = step + model["b"][i] @ y[f - 1 - i]
        for i in range(len(model["c"])):
            step = step + model["c"][i] @ root_change(take["roots"][f - i], take["roots"][f - order])
        y[f] = step
    return (y @ model["cloth_basis"].T).reshape(frames, -1, 3) + model["cloth_mean"]


def describe(path, arrays, text, names):
    print(f"{path}: {text['format']}, version {text['version']}")
    for name, meaning in names.items():
        if name in arrays:
            print(f"  {name:18} {str(arrays[name].shape):18} {meaning}")
    for key, value in json.loads(text.get("notes", "[]")):
        print(f"  {key}: {value[:80]}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    take, text = read(sys.argv[1])
    describe(sys.argv[1], take, text, TAKE)
    if len(sys.argv) > 2:
        model, model_text = read(sys.argv[2])
        describe(sys.argv[2], model, model_text, MODEL)
        cloth, _ = canonical(take)
        error = np.linalg.norm(free_run(model, take) - cloth, axis=2)
        print(f"free run: mean vertex error {100 * error.mean():.2f} cm, largest {100 * error.max():.1f} cm")


if __name__ == "__main__":
    main()
