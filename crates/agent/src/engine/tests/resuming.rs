//! A crash at any moment: the records are enough to continue.

use host::TempFolder;
use ledger::Ledger;
use model::ResponseScript;

use super::super::{fork, repair_records, resume};
use super::fakes::{Talk, assert_whole, calls, last, world, world_by};
use crate::outcome::{CallOutcome, Detail};
use crate::record::{SessionRecord, Stored, TurnEnd};
use crate::store::SessionStore;

async fn rich() -> Vec<Stored> {
    let world = world([
        ResponseScript::calls(&[
            ("1", "look", r#"{"ms":10}"#),
            ("2", "edit", r#"{"ms":20,"writes":["a"]}"#),
            ("3", "edit", r#"{"writes":["a"]}"#),
        ]),
        ResponseScript::text("half way"),
        ResponseScript::calls(&[("4", "exec", r#"{"fail":"no"}"#)]),
        ResponseScript::text("done"),
    ]);
    let mut talk = world.open();
    talk.ask("one").await;
    talk.ask("two").await;
    talk.close().await;
    let sessions = world.harness.store().sessions(1).expect("listed");
    world.kept(&sessions[0].id).await
}

#[tokio::test(start_paused = true)]
async fn sessions_resume_from_any_crash_without_rerunning_calls() {
    let records = rich().await;
    assert!(records.len() > 20, "{}", records.len());
    for cut in 1..=records.len() {
        let world = world_by(|request| {
            let number = calls(request);
            match last(request) {
                (_, 0) if number == 0 => ResponseScript::text("a fresh start"),
                _ => ResponseScript::text("I see"),
            }
        });
        let store = world.harness.store();
        store
            .create_session("old", "/work", &records[..cut])
            .await
            .expect("written");
        let mut talk = Talk::new(resume(world.begin(), "old").await.expect("it opens"));
        let kept = world.kept("old").await;
        assert_whole(&kept);
        // Opening it again finds nothing to repair.
        assert_eq!(
            repair_records(&kept),
            Vec::<SessionRecord>::new(),
            "cut {cut}"
        );
        assert_eq!(talk.ask("go on").await, TurnEnd::Done, "cut {cut}");
        assert!(world.log().is_empty(), "cut {cut}: {:?}", world.log());
        let kept = world.kept("old").await;
        assert_whole(&kept);
        check_mended(&kept, &records[..cut]);
    }
}

/// Asserts that calls which had started have an unknown outcome, and those that had not are
/// reported as never started.
fn check_mended(kept: &[Stored], before: &[Stored]) {
    let is_began = |id: &str| {
        before.iter().any(
            |stored| matches!(&stored.record, SessionRecord::CallBegan { call, .. } if call == id),
        )
    };
    for stored in &kept[before.len()..] {
        if let SessionRecord::CallEnded {
            call,
            outcome,
            detail,
            ..
        } = &stored.record
        {
            assert_eq!(*outcome, CallOutcome::UnexpectedEnvironment);
            assert_eq!(*detail == Some(Detail::ToolOutcomeUnknown), is_began(call));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn forks_continue_from_a_record_and_keep_the_original() {
    let records = rich().await;
    let world = world_by(|_| ResponseScript::text("another way"));
    let store = world.harness.store();
    store
        .create_session("old", "/work", &records)
        .await
        .expect("written");
    let at = records
        .iter()
        .position(|stored| stored.record.kind() == "call_began")
        .expect("a call");
    let new = fork(&world.harness, "old", at as u64)
        .await
        .expect("forked");
    let mut talk = Talk::new(resume(world.begin(), &new).await.expect("it opens"));
    assert_eq!(talk.ask("go on").await, TurnEnd::Done);
    let kept = world.kept(&new).await;
    assert_whole(&kept);
    assert!(
        matches!(&kept[0].record, SessionRecord::Began { forked_from: Some((from, seq)), .. } if from == "old" && *seq == at as u64)
    );
    assert_eq!(world.kept("old").await, records);
    let missing = fork(&world.harness, "nobody", 0)
        .await
        .expect_err("there is none")
        .to_string();
    assert!(missing.contains("there is no session"), "{missing}");
}

#[tokio::test(start_paused = true)]
async fn sessions_have_a_single_writer() {
    let folder = TempFolder::new().expect("a folder");
    let path = folder.path().join("ledger.db");
    let open =
        || SessionStore::start(Ledger::open(&path, 1).expect("a ledger").ledger).expect("a store");
    let (one, other) = (open(), open());
    let records = rich().await;
    one.create_session("s", "/work", &records[..2])
        .await
        .expect("written");
    one.append("s", &records[2..3]).await.expect("written");
    let refused = other
        .append("s", &records[2..3])
        .await
        .expect_err("refused")
        .to_string();
    assert!(refused.contains("rejects a row"), "{refused}");
    assert!(
        refused.contains("another program has written to this session"),
        "{refused}"
    );
}

#[tokio::test(start_paused = true)]
async fn session_open_in_another_process_is_refused() {
    let records = rich().await;
    let world = world_by(|_| ResponseScript::text("I see"));
    let store = world.harness.store();
    store
        .create_session("s", "/work", &records)
        .await
        .expect("written");
    // Another process holds the lock and has written its name.
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
        "session s is open in process 4711 (burin-agent): continue there, or close it there first";
    assert_eq!(refused.to_string(), told);
    assert_eq!(world.kept("s").await, records);
    assert!(world.harness.is_session_open("s"));
    // Like a killed process: its files stay, its lock does not.
    drop(lock);
    assert!(!world.harness.is_session_open("s"));
    // Opening twice in one process is fine; closing releases the lock.
    let mut talk = Talk::new(resume(world.begin(), "s").await.expect("it opens"));
    assert!(
        world
            .harness
            .lock_session("s")
            .is_ok_and(|hold| hold.is_some())
    );
    assert!(
        sources
            .files
            .lock(&folder.join("s.lock"))
            .expect("a lock")
            .is_none()
    );
    assert_eq!(talk.ask("go on").await, TurnEnd::Done);
    assert!(world.harness.is_session_open("s"));
    talk.close().await;
    assert!(!world.harness.is_session_open("s"));
    assert!(!sources.files.exists(&owner));
    assert!(
        sources
            .files
            .lock(&folder.join("s.lock"))
            .expect("a lock")
            .is_some()
    );
}
