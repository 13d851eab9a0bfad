//! Shirts, sweaters and jackets with set-in sleeves that end at the hip.

use super::bodice::{Block, Style};
use super::form::{Build, Form};
use super::limb::StraightLimb;
use super::panel::Outline;
use super::relax;
use super::sew::{Cut, Pattern, PinnedEdges};
use super::shell::Shell;
use super::sleeve::{Armhole, Sleeve};
use crate::{Garment, PinTarget, Result};
use glam::{DVec2, DVec3};

const MIRROR: DVec3 = DVec3::new(-1.0, 1.0, 1.0);

/// What differs between shirt, sweater and jacket.
struct Cutting {
    name: &'static str,
    /// Ease around the trunk.
    ease: f64,
    /// Distance from the body at which it is laid out.
    clearance: f64,
    /// How far it ends below the widest place of the hips.
    below_hip: f64,
    /// Depth of the neckline, front and back.
    neck_depth: [f64; 2],
    /// Around a sleeve at the underarm over the girth of the arm there. The wider it is the lower is its cap and the longer
    /// its seam under the arm: with a cap as high as an arm that hangs wants, 1.04, an arm that is thrown up pulls its sleeve
    /// into itself.
    sleeve: f64,
    /// How far the edges of an open front lie from the middle.
    open: Option<f64>,
}

/// A shirt of woven cloth: longer, wider and closer at the neck for a man.
pub fn shirt(form: &Form, vertices: usize) -> Result<Garment> {
    let (ease, below_hip, neck_depth) = match form.build {
        Build::Female => (0.10, 0.0, [0.075, 0.035]),
        Build::Male => (0.13, 0.03, [0.065, 0.028]),
    };
    let cutting =
        Cutting { name: "shirt", ease, clearance: 0.014, below_hip, neck_depth, sleeve: 1.25, open: None };
    sew(form, vertices, &cutting)
}

/// An open jacket, wide enough for a shirt under it.
pub fn jacket(form: &Form, vertices: usize) -> Result<Garment> {
    let (ease, below_hip) = match form.build {
        Build::Female => (0.17, -0.03),
        Build::Male => (0.19, 0.0),
    };
    let neck_depth = [0.10, 0.03];
    let cutting = Cutting {
        name: "jacket",
        ease,
        clearance: 0.026,
        below_hip,
        neck_depth,
        sleeve: 1.04,
        open: Some(0.012),
    };
    sew(form, vertices, &cutting)
}

/// A wide sweater.
pub fn sweater(form: &Form, vertices: usize) -> Result<Garment> {
    let neck_depth = [0.065, 0.03];
    let cutting = Cutting {
        name: "sweater",
        ease: 0.16,
        clearance: 0.022,
        below_hip: 0.03,
        neck_depth,
        sleeve: 1.2,
        open: None,
    };
    sew(form, vertices, &cutting)
}

impl Cutting {
    fn style(&self, form: &Form) -> Style {
        Style {
            low_y: form.hip_y - self.below_hip,
            bust_ease: self.ease,
            low_ease: self.ease,
            underarm_drop: 0.03,
            neck_gap: 0.032,
            shoulder_share: 0.98,
            neck_depth: self.neck_depth,
            darts: false,
        }
    }
}

/// Cuts, sews and places a shirt.
fn sew(form: &Form, vertices: usize, cutting: &Cutting) -> Result<Garment> {
    let style = cutting.style(form);
    let shell = form
        .trunk
        .grown(cutting.clearance)
        .bridged(style.low_y, form.bust_y)
        .filled_under_arms(form.armpit_y - style.underarm_drop, form.shoulder.y);
    let arm = form.arm.with_shell(form.arm.shell.grown(cutting.clearance));
    let blocks = Block::pair(form, &shell, &style)?;
    let outlines = [blocks[0].outline("front"), blocks[1].outline("back")];
    // Both edges run from the underarm to the shoulder; on the back `+` is the right, which mirrors.
    let edges = [0, 1].map(|k| {
        let o: &Outline = &outlines[k];
        &o.edges[o.edge("armhole +").unwrap_or(0)]
    });
    let samples = edges.map(|e| e.sample(256));
    let on_hole = |k: usize, share: f64| {
        let at = (share * 256.0).clamp(0.0, 256.0);
        let i = (at.floor() as usize).min(255);
        let flat = samples[k][i].lerp(samples[k][i + 1], at - i as f64);
        let p = blocks[k].place(&shell, flat);
        if k == 0 { p } else { p * MIRROR }
    };
    let armhole = Armhole { edges, place: &on_hole };
    let sleeve = Sleeve::new(&arm, &armhole, cutting.sleeve, 0.02)?;
    let eases = edges.map(|edge| {
        let o = sleeve.outline("sleeve");
        o.edges[o.edge("cap +").unwrap_or(0)].length() / edge.length()
    });
    let fronts = match cutting.open {
        None => vec![outlines[0].clone()],
        Some(gap) => {
            let half = blocks[0].open_half("left front", gap);
            vec![half.clone(), half.mirrored("right front")]
        }
    };
    let Sewn { pattern, back, sleeves } = sewn(fronts, outlines[1].clone(), &sleeve, eases)?;
    let cut = pattern.cut(vertices)?;
    let on_arm = sleeve.place(&arm, &armhole);
    let mut positions = cut.place(|panel, p| match panel {
        _ if panel == sleeves[0] => on_arm(p),
        _ if panel == sleeves[1] => on_arm(p * DVec2::new(-1.0, 1.0)) * MIRROR,
        _ => blocks[usize::from(panel == back)].place(&shell, p),
    });
    let of_sleeve = cut.only_in(&sleeves);
    let mut free = vec![true; cut.count];
    slide(&cut, &mut positions, &shell, &arm, &of_sleeve, &free);
    let mut pins = Vec::new();
    if cutting.open.is_some() {
        // What is held keeps the length it is given here.
        let edge = outlines[1].edge("neck").unwrap_or(0);
        let (line, flat) = cut.edge(back, edge);
        relax::draw_in(&mut positions, &line, &flat);
        line.iter().for_each(|&v| free[v as usize] = false);
        slide(&cut, &mut positions, &shell, &arm, &of_sleeve, &free);
        // An open front does not keep shoulders on: the collar does, which lies around the nape.
        let edges = vec![("back", "neck")];
        pins.push(PinnedEdges { name: "collar", edges, target: PinTarget::Body });
    }
    cut.sew(&pattern, cutting.name, &positions, &pins)
}

