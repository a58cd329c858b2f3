//! The panic hook, which writes a note about each panic.

use std::backtrace::Backtrace;
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base::{AbsPath, LogErr as _};
use host::{Clock, FileLock, Files, ProgramImage};

use crate::note::{CrashNote, ProgramVersion, relative_backtrace};
use crate::notes::{CRASH, CrashNotes};

/// Number of notes that a run writes: a panic that repeats says nothing new.
const MAX_NOTES: u32 = 8;
/// Bounds of the texts in a note, in bytes.
const MAX_MESSAGE: usize = 16 << 10;
const MAX_BACKTRACE: usize = 128 << 10;

/// Writes notes about the panics of this process.
#[derive(Clone)]
pub struct CrashRecorder(Arc<RecordedRun>);

/// This run of the program.
struct RecordedRun {
    program: ProgramVersion,
    files: Arc<dyn Files>,
    clock: Arc<dyn Clock>,
    folder: AbsPath,
    /// The name of the run in the names of its notes.
    run: String,
    count: AtomicU32,
    /// Held from the first note to the end of the run, so that other processes wait for its end.
    lock: Mutex<Option<FileLock>>,
}

impl CrashRecorder {
    /// Installs the panic hook of this process; the former hook runs after it. Notes go to `folder`, which is created
    /// with the first of them. Builds for development write notes only if `BURIN_STATE_DIR` names the state folder.
    pub fn install(
        program: ProgramVersion,
        files: Arc<dyn Files>,
        clock: Arc<dyn Clock>,
        folder: AbsPath,
    ) -> Self {
        let recorder = Self::new(program, files, clock, folder);
        if cfg!(debug_assertions) && std::env::var_os("BURIN_STATE_DIR").is_none() {
            return recorder;
        }
        let (hook, former) = (recorder.clone(), panic::take_hook());
        panic::set_hook(Box::new(move |info| {
            hook.record(info);
            former(info);
        }));
        recorder
    }

    fn new(
        program: ProgramVersion,
        files: Arc<dyn Files>,
        clock: Arc<dyn Clock>,
        folder: AbsPath,
    ) -> Self {
        let run = format!("{:013}-{}", clock.wall_ms(), std::process::id());
        Self(Arc::new(RecordedRun {
            program,
            files,
            clock,
            folder,
            run,
            count: AtomicU32::new(0),
            lock: Mutex::new(None),
        }))
    }

    /// Says that the program ends in order: what panicked did not end it.
    pub fn conclude(&self) {
        let run = &self.0;
        if run.count.load(Ordering::Relaxed) > 0 {
            let notes = CrashNotes::new(run.files.clone(), run.folder.clone());
            notes.conclude(&run.run).log_err();
        }
    }

    fn record(&self, info: &PanicHookInfo<'_>) {
        let location = info.location().map(ToString::to_string);
        let message = info.payload_as_str().unwrap_or("no message");
        self.write(&location.unwrap_or_default(), message);
    }

    /// Writes the note of a panic on this thread: first without the calls, because resolving them may take long, or fail
    /// in a damaged process.
    fn write(&self, place: &str, message: &str) {
        let run = &self.0;
        let number = run.count.fetch_add(1, Ordering::Relaxed);
        if number >= MAX_NOTES {
            return;
        }
        let image = ProgramImage::of_this_process();
        let thread = std::thread::current();
        let mut note = CrashNote {
            program: format!("{} {}", run.program.name, run.program.version),
            build: image.build_id,
            at_ms: run.clock.wall_ms(),
            thread: thread.name().unwrap_or("without a name").to_owned(),
            place: place.to_owned(),
            message: cut(message, MAX_MESSAGE).to_owned(),
            backtrace: String::new(),
        };
        self.hold();
        let path = run.folder.join(format!("{}-{number}.{CRASH}", run.run));
        self.store(&path, &note);
        // The long form, which has the addresses of functions whose names were removed from the program.
        let backtrace = format!("{:#}", Backtrace::force_capture());
        let backtrace = relative_backtrace(&backtrace, run.program.name, &image.addresses);
        note.backtrace = cut(&backtrace, MAX_BACKTRACE).to_owned();
        self.store(&path, &note);
    }

