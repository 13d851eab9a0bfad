//! The truth: full-space cloth simulation against a moving body.
