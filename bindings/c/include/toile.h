/* Toile: learned garments for any engine.
 *
 * Written by cbindgen from bindings/c/src; `TOILE_WRITE_HEADER=1 cargo test -p toile-c --test header` writes it anew.
 *
 * Units are metres and seconds, +Y is up, right-handed. Matrices are column-major.
 *
 * Errors. Functions give TOILE_STATUS_OK (0) or another status; toile_last_error() then says more, for the thread
 * that made the call. A call that fails has changed nothing. Nothing unwinds or aborts across this border.
 *
 * Threads. A model is never changed: use one from as many threads as you like. A crowd is used by one thread at a
 * time; functions that take it as const may run beside each other. The crowd's own worker threads sleep between
 * calls and never call back.
 *
 * Graphics cards. The crowd whose state and vertices stay on the device is left out of this interface: it speaks in
 * buffers of wgpu. Rust programs have it in the crate toile-run, feature `gpu`.
 *
 * Simulation. What is between #if defined(TOILE_SIMULATE) is in libraries built with `--features simulate`: define
 * it before including this header.
 *
 * Versions. Structs that may grow begin with their size: set it to sizeof, and programs built against an older
 * header keep working. toile_abi_version() changes when anything else would break them.
 */

#ifndef TOILE_H
#define TOILE_H

#include <stddef.h>
#include <stdint.h>
/* What changes when programs built against an older header would break. */
#define TOILE_ABI_VERSION 1

/*
 How a call went.
 */
typedef enum {
  /*
   It did what it says.
   */
  TOILE_STATUS_OK = 0,
  /*
   A pointer that must not be null was.
   */
  TOILE_STATUS_NULL = 1,
  /*
   The model could not be read; the message names every fault.
   */
  TOILE_STATUS_MODEL = 2,
  /*
   The model has no certificate that holds.
   */
  TOILE_STATUS_UNCERTIFIED = 3,
  /*
   All reserved places are taken.
   */
  TOILE_STATUS_FULL = 4,
  /*
   No such instance or model in this crowd.
   */
  TOILE_STATUS_GONE = 5,
  /*
   Bones or coefficients for another model.
   */
  TOILE_STATUS_COUNT = 6,
  /*
   A number is infinite or not a number.
   */
  TOILE_STATUS_NOT_FINITE = 7,
  /*
   A bone matrix that is not a rotation.
   */
  TOILE_STATUS_NOT_RIGID = 8,
  /*
   A time step that is not above 0 and at most 1 s.
   */
  TOILE_STATUS_TIME_STEP = 9,
  /*
   The model does not name its hip joints.
   */
  TOILE_STATUS_NO_HIPS = 10,
  /*
   A setting outside its range.
   */
  TOILE_STATUS_RANGE = 11,
  /*
   The caller's buffer or stride is too small.
   */
  TOILE_STATUS_BUFFER = 12,
  /*
   A struct's size is none that this library knows.
   */
  TOILE_STATUS_VERSION = 13,
  /*
   A fault of the library itself; please report it.
   */
  TOILE_STATUS_INTERNAL = 14,
} ToileStatus;

/*
 Many garments of one or several models. Used by one thread at a time.
 */
typedef struct ToileCrowd ToileCrowd;

/*
 A garment with its tiers: of toile_ladder_new 0 follows the bones (skin) and 1 is learned (stable), of toile_ladder_dress
 those of ToileTierKind. Used by one thread at a time.
 */
typedef struct ToileLadder ToileLadder;

/*
 A learned garment. It is never changed after loading: any number of threads may use it.
 */
typedef struct ToileModel ToileModel;

/*
 Decides frame by frame; there is no clock in it. Used by one thread at a time.
 */
typedef struct ToileScheduler ToileScheduler;

/*
 How a crowd works.
 */
typedef struct {
  /*
   Set to sizeof(ToileCrowdSettings).
   */
  uint32_t size;
  /*
   Threads that work on a step, the caller's own included; 0 means 1.
   */
  uint32_t threads;
  /*
   Whether drawing gives normals too: 1 or 0.
   */
  uint32_t normals;
} ToileCrowdSettings;

/*
 A handle to one garment of a crowd, passed by value. After toile_crowd_remove every use of it returns
 TOILE_STATUS_GONE. A zeroed handle may be a valid one, so do not use zero for "none".
 */
typedef struct {
  /*
   Opaque: copy and compare it, but neither make one up nor read meaning into it.
   */
  uint32_t bits[3];
} ToileInstance;

