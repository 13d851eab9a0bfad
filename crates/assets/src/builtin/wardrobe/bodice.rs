//! The block that dress and shirt are cut from: a front or back of the trunk, hanging from the shoulders.

use super::form::Form;
use super::panel::{Outline, Pen};
use super::place::{Face, length, walk};
use super::shell::{Shell, smoothstep};
use crate::{Error, Result};
use glam::{DVec2, DVec3};

/// Shortest shoulder seam, and how near to the neck a neckline may come, m.
const STRAP: f64 = 0.045;
/// The same beside a head that rests on the shoulders, m.
const NARROW_STRAP: f64 = 0.025;
/// How much deeper necklines are under such a head, m: the whole of the flat top of the trunk is its seat.
const SEAT: f64 = 0.16;
const CLOSEST_NECKLINE: f64 = 0.004;
/// Shortest side seam, m.
const LEAST_SIDE: f64 = 0.06;
/// A dart wider than this share of the lower edge would meet the one on the other side.
const WIDEST_DART: f64 = 0.45;

/// Choices of the designer, in metres.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Height of the lower edge above the floor.
    pub low_y: f64,
    /// Ease around the bust, all around.
    pub bust_ease: f64,
    /// Ease around the lower edge, all around.
    pub low_ease: f64,
    /// How far the underarm point lies below the armpit.
    pub underarm_drop: f64,
    /// Width of the neckline beside the neck.
    pub neck_gap: f64,
    /// End of the shoulder seam as a share of the distance of the shoulder joint.
    pub shoulder_share: f64,
    /// Depth of the neckline below the neck point, front and back.
    pub neck_depth: [f64; 2],
    /// Whether waist darts take up what the side seams do not.
    pub darts: bool,
}

/// A wedge sewn shut.
#[derive(Clone, Copy, Debug)]
pub struct Dart {
    /// Distance of its middle from the middle of the panel.
    pub x: f64,
    /// Width at the lower edge.
    pub width: f64,
    /// Height of its point.
    pub top: f64,
}

/// One face of the trunk. Heights are above the lower edge.
#[derive(Clone, Debug)]
pub struct Block {
    /// Front or back.
    pub face: Face,
    low_y: f64,
    /// Half widths of the flat panel at the lower edge and at the underarm point.
    low_half: f64,
    underarm: DVec2,
    /// Where neckline and shoulder seam meet, and where shoulder seam and armhole meet.
    neck: DVec2,
    shoulder: DVec2,
    neck_depth: f64,
    /// How far the neckline goes down beside the middle before it turns, as a share of the way to the strap.
    neck_wide: f64,
    /// One on each side.
    pub dart: Option<Dart>,
    /// World x of the ends of the shoulder seam.
    ends_x: [f64; 2],
    climb_to: f64,
}

