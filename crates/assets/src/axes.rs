//! Conversion of units and axes into ours: metres, +Y up, right-handed. Nowhere else.

use glam::{Quat, Vec3};

/// Which axis of a file points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpAxis {
    /// glTF, Maya, Unity: ours.
    Y,
    /// Blender, Unreal, 3ds Max.
    Z,
}

/// How a file's numbers become ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    /// Metres per unit of the file.
    pub metres_per_unit: f64,
    /// The file's up axis.
    pub up: UpAxis,
}

impl Conversion {
    /// Already metres and +Y up.
    pub const NONE: Self = Self { metres_per_unit: 1.0, up: UpAxis::Y };

    /// Converts a point or displacement.
    pub fn point(&self, p: Vec3) -> Vec3 {
        self.rotation() * (p * self.metres_per_unit as f32)
    }

    /// The rotation that carries the file's axes into ours.
    pub fn rotation(&self) -> Quat {
        match self.up {
            UpAxis::Y => Quat::IDENTITY,
            UpAxis::Z => Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
        }
    }
}

impl Conversion {
    /// What the numbers of a character mean, from its largest extent and, where known, the way from its feet
    /// to its head; with a sentence for each thing that was not taken as it stands.
    ///
    /// Nobody is 50 m tall and a toddler is 50 cm, so sizes from 50 on are centimetres and from 1000 on
    /// millimetres.
    pub fn guessed(extent: f32, head_from_feet: Option<Vec3>) -> (Self, Vec<String>) {
        let mut notes = Vec::new();
        let (metres_per_unit, unit) = match extent {
            e if e >= 1000.0 => (1e-3, "millimetres"),
            e if e >= 50.0 => (1e-2, "centimetres"),
            _ => (1.0, "metres"),
        };
        if metres_per_unit != 1.0 {
            notes.push(format!("{extent:.1} units across: taken as {unit}"));
        } else if extent > 4.0 || (extent > 0.0 && extent < 0.2) {
            notes
                .push(format!("{extent:.3} units across: taken as metres, which is unusual for a character"));
        }
        let lies = head_from_feet.is_some_and(|d| d.z > 2.0 * d.y.abs() && d.z > 2.0 * d.x.abs());
        if lies {
            notes.push("the head is towards +Z from the feet: taken as Z up and turned to Y up".into());
        }
        (Self { metres_per_unit, up: if lies { UpAxis::Z } else { UpAxis::Y } }, notes)
    }
}

/// Units that files are seen in, likeliest first.
const UNITS: [(&str, f64); 5] =
    [("metres", 1.0), ("centimetres", 0.01), ("inches", 0.0254), ("decimetres", 0.1), ("millimetres", 0.001)];

/// What a garment in no usual unit is called among its problems; it was scaled to a plausible size, no more.
pub const UNKNOWN_UNITS: &str = "sizes that fit no usual unit";

/// Whether a length is a unit that files are usually in.
pub fn is_usual_unit(metres_per_unit: f64) -> bool {
    UNITS.iter().any(|(_, unit)| *unit == metres_per_unit)
}

/// A guess of a garment's units and axes, and what to say about it (nothing where it is ours already).
/// `lo` and `hi` bound the garment in its file, `body` the body it is worn on, in our units.
pub fn guess_garment(lo: Vec3, hi: Vec3, body: Option<(Vec3, Vec3)>) -> (Conversion, Vec<String>) {
    let up = guess_up(lo, hi, body);
    let turned = Conversion { metres_per_unit: 1.0, up };
    let (a, b) = (turned.point(lo), turned.point(hi));
    let (lo, hi) = (a.min(b), a.max(b));
    let extent = f64::from((hi - lo).max_element());
    let height = body.map_or(1.7, |(l, h)| f64::from(h.y - l.y));
    // A garment is between a fifth of a metre and a tall body's height; where it hangs clear of the floor its
    // top is a waist or a shoulder.
    let stands = f64::from(lo.y) > 0.02 * extent;
    let plausible = |unit: f64| {
        let (size, top) = (extent * unit / height, f64::from(hi.y) * unit / height);
        (0.12..=1.3).contains(&size) && (!stands || (0.4..=1.06).contains(&top))
    };
    let mut notes = Vec::new();
    let metres_per_unit = match UNITS.iter().find(|(_, unit)| plausible(*unit)) {
        Some((name, unit)) => {
            if *unit != 1.0 {
                notes.push(format!(
                    "units guessed as {name}: {extent:.4} units across become {:.2} m",
                    extent * unit
                ));
            }
            *unit
        }
        None if extent > 0.0 => {
            let unit = 0.6 * height / extent;
            notes.push(format!(
                "units unknown: {extent:.4} units across fit no usual unit; scaled by {unit:.4} to {:.2} m across",
                extent * unit
            ));
            unit
        }
        None => 1.0,
    };
    if up == UpAxis::Z {
        notes.push("guessed that +Z points up in the file; turned to +Y up".to_string());
    }
    (Conversion { metres_per_unit, up }, notes)
}