    /// Takes the lock of the run, unless it is held already. Without the lock, another process may show the note before
    /// this run ends.
    fn hold(&self) {
        let run = &self.0;
        let mut lock = run.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if lock.is_none() {
            let notes = CrashNotes::new(run.files.clone(), run.folder.clone());
            run.files.create_folder(&run.folder).log_err();
            notes.trim();
            *lock = run.files.lock(&notes.lock_path(&run.run)).ok().flatten();
        }
    }

    fn store(&self, path: &AbsPath, note: &CrashNote) {
        let text = note.to_text();
        self.0.files.write_private(path, text.as_bytes()).log_err();
    }
}

/// Returns the beginning of a text, of at most `limit` bytes.
fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::AbsPath;
    use host::{FakeClock, FakeFiles, Files};

    use super::{CrashRecorder, MAX_MESSAGE, MAX_NOTES};
    use crate::note::{CrashNote, ProgramVersion};
    use crate::notes::{CrashNotes, NoteEnd};

    fn recorder() -> (CrashRecorder, CrashNotes, Arc<FakeFiles>) {
        let files = Arc::new(FakeFiles::new());
        let folder = AbsPath::new("/s/crashes").expect("absolute");
        let program = ProgramVersion {
            name: "burin",
            version: "1.2.3",
        };
        let clock = Arc::new(FakeClock::at(1_796_008_113_000));
        let recorder = CrashRecorder::new(program, files.clone(), clock, folder.clone());
        (recorder, CrashNotes::new(files.clone(), folder), files)
    }

    #[test]
    fn a_note_names_program_place_and_calls() {
        let (recorder, notes, _) = recorder();
        recorder.write("a.rs:1:2", "it failed");
        let note = notes.newest().expect("a note");
        let expected = CrashNote {
            program: "burin 1.2.3".to_owned(),
            place: "a.rs:1:2".to_owned(),
            message: "it failed".to_owned(),
            at_ms: 1_796_008_113_000,
            ..note.clone()
        };
        assert_eq!(note, expected);
        assert!(
            note.backtrace.contains("0x") || note.backtrace.contains("burin+"),
            "{}",
            note.backtrace
        );
        assert!(!note.thread.is_empty());
    }

    #[test]
    fn notes_wait_for_the_end_of_the_run() {
        let (recorder, notes, _) = recorder();
        recorder.write("a.rs:1:2", "it failed");
        assert!(notes.unseen().is_empty(), "the run is alive");
        drop(recorder);
        let ends: Vec<NoteEnd> = notes.unseen().iter().map(|it| it.end).collect();
        assert_eq!(ends, [NoteEnd::Crashed]);
    }

    #[test]
    fn an_orderly_end_says_that_the_run_went_on() {
        let (recorder, notes, _) = recorder();
        recorder.write("a.rs:1:2", "it failed");
        recorder.conclude();
        drop(recorder);
        let ends: Vec<NoteEnd> = notes.unseen().iter().map(|it| it.end).collect();
        assert_eq!(ends, [NoteEnd::WentOn]);
    }

    #[test]
    fn a_run_without_panics_writes_nothing() {
        let (recorder, _, files) = recorder();
        recorder.conclude();
        assert!(!files.exists(&AbsPath::new("/s").expect("absolute")));
    }

    #[test]
    fn the_number_and_size_of_notes_are_bounded() {
        let (recorder, notes, _) = recorder();
        let long = "\u{e4}".repeat(MAX_MESSAGE);
        for _ in 0..MAX_NOTES + 3 {
            recorder.write("a.rs:1:2", &long);
        }
        drop(recorder);
        let unseen = notes.unseen();
        assert_eq!(unseen.len(), MAX_NOTES as usize);
        let note = unseen[0].note.as_ref().expect("a note");
        assert_eq!(note.message.len(), MAX_MESSAGE);
    }
}
