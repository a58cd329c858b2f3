//! Groups found locations by file, merging adjacent ones.

use base::AbsPath;
use text::RowSpan;

/// Rows of a file, sorted; no two spans touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FilePlaces {
    /// Path of the file.
    pub path: AbsPath,
    /// Sorted, disjoint row spans.
    pub rows: Vec<RowSpan>,
}

/// Groups locations by file, in order of first occurrence.
pub(crate) fn gather(places: impl IntoIterator<Item = (AbsPath, RowSpan)>) -> Vec<FilePlaces> {
    let mut files: Vec<FilePlaces> = Vec::new();
    for (path, rows) in places {
        match files.iter_mut().find(|file| file.path == path) {
            Some(file) => file.rows.push(rows),
            None => files.push(FilePlaces {
                path,
                rows: vec![rows],
            }),
        }
    }
    for file in &mut files {
        file.rows.sort_by_key(|rows| rows.start);
        let mut joined: Vec<RowSpan> = Vec::with_capacity(file.rows.len());
        for rows in file.rows.drain(..) {
            match joined.last_mut() {
                Some(last) if rows.start <= last.end => last.end = last.end.max(rows.end),
                _ => joined.push(rows),
            }
        }
        file.rows = joined;
    }
    files
}

/// Returns the rows extended by `more` rows of context on both sides. The end may lie beyond the
/// end of the text.
pub(crate) fn expanded_rows(rows: RowSpan, more: u32) -> RowSpan {
    RowSpan {
        start: base::Row(rows.start.0.saturating_sub(more)),
        end: rows.end + more,
    }
}

#[cfg(test)]
mod tests {
    use base::{AbsPath, Row};
    use text::RowSpan;

    use super::gather;

    #[test]
    fn places_that_touch_become_one() {
        let path = |name: &str| AbsPath::new(name).expect("absolute");
        let rows = |start, end| RowSpan {
            start: Row(start),
            end: Row(end),
        };
        let found = gather([
            (path("/b"), rows(8, 10)),
            (path("/a"), rows(0, 2)),
            (path("/b"), rows(1, 3)),
            (path("/b"), rows(3, 4)),
            (path("/b"), rows(2, 3)),
        ]);
        let found: Vec<_> = found
            .into_iter()
            .map(|file| (file.path, file.rows))
            .collect();
        assert_eq!(
            found,
            [
                (path("/b"), vec![rows(1, 4), rows(8, 10)]),
                (path("/a"), vec![rows(0, 2)]),
            ]
        );
    }
}
