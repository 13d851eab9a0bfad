//! The proof that a published form is stable and how far its vertices can ever get. That of a model D has a closed form and
//! lives with the model itself.

pub(crate) mod bound;
pub(crate) mod certify;
pub(crate) mod response;
pub(crate) mod worst;
