//! The published ways of moving cloth, side by side on one scene: each is a setting of the same [`stage::Stage`], held to the
//! same measures. [`METHODS`] is the list.

pub mod baraff_witkin;
pub mod blocks;
pub mod breen;
pub mod bridson;
pub mod choi_ko;
pub mod conditions;
pub mod desbrun;
pub mod eberhardt;
pub mod feynman;
pub mod findings;
pub mod goldenthal;
pub mod grid;
pub mod haumann;
pub mod holding;
pub mod impacts;
pub mod implicit;
pub mod measure;
pub mod mixed;
pub mod ours;
pub mod provot;
pub mod scenes;
pub mod springs;
pub mod stage;
pub mod terzopoulos;
pub mod vbd;
pub mod weil;
pub mod xpbd;

use conditions::{Conditions, Scaling, Which};
use implicit::{Implicit, Scheme};
use springs::Springs;
use stage::{Obstacles, Stage, State};

/// What a step took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Of the innermost solver: conjugate gradients, sweeps, passes.
    pub iterations: u32,
    /// Times a part of the step was taken again, shorter.
    pub halvings: u32,
    /// Parts that the step was taken in, of methods that cut it themselves.
    pub parts: u32,
    /// The method gave up.
    pub failed: bool,
}

impl Work {
    /// It gave up.
    pub const FAILED: Self = Self { iterations: 0, halvings: 0, parts: 0, failed: true };

    /// Some iterations.
    pub fn iterations(iterations: u32) -> Self {
        Self { iterations, ..Self::default() }
    }
}

/// A way to move cloth.
pub trait Method {
    /// Goes on by `h` seconds; a method without time relaxes once.
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work;
}

/// What a method can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Can {
    /// Move; else it only finds a shape at rest.
    pub move_: bool,
    /// Any mesh of triangles; else a grid.
    pub meshes: bool,
    /// Rest on things and on bodies.
    pub touch: bool,
    /// Rub on them.
    pub friction: bool,
    /// Touch itself.
    pub self_contact: bool,
    /// Be stretched at all.
    pub stretch: bool,
}

/// A method of the list.
#[derive(Clone, Copy)]
pub struct Entry {
    /// As it is asked for.
    pub name: &'static str,
    /// Who published it, where.
    pub paper: &'static str,
    /// What it does, in a line.
    pub idea: &'static str,
    /// Its derivation, a file of `docs/math`.
    pub math: &'static str,
    /// What it can do.
    pub can: Can,
    /// Sets it up.
    pub make: fn(&Stage) -> Box<dyn Method>,
}

const MOVES: Can =
    Can { move_: true, meshes: true, touch: true, friction: true, self_contact: false, stretch: true };
/// Finds a shape at rest, on a grid.
const RESTS: Can =
    Can { move_: false, meshes: false, touch: true, friction: false, self_contact: false, stretch: true };