/*
 Where a character stands: what its bone matrices are relative to.
 */
typedef struct {
  /*
   In the world, m.
   */
  double position[3];
  /*
   World from actor: x, y, z, w.
   */
  float rotation[4];
} ToileActor;

/*
 Canonical frame of a pose: where the hips are and which way they face.
 */
typedef struct {
  /*
   The hips' joint in the world, m.
   */
  double position[3];
  /*
   Angle about +Y in radians; 0 when the left hip is towards +X.
   */
  double heading;
} ToileRoot;

/*
 What a garment is made of, as `toile fabric NAME --json` says under "heard"; all above 0.
 */
typedef struct {
  /*
   Half of the overhang that hangs at 41.5 degrees (ASTM D1388), m.
   */
  float bending_length_m;
  /*
   Mass per area, kg/m2.
   */
  float density;
  /*
   Stretch stiffness, mean of warp and weft, N/m.
   */
  float stretch;
  /*
   Shear stiffness, N/m.
   */
  float shear;
  /*
   Strain-rate damping, s.
   */
  float damping_secs;
} ToileFabric;

/*
 What a step did.
 */
typedef struct {
  /*
   Set to sizeof(ToileCrowdReport) before the call.
   */
  uint32_t size;
  /*
   Garments that have a state after it.
   */
  uint32_t stepped;
  /*
   Latent ticks, of all models together.
   */
  uint32_t ticks;
  /*
   Inputs that had to be held to what the models are certified for.
   */
  uint32_t clamped;
  /*
   Poses refused since the step before; their garments kept the pose they had.
   */
  uint32_t refused;
} ToileCrowdReport;

/*
 What a model is.
 */
typedef struct {
  /*
   Set to sizeof(ToileModelInfo) before the call.
   */
  uint32_t size;
  /*
   Vertices of the garment.
   */
  uint32_t vertices;
  /*
   Triangles of the garment.
   */
  uint32_t triangles;
  /*
   Bone matrices that a pose has.
   */
  uint32_t joints;
  /*
   Cloth coefficients.
   */
  uint32_t cloth_dims;
  /*
   Body coefficients.
   */
  uint32_t body_dims;
  /*
   Frames of history.
   */
  uint32_t order;
  /*
   Whether root and heading are found from bones alone (1) or must be given (0).
   */
  uint32_t has_hips;
  /*
   Frames per second of the latent clock.
   */
  double fps;
  /*
   No vertex is ever farther from its mean than this, m, whatever is fed in.
   */
  float travel_bound_m;
  /*
   Bytes of numbers that the model keeps in memory, in millions.
   */
  float megabytes;
} ToileModelInfo;

/*
 One way to have a garment: a tier, with so many dims.
 */
typedef struct {
  /*
   Any number that you know your tiers by.
   */
  uint32_t tier;
  /*
   How many dims of a learned garment are drawn; 0 where that means nothing.
   */
  uint32_t dims;
  /*
   What one garment costs in a frame, µs.
   */
  float cost_us;
  /*
   What it costs once to take over, µs.
   */
  float start_us;
  /*
   How good it is, from 0 (nothing) to 1 (the truth).
   */
  float quality;
  /*
   1 where it is worth only as much as the learned garment trusts itself, else 0.
   */
  uint32_t learned;
} ToileRung;

/*
 What is known of one garment in a frame.
 */
typedef struct {
  /*
   Which list of rungs it has.
   */
  uint32_t kind;
  /*
   How much it matters: the share of the screen's height it takes, weighted by importance.
   */
  float priority;
  /*
   How far its learned garment trusts itself, 0 to 1 (toile_crowd_gate).
   */
  float trust;
  /*
   How deep its cloth is in the body, mm: the deeper, the more a climb is worth.
   */
  float inside_mm;
} ToileWish;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The version of this library; compare it with TOILE_ABI_VERSION of the header.
 */
uint32_t toile_abi_version(void);

/*
 Makes an empty crowd; `settings` may be null. Free it with toile_crowd_free.

 Preconditions: `settings` is null or points to `settings->size` bytes; `out` points to one pointer.
 */
ToileStatus toile_crowd_new(const ToileCrowdSettings *settings, ToileCrowd **out);

/*
 Frees a crowd and all its garments. Null is allowed.

 Preconditions: `crowd` was returned by this library and is not used afterwards.
 */
void toile_crowd_free(ToileCrowd *crowd);

