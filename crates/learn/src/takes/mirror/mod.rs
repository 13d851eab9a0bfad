//! Every take a second time, mirrored left to right: twice the motion for nothing, where body and garment are nearly enough
//! their own mirror images.
//!
//! With `S = diag(−1, 1, 1)` and `F` the reflection in the plane that the bound body is symmetric about, a mirrored bone is
//! `S B_{j′} F`, `j′` the joint on the other side; a mirrored garment vertex is `S` times the point of the surface that lies
//! across from it, so that the two halves need not be meshed alike; the root's sideways position and its heading change
//! sign. The laws of motion know no left and right, wind does.

mod joints;
mod surfaces;

use crate::Error;
use crate::takes::source::{Head, TakeSource};
use glam::{Affine3A, Mat3A, Vec3, Vec3A};
use std::borrow::Cow;
use toile_assets::{Body, Provenance, RootFrame, Take};

/// What lies across from what.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mirror {
    /// Per joint the one whose movement it has in the mirror.
    joints: Vec<usize>,
    /// Where the plane of the bound body is, m along X.
    plane_x: f32,
    /// Per garment vertex three vertices across and their weights.
    across: Vec<([u32; 3], [f32; 3])>,
}

/// The reflection in the plane at `plane_x`.
fn flip(p: Vec3, plane_x: f32) -> Vec3 {
    Vec3::new(2.0 * plane_x - p.x, p.y, p.z)
}

/// Wind and gravity as a mirror shows them.
fn mirror_conditions(made: &mut Provenance) {
    made.conditions.wind[0] *= -1.0;
    made.conditions.gravity.iter_mut().for_each(|g| g[0] *= -1.0);
}

impl Mirror {
    /// The mirror of a body and its garment where one is asked for; why there is none goes to the remarks.
    pub fn asked_for(asked: bool, body: &Body, take: &Take, remarks: &mut Vec<String>) -> Option<Self> {
        let note = |why| remarks.push(format!("takes are not mirrored: {why}"));
        asked.then(|| Self::find(body, take).map_err(note).ok()).flatten()
    }

    /// Looks whether body and draped garment are their own mirror images where the garment hangs; says why not where they
    /// are not.
    pub fn find(body: &Body, take: &Take) -> Result<Self, String> {
        if take.provenance.is_some_and(|p| p.conditions.wind != [0.0; 3]) {
            return Err("there is wind".into());
        }
        if take.draped.len() != take.vertices {
            return Err("the takes do not hold the draped garment".into());
        }
        let worn = surfaces::hung_on(body, take)?;
        let pairs = joints::pair(body, &worn)?;
        surfaces::check_body(body, &worn, &pairs)?;
        let across = surfaces::garment_across(take, pairs.plane_x)?;
        Ok(Self { joints: pairs.partner, plane_x: pairs.plane_x, across })
    }

    /// The take as a mirror shows it.
    pub fn take(&self, take: &Take) -> Take {
        let mut out = take.clone();
        out.provenance.iter_mut().for_each(mirror_conditions);
        let s = Vec3A::new(-1.0, 1.0, 1.0);
        let shift = Vec3A::new(2.0 * self.plane_x, 0.0, 0.0);
        for f in 0..take.len() {
            let frame = take.frame(f);
            let to = &mut out.positions[f * take.vertices..(f + 1) * take.vertices];
            for (p, (corners, weights)) in to.iter_mut().zip(&self.across) {
                let at = |k: usize| frame[corners[k] as usize] * weights[k];
                *p = flip(at(0) + at(1) + at(2), 0.0);
            }
            let bones = take.frame_bones(f);
            for (j, &partner) in self.joints.iter().enumerate() {
                let b = &bones[partner];
                out.bones[f * take.joints + j] = Affine3A {
                    matrix3: Mat3A::from_cols(
                        -b.matrix3.x_axis * s,
                        b.matrix3.y_axis * s,
                        b.matrix3.z_axis * s,
                    ),
                    translation: (b.matrix3 * shift + b.translation) * s,
                };
            }
            let RootFrame { position, heading } = take.roots[f];
            let position = glam::DVec3::new(-position.x, position.y, position.z);
            out.roots[f] = RootFrame { position, heading: -heading };
        }
        out
    }
}

