//! Tests of the order of sync calls on each system, with recorded calls.

use super::SyncCall::{Barrier, Data, File, Full};
use super::*;

/// Records the calls that `run` makes on a volume that supports none of `missing`.
fn record(
    missing: &[(SyncTarget, SyncCall)],
    run: impl FnOnce(Sync<'_>) -> Result<(), Errno>,
) -> (Result<(), Errno>, Vec<(SyncTarget, SyncCall)>) {
    let mut log = Vec::new();
    let result = run(&mut |target, call| {
        log.push((target, call));
        if missing.contains(&(target, call)) {
            Err(Errno::NOTTY)
        } else {
            Ok(())
        }
    });
    (result, log)
}

/// A save: the content is ordered, the name changes, both become durable.
fn save(family: SyncFamily, sync: Sync<'_>) -> Result<(), Errno> {
    perform(family, SyncTarget::File, SyncNeed::Order, sync)?;
    confirm(family, sync)
}

#[test]
fn a_save_orders_its_content_before_the_rename() {
    use SyncTarget::{File as Content, Folder};
    type Calls<'a> = &'a [(SyncTarget, SyncCall)];
    let cases: [(SyncFamily, Calls<'_>, Calls<'_>); 6] = [
        (SyncFamily::Posix, &[], &[(Content, File), (Folder, File)]),
        (
            SyncFamily::Posix,
            &[(Folder, File)],
            &[(Content, File), (Folder, File)],
        ),
        (
            SyncFamily::Apple,
            &[],
            &[(Content, Barrier), (Folder, Full)],
        ),
        // A drive without barriers.
        (
            SyncFamily::Apple,
            &[(Content, Barrier)],
            &[(Content, Barrier), (Content, Full), (Folder, Full)],
        ),
        // A volume that empties the drive's cache for files alone.
        (
            SyncFamily::Apple,
            &[(Folder, Full)],
            &[
                (Content, Barrier),
                (Folder, Full),
                (Folder, File),
                (Content, Full),
            ],
        ),
        // A network volume.
        (
            SyncFamily::Apple,
            &[
                (Content, Barrier),
                (Content, Full),
                (Folder, Full),
                (Folder, File),
            ],
            &[
                (Content, Barrier),
                (Content, Full),
                (Content, File),
                (Folder, Full),
                (Folder, File),
                (Content, Full),
                (Content, File),
            ],
        ),
    ];
    for (family, missing, wanted) in cases {
        let (result, log) = record(missing, |sync| save(family, sync));
        assert_eq!(result, Ok(()), "{family:?} {missing:?}");
        assert_eq!(log, wanted, "{family:?} {missing:?}");
    }
}

#[test]
fn an_error_of_the_disk_is_reported() {
    for family in [SyncFamily::Posix, SyncFamily::Apple] {
        let mut count = 0;
        let result = save(family, &mut |_, _| {
            count += 1;
            Err(Errno::IO)
        });
        assert_eq!((result, count), (Err(Errno::IO), 1), "{family:?}");
    }
}

#[test]
fn a_journal_is_durable_about_once_a_second() {
    let once = |family, since: Option<u64>, missing: &[(SyncTarget, SyncCall)]| {
        let mut is_durable = false;
        let since = since.map(Duration::from_millis);
        let (result, log) = record(missing, |sync| {
            is_durable = group(family, since, sync)?;
            Ok(())
        });
        assert_eq!(result, Ok(()));
        let calls: Vec<_> = log.into_iter().map(|(_, call)| call).collect();
        (is_durable, calls)
    };
    let apple = SyncFamily::Apple;
    assert_eq!(once(apple, None, &[]), (true, vec![Full]));
    assert_eq!(once(apple, Some(50), &[]), (false, vec![Barrier]));
    assert_eq!(once(apple, Some(1000), &[]), (true, vec![Full]));
    let no_barrier = [(SyncTarget::File, Barrier)];
    assert_eq!(
        once(apple, Some(50), &no_barrier),
        (true, vec![Barrier, Full])
    );
    for since in [None, Some(50), Some(5000)] {
        assert_eq!(once(SyncFamily::Posix, since, &[]), (true, vec![Data]));
    }
}
