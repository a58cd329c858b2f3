//! Tests of records with real processes.

use std::process::Command;

use super::super::TreeSearch as _;
use super::super::system_table::{SystemTable, boot_id};
use super::*;
use crate::process::probe::{is_alive, kill, start_orphan};
use crate::temp::TempFolder;

#[test]
fn a_dead_programs_record_ends_its_trees_and_no_others() {
    let folder = TempFolder::new().expect("a folder");
    let table: Arc<dyn ProcessTable> = Arc::new(SystemTable);
    let sleep = || start_orphan(&[]);
    let line = |pid: i32| {
        let entry = table.find(pid).expect("it runs");
        format!("begins {pid} {}\n", entry.identity)
    };
    let write = |name: &str, boot: &str, lines: &str| {
        let path = folder.path().join(name);
        fs::write(path.as_path(), format!("{boot}\n{lines}")).expect("a record");
        path
    };
    let (left, held, older, reused) = (sleep(), sleep(), sleep(), sleep());
    let boot = boot_id();
    assert!(!boot.is_empty());
    let dead = write("1-1.trees", &boot, &(line(left) + "member "));
    let living = write("2-2.trees", &boot, &line(held));
    let lock = File::open(living.as_path()).expect("a record");
    lock.try_lock().expect("free");
    let old = write("3-3.trees", "another start", &line(older));
    let wrong = format!("begins {} 1\n", reused);
    let stale = write("4-4.trees", &boot, &wrong);
    write("notes.txt", &boot, &line(held));

    assert_eq!(end_recorded_in(folder.path(), &table, &boot), 1);
    assert!(!is_alive(left));
    for pid in [held, older, reused] {
        assert!(is_alive(pid));
        kill(pid);
    }
    let exists = [dead, old, stale, living].map(|path| path.as_path().exists());
    assert_eq!(exists, [false, false, false, true]);
}

#[test]
fn this_process_its_ancestors_and_its_children_are_spared() {
    let own = std::process::id().cast_signed();
    let parent = rustix::process::getppid().expect("a parent");
    let parent = parent.as_raw_nonzero().get();
    let mut child = Command::new("sleep").arg("300").spawn().expect("sleep");
    let identity = |pid| SystemTable.find(pid).expect("it runs").identity;
    let tree = TrackedTree::new(parent, Some(identity(parent)))
        .with_known([identity(own)])
        .sparing(own);
    let search = TrackedSearch::new(tree, Arc::new(SystemTable), |_, _| {});
    let members = search.scan().members;
    for pid in [own, parent, child.id().cast_signed()] {
        assert!(members.iter().all(|member| member.pid != pid), "{pid}");
    }
    child.kill().expect("killed");
    child.wait().expect("its end");
}
