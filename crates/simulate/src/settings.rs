//! How a step is taken. Every default says why.

use glam::DVec3;

/// How time is discretised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// Second order; loses 0.002 % of a 1 Hz swing per 1/60 s step. Vertices in contact use implicit Euler,
    /// because a multi-step method turns an impact into a bounce.
    Bdf2,
    /// First order; damps.
    ImplicitEuler,
}

/// How bending is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bending {
    /// Curvature tensor per triangle: independent of the mesh.
    Curvature,
    /// Sum of hinges: depends on the mesh, for comparison.
    Hinge,
}

/// Settings of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Longest substep, s. What touches is first order in it: at 1/60 s a walking skirt lives half as much again as it should,
    /// at 1/240 s its internal speed, the height of its hem and friction are within 5 % of those at 1/480 s. Short steps
    /// are cheap ones: from one to the next contacts hardly change and the matrix is mostly mass.
    pub max_step_secs: f64,
    /// BDF2: takes must not carry the integrator's damping.
    pub integrator: Integrator,
    /// Curvature: bending must not depend on the mesh.
    pub bending: Bending,
    /// Share of a thread's stiffness that is left when it is pushed together: the rest is lost to waves finer than the
    /// mesh. 1 keeps all of it, and cloth of a few hundred vertices then folds like card.
    pub compression: f64,
    /// Strain beyond which threads are thirty times as stiff, and half the shear; `None`, as for cloth in the laboratory, for
    /// none. Cloth is soft only until the crimp is pulled out of its threads.
    pub strain_limit: Option<f64>,
    /// m/s².
    pub gravity: DVec3,
    /// Velocity of the air, m/s.
    pub wind: DVec3,
    /// Share of the wearer's velocity that air has which a garment encloses. A skirt is not a flag: in front the air
    /// stands before it, behind it follows, and in between it is enclosed. With still air (0) the back of a cotton skirt
    /// stands out by 35° at a stroll of 1.2 m/s, where drag is as strong as weight. Cloth that is open to the side, a cape,
    /// has the wind's air.
    pub carried_air: f64,
    /// kg/m³; 1.2 is air at 20 °C, 0 switches air off.
    pub air_density: f64,
    /// Newton stops when the vertices move less in an iteration, on (root-mean-square) average, m. What is left is pressure
    /// that no one exerts: a fiftieth of a millimetre is 60 Pa on a body, about what cloth really presses with, and friction
    /// in the next step is limited by it. Cloth that moves little is solved more tightly still.
    pub tolerance_m: f64,
    /// Newton iterations before the step is taken as it is, or retried. Most steps need two or three; those that take more
    /// are folds that snap over and limbs that strike.
    pub max_newton: usize,
    /// A step whose last iteration still moved a vertex farther is retried smaller, m.
    pub retry_m: f64,
    /// Relative residual of the linear solve; Newton corrects the rest. At 0.05 the second swing of a sheet is within 2 % of
    /// an exact solve (laboratory row), at 0.1 it is 6 % off; what is left undone also keeps a garment from resting.
    pub linear_tolerance: f64,
    /// Iterations of the linear solve.
    pub max_linear: usize,
    /// Pressure per depth between cloth and bodies, Pa/m: 1 kPa (a shoulder under a coat) presses 0.3 mm.
    pub contact_stiffness: f64,
    /// The same between cloth and cloth; layers weigh only pascals.
    pub self_contact_stiffness: f64,
    /// Whether cloth collides with cloth.
    pub self_contact: bool,
    /// Cloth keeps this far from bodies, m, besides half its own thickness. 2 mm hides facets of body and cloth.
    pub skin_m: f64,
    /// Cloth that starts a step deeper inside a body than this, m, is pushed no harder: a bad start must not be an explosion.
    /// It is a distance, not a speed: a speed would make contact the softer the shorter the step.
    pub recovery_m: f64,
    /// How often a failed step is halved before the frame is given up.
    pub max_halvings: u32,
    /// Edges longer than this also touch the body at their middle, and their triangles at their centre, m.
    pub sample_spacing_m: f64,
}

impl Settings {
    /// These with some of them changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// No step is cut shorter than this, s.
    pub fn shortest_secs(&self) -> f64 {
        self.max_step_secs / f64::from(1u32 << self.max_halvings)
    }

    /// How often a moving body's pose is asked for, s: no more than sixty times a second, it goes straight on between.
    pub fn pose_secs(&self) -> f64 {
        self.max_step_secs.max(1.0 / 60.0)
    }

    /// For garments on bodies. Without a strain limit a dress is stretched by 20 to 30 % beside the armholes of a walking body,
    /// with 0.03 by less than 10 %, at the same cost. Eight Newton iterations do at 240 steps a second: a dress needs two or
    /// three, and a shirt in a run, whose sleeves never come to the end of it, moves by the same with eight as with forty in
    /// half the time.
    pub fn worn() -> Self {
        Self { strain_limit: Some(0.03), max_newton: 8, ..Self::default() }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_step_secs: 1.0 / 240.0,
            integrator: Integrator::Bdf2,
            bending: Bending::Curvature,
            compression: 0.1,
            strain_limit: None,
            gravity: DVec3::new(0.0, -9.81, 0.0),
            wind: DVec3::ZERO,
            carried_air: 0.8,
            air_density: 1.2,
            tolerance_m: 2e-5,
            max_newton: 40,
            retry_m: 0.015,
            linear_tolerance: 0.01,
            max_linear: 300,
            contact_stiffness: 3e6,
            self_contact_stiffness: 5e5,
            self_contact: true,
            skin_m: 2e-3,
            recovery_m: 2e-3,
            max_halvings: 5,
            sample_spacing_m: 0.02,
        }
    }
}