/// Takes, and behind them the same takes mirrored.
pub(crate) struct WithMirrored<'a, S: TakeSource + ?Sized> {
    pub source: &'a S,
    pub mirror: Option<Mirror>,
}

impl<S: TakeSource + ?Sized> WithMirrored<'_, S> {
    /// Heads of the source, and of its mirrored takes behind them.
    pub fn heads(&self, heads: Vec<Head>) -> Vec<Head> {
        let mirrored = heads.iter().map(|h| {
            let mut head = Head { mirrored: true, ..h.clone() };
            head.provenance.iter_mut().for_each(mirror_conditions);
            head
        });
        let mirrored: Vec<Head> = mirrored.filter(|_| self.mirror.is_some()).collect();
        heads.into_iter().chain(mirrored).collect()
    }
}

impl<S: TakeSource + ?Sized> TakeSource for WithMirrored<'_, S> {
    fn count(&self) -> usize {
        self.source.count() * if self.mirror.is_some() { 2 } else { 1 }
    }

    fn take(&self, index: usize) -> Result<Cow<'_, Take>, Error> {
        match &self.mirror {
            Some(mirror) if index >= self.source.count() => {
                let take = self.source.take(index - self.source.count())?;
                Ok(Cow::Owned(mirror.take(&take)))
            }
            _ => self.source.take(index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::{Conditions, Fingerprint, Joint, Mesh, Provenance, Skeleton, Skin, Transform};

    /// A slab with a joint on either side and one in the middle.
    fn symmetric_body() -> Body {
        let at = |x: f32| Transform::from_translation(Vec3::new(x, 0.0, 0.0));
        let joint = |name: &str, parent, x| Joint { name: name.into(), parent, rest: at(x) };
        let joints = vec![joint("hips", None, 0.0), joint("l", Some(0), 0.3), joint("r", Some(0), -0.3)];
        let positions: Vec<Vec3> =
            [(-0.4, 0.0), (0.4, 0.0), (0.4, 1.0), (-0.4, 1.0)].map(|(x, y)| Vec3::new(x, y, 0.0)).into();
        let rows: Vec<[(u16, f32); 2]> =
            positions.iter().map(|p| [(0, 0.5), (if p.x > 0.0 { 1 } else { 2 }, 0.5)]).collect();
        let mesh = Mesh { positions, triangles: vec![[0, 1, 2], [0, 2, 3]], uvs: vec![] };
        Body::bound_at_rest("slab", Skeleton::new(joints).unwrap(), mesh, Skin::from_rows(rows).unwrap())
            .unwrap()
    }

    fn take(body: &Body) -> Take {
        let root = RootFrame { position: glam::DVec3::new(0.5, 1.0, 2.0), heading: 0.3 };
        // The garment's halves are meshed differently: one diagonal each way.
        let draped: Vec<Vec3> =
            [(-0.5, 0.0), (0.0, 0.0), (0.5, 0.0), (-0.5, 1.0), (0.0, 1.0), (0.5, 1.0), (0.25, 0.5)]
                .map(|(x, y)| Vec3::new(x, y, 0.1))
                .into();
        let turn =
            Affine3A::from_rotation_translation(glam::Quat::from_rotation_y(0.3), Vec3::new(0.5, 1.0, 2.0));
        let raised = turn * Affine3A::from_rotation_z(0.4);
        Take {
            clip: "raise".into(),
            fps: 30.0,
            triangles: vec![[0, 1, 4], [0, 4, 3], [1, 2, 6], [2, 5, 6], [5, 4, 6], [4, 1, 6]],
            positions: draped.iter().map(|p| turn.transform_point3(*p + Vec3::X * 0.05)).collect(),
            vertices: draped.len(),
            bones: vec![turn, raised, turn],
            joints: body.skeleton.len(),
            roots: vec![root],
            reports: vec![],
            draped,
            stop_frame: None,
            verdict: None,
            provenance: None,
            notes: vec![],
        }
    }

    /// The skinned body of one is the mirror image of the other's.
    fn assert_mirror_image(body: &Body, take: &Take, seen: &Take) {
        let [ours, theirs] = [take, seen].map(|t| body.skinned_positions(t.frame_bones(0)));
        for (v, across) in [(0, 1), (1, 0), (2, 3), (3, 2)] {
            let (here, there) = (theirs[v], ours[across]);
            assert!(here.distance(flip(there, 0.0)) < 1e-6, "{v}: {here} {there}");
        }
    }

    #[test]
    fn what_the_left_does_the_right_does_in_the_mirror() {
        let body = symmetric_body();
        let take = take(&body);
        let mirror = Mirror::find(&body, &take).unwrap();
        let seen = mirror.take(&take);
        assert_mirror_image(&body, &take, &seen);
        // The garment hung 5 cm to the wearer's left; now 5 cm to the right, in the mirrored root frame.
        let canonical = |t: &Take, v: usize| t.roots[0].canonical_from_world(t.frame(0)[v].as_dvec3());
        for v in 0..take.vertices {
            assert!((canonical(&take, v).x - f64::from(take.draped[v].x) - 0.05).abs() < 1e-6);
            assert!((canonical(&seen, v).x - f64::from(take.draped[v].x) + 0.05).abs() < 1e-6, "{v}");
        }
        let twice = mirror.take(&seen);
        assert!(twice.bones.iter().zip(&take.bones).all(|(a, b)| a.abs_diff_eq(*b, 1e-6)));
    }

    #[test]
    fn a_lopsided_garment_body_or_wind_is_not_mirrored() {
        let (body, take) = (symmetric_body(), take(&symmetric_body()));
        let mut sleeve = take.clone();
        sleeve.draped[2].x += 0.2;
        assert!(Mirror::find(&body, &sleeve).is_err_and(|e| e.contains("mirror image")));
        let made = |wind: [f64; 3]| Provenance {
            body: Fingerprint(1),
            garment: Fingerprint(2),
            fabric: Fingerprint(3),
            solver: Fingerprint(4),
            clip: Fingerprint(5),
            conditions: Conditions { wind, ..Conditions::default() },
        };
        let blown = Take { provenance: Some(made([0.0, 0.0, 2.0])), ..take.clone() };
        assert!(Mirror::find(&body, &blown).is_err_and(|e| e.contains("wind")));
        let calm = Take { provenance: Some(made([0.0, 0.0, -0.0])), ..take.clone() };
        assert!(Mirror::find(&body, &calm).is_ok());
        let mut lame = body.clone();
        lame.joint_from_bind[1].translation.y += 0.1;
        assert!(Mirror::find(&lame, &take).is_err_and(|e| e.contains("joint `l`")));
        let mut bulge = body.clone();
        bulge.mesh.positions[2].z += 0.05;
        assert!(Mirror::find(&bulge, &take).is_err_and(|e| e.contains("vertex")));
    }

    #[test]
    fn a_body_bound_beside_the_origin_is_mirrored_about_its_own_plane() {
        let (mut body, mut take) = (symmetric_body(), take(&symmetric_body()));
        let shift = Vec3::new(0.3, 0.0, 0.0);
        body.mesh.positions.iter_mut().for_each(|p| *p += shift);
        body.joint_from_bind.iter_mut().for_each(|m| *m *= Affine3A::from_translation(-shift));
        take.draped.iter_mut().for_each(|p| *p += shift);
        take.bones.iter_mut().for_each(|b| *b *= Affine3A::from_translation(-shift));
        let mirror = Mirror::find(&body, &take).unwrap();
        assert!((mirror.plane_x - 0.3).abs() < 1e-6);
        let seen = mirror.take(&take);
        assert_mirror_image(&body, &take, &seen);
    }
}
