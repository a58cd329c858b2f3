//! A world for tests of views: files that are not there, a clock that stands still.
//!
//! An ordinary module, so that the panels above test with the same world.

use std::sync::Arc;

use base::AbsPath;
use host::{FakeClock, FakeFiles};

use crate::model::Environment;

/// An environment over fake files.
pub fn environment() -> Environment {
    environment_over(Arc::new(FakeFiles::new()))
}

/// An environment over these files.
pub fn environment_over(files: Arc<dyn host::Files>) -> Environment {
    Environment {
        files,
        clock: Arc::new(FakeClock::at(1_000_000)),
        recovery_folder: AbsPath::new("/recovery").expect("the path starts at the root"),
    }
}
