//! Tests of the thread with real processes.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::super::system_table::SystemTable;
use super::super::{ScanPasses, terminate, unmarked};
use super::*;
use crate::process::probe::setsid;

/// Waits until the tree has this member, by looks of the thread alone.
fn wait_until_known(search: &TrackedSearch, pid: i32) {
    let identity = SystemTable.find(pid).expect("it runs").identity;
    let began = Instant::now();
    while !lock(&search.tree).knows(identity) {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "{pid} is not seen"
        );
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_fugitive_that_the_thread_saw_is_killed() {
    // The parent of the fugitive lives until the test has seen it.
    let script = "( setsid sh -c 'echo $$; exec sleep 600' & read -r line ); echo left; sleep 600";
    let script = script.replace("setsid", setsid());
    let mut command = Command::new("sh");
    unmarked::lead(&mut command);
    let mut child = command
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sh");
    let first = Pid::from_raw(child.id().cast_signed()).expect("an id");
    let search = TrackedSearch::of_started(first, Arc::new(SystemTable), |_, _| {});
    search.watch();
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let fugitive = lines.next().expect("a line").expect("text").parse();
    let fugitive: i32 = fugitive.expect("a number");
    wait_until_known(&search, fugitive);
    drop(child.stdin.take());
    assert_eq!(lines.next().expect("a line").expect("text"), "left");
    let ended = terminate(&search, Duration::ZERO, ScanPasses::Twice);
    assert!(ended.contains_key(&fugitive), "{ended:?}");
    child.wait().expect("its end");
    let left = SystemTable.find(fugitive);
    assert!(left.is_none_or(|entry| entry.is_zombie), "{left:?}");
    drop(search);
    // The thread may hold the tree for a moment.
    let first = first.as_raw_nonzero().get();
    let is_watched = || {
        let tracker = lock(&TRACKER);
        let trees = tracker
            .searches
            .iter()
            .filter_map(|watched| watched.tree.upgrade());
        trees.into_iter().any(|tree| lock(&tree).first() == first)
    };
    crate::process::wait_until("the end of the watch", || !is_watched());
}
