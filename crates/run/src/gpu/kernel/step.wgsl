// What every pass of a step knows; one for each tick, at offsets of 256 bytes.
struct Step {
    // Share of the step at which the tick falls, and how much of the latest tick is shown.
    share: f32,
    show: f32,
    // Instances of the chunk, and rows that its tables have room for.
    count: u32,
    room: u32,
    // Rows of the ring of latent vectors: the one that is written, and how many there are.
    ring: u32,
    // Which half of the body coefficients belongs to the pose stepped to.
    body: u32,
    // 1 for the first and last tick of a step.
    is_first: u32,
    is_last: u32,
    // What vertices are relative to, as a sum of two.
    origin_high: vec4<f32>,
    origin_low: vec4<f32>,
    // From where it is looked at, relative to the origin, and how far a vertex may be off for each metre from there.
    viewer: vec4<f32>,
    // 1 for a step without a tick.
    waits: u32,
    // 1 where somebody is not drawn, or not with all coefficients.
    spares: u32,
    unused0: u32,
    unused1: u32,
}

// In `flags`, written by the processor: the low bits, and above them the number of the instance's present life.
const ACTIVE = 1u;
const DRAWN = 2u;
// In `modes`, written by the device, above them the life that the state belongs to.
const STARTING = 1u;
const NEWBORN = 2u;
const JUMPED = 4u;
const LIFE = 0xffffff00u;