impl Block {
    /// Drafts front and back for a form. `shell` is the form with the clearance of the cloth.
    pub fn pair(form: &Form, shell: &Shell, style: &Style) -> Result<[Self; 2]> {
        let underarm_y = form.armpit_y - style.underarm_drop;
        let height = underarm_y - style.low_y;
        if height < LEAST_SIDE {
            return Err(Error::Invalid(format!(
                "the armpit at {:.2} m is too low: its side seam from {:.2} m would be {height:.2} m long",
                form.armpit_y, style.low_y
            )));
        }
        let ends_x = shoulder_ends(form, style)?;
        let climb_to = form.shoulder.y + 0.12;
        let faces = [Face::Front, Face::Back];
        let climbs = faces.map(|f| ends_x.map(|x| length(&shell.climb(x, underarm_y, climb_to, f))));
        // One drop for both, so that the shoulder seams are equally long.
        let drop = 0.5 * (climbs[0][0] - climbs[0][1] + climbs[1][0] - climbs[1][1]);
        let mut blocks = [0, 1].map(|k| {
            let face = faces[k];
            let bust = form.trunk.half_width(form.bust_y, face).max(form.trunk.half_width(underarm_y, face))
                + style.bust_ease / 4.0;
            let low = form.trunk.half_width(style.low_y, face) + style.low_ease / 4.0;
            let mean = 0.5 * (climbs[k][0] + climbs[k][1]);
            let across = |x: f64| flat_x(shell, underarm_y, x, face) * bust;
            let neck = DVec2::new(across(ends_x[0]), height + mean + 0.5 * drop);
            let shoulder = DVec2::new(across(ends_x[1]), height + mean - 0.5 * drop);
            // Side seams take up to 2.5 cm; darts the rest if it is worth one.
            let rest = (bust - low - 0.025).min(WIDEST_DART * low);
            let dart = (style.darts && rest > 0.006).then(|| Dart {
                x: 0.46 * low,
                width: rest,
                top: height * if face == Face::Front { 0.72 } else { 0.66 },
            });
            let low_half = low + dart.map_or(0.0, |d| d.width);
            let seat = if form.head_rests { SEAT } else { 0.0 };
            let neck_depth = style.neck_depth[k] + seat;
            // From the strap straight down, or the curve would cut across below the head.
            let wide = if face == Face::Front { 0.95 } else { 0.7 };
            let neck_wide = if form.head_rests { 1.0 } else { wide };
            let underarm = DVec2::new(bust, height);
            Self {
                face,
                low_y: style.low_y,
                low_half,
                underarm,
                neck,
                shoulder,
                neck_depth,
                neck_wide,
                dart,
                ends_x,
                climb_to,
            }
        });
        let across =
            0.5 * (blocks[0].shoulder.x - blocks[0].neck.x + blocks[1].shoulder.x - blocks[1].neck.x);
        // One slant for both, so that the side seams are equally long.
        let slant = blocks.iter().map(|b| 0.5 * (b.underarm.x - b.low_half)).sum::<f64>();
        for b in &mut blocks {
            b.low_half = b.underarm.x - slant;
            b.shoulder.x = b.neck.x + across;
        }
        Ok(blocks)
    }

    /// The outline. Edges: `waist right`, `waist`, `waist left` (only `waist` without darts),
    /// `dart … outer/inner`, `side`, `armhole`, `shoulder` each with `+` or `-` for the side of the
    /// panel's x, and `neck`.
    pub fn outline(&self, name: &str) -> Outline {
        let mirror = |p: DVec2| DVec2::new(-p.x, p.y);
        let (u, n, s) = (self.underarm, self.neck, self.shoulder);
        let low = DVec2::new(self.low_half, 0.0);
        let pen = Outline::pen(name, mirror(low));
        let pen = self.lower_edge(pen, low);
        let reach = u.x - s.x;
        let rise = s.y - u.y;
        let c1 = u + DVec2::new(-0.75 * reach, 0.02 * rise);
        // The armhole is hollower in front, where the arm moves.
        let hollow = if self.face == Face::Front { 0.018 } else { 0.008 };
        let c2 = s + DVec2::new(-hollow, -0.62 * rise);
        let d = DVec2::new(self.neck_wide * n.x, n.y - self.neck_depth * 4.0 / 3.0);
        pen.line("side +", u)
            .curve("armhole +", c1, c2, s)
            .line("shoulder +", n)
            .curve("neck", d, mirror(d), mirror(n))
            .line("shoulder -", mirror(s))
            .curve("armhole -", mirror(c2), mirror(c1), mirror(u))
            .line("side -", mirror(low))
            .close()
    }

    /// The wearer's left half of an open front that ends `gap` beside the middle. Edges: `waist`, `side`,
    /// `armhole`, `shoulder`, `neck`, `front`.
    pub fn open_half(&self, name: &str, gap: f64) -> Outline {
        let whole = self.outline(name);
        let points = |edge: &str| whole.edge(edge).map_or_else(Vec::new, |e| whole.edges[e].points.clone());
        // Only what lies beyond the gap, with the point where it is crossed.
        let mut neck = points("neck");
        let inside = neck.iter().position(|p| p.x < gap).unwrap_or(neck.len());
        neck.truncate(inside);
        let lowest = DVec2::new(gap, neck.last().map_or(self.neck.y, |p| p.y));
        if neck.last().is_some_and(|p| p.distance(lowest) < 1e-6) {
            neck.pop();
        }
        neck.push(lowest);
        Outline::pen(name, DVec2::new(gap, 0.0))
            .line("waist", DVec2::new(self.low_half, 0.0))
            .through("side", points("side +"))
            .through("armhole", points("armhole +"))
            .through("shoulder", points("shoulder +"))
            .through("neck", neck)
            .line("front", DVec2::new(gap, 0.0))
            .close()
    }

