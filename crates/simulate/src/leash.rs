//! Vertices that an artist has limited, as the world carries them along with the wearer.

use crate::Result;
use crate::energy::leash::Leash;
use crate::settings::Settings;
use glam::{Affine3A, DVec3, Vec3};
use toile_assets::{Attachment, AttachmentSettings, Body, Garment, Limits, Mesh, attach};

/// How hard a leash holds a vertex, N/m, and the most it pulls with, N: several times what a limb pushes with, so that paint
/// holds where both cannot.
const STIFFNESS: f64 = 2e4;
const STRENGTH: f64 = 200.0;

/// The limits of one garment, and where its vertices begin among all.
#[derive(Clone, Debug)]
pub(crate) struct Tether {
    first: usize,
    limits: Limits,
    attachment: Attachment,
}

impl Tether {
    /// Of a garment that hangs on the body's bind pose at `rest`; nothing where nothing is painted.
    pub fn new(body: &Body, garment: &Garment, rest: &[Vec3], first: usize) -> Result<Option<Self>> {
        let limits = garment.limits(rest);
        if limits.is_empty() {
            return Ok(None);
        }
        let mesh = Mesh { positions: rest.to_vec(), ..garment.sim.clone() };
        let attachment = attach(body, &mesh, &AttachmentSettings::default())?;
        Ok(Some(Self { first, limits, attachment }))
    }

    /// The leashes at a share of the motion from some bones to others.
    pub fn pose(&self, from: &[Affine3A], to: &[Affine3A], share: f64, out: &mut Vec<Leash>) {
        for v in self.limits.vertices() {
            let [a, b] = [from, to].map(|bones| self.limits.home(&self.attachment, bones, v));
            let normal = a.normal.as_dvec3().lerp(b.normal.as_dvec3(), share);
            out.push(Leash {
                vertex: (self.first + v) as u32,
                home: a.at.as_dvec3().lerp(b.at.as_dvec3(), share),
                normal: if a.normal == Vec3::ZERO { DVec3::ZERO } else { normal.normalize_or_zero() },
                most_m: f64::from(a.most_m),
                deep_m: f64::from(a.deep_m),
                stiffness: STIFFNESS,
                strength: STRENGTH,
            });
        }
    }
}

/// How much of its strength a leash has in a step of `h` seconds. Cloth that is crushed between its limits and a limb lets no
/// step converge; where steps were cut for that, paint gives way first.
pub(crate) fn grip(h: f64, settings: &Settings) -> f64 {
    let share = (1.5 * h / settings.max_step_secs).min(1.0);
    share * share
}