/// All methods, oldest first.
pub const METHODS: &[Entry] = &[
    Entry {
        name: "weil",
        paper: "Weil 1986, The synthesis of cloth objects",
        idea: "catenaries between points that hold; geometry only",
        math: "catenary.md",
        can: Can { touch: false, stretch: false, ..RESTS },
        make: |_| Box::new(weil::Weil),
    },
    Entry {
        name: "feynman",
        paper: "Feynman 1986, Modeling the appearance of cloth",
        idea: "least energy of a grid",
        math: "energies.md",
        can: RESTS,
        make: |s| Box::new(feynman::Feynman::new(s)),
    },
    Entry {
        name: "terzopoulos",
        paper: "Terzopoulos, Platt, Barr and Fleischer 1987, Elastically deformable models",
        idea: "metric and curvature of a surface, half implicit",
        math: "energies.md",
        can: Can { meshes: false, ..MOVES },
        make: |s| match &s.lattice {
            Some(grid) => Box::new(Implicit::new(s, terzopoulos::Surface::new(s, grid), Scheme::Euler)),
            None => Box::new(Cannot),
        },
    },
    Entry {
        name: "haumann",
        paper: "Haumann 1987, Modeling the physical behavior of flexible objects",
        idea: "springs, explicit Euler",
        math: "springs.md",
        can: MOVES,
        make: |s| Box::new(haumann::Haumann::new(s)),
    },
    Entry {
        name: "breen",
        paper: "Breen, House and Wozny 1994, Predicting the drape of woven cloth using interacting particles",
        idea: "least of repel, stretch, bend and trellis, from Kawabata plots",
        math: "breen.md",
        can: RESTS,
        make: |s| Box::new(breen::Breen::of_fabric(s)),
    },
    Entry {
        name: "provot",
        paper: "Provot 1995, Deformation constraints in a mass-spring model",
        idea: "soft springs, over-long ones drawn together (10 %)",
        math: "springs.md",
        can: MOVES,
        make: |s| Box::new(provot::Provot::new(s)),
    },
    Entry {
        name: "eberhardt",
        paper: "Eberhardt, Weber and Strasser 1996, A fast, flexible, particle-system model for cloth draping",
        idea: "measured curves with hysteresis, Runge–Kutta that chooses its steps",
        math: "knits.md",
        can: Can { meshes: false, ..MOVES },
        make: |s| Box::new(eberhardt::Eberhardt::of_fabric(s)),
    },
    Entry {
        name: "baraff-witkin",
        paper: "Baraff and Witkin 1998, Large steps in cloth simulation",
        idea: "conditions, linearised implicit Euler, filtered PCG, adaptive step",
        math: "conditions.md",
        can: MOVES,
        make: |s| Box::new(baraff_witkin::BaraffWitkin::new(s, Scaling::Root)),
    },
    Entry {
        name: "implicit-springs",
        paper: "Provot's springs in Baraff and Witkin's step",
        idea: "the plain spring model, stable",
        math: "implicit.md",
        can: MOVES,
        make: |s| Box::new(Implicit::new(s, Springs::new(s, 1.0), Scheme::Euler)),
    },
    Entry {
        name: "desbrun",
        paper: "Desbrun, Schröder and Barr 1999, Interactive animation of structured deformable objects",
        idea: "constant matrix, momentum put right, lengths put right",
        math: "springs.md",
        can: MOVES,
        make: |s| Box::new(desbrun::Desbrun::new(s)),
    },
    Entry {
        name: "bridson",
        paper: "Bridson, Fedkiw and Anderson 2002, Robust treatment of collisions, contact and friction",
        idea: "soft springs, strain limit, repulsions, impulses, rigid zones",
        math: "impacts.md",
        can: Can { self_contact: true, ..MOVES },
        make: |s| Box::new(bridson::Bridson::new(s, true)),
    },
    Entry {
        name: "bdf2",
        paper: "Choi and Ko 2002 §4, on Baraff and Witkin's conditions",
        idea: "second-order backward differences",
        math: "implicit.md",
        can: MOVES,
        make: |s| {
            let model = Conditions::new(s, Which::ALL, Scaling::Root);
            Box::new(Implicit::new(s, model, Scheme::Bdf2))
        },
    },
    Entry {
        name: "choi-ko",
        paper: "Choi and Ko 2002, Stable but responsive cloth",
        idea: "immediate buckling, BDF2",
        math: "buckling.md",
        can: MOVES,
        make: |s| Box::new(Implicit::new(s, choi_ko::Buckling::new(s), Scheme::Bdf2)),
    },
    Entry {
        name: "mixed",
        paper: "Bridson, Marino and Fedkiw 2003, Simulation of clothing with folds and wrinkles",
        idea: "elastic forces explicit, damping implicit, second order",
        math: "implicit.md",
        can: MOVES,
        make: |s| Box::new(mixed::Mixed::new(s)),
    },
    Entry {
        name: "goldenthal",
        paper: "Goldenthal et al. 2007, Efficient simulation of inextensible cloth",
        idea: "step and project: threads keep their length",
        math: "constraints.md",
        can: Can { stretch: false, ..MOVES },
        make: |s| Box::new(goldenthal::Goldenthal::new(s, goldenthal::Way::FastProjection)),
    },
    Entry {
        name: "icd",
        paper: "Goldenthal et al. 2007 §4, implicit constraint direction",
        idea: "Newton's method on the constrained step",
        math: "constraints.md",
        can: Can { stretch: false, ..MOVES },
        make: |s| Box::new(goldenthal::Goldenthal::new(s, goldenthal::Way::Icd)),
    },
    Entry {
        name: "xpbd",
        paper: "Macklin, Müller and Chentanez 2016, XPBD",
        idea: "constraints with compliance, one after the other, 20 passes",
        math: "today.md",
        can: MOVES,
        make: |s| Box::new(xpbd::Xpbd::new(s)),
    },
    Entry {
        name: "vbd",
        paper: "Chen, Liu, Yang and Yuksel 2024, Vertex block descent",
        idea: "a 3×3 Newton step a vertex, 20 sweeps",
        math: "today.md",
        can: MOVES,
        make: |s| Box::new(vbd::Vbd::new(s)),
    },
    Entry {
        name: "ours",
        paper: "Toile's default solver (Hahn et al. 2014 eq. 1; BDF2)",
        idea: "incremental potential, Newton, curvature tensor, contact by triangles",
        math: "today.md",
        can: Can { self_contact: true, ..MOVES },
        make: |s| Box::new(ours::Ours::new(s)),
    },
];

