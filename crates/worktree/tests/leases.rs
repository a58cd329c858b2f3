//! Leases with real files, real mounts and real git as the judge.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make files of their own and start git and themselves"
)]

mod leases {
    mod archives;
    mod changes;
    mod crashes;
    mod fresh;
    mod hostile;
    mod odd;
    mod person;
    mod world;
}
