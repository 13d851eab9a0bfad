//! What cloth is made of, in SI units.

/// A fabric. `warp` runs along a panel's +Y, `weft` along +X.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "io", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "io", serde(deny_unknown_fields))]
pub struct Fabric {
    /// `cotton`.
    pub name: String,
    /// Mass per area, kg/m².
    pub density: f64,
    /// Membrane stiffness along the warp, N/m.
    pub stretch_warp: f64,
    /// Membrane stiffness along the weft, N/m.
    pub stretch_weft: f64,
    /// Shear stiffness, N/m.
    pub shear: f64,
    /// In-plane Poisson ratio, 0 to 0.5.
    pub poisson: f64,
    /// Bending rigidity per width for curvature along the warp, N·m.
    pub bend_warp: f64,
    /// Bending rigidity per width for curvature along the weft, N·m.
    pub bend_weft: f64,
    /// Strain-rate damping as a time: damping stiffness = stiffness × this, s.
    pub damping_secs: f64,
    /// Distance kept between layers, m.
    pub thickness: f64,
    /// Coulomb coefficient against the body and itself.
    pub friction: f64,
    /// Drag coefficient of one side in moving air.
    pub drag: f64,
    /// Where the values come from, one line per value or group of values.
    pub sources: Vec<String>,
}
