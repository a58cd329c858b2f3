//! Notes about panics of this program.

use std::sync::Arc;

use crash_report::{CrashRecorder, ProgramVersion};
use host::{Dirs, RealClock, RealFiles};

/// Writes a note about each panic from now on. The caller says when the program ends in order.
pub(crate) fn record(dirs: &Dirs) -> CrashRecorder {
    let program = ProgramVersion {
        name: "burin",
        version: env!("CARGO_PKG_VERSION"),
    };
    let (files, clock) = (Arc::new(RealFiles), Arc::new(RealClock::default()));
    CrashRecorder::install(program, files, clock, dirs.crashes())
}
