//! A program that dies at any moment: what it had written down is enough to go on.

use host::TempFolder;
use ledger::Ledger;
use model::Script;

use super::super::{fork, repairs, resume};
use super::fakes::{Talk, assert_whole, calls, last, world, world_by};
use crate::outcome::{Detail, Outcome};
use crate::record::{Record, Stored, TurnEnd};
use crate::store::Store;

async fn rich() -> Vec<Stored> {
    let world = world([
        Script::calls(&[
            ("1", "look", r#"{"ms":10}"#),
            ("2", "edit", r#"{"ms":20,"writes":["a"]}"#),
            ("3", "edit", r#"{"writes":["a"]}"#),
        ]),
        Script::text("half way"),
        Script::calls(&[("4", "exec", r#"{"fail":"no"}"#)]),
        Script::text("done"),
    ]);
    let mut talk = world.open();
    talk.ask("one").await;
    talk.ask("two").await;
    talk.close().await;
    let sessions = world.harness.store().sessions(1).expect("listed");
    world.kept(&sessions[0].id).await
}

#[tokio::test(start_paused = true)]
async fn a_session_cut_anywhere_goes_on_and_runs_nothing_again() {
    let records = rich().await;
    assert!(records.len() > 20, "{}", records.len());
    for cut in 1..=records.len() {
        let world = world_by(|request| {
            let number = calls(request);
            match last(request) {
                (_, 0) if number == 0 => Script::text("a fresh start"),
                _ => Script::text("I see"),
            }
        });
        let store = world.harness.store();
        store
            .begin("old", "/work", &records[..cut])
            .await
            .expect("written");
        let mut talk = Talk::new(resume(world.begin(), "old").await.expect("it opens"));
        let kept = world.kept("old").await;
        assert_whole(&kept);
        // Opening it once more finds nothing left to mend.
        assert_eq!(repairs(&kept), Vec::<Record>::new(), "cut {cut}");
        assert_eq!(talk.ask("go on").await, TurnEnd::Done, "cut {cut}");
        assert!(world.log().is_empty(), "cut {cut}: {:?}", world.log());
        let kept = world.kept("old").await;
        assert_whole(&kept);
        check_mended(&kept, &records[..cut]);
    }
}

/// Calls that had begun and not ended are said to be of unknown outcome, those that had not begun are not.
fn check_mended(kept: &[Stored], before: &[Stored]) {
    let is_began = |id: &str| {
        before
            .iter()
            .any(|stored| matches!(&stored.record, Record::CallBegan { call, .. } if call == id))
    };
    for stored in &kept[before.len()..] {
        if let Record::CallEnded {
            call,
            outcome,
            detail,
            ..
        } = &stored.record
        {
            assert_eq!(*outcome, Outcome::UnexpectedEnvironment);
            assert_eq!(*detail == Some(Detail::ToolOutcomeUnknown), is_began(call));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_fork_goes_on_from_a_record_and_leaves_the_old_one_alone() {
    let records = rich().await;
    let world = world_by(|_| Script::text("another way"));
    let store = world.harness.store();
    store
        .begin("old", "/work", &records)
        .await
        .expect("written");
    let at = records
        .iter()
        .position(|stored| stored.record.kind() == "call_began")
        .expect("a call");
    let new = fork(&world.begin(), "old", at as u64)
        .await
        .expect("forked");
    let mut talk = Talk::new(resume(world.begin(), &new).await.expect("it opens"));
    assert_eq!(talk.ask("go on").await, TurnEnd::Done);
    let kept = world.kept(&new).await;
    assert_whole(&kept);
    assert!(
        matches!(&kept[0].record, Record::Began { forked_from: Some((from, seq)), .. } if from == "old" && *seq == at as u64)
    );
    assert_eq!(world.kept("old").await, records);
    let missing = fork(&world.begin(), "nobody", 0)
        .await
        .expect_err("there is none");
    assert!(missing.contains("there is no session"), "{missing}");
}

#[tokio::test(start_paused = true)]
async fn two_programs_cannot_write_to_one_session() {
    let folder = TempFolder::new().expect("a folder");
    let path = folder.path().join("ledger.db");
    let open = || Store::start(Ledger::open(&path, 1).expect("a ledger").ledger).expect("a store");
    let (one, other) = (open(), open());
    let records = rich().await;
    one.begin("s", "/work", &records[..2])
        .await
        .expect("written");
    one.append("s", &records[2..3]).await.expect("written");
    let refused = other
        .append("s", &records[2..3])
        .await
        .expect_err("refused");
    assert!(refused.contains("refuses a row"), "{refused}");
    assert!(
        refused.contains("another program has written to this session"),
        "{refused}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_that_another_process_has_open_is_refused_by_its_name() {
    let records = rich().await;
    let world = world_by(|_| Script::text("I see"));
    let store = world.harness.store();
    store.begin("s", "/work", &records).await.expect("written");
    // Another process: it has the lock, and says who it is.
    let sources = &world.harness.parts.sources;
    let folder = sources.state.join("sessions");
    sources.files.create_folder(&folder).expect("a folder");
    let lock = sources.files.lock(&folder.join("s.lock"));
    let lock = lock.expect("a lock").expect("nobody has it");
    let owner = folder.join("s.owner");
    let name = b"process 4711 (burin-agent)";
    sources.files.write_private(&owner, name).expect("written");
    let refused = resume(world.begin(), "s").await;
    let refused = refused.map(|_| ()).expect_err("it is open elsewhere");
    let told =
        "session s is open in process 4711 (burin-agent): go on there, or close it there first";
    assert_eq!(refused, told);
    assert_eq!(world.kept("s").await, records);
    drop(lock);
    // Twice in one process is one and the same; once it is closed it is free.
    let mut talk = Talk::new(resume(world.begin(), "s").await.expect("it opens"));
    assert!(world.harness.hold("s").is_ok_and(|hold| hold.is_some()));
    assert!(
        sources
            .files
            .lock(&folder.join("s.lock"))
            .expect("a lock")
            .is_none()
    );
    assert_eq!(talk.ask("go on").await, TurnEnd::Done);
    talk.close().await;
    assert!(!sources.files.exists(&owner));
    assert!(
        sources
            .files
            .lock(&folder.join("s.lock"))
            .expect("a lock")
            .is_some()
    );
}