    fn lower_edge(&self, pen: Pen, low: DVec2) -> Pen {
        let Some(d) = self.dart else { return pen.line("waist", low) };
        let h = 0.5 * d.width;
        pen.line("waist -", DVec2::new(-d.x - h, 0.0))
            .line("dart - outer", DVec2::new(-d.x, d.top))
            .line("dart - inner", DVec2::new(-d.x + h, 0.0))
            .line("waist", DVec2::new(d.x - h, 0.0))
            .line("dart + inner", DVec2::new(d.x, d.top))
            .line("dart + outer", DVec2::new(d.x + h, 0.0))
            .line("waist +", low)
    }

    /// Lengths of the lower edge's parts once the darts are sewn: outer, middle (outer is zero without darts).
    pub fn waist_parts(&self) -> [f64; 2] {
        match self.dart {
            None => [0.0, 2.0 * self.low_half],
            Some(d) => [self.low_half - d.x - 0.5 * d.width, 2.0 * d.x - d.width],
        }
    }

    /// Where a point of the flat panel lies around the body.
    pub fn place(&self, shell: &Shell, p: DVec2) -> DVec3 {
        let (taken, gone) = match self.dart {
            Some(d) => {
                let width = d.width * (1.0 - p.y / d.top).max(0.0);
                (if p.x.abs() > d.x { width } else { 0.0 }, width)
            }
            None => (0.0, 0.0),
        };
        let up = (p.y / self.underarm.y).min(1.0);
        let half = self.low_half + (self.underarm.x - self.low_half) * up - gone;
        let share = (p.x.abs() - taken) / half * p.x.signum();
        if p.y <= self.underarm.y {
            return shell.at_share(self.low_y + p.y, share, self.face);
        }
        let from = self.low_y + self.underarm.y;
        let foot = shell.at_share(from, share, self.face);
        let line = shell.climb(foot.x, from, self.climb_to, self.face);
        // Between the ends of the shoulder seam the column reaches just to the ridge.
        let x = foot.x.abs().clamp(self.ends_x[0], self.ends_x[1]);
        let across = ((x - self.ends_x[0]) / (self.ends_x[1] - self.ends_x[0])).clamp(0.0, 1.0);
        let seam = self.neck.y + (self.shoulder.y - self.neck.y) * across;
        let full = length(&shell.climb(x, from, self.climb_to, self.face));
        let yz = walk(&line, (p.y - self.underarm.y) / (seam - self.underarm.y) * full);
        let column = DVec3::new(foot.x, yz.x, yz.y);
        // Towards the side the ring turns into the column's plane and columns lose their meaning:
        // there the cloth follows the rings instead.
        let beside = shell.at_share(self.low_y + p.y, share, self.face);
        let rise = (p.y - self.underarm.y) / (self.shoulder.y - self.underarm.y);
        let aside = smoothstep(self.ends_x[1] - 0.03, self.ends_x[1], foot.x.abs());
        column.lerp(beside, aside * smoothstep(0.8, 0.3, rise))
    }
}

/// World x of the ends of the shoulder seam. A neck that leaves little room for it gets a closer neckline.
fn shoulder_ends(form: &Form, style: &Style) -> Result<[f64; 2]> {
    let outer = form.shoulder.x * style.shoulder_share;
    let strap = if form.head_rests { NARROW_STRAP } else { STRAP };
    let inner = (form.neck_half + style.neck_gap).min(outer - strap);
    if inner < form.neck_half + CLOSEST_NECKLINE {
        return Err(Error::Invalid(format!(
            "the neck is {:.3} m from the middle and the shoulder joint {:.3} m, which leaves no shoulder for a seam of \
             {strap} m",
            form.neck_half, form.shoulder.x
        )));
    }
    Ok([inner, outer])
}

/// Share of the way from the middle to the side, along the ring at height `y`, at which world `x` is met.
fn flat_x(shell: &Shell, y: f64, x: f64, face: Face) -> f64 {
    let (mut a, mut b) = (0.0, 1.0);
    for _ in 0..30 {
        let m = 0.5 * (a + b);
        if shell.at_share(y, m, face).x.abs() < x { a = m } else { b = m }
    }
    a
}
