//! Ways through a tree.
