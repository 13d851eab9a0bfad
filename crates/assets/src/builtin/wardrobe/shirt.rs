//! A loose shirt with set-in sleeves that ends at the hip.

use super::bodice::{Block, Style};
use super::form::Form;
use super::relax;
use super::sew::Pattern;
use super::sleeve::{Armhole, Sleeve};
use crate::{Garment, Result};
use glam::DVec3;

const MIRROR: DVec3 = DVec3::new(-1.0, 1.0, 1.0);

/// Cuts, sews and places the shirt.
pub fn shirt(form: &Form, vertices: usize) -> Result<Garment> {
    let clearance = 0.014;
    let style = Style {
        low_y: form.hip_y,
        bust_ease: 0.10,
        low_ease: 0.10,
        underarm_drop: 0.03,
        neck_gap: 0.032,
        shoulder_share: 1.04,
        neck_depth: [0.075, 0.035],
        darts: false,
    };
    let shell = form
        .trunk
        .grown(clearance)
        .bridged(style.low_y, form.bust_y)
        .filled_under_arms(form.armpit_y - style.underarm_drop, form.shoulder.y);
    let arm = form.arm.with_shell(form.arm.shell.grown(clearance));
    let blocks = Block::pair(form, &shell, &style);
    let outlines = [blocks[0].outline("front"), blocks[1].outline("back")];
    // Both edges run from the underarm to the shoulder; on the back `+` is the right, which mirrors.
    let edge = |k: usize| {
        let o: &super::panel::Outline = &outlines[k];
        &o.edges[o.edge("armhole +").unwrap_or(0)]
    };
    let edges = [edge(0), edge(1)];
    let samples = edges.map(|e| e.sample(256));
    let on_hole = |k: usize, share: f64| {
        let at = (share * 256.0).clamp(0.0, 256.0);
        let i = (at.floor() as usize).min(255);
        let flat = samples[k][i].lerp(samples[k][i + 1], at - i as f64);
        let p = blocks[k].place(&shell, flat);
        if k == 0 { p } else { p * MIRROR }
    };
    let armhole = Armhole { edges, place: &on_hole };
    let sleeve = Sleeve::new(&arm, &armhole, 0.02);
    let eases = [0, 1].map(|k| {
        let o = sleeve.outline("sleeve");
        o.edges[o.edge("cap +").unwrap_or(0)].length() / edges[k].length()
    });

    let mut pattern = Pattern::default();
    let bodies = outlines.clone().map(|o| pattern.add(o));
    let sleeves = ["left sleeve", "right sleeve"].map(|n| pattern.add(sleeve.outline(n)));
    for (k, (side, front, back)) in [("left", "+", "-"), ("right", "-", "+")].into_iter().enumerate() {
        for part in ["shoulder", "side"] {
            let [a, b] = [front, back].map(|s| format!("{part} {s}"));
            pattern.sew(format!("{part} {side}"), (bodies[0], &a), (bodies[1], &b))?;
        }
        // A left sleeve has the back of the arm at +X, a right one the front.
        let (cap_front, cap_back) = if k == 0 { ("cap -", "cap +") } else { ("cap +", "cap -") };
        let [a, b] = [front, back].map(|s| format!("armhole {s}"));
        pattern.gather(
            format!("armhole front {side}"),
            (sleeves[k], cap_front),
            (bodies[0], &a),
            eases[0],
        )?;
        pattern.gather(format!("armhole back {side}"), (sleeves[k], cap_back), (bodies[1], &b), eases[1])?;
        pattern.sew(format!("sleeve {side}"), (sleeves[k], "under +"), (sleeves[k], "under -"))?;
    }
    let cut = pattern.cut(vertices)?;
    let on_arm = sleeve.place(&arm, &armhole);
    let mut positions = cut.place(|panel, p| match panel {
        0 | 1 => blocks[panel].place(&shell, p),
        2 => on_arm(p),
        _ => on_arm(p * glam::DVec2::new(-1.0, 1.0)) * MIRROR,
    });
    let sleeve_only = cut.only_in(&sleeves);
    let to_arm = |p: DVec3| arm.from_world(if p.x < 0.0 { p * MIRROR } else { p });
    let levels: Vec<f64> = positions
        .iter()
        .enumerate()
        .map(|(v, p)| if sleeve_only[v] { arm.shell.level(to_arm(*p)) } else { shell.level(*p) }.max(0.0))
        .collect();
    relax::pull(&cut, &mut positions, &vec![true; cut.count], 80, |v, p| {
        if sleeve_only[v] {
            let q = arm.to_world(arm.shell.bring(to_arm(p), levels[v]));
            return if p.x < 0.0 { q * MIRROR } else { q };
        }
        shell.bring(p, levels[v])
    });
    cut.sew(&pattern, "shirt", &positions, &[])
}
