//! The learned tables as a whole: the scorer, the idioms, and the form of their files.
//!
//! A file is its magic, a checksum and its content. Invariant: a file that is truncated, changed or
//! made for other features is refused, so no table gives likelihoods of another program.

use std::sync::{Arc, OnceLock};

use super::{IdiomTable, TabScorer};

/// The files that ship, written by `cargo xtask train-tab`.
static SCORER: &[u8] = include_bytes!("../../../../../assets/models/tab-scorer.bin");
static IDIOMS: &[u8] = include_bytes!("../../../../../assets/models/tab-idioms.bin");

/// The learned tables of the local tier.
#[derive(Clone)]
pub struct TabTables {
    pub(crate) scorer: Arc<TabScorer>,
    pub(crate) idioms: Arc<IdiomTable>,
}

/// The reason why a file of tables is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The file is truncated or changed, or is another file.
    #[error("the learned tables are damaged")]
    Damaged,
    /// The file was trained for other features.
    #[error("the learned tables belong to another version")]
    OtherFeatures,
}

impl TabTables {
    /// Combines trained tables.
    pub fn new(scorer: TabScorer, idioms: IdiomTable) -> Self {
        Self {
            scorer: Arc::new(scorer),
            idioms: Arc::new(idioms),
        }
    }

    /// Returns tables with the same idioms and another scorer.
    pub fn with_scorer(&self, scorer: TabScorer) -> Self {
        Self {
            scorer: Arc::new(scorer),
            idioms: self.idioms.clone(),
        }
    }

    /// Reads the files that `TabScorer::to_bytes` and `IdiomTable::to_bytes` give.
    pub fn from_bytes(scorer: &[u8], idioms: &[u8]) -> Result<Self, TableError> {
        let scorer = TabScorer::from_bytes(scorer)?;
        Ok(Self::new(scorer, IdiomTable::from_bytes(idioms)?))
    }

    /// Reads the tables that ship, so that no window waits for them. Takes milliseconds; call it on another thread
    /// than the windows'.
    pub fn prepare() {
        drop(Self::shipped());
    }

    /// Returns the tables that ship. They are read once.
    pub(crate) fn shipped() -> Result<Self, TableError> {
        static TABLES: OnceLock<Result<TabTables, TableError>> = OnceLock::new();
        TABLES
            .get_or_init(|| Self::from_bytes(SCORER, IDIOMS))
            .clone()
    }
}

/// Returns the bytes of a file with this content.
pub(super) fn sealed(magic: &[u8; 8], content: &[u8]) -> Vec<u8> {
    let mut bytes = magic.to_vec();
    bytes.extend(hash(content).to_le_bytes());
    bytes.extend(content);
    bytes
}

/// Returns the content of a file made by `sealed`.
pub(super) fn unsealed<'a>(magic: &[u8; 8], bytes: &'a [u8]) -> Result<Reader<'a>, TableError> {
    let rest = bytes.strip_prefix(magic).ok_or(TableError::Damaged)?;
    let mut reader = Reader(rest);
    let sum = u32::from_le_bytes(reader.take()?);
    if sum == hash(reader.0) {
        Ok(reader)
    } else {
        Err(TableError::Damaged)
    }
}

/// FNV-1a with 32 bits.
pub(super) fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

/// Takes numbers from the start of bytes.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Takes the next `length` bytes.
    pub(super) fn split(&mut self, length: usize) -> Result<&'a [u8], TableError> {
        let (first, rest) = self.0.split_at_checked(length).ok_or(TableError::Damaged)?;
        self.0 = rest;
        Ok(first)
    }

    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], TableError> {
        let (first, rest) = self.0.split_first_chunk().ok_or(TableError::Damaged)?;
        self.0 = rest;
        Ok(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::{IDIOMS, SCORER, TabTables, TableError};

    #[test]
    fn the_shipped_tables_are_whole() {
        let tables = TabTables::from_bytes(SCORER, IDIOMS).expect("tables");
        assert!(tables.scorer.has_trees() && !tables.idioms.is_empty());
        assert!(SCORER.len() + IDIOMS.len() < 8 << 20);
    }

    #[test]
    fn truncated_or_changed_files_are_refused() {
        for (file, is_scorer) in [(SCORER, true), (IDIOMS, false)] {
            let read = |bytes: &[u8]| {
                let both = if is_scorer {
                    (bytes, IDIOMS)
                } else {
                    (SCORER, bytes)
                };
                TabTables::from_bytes(both.0, both.1).err()
            };
            assert_eq!(read(file), None);
            let ends = [0, 7, 8, 11, 12, file.len() / 2, file.len() - 1];
            for end in ends {
                assert_eq!(read(&file[..end]), Some(TableError::Damaged), "{end}");
            }
            for at in [0, 9, 12, file.len() / 3, file.len() - 1] {
                let mut changed = file.to_vec();
                changed[at] ^= 1;
                assert_eq!(read(&changed), Some(TableError::Damaged), "{at}");
            }
            assert_eq!(read(b"another file"), Some(TableError::Damaged));
        }
    }
}
