// Four coefficients of an instance as they are shown: the latest, or between two ticks.
fn latent(i: u32, q: u32) -> vec4<f32> {
    let now = latents[(step.ring * step.room + i) * DEPTH + q];
    if (step.show >= 1.0) {
        return now;
    }
    let row = (step.ring + RING - 1u) % RING;
    let before = latents[(row * step.room + i) * DEPTH + q];
    let t = select(step.show, 1.0, (modes[i] & NEWBORN) != 0u);
    return before + t * (now - before);
}