/// What stands for a method on a scene that it cannot be set up for; [`Entry::refusal`] says so before.
struct Cannot;

impl Method for Cannot {
    fn step(&mut self, _: &Stage, _: &mut Obstacles, _: &mut State, _: f64) -> Work {
        Work::FAILED
    }
}

/// What a run asks of a method besides its scene.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Coulomb's coefficient where it was asked for.
    pub friction: Option<f64>,
    /// Cloth must touch cloth.
    pub self_contact: bool,
}

impl Entry {
    /// Why the method cannot do what is asked; nothing if it can.
    pub fn refusal(&self, scene: &str, wanted: Wanted) -> Option<String> {
        let asked = [
            (wanted.self_contact && !self.can.self_contact, "self-contact"),
            (wanted.friction.is_some_and(|f| f > 0.0) && !self.can.friction, "friction"),
            (scene == measure::SCENES[1] && !self.can.touch, "things in the way"),
            (scene == measure::SCENES[2] && !self.can.move_, "motion"),
            (scene == measure::SCENES[3] && !self.can.move_, "motion"),
            (scene == measure::SCENES[3] && !self.can.meshes, "cloth that is no grid"),
        ];
        let missing: Vec<&str> = asked.iter().filter(|a| a.0).map(|a| a.1).collect();
        (!missing.is_empty()).then(|| format!("`{}` cannot do {}", self.name, missing.join(", nor ")))
    }
}

/// The method of that name, or what there is and what is nearest to it.
pub fn find(name: &str) -> Result<&'static Entry, String> {
    METHODS.iter().find(|m| m.name == name).ok_or_else(|| {
        let nearest = METHODS.iter().min_by_key(|m| edits(m.name, name)).map_or("", |m| m.name);
        let all: Vec<&str> = METHODS.iter().map(|m| m.name).collect();
        format!("no solver `{name}`; did you mean `{nearest}`? There are: {}", all.join(", "))
    })
}

/// Letters to be added, left out or changed to make one word of another.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, c) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, d) in b.iter().enumerate() {
            let kept = corner + usize::from(c != *d);
            corner = row[j + 1];
            row[j + 1] = kept.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_nearly_right_is_recognised() {
        assert!(find("xpbd").is_ok());
        let said = find("barraf-witkin").err().unwrap();
        assert!(said.contains("did you mean `baraff-witkin`") && said.contains("goldenthal"), "{said}");
    }

    #[test]
    fn what_a_method_cannot_do_is_known_before() {
        let contact = Wanted { self_contact: true, friction: None };
        assert!(find("weil").unwrap().refusal("hanging square", contact).is_some());
        assert!(find("bridson").unwrap().refusal("hanging square", contact).is_none());
        let rub = Wanted { self_contact: false, friction: Some(0.3) };
        assert!(find("breen").unwrap().refusal("sphere", rub).unwrap().contains("friction"));
        assert!(find("breen").unwrap().refusal("sphere", Wanted::default()).is_none());
    }

    #[test]
    fn every_method_has_its_derivation() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/math");
        for m in METHODS {
            assert!(folder.join(m.math).is_file(), "{} wants docs/math/{}", m.name, m.math);
        }
    }
}
