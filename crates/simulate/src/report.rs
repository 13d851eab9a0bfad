//! What a step cost and how good it was.

/// Report of one call of `World::step`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Smaller steps it was cut into.
    pub substeps: u32,
    /// Steps that were retried smaller.
    pub retries: u32,
    /// Newton iterations, all substeps together.
    pub newton: u32,
    /// Iterations of the linear solver, all together.
    pub linear: u32,
    /// Contacts with bodies at the end.
    pub body_contacts: u32,
    /// Contacts of cloth with cloth at the end.
    pub self_contacts: u32,
    /// Vertices held back by the continuous collision check.
    pub held_back: u32,
    /// How often a step was solved again with harder contacts, because cloth would have passed through cloth.
    pub hardened: u32,
    /// Pairs of an edge and a triangle that cross at the end of the last substep.
    pub crossings: u32,
    /// Deepest contact point inside a body at the end, m.
    pub deepest_m: f64,
    /// Farthest any vertex moved in the last Newton iteration, m.
    pub residual_m: f64,
    /// Impulse of bodies on cloth along their normals, all contacts together, N s.
    pub normal_impulse: f64,
    /// Impulse of friction with bodies, N s.
    pub friction_impulse: f64,
}

impl StepReport {
    /// Adds a later substep.
    pub fn add(&mut self, later: &Self) {
        self.substeps += later.substeps;
        self.retries += later.retries;
        self.newton += later.newton;
        self.linear += later.linear;
        self.held_back += later.held_back;
        self.hardened += later.hardened;
        self.normal_impulse += later.normal_impulse;
        self.friction_impulse += later.friction_impulse;
        self.body_contacts = later.body_contacts;
        self.self_contacts = later.self_contacts;
        self.crossings = later.crossings;
        self.deepest_m = later.deepest_m;
        self.residual_m = self.residual_m.max(later.residual_m);
    }
}