/// The units of a garment from a glTF file, which are metres by definition. Others are guessed only where metres would
/// make it many times its wearer's size or a speck: exporters that forget to scale.
pub fn gltf_garment(lo: Vec3, hi: Vec3, body: Option<(Vec3, Vec3)>) -> (Conversion, Vec<String>) {
    let extent = f64::from((hi - lo).max_element());
    let height = body.map_or(1.7, |(l, h)| f64::from(h.y - l.y));
    if (0.02..=4.0).contains(&(extent / height)) || extent == 0.0 {
        return (Conversion::NONE, Vec::new());
    }
    let (guess, notes) = guess_garment(lo, hi, body);
    if is_usual_unit(guess.metres_per_unit) {
        return (guess, notes);
    }
    (
        Conversion::NONE,
        vec![format!("{extent:.3} m across, beside a body of {height:.2} m: glTF is in metres")],
    )
}

/// A guess of a standing character's units from its height in its file, and what to say about it.
pub fn guess_body(height: f64) -> (f64, Option<String>) {
    // From a child to a giant of a game; files in inches and in centimetres do not overlap there.
    let plausible = |unit: f64| (0.8..=2.6).contains(&(height * unit));
    match UNITS.iter().find(|(_, unit)| plausible(*unit)) {
        Some((_, unit)) if *unit == 1.0 => (1.0, None),
        Some((name, unit)) => {
            let said =
                format!("units guessed as {name}: {height:.4} units tall become {:.2} m", height * unit);
            (*unit, Some(said))
        }
        None if height > 0.0 && height.is_finite() => {
            let unit = 1.7 / height;
            let said = format!(
                "units unknown: {height:.4} units tall fit no usual unit; scaled by {unit:.4} to 1.70 m"
            );
            (unit, Some(said))
        }
        None => (1.0, None),
    }
}

