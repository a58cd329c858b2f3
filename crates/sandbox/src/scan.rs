//! Written beside: see the module list in `lib`.
