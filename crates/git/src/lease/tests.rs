//! Leases as git sees them.
