//! The window: pictures, films and reports.