/*
 Adds a model and room for `reserve` garments of it: all memory is taken here, none later.

 Preconditions: `crowd` and `model` were returned by this library and have not been freed; `id` points to one number.
 */
ToileStatus toile_crowd_add_model(ToileCrowd *crowd, const ToileModel *model, uint32_t reserve, uint32_t *id);

/*
 Adds a garment, which waits for its first pose.

 Preconditions: `crowd` was returned by this library and has not been freed; `out` points to one instance.
 */
ToileStatus toile_crowd_add(ToileCrowd *crowd, uint32_t model, ToileInstance *out);

/*
 Takes a garment out; others are not affected.

 Preconditions: `crowd` was returned by this library and has not been freed.
 */
ToileStatus toile_crowd_remove(ToileCrowd *crowd, ToileInstance garment);

/*
 Gives the pose to step to. `bones` are matrices from the bind pose to the actor, column-major: 12 floats a bone
 (four columns of three) or 16 (four of four, the last row ignored), as `floats_per_bone` says. `root` may be null
 where the model names its hips. A garment that is given no pose stands still.

 Preconditions: `crowd` was returned by this library and has not been freed; `actor` points to one actor, `bones` to
 `joints · floats_per_bone` floats,
 `root` to one root if it is not null.
 */
ToileStatus toile_crowd_set_pose(ToileCrowd *crowd,
                                 ToileInstance garment,
                                 const ToileActor *actor,
                                 const float *bones,
                                 size_t joints,
                                 size_t floats_per_bone,
                                 const ToileRoot *root);

/*
 Wind, gravity and cloth of a garment from the next step on, for models that were trained for them: others do not hear.
 Beyond what training saw the correction fades, as toile_crowd_gate tells. Null for no wind, the usual gravity, and the
 middle of training's cloths.

 Preconditions: `crowd` was returned by this library and has not been freed; `wind` (m/s) and `gravity` (m/s²) are null or point to three
 numbers in the world, `fabric` is null or points to one.
 */
ToileStatus toile_crowd_set_surroundings(ToileCrowd *crowd,
                                         ToileInstance garment,
                                         const float *wind,
                                         const float *gravity,
                                         const ToileFabric *fabric);

/*
 Forgets a garment's history: the next step starts afresh from its pose.

 Preconditions: `crowd` was returned by this library and has not been freed.
 */
ToileStatus toile_crowd_reset(ToileCrowd *crowd, ToileInstance garment);

/*
 The next pose is somewhere else: the garment keeps its shape and does not feel the way there.

 Preconditions: `crowd` was returned by this library and has not been freed.
 */
ToileStatus toile_crowd_teleport(ToileCrowd *crowd, ToileInstance garment);

/*
 Whether vertices are wanted (1, as at first) or not (0); the state goes on either way.

 Preconditions: `crowd` was returned by this library and has not been freed.
 */
ToileStatus toile_crowd_set_drawn(ToileCrowd *crowd, ToileInstance garment, uint32_t drawn);

/*
 How far any vertex may be off for the sake of speed, mm; 0 at first.

 Preconditions: `crowd` was returned by this library and has not been freed.
 */
ToileStatus toile_crowd_set_tolerance_mm(ToileCrowd *crowd, ToileInstance garment, float mm);

/*
 Draws a garment with at most `dims` coefficients from now on, those that come or go fading within `secs` seconds. With
 none a model of kind d merely follows its bones.

 Preconditions: `crowd` was returned by this library and has not been freed.
 */
ToileStatus toile_crowd_fade_dims(ToileCrowd *crowd,
                                  ToileInstance garment,
                                  uint32_t dims,
                                  float secs);

/*
 Lets the tolerance grow by `mm_per_metre` for each metre from a viewer; 0 switches that off.

 Preconditions: `crowd` was returned by this library and has not been freed; `position` points to three numbers.
 */
ToileStatus toile_crowd_set_viewer(ToileCrowd *crowd, const double *position, float mm_per_metre);

/*
 What vertices are relative to, in the world; in large worlds the camera. The world's origin at first.

 Preconditions: `crowd` was returned by this library and has not been freed; `position` points to three numbers.
 */
ToileStatus toile_crowd_set_origin(ToileCrowd *crowd, const double *position);

/*
 Advances all garments by `dt_secs` (above 0, at most 1) to the poses given. `report` may be null.

 Preconditions: `crowd` was returned by this library and has not been freed; `report` is null or points to `report->size` bytes.
 */
