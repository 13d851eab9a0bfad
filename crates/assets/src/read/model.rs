//! Models from `.toile` files.
