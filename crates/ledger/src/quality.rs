//! Rows about the quality of agents and suggestions. Their meaning belongs to the crate `quality`.

use rusqlite::params;

use crate::rows::{QualityRow, int, number};
use crate::{Error, Ledger};

impl Ledger {
    /// Returns whether there is a row of this kind and key.
    pub fn has_quality(&self, kind: &str, key: &str) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM quality WHERE kind = ?1 AND key = ?2";
        let rows = self.read(sql, params![kind, key], |_| Ok(()))?;
        Ok(!rows.is_empty())
    }

    /// Returns the earliest time of the rows of a kind whose keys begin with a word and a space, in milliseconds since
    /// 1970; `None` if there are none.
    pub fn first_quality(&self, kind: &str, word: &str) -> Result<Option<u64>, Error> {
        let sql = "SELECT MIN(at_ms) FROM quality WHERE kind = ?1 AND key >= ?2 AND key < ?3";
        // `!` follows the space.
        let (from, to) = (format!("{word} "), format!("{word}!"));
        let found = self.read(sql, params![kind, from, to], |row| {
            row.get::<_, Option<i64>>(0)
        })?;
        Ok(found.into_iter().flatten().next().map(i64::unsigned_abs))
    }

    /// Returns the rows about quality since `since_ms` (milliseconds since 1970) that `is_wanted` accepts by kind and
    /// key, in the reverse order of their appending.
    pub fn quality(
        &self,
        since_ms: u64,
        mut is_wanted: impl FnMut(&str, &str) -> bool,
    ) -> Result<Vec<QualityRow>, Error> {
        // The first row of the period by the index, so that the rows before it are not read.
        let sql = "SELECT at_ms, kind, version, key, body FROM quality \
                   WHERE row >= (SELECT MIN(row) FROM quality INDEXED BY quality_by_time WHERE at_ms >= ?1) \
                   AND +at_ms >= ?1 ORDER BY row DESC";
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