ToileStatus toile_crowd_step(ToileCrowd *crowd,
                             double dt_secs,
                             ToileCrowdReport *report);

/*
 Makes the vertices (and normals, if the settings ask) of all garments that are drawn.

 Preconditions: `crowd` was returned by this library and has not been freed.
 */
ToileStatus toile_crowd_draw(ToileCrowd *crowd);

/*
 Writes a garment's vertices as drawn last: three floats each, `stride_bytes` (at least 12) from one to the next.

 Preconditions: `crowd` was returned by this library and has not been freed; `out` points to `capacity` vertices of that stride.
 */
ToileStatus toile_crowd_vertices(const ToileCrowd *crowd,
                                 ToileInstance garment,
                                 float *out,
                                 size_t capacity,
                                 size_t stride_bytes);

/*
 Writes a garment's unit normals as drawn last, as toile_crowd_vertices does.

 Preconditions: As toile_crowd_vertices.
 */
ToileStatus toile_crowd_normals(const ToileCrowd *crowd,
                                ToileInstance garment,
                                float *out,
                                size_t capacity,
                                size_t stride_bytes);

/*
 Writes a garment's cloth coefficients, `stride_bytes` (at least 4) from one to the next: all that an engine with
 the garment's basis as morph targets needs. Of kind d they are the weights of morph targets in the bind pose, before
 the engine skins. toile_crowd_draw is not needed for them.

 Preconditions: `crowd` was returned by this library and has not been freed; `out` points to `capacity` floats of that stride.
 */
ToileStatus toile_crowd_coefficients(const ToileCrowd *crowd,
                                     ToileInstance garment,
                                     float *out,
                                     size_t capacity,
                                     size_t stride_bytes);

/*
 How far a garment of kind d trusts what it learned for its present pose: 1 within what training saw, 0 where it is
 merely skinned. 1 for the published kinds. Its coefficients are already multiplied with it.

 Preconditions: `crowd` was returned by this library and has not been freed; `out` points to one float.
 */
ToileStatus toile_crowd_gate(const ToileCrowd *crowd,
                             ToileInstance garment,
                             float *out);

/*
 The canonical frame that goes with a garment's coefficients: turn morphed vertices by `heading` about +Y and move
 them to `position`. All zeros before the first step.

 Preconditions: `crowd` was returned by this library and has not been freed; `out` points to one root.
 */
ToileStatus toile_crowd_root(const ToileCrowd *crowd,
                             ToileInstance garment,
                             ToileRoot *out);

/*
 How far any vertex of a garment may be off as drawn last, mm.

 Preconditions: `crowd` was returned by this library and has not been freed; `out` points to one float.
 */
ToileStatus toile_crowd_error_bound_mm(const ToileCrowd *crowd, ToileInstance garment, float *out);

#if defined(TOILE_SIMULATE)
/*
 Dresses a character: a garment with all tiers of ToileTierKind, which begins with skin. `body` and `garment` are files or
 built-in names (`mannequin:female`, `dress`); `model` and the file `database` may be null, and their tiers are refused then.
 Drapes the garment, which takes seconds. Step and hand over as with any ladder; what is painted on the garment is kept in
 every tier. `vertices`, where it is not null, takes how many there are. Free it with toile_ladder_free.

 Preconditions: `body`, `garment` and `database` are strings that end in a zero, the last may be null; `model` was returned by this library and
 has not been freed, or is null; `vertices` points to one number or is null; `out` points to one pointer.
 */
ToileStatus toile_ladder_dress(const char *body,
                               const char *garment,
                               const ToileModel *model,
                               const char *database,
                               uint32_t *vertices,
                               ToileLadder **out);
#endif

/*
 Makes the ladder of a model of kind d, which brings the skin that it follows bones with. It begins with tier 0. Free it
 with toile_ladder_free.

 Preconditions: `model` was returned by this library and has not been freed; `out` points to one pointer.
 */
ToileStatus toile_ladder_new(const ToileModel *model,
                             ToileLadder **out);

/*
 Frees a ladder. Null is allowed.

 Preconditions: `ladder` was returned by this library and is not used afterwards.
 */
void toile_ladder_free(ToileLadder *ladder);

/*
 Advances by `dt_secs` to a pose in the world, given as toile_crowd_set_pose takes it.

 Preconditions: `ladder` was returned by this library and has not been freed; `bones` points to `joints · floats_per_bone` floats.
 */
