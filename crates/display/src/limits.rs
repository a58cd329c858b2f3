//! Limits of the work done at once. Tests use tiny limits, so that the edge cases occur.

/// Maximum bytes in one row of a wrapped line, whatever their width; also the maximum length walked
/// in a row.
pub(crate) const ROW_BYTES: usize = if cfg!(test) { 40 } else { 16 * 1024 };

/// Shown lines longer than this are measured once and cached. At least `ROW_BYTES`.
pub(crate) const LONG_LINE_BYTES: usize = ROW_BYTES;

/// Bytes between two cached positions of a long line.
pub(crate) const STRETCH_BYTES: usize = if cfg!(test) { 12 } else { 4 * 1024 };

/// Number of long lines cached at a time.
pub(crate) const LONG_LINES: usize = if cfg!(test) { 2 } else { 8 };

/// Rows of a wrapped line kept in one item of the tree.
pub(crate) const ROWS_PER_ITEM: usize = if cfg!(test) { 3 } else { 64 };

/// Bytes wrapped at once after an edit; the rest waits for the background.
pub(crate) const SYNC_BYTES: usize = if cfg!(test) { 50 } else { 128 * 1024 };

/// Bytes of one line held in memory while it is wrapped.
pub(crate) const WINDOW_BYTES: usize = if cfg!(test) { 100 } else { 1024 * 1024 };

/// Bytes that one background job wraps, unless they are a single line.
pub(crate) const JOB_BYTES: usize = if cfg!(test) { 200 } else { 8 * 1024 * 1024 };

/// Items of the tree one background job replaces.
pub(crate) const JOB_ITEMS: usize = if cfg!(test) { 5 } else { 16 * 1024 };

/// If there are more splices than this, adjacent ones are joined.
pub(crate) const JOINED_SPLICES: usize = if cfg!(test) { 1 } else { 16 };

/// If more folds or inlays than this change, they are treated as one change.
pub(crate) const JOINED_MARKS: usize = if cfg!(test) { 2 } else { 512 };