/// A garment on a body straddles the plane of the body's side and front and hangs clear of the floor.
fn guess_up(lo: Vec3, hi: Vec3, body: Option<(Vec3, Vec3)>) -> UpAxis {
    let extent = (hi - lo).max(Vec3::splat(f32::MIN_POSITIVE));
    let centre = (lo + hi) * 0.5;
    let off = |k: usize| (centre[k].abs() / extent[k]).min(1e6);
    // Clear of the floor along Z, centred along Y, and not the other way round.
    let z_up = lo.z > 0.1 * extent.z && off(1) < 0.5 && off(2) > 2.0 * off(1);
    if z_up {
        return UpAxis::Z;
    }
    // A body says more: a garment that lies flat beside a standing body was drawn with Z up.
    if let Some((l, h)) = body {
        let overlap = |a: Vec3, b: Vec3| {
            let shared = (b.min(h) - a.max(l)).max(Vec3::ZERO);
            shared.element_product() / (b - a).max(Vec3::splat(1e-6)).element_product()
        };
        let turned = Conversion { metres_per_unit: 1.0, up: UpAxis::Z };
        let (p, q) = (turned.point(lo), turned.point(hi));
        if overlap(p.min(q), p.max(q)) > 2.0 * overlap(lo, hi) + 0.1 {
            return UpAxis::Z;
        }
    }
    UpAxis::Y
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(lo: [f32; 3], hi: [f32; 3]) -> (f64, UpAxis, usize) {
        let (c, notes) = guess_garment(lo.into(), hi.into(), None);
        (c.metres_per_unit, c.up, notes.len())
    }

    #[test]
    fn units_and_axes_of_garments_as_they_come() {
        // A dress in metres says nothing.
        assert_eq!(guess([-0.25, 0.43, -0.17], [0.26, 1.41, 0.23]), (1.0, UpAxis::Y, 0));
        // The same in centimetres, inches, millimetres and with Z up.
        assert_eq!(guess([-25.0, 43.0, -17.0], [26.0, 141.0, 23.0]), (0.01, UpAxis::Y, 1));
        assert_eq!(guess([-10.0, 17.0, -6.7], [10.0, 55.5, 9.0]), (0.0254, UpAxis::Y, 1));
        assert_eq!(guess([-250.0, 430.0, -170.0], [260.0, 1410.0, 230.0]), (0.001, UpAxis::Y, 1));
        assert_eq!(guess([-0.25, -0.23, 0.43], [0.26, 0.17, 1.41]), (1.0, UpAxis::Z, 1));
        // A skirt that sits at the origin and a cape behind the body stay upright.
        assert_eq!(guess([-0.3, -0.35, -0.3], [0.3, 0.35, 0.3]), (1.0, UpAxis::Y, 0));
        assert_eq!(guess([-0.4, 0.37, -0.31], [0.41, 1.41, 0.07]), (1.0, UpAxis::Y, 0));
        // No unit makes sense of this one: it is scaled, and said.
        let (unit, _, notes) = guess([-4000.0, 0.0, -4000.0], [4000.0, 9000.0, 4000.0]);
        assert!((unit * 9000.0 - 1.02).abs() < 1e-6 && notes == 1);
    }

    #[test]
    fn gltf_is_in_metres() {
        let unit = |size: f32| {
            gltf_garment(Vec3::new(-0.5, 0.4, -0.4) * size, Vec3::new(0.5, 1.4, 0.4) * size, None)
        };
        // A belt, a train of three metres: metres, and nothing is said.
        for size in [0.1, 1.0, 3.0] {
            assert_eq!(unit(size), (Conversion::NONE, vec![]), "{size}");
        }
        assert_eq!(unit(100.0).0.metres_per_unit, 0.01);
        let (odd, said) = unit(20_000.0);
        assert!(odd == Conversion::NONE && said[0].contains("glTF is in metres"), "{said:?}");
    }

    #[test]
    fn units_of_bodies_as_they_come() {
        assert_eq!(guess_body(1.67), (1.0, None));
        for (height, unit) in [(167.0, 0.01), (65.7, 0.0254), (16.7, 0.1), (1670.0, 0.001)] {
            let (found, said) = guess_body(height);
            assert!(found == unit && said.is_some(), "{height}: {found}");
        }
        let (unit, said) = guess_body(30_000.0);
        assert!((unit * 30_000.0 - 1.7).abs() < 1e-9 && said.unwrap().contains("unknown"));
    }

    #[test]
    fn turning_z_up_keeps_left_and_makes_front_front() {
        // Blender: Z up, characters face −Y.
        let c = Conversion { metres_per_unit: 0.01, up: UpAxis::Z };
        assert!(c.point(Vec3::new(0.0, -100.0, 0.0)).distance(Vec3::Z) < 1e-6);
        assert!(c.point(Vec3::new(0.0, 0.0, 100.0)).distance(Vec3::Y) < 1e-6);
    }

    #[test]
    fn people_are_neither_giants_nor_lying_down() {
        let guess = |size, way| Conversion::guessed(size, way).0;
        assert_eq!(guess(1.7, Some(Vec3::Y)), Conversion::NONE);
        assert_eq!(guess(95.0, None).metres_per_unit, 0.01);
        assert_eq!(guess(1700.0, None).metres_per_unit, 0.001);
        assert_eq!(guess(1.7, Some(Vec3::new(0.1, -0.2, 1.4))).up, UpAxis::Z);
        // A quadruped's head is before its feet as much as above them.
        assert_eq!(guess(1.7, Some(Vec3::new(0.0, 0.5, 0.7))).up, UpAxis::Y);
        assert!(Conversion::guessed(12.0, None).1[0].contains("unusual"));
    }
}
