//! Tests which rows the changes of a tree give, on a real disk.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use host::{Clock as _, FakeClock, RealFiles};
use quality::{LossRecord, QualityRecord};

use super::*;
use crate::change_history::tests::{Place, agent};
use crate::change_history::{ChangeHistoryOptions, FakeBase, ObserveScope};

const MINUTE: Duration = Duration::from_secs(60);

/// The rows that a recorder gave so far.
#[derive(Clone, Default)]
struct Rows(Arc<Mutex<Vec<QualityRecord>>>);

impl Rows {
    fn recorder(&self) -> RetentionRecorder {
        let rows = self.clone();
        RetentionRecorder::new(move |new| {
            rows.locked().extend(new.into_iter().map(|(_, row)| row));
        })
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Vec<QualityRecord>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows with their keys and bodies, in the order of the keys.
    fn sorted(&self) -> Vec<(String, String)> {
        let rows = self.locked();
        let mut rows: Vec<(String, String)> = rows.iter().map(|it| (it.key(), it.body())).collect();
        rows.sort();
        rows
    }
}

fn open(place: &Place, files: &[(&str, &str)], clock: &Arc<FakeClock>) -> ChangeHistory {
    let parts = ChangeHistoryOptions {
        root: place.root.path().clone(),
        base: Box::new(FakeBase::new(files, &[])),
        folder: place.state.path().clone(),
        files: Arc::new(RealFiles),
        clock: clock.clone(),
    };
    ChangeHistory::open(parts, ChangeAuthor::Disk).unwrap()
}

#[test]
fn text_of_an_agent_is_measured_until_a_person_changes_it() {
    let files = [("a.rs", "fn a() {}\n"), ("b.rs", "fn b() {}\n")];
    let place = Place::new(&files);
    let clock = Arc::new(FakeClock::at(1));
    let rows = Rows::default();
    let recorder = rows.recorder();
    let mut history = open(&place, &files, &clock);
    history.follow(recorder.clone());
    place.write("a.rs", "fn a() { one two three four five }\n");
    history.observe(ObserveScope::All, &agent("s", 2)).unwrap();
    clock.advance(5 * MINUTE);
    place.write("a.rs", "fn a() { one zwei three four five }\n");
    // A change of a person elsewhere gives no rows.
    place.write("b.rs", "fn b() { by hand }\n");
    let person = ChangeAuthor::Person;
    history.observe(ObserveScope::All, &person).unwrap();
    clock.advance(10 * MINUTE);
    recorder.advance(clock.wall_ms());
    let rows = rows.locked().clone();
    let [
        QualityRecord::Unit(unit),
        QualityRecord::Kept(first),
        QualityRecord::Kept(_),
        QualityRecord::Kept(last),
    ] = rows.as_slice()
    else {
        panic!("a change and three measurements: {rows:?}");
    };
    assert_eq!(
        (
            unit.path.as_str(),
            unit.writer.as_str(),
            unit.session.as_str()
        ),
        ("a.rs", "agent", "s")
    );
    assert_eq!(
        (unit.turn, unit.tool.as_str(), unit.inserted),
        (2, "edit", 5)
    );
    assert_eq!((first.milestone.as_str(), first.inserted.kept), ("30s", 5));
    assert_eq!((last.milestone.as_str(), last.inserted.kept), ("10m", 4));
    let loss = LossRecord {
        after_ms: 300_000,
        fate: "reworked_by_person".to_owned(),
        tokens: 1,
    };
    assert_eq!(last.inserted.losses, [loss]);
}

#[test]
fn a_log_that_is_opened_again_gives_the_same_rows() {
    let files = [("a.rs", "fn a() {}\n")];
    let place = Place::new(&files);
    let clock = Arc::new(FakeClock::at(1));
    let (first, second) = (Rows::default(), Rows::default());
    let recorder = first.recorder();
    let mut history = open(&place, &files, &clock);
    history.follow(recorder.clone());
    for (turn, text) in ["one", "one two", "three"].iter().enumerate() {
        place.write("a.rs", &format!("fn a() {{ {text} }}\n"));
        let author = agent("s", turn as u64 + 1);
        history.observe(ObserveScope::All, &author).unwrap();
        clock.advance(3 * MINUTE);
    }
    recorder.advance(clock.wall_ms());
    drop(history);
    let recorder = second.recorder();
    open(&place, &files, &clock).follow(recorder.clone());
    recorder.advance(clock.wall_ms());
    assert!(first.sorted().len() > 6, "{:?}", first.sorted());
    assert_eq!(first.sorted(), second.sorted());
}

#[test]
fn texts_that_cannot_be_followed_are_closed() {
    let files = [("a.rs", "fn a() {}\n")];
    let place = Place::new(&files);
    let clock = Arc::new(FakeClock::at(1));
    let rows = Rows::default();
    let mut history = open(&place, &files, &clock);
    history.follow(rows.recorder());
    place.write("a.rs", "fn a() { one two }\n");
    history.observe(ObserveScope::All, &agent("s", 1)).unwrap();
    clock.advance(MINUTE);
    place.remove("a.rs");
    std::os::unix::fs::symlink("/nowhere", place.root.path().join("a.rs")).unwrap();
    let command = ChangeAuthor::Disk;
    history.observe(ObserveScope::All, &command).unwrap();
    let rows = rows.locked().clone();
    let Some(QualityRecord::Kept(last)) = rows.last() else {
        panic!("a measurement: {rows:?}");
    };
    assert_eq!((last.milestone.as_str(), last.inserted.kept), ("closed", 2));
}

#[test]
fn a_renamed_file_is_neither_lost_nor_written_again() {
    let files = [("a.rs", "fn a() {}\n")];
    let place = Place::new(&files);
    let clock = Arc::new(FakeClock::at(1));
    let rows = Rows::default();
    let recorder = rows.recorder();
    let mut history = open(&place, &files, &clock);
    history.follow(recorder.clone());
    let text = "fn a() { one two three four five }\n";
    place.write("a.rs", text);
    history.observe(ObserveScope::All, &agent("s", 1)).unwrap();
    clock.advance(MINUTE);
    place.remove("a.rs");
    place.write("b.rs", text);
    history.observe(ObserveScope::All, &agent("s", 2)).unwrap();
    clock.advance(3 * MINUTE);
    recorder.advance(clock.wall_ms());
    let rows = rows.locked().clone();
    let written = rows
        .iter()
        .filter(|it| matches!(it, QualityRecord::Unit(_)));
    assert_eq!(written.count(), 1, "{rows:?}");
    let Some(QualityRecord::Kept(last)) = rows.last() else {
        panic!("a measurement: {rows:?}");
    };
    assert_eq!((last.milestone.as_str(), last.inserted.kept), ("2m", 5));
    assert_eq!(last.inserted.losses, []);
}
