//! Operating systems whose conventions the program follows.

/// Operating system whose keys, menus and window behaviour the program follows.
///
/// A value, not a condition of the compiler: a test or a picture made on one system shows the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Platform {
    /// Ctrl is the main modifier, and the window draws its own menus.
    Linux,
    /// Command is the main modifier, and the system draws the menu bar.
    MacOs,
}

impl Platform {
    /// The system that this program was compiled for.
    pub const CURRENT: Self = if cfg!(target_os = "macos") {
        Self::MacOs
    } else {
        Self::Linux
    };
}