ToileStatus toile_ladder_step(ToileLadder *ladder,
                              const float *bones,
                              size_t joints,
                              size_t floats_per_bone,
                              double dt_secs);

/*
 Lets another tier take over from where the garment is and as fast as it is, over `secs` seconds, or longer where the two
 are far apart.

 Preconditions: `ladder` was returned by this library and has not been freed.
 */
ToileStatus toile_ladder_hand_over(ToileLadder *ladder,
                                   uint32_t tier,
                                   float secs);

/*
 Says which tier moves the garment and for how many seconds a hand-over still goes on; either may be null.

 Preconditions: `ladder` was returned by this library and has not been freed; `tier` and `left_secs` point to one number each or are null.
 */
ToileStatus toile_ladder_tier(const ToileLadder *ladder,
                              uint32_t *tier,
                              float *left_secs);

/*
 Writes the garment's world-space vertices, as toile_crowd_vertices does.

 Preconditions: `ladder` was returned by this library and has not been freed; `out` points to `capacity` vertices of that stride.
 */
ToileStatus toile_ladder_vertices(const ToileLadder *ladder,
                                  float *out,
                                  size_t capacity,
                                  size_t stride_bytes);

/*
 Reads a model from a file. Free it with toile_model_free.

 Preconditions: `path` is a string that ends in a zero; `out` points to one pointer.
 */
ToileStatus toile_model_from_file(const char *path, ToileModel **out);

/*
 Reads a model from `length` bytes of memory, which are not needed afterwards. Free it with toile_model_free.

 Preconditions: `bytes` points to `length` bytes; `out` points to one pointer.
 */
ToileStatus toile_model_from_memory(const uint8_t *bytes, size_t length, ToileModel **out);

/*
 Frees a model; crowds that have it keep what they need. Null is allowed.

 Preconditions: `model` was returned by this library and is not used afterwards.
 */
void toile_model_free(ToileModel *model);

/*
 Says what a model is.

 Preconditions: `model` was returned by this library and has not been freed; `info` points to `info->size` bytes.
 */
ToileStatus toile_model_info(const ToileModel *model, ToileModelInfo *info);

/*
 Writes three vertex numbers for every triangle.

 Preconditions: `model` was returned by this library and has not been freed; `out` points to `capacity` numbers.
 */
ToileStatus toile_model_triangles(const ToileModel *model, uint32_t *out, size_t capacity);

/*
 Makes a scheduler that keeps `budget_us` microseconds a frame. The rungs of all kinds lie one after the other, each kind's
 from the cheapest on; `counts` says how many each of the `kinds` has. Free it with toile_scheduler_free.

 Preconditions: `counts` points to `kinds` numbers and `rungs` to as many rungs as they sum to; `out` points to one pointer.
 */
ToileStatus toile_scheduler_new(float budget_us,
                                const ToileRung *rungs,
                                const uint32_t *counts,
                                size_t kinds,
                                ToileScheduler **out);

/*
 Frees a scheduler. Null is allowed.

 Preconditions: `scheduler` was returned by this library and is not used afterwards.
 */
void toile_scheduler_free(ToileScheduler *scheduler);

/*
 Decides for `count` garments, `dt_secs` after the last time, and writes the number of each one's rung. `lacks_us`, where it
 is not null, takes what all of them at their cheapest cost beyond the budget: 0 where it is kept.

 Preconditions: `scheduler` was returned by this library and has not been freed; `wishes` points to `count` wishes and `rungs` to `count`
 numbers; `lacks_us` points to one number or is null.
 */
ToileStatus toile_scheduler_plan(ToileScheduler *scheduler,
                                 const ToileWish *wishes,
                                 size_t count,
                                 float dt_secs,
                                 uint32_t *rungs,
                                 float *lacks_us);

/*
 Says what the frame that was planned last has cost, µs: later plans are corrected by it.

 Preconditions: `scheduler` was returned by this library and has not been freed.
 */
ToileStatus toile_scheduler_measured(ToileScheduler *scheduler, float frame_us);

/*
 Says that a hand-over was refused: the garment stays at a rung for a while.

 Preconditions: `scheduler` was returned by this library and has not been freed.
 */
ToileStatus toile_scheduler_refused(ToileScheduler *scheduler, size_t garment, uint32_t stays_at);

/*
 What went wrong in this thread's last call that failed; empty if none has. Good until the next one fails.
 */
const char *toile_last_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TOILE_H */
