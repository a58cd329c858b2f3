//! Leases with real files and real mounts, verified with the real Git.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make files of their own, start git and themselves, and end where these fail"
)]

mod leases {
    mod archives;
    mod changes;
    mod crashes;
    mod fresh;
    mod hostile;
    mod monitor;
    mod odd;
    mod person;
    mod spelled;
    mod world;
}
