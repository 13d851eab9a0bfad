// Whether an instance of a model D has a new state: in a tick all have, without one only those who just came.
fn takes_part(i: u32) -> bool {
    return i < step.count && (flags[i] & ACTIVE) != 0u && (step.waits == 0u || (modes[i] & STARTING) != 0u);
}
