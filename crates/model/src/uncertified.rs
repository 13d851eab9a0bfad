//! Why a certificate does not hold.

/// What is wrong with a model's certificate, or with the model that it is to hold for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A part of the model is missing, of another size than stated or out of range.
    #[error("{0}")]
    Malformed(String),
    /// Some vertex has no finite bound.
    #[error("the certificate states no finite travel bound for every vertex")]
    NoBound,
    /// The contraction factor is not between 0 and 1.
    #[error("the certificate's contraction factor is {0}, not below 1")]
    Factor(f64),
    /// `P` is not a norm.
    #[error("the certificate's matrix {0}")]
    Norm(String),
    /// `γ²P − MᵀPM` is not positive.
    #[error("the matrices do not contract as the certificate claims")]
    NotContracting,
    /// An input that the certificate covers takes a vertex farther than it states.
    #[error(
        "{input} vertex {vertex} {reach_cm:.2} cm from its {from}, the certificate states {stated_cm:.2} cm"
    )]
    Exceeded {
        /// Which input, as the beginning of a sentence.
        input: &'static str,
        /// The vertex.
        vertex: usize,
        /// Where it gets to, cm.
        reach_cm: f64,
        /// Its mean or its skinned place.
        from: &'static str,
        /// What the certificate says, cm.
        stated_cm: f64,
    },
}
