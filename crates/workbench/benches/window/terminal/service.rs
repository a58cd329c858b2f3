//! A service whose programs are real, and that notes what the window reads of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use ::terminal::{
    ClipboardAccess, CursorShape, Emulator, EmulatorOptions, TerminalEvent, TerminalSession,
    TerminalSpec, WakeUp,
};
use base::AbsPath;
use futures::future::{BoxFuture, FutureExt as _, ready};
use host::RealClock;
use host::environment::{Recipient, variables};
use host::process::{ProcessExit, TerminalSize};
use terminal_panel::{
    ProgramLaunch, SavedPane, ServiceAnswer, TerminalProgram, TerminalService, TerminalServiceError,
};

/// Notes about the reads of a terminal by its window. A window reads a terminal when it draws it.
#[derive(Default)]
pub(super) struct TerminalReads {
    count: AtomicU64,
    column: AtomicUsize,
}

/// Starts a script in each terminal.
pub(super) struct BenchTerminals {
    script: String,
    reads: Arc<TerminalReads>,
}

/// A program that notes its reads.
struct WatchedProgram {
    session: TerminalSession,
    reads: Arc<TerminalReads>,
}

/// Time that a program has to end by itself when it is stopped.
const GRACE: Duration = Duration::from_millis(500);

impl TerminalReads {
    /// Returns the number of reads.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Returns the column of the cursor in the last read.
    pub(super) fn column(&self) -> usize {
        self.column.load(Ordering::Acquire)
    }
}

impl BenchTerminals {
    pub(super) fn new(script: &str, reads: &Arc<TerminalReads>) -> Self {
        Self {
            script: script.to_owned(),
            reads: reads.clone(),
        }
    }

    fn start(&self, launch: ProgramLaunch, wake: WakeUp) -> Result<WatchedProgram, host::Error> {
        let root = AbsPath::new("/").expect("the root is absolute");
        let spec = TerminalSpec {
            program: "sh".into(),
            arguments: vec!["-c".into(), self.script.clone().into()],
            folder: launch.folder.unwrap_or(root),
            variables: variables(Recipient::Personal),
            integration: None,
            sandbox: None,
            emulator: EmulatorOptions {
                size: launch.size,
                scrollback: launch.settings.scrollback_lines,
                cursor_shape: CursorShape::Block,
                clipboard: ClipboardAccess::None,
                nonce: None,
                host_name: None,
            },
            restored: None,
            output: None,
        };
        let session = TerminalSession::start(spec, Arc::new(RealClock::default()), wake)?;
        Ok(WatchedProgram {
            session,
            reads: self.reads.clone(),
        })
    }
}

impl TerminalService for BenchTerminals {
    fn open(&self, launch: ProgramLaunch, wake: WakeUp) -> ServiceAnswer<Arc<dyn TerminalProgram>> {
        let started = self.start(launch, wake);
        let started = started.map(|program| Arc::new(program) as Arc<dyn TerminalProgram>);
        ready(started.map_err(|error| TerminalServiceError(error.to_string()))).boxed()
    }

    fn existing_paths(&self, _: Vec<AbsPath>) -> BoxFuture<'static, Vec<AbsPath>> {
        ready(Vec::new()).boxed()
    }

    fn home_folder(&self) -> Option<AbsPath> {
        None
    }

    fn host_name(&self) -> Option<String> {
        None
    }

    fn time_of_day(&self) -> String {
        "14:02".to_owned()
    }

    fn load_saved(&self) -> ServiceAnswer<Vec<SavedPane>> {
        ready(Ok(Vec::new())).boxed()
    }

    fn save(&self, _: Vec<SavedPane>) -> ServiceAnswer<()> {
        ready(Ok(())).boxed()
    }
}

impl TerminalProgram for WatchedProgram {
    fn acknowledge(&self) {
        self.session.acknowledge();
    }

    fn take_events(&self) -> Vec<TerminalEvent> {
        self.session.take_events()
    }

    fn visit_emulator(&self, read: &mut dyn FnMut(&mut Emulator)) {
        let column = self.session.with_emulator(|emulator| {
            read(emulator);
            emulator.cursor().column
        });
        self.reads.column.store(column.into(), Ordering::Release);
        self.reads.count.fetch_add(1, Ordering::AcqRel);
    }

    fn write(&self, bytes: Vec<u8>) -> bool {
        self.session.write(bytes)
    }

    fn resize_grid(&self, size: TerminalSize) {
        self.session.resize_grid(size);
    }

    fn resize_program(&self) {
        self.session.resize_program();
    }

    fn exit(&self) -> Option<ProcessExit> {
        self.session.exit().map(|report| report.exit)
    }

    fn process_count(&self) -> usize {
        self.session.members().len()
    }

    fn stop(&self) {
        self.session.stop(GRACE);
    }
}
