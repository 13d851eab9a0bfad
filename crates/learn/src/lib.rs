//! The shortcut: from many takes to one certified model and its report.
