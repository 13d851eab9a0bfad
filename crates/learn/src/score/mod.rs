//! How good a model is: free runs through the code that ships, one accumulator a score.

pub(crate) mod baseline;
pub(crate) mod evaluate;
pub(crate) mod histogram;
pub(crate) mod liveliness;
mod project;
pub(crate) mod settling;
pub(crate) mod spectrum;
mod tally;
pub(crate) mod twins;
pub(crate) mod wrinkles;
