//! Rows about the quality of agents and suggestions. Their meaning belongs to the crate `quality`.

use rusqlite::params;

use crate::rows::{int, number};
use crate::{Error, Ledger};

/// A row about quality.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QualityRow {
    /// Time that the row is about, in milliseconds since 1970.
    pub at_ms: u64,
    /// The kind of the row.
    pub kind: String,
    /// Version of the body.
    pub version: u32,
    /// The key, unique within the kind.
    pub key: String,
    /// The body as JSON.
    pub body: String,
}

impl Ledger {
    /// Returns whether there is a row of this kind and key.
    pub fn has_quality(&self, kind: &str, key: &str) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM quality WHERE kind = ?1 AND key = ?2";
        let rows = self.read(sql, params![kind, key], |_| Ok(()))?;
        Ok(!rows.is_empty())
    }

    /// Returns the rows about quality since `since_ms` (milliseconds since 1970) that `is_wanted` accepts by kind and
    /// key, in the reverse order of their appending.
    pub fn quality(
        &self,
        since_ms: u64,
        mut is_wanted: impl FnMut(&str, &str) -> bool,
    ) -> Result<Vec<QualityRow>, Error> {
        let sql = "SELECT at_ms, kind, version, key, body FROM quality WHERE at_ms >= ?1 ORDER BY row DESC";
        let rows = self.read(sql, params![int(since_ms)], |row| {
            let text = |ix: usize| row.get_ref(ix)?.as_str().map_err(rusqlite::Error::from);
            let (kind, key) = (text(1)?, text(3)?);
            // Most rows of old changes are superseded; reading their bodies would take most of the time.
            if !is_wanted(kind, key) {
                return Ok(None);
            }
            Ok(Some(QualityRow {
                at_ms: number(row, 0)?,
                kind: kind.to_owned(),
                version: row.get(2)?,
                key: key.to_owned(),
                body: text(4)?.to_owned(),
            }))
        })?;
        Ok(rows.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests;
