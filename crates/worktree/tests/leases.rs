//! Leases with real files and real mounts, verified with the real Git.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests make files of their own, start git and themselves, end where these fail, and say what they skip"
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
    mod world;
}