/// A sewn pattern, and which of its panels are what.
struct Sewn {
    pattern: Pattern,
    back: usize,
    sleeves: [usize; 2],
}

/// Sews a front, whole or in halves, to the back, and sleeves into the armholes, each gathered by its `ease`.
fn sewn(fronts: Vec<Outline>, back: Outline, sleeve: &Sleeve, eases: [f64; 2]) -> Result<Sewn> {
    let mut pattern = Pattern::default();
    let fronts: Vec<usize> = fronts.into_iter().map(|front| pattern.add(front)).collect();
    // Panel and edge of a part of the front on one side: an open front has a panel a side.
    let front = |k: usize, part: &str| match fronts[..] {
        [whole] => (whole, format!("{part} {}", ["+", "-"][k])),
        _ => (fronts[k], part.to_string()),
    };
    let back = pattern.add(back);
    let sleeves = ["left sleeve", "right sleeve"].map(|n| pattern.add(sleeve.outline(n)));
    for (k, (side, behind)) in [("left", "-"), ("right", "+")].into_iter().enumerate() {
        for part in ["shoulder", "side"] {
            let (panel, edge) = front(k, part);
            pattern.sew(format!("{part} {side}"), (panel, &edge), (back, &format!("{part} {behind}")))?;
        }
        // A left sleeve has the back of the arm at +X, a right one the front.
        let (cap_front, cap_back) = if k == 0 { ("cap -", "cap +") } else { ("cap +", "cap -") };
        let (panel, hole) = front(k, "armhole");
        pattern.gather(format!("armhole front {side}"), (sleeves[k], cap_front), (panel, &hole), eases[0])?;
        let hole = format!("armhole {behind}");
        pattern.gather(format!("armhole back {side}"), (sleeves[k], cap_back), (back, &hole), eases[1])?;
        pattern.sew(format!("sleeve {side}"), (sleeves[k], "under +"), (sleeves[k], "under -"))?;
    }
    Ok(Sewn { pattern, back, sleeves })
}

/// Takes out the worst strain. Every vertex slides at the level where it was laid: sleeves above the arm, the rest above the
/// trunk. Where arm and trunk meet, none may enter the other either.
fn slide(
    cut: &Cut,
    positions: &mut [DVec3],
    shell: &Shell,
    arm: &StraightLimb,
    of_sleeve: &[bool],
    free: &[bool],
) {
    let side = |p: DVec3| if p.x < 0.0 { MIRROR } else { DVec3::ONE };
    let on_sleeve = |p: DVec3| arm.in_limb(p * side(p));
    let levels: Vec<f64> = positions
        .iter()
        .zip(of_sleeve)
        .map(|(p, of_arm)| if *of_arm { arm.shell.level(on_sleeve(*p)) } else { shell.level(*p) }.max(0.0))
        .collect();
    relax::pull(cut, positions, free, 220, |v, p| {
        if !of_sleeve[v] {
            let p = shell.bring(p, levels[v]);
            let q = on_sleeve(p);
            let clear = q.y > 0.03 || arm.shell.level(q) >= 0.0;
            return if clear { p } else { arm.in_world(arm.shell.bring(q, 0.0)) * side(p) };
        }
        let p = if shell.level(p) < 0.0 { shell.bring(p, 0.0) } else { p };
        let q = on_sleeve(p);
        // Sleeves may come nearer to the arm, never farther: that way they cannot buckle.
        let level = arm.shell.level(q).clamp(0.0, levels[v]);
        arm.in_world(arm.shell.bring(q, level)) * side(p)
    });
}
