//! Models as `.toile` files.
