//! Folding: the words of new entries go from memory into tantivy's index.
//!
//! While much is read they are handed on as they come, so that they are counted beside what is read; what was handed on
//! is in only once the log that it is of is on the disk and the fold was finished.

use crate::disk::{self, Document, Folding};
use crate::record::each_term;

use super::{Entry, Keeper, Store};

/// Whether words are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// Where they are worth a part of the index.
    Now,
    /// Only where they take much memory.
    WhenMany,
    /// As `WhenMany`, but more will come and then they are folded: what there is may be counted meanwhile.
    Beside,
}

impl Store {
    /// Hands the words that are not yet on their way to the index.
    pub(super) fn hand_on(&self, keeper: &mut Keeper) -> tantivy::Result<Option<(Folding, usize)>> {
        let Some(disk) = &keeper.disk else {
            return Ok(None);
        };
        let (mut folding, handed) = match keeper.folding.take() {
            Some(begun) => begun,
            None => (disk.begin()?, 0),
        };
        // One entry's at a time, so that they are counted while the next ones are spelt.
        let rest = keeper.unfolded.get(handed..).unwrap_or_default();
        folding.add(rest.iter().flat_map(|id| {
            let known = self.known();
            known.entry(*id).map_or_else(Vec::new, documents)
        }))?;
        Ok(Some((folding, keeper.unfolded.len())))
    }

    pub(super) fn fold(&self, keeper: &mut Keeper) {
        let (Some(log), Some(_)) = (&mut keeper.log, &keeper.disk) else {
            return;
        };
        let upto = log.end();
        if let Err(error) = log.sync() {
            return keeper.give_up(&error.to_string());
        }
        let folded = self.folded(keeper, upto);
        let ids = std::mem::take(&mut keeper.unfolded);
        keeper.unfolded_chunks = 0;
        if let Some(folded) = keeper.or_without_disk(folded) {
            let mut known = self.change();
            known.folded = Some(folded);
            let mut delta = std::mem::take(&mut known.delta);
            delta.remove_all(&known, &ids);
            known.delta = delta;
        }
    }

    /// Folds the words that wait; they are all of the log up to `upto`.
    fn folded(&self, keeper: &mut Keeper, upto: u64) -> tantivy::Result<Option<disk::Snapshot>> {
        let folding = self.hand_on(keeper)?;
        let Some((folding, disk)) = folding.zip(keeper.disk.as_ref()) else {
            return Ok(None);
        };
        folding.0.finish(keeper.id, upto)?;
        let before = self.known().folded.clone();
        disk.read(before.as_ref()).map(Some)
    }
}

impl Keeper {
    /// What came of an attempt to write words. Where it failed they stay in memory, where they are found as well.
    pub(super) fn or_without_disk<T>(&mut self, result: tantivy::Result<Option<T>>) -> Option<T> {
        result.unwrap_or_else(|error| {
            let note = format!("The index of words cannot be written: {error}.");
            self.notes.push(note);
            self.disk = None;
            None
        })
    }
}

fn documents(entry: &Entry) -> Vec<Document> {
    let count = entry.layout.count;
    let mut documents: Vec<Document> = (0..count)
        .map(|ix| Document {
            chunk: entry.first + ix,
            words: String::new(),
        })
        .collect();
    each_term(&entry.layout, &entry.bytes, |term, places| {
        for (chunk, count) in places {
            let Some(document) = documents.get_mut(chunk as usize) else {
                continue;
            };
            for _ in 0..count {
                document.words.push_str(term);
                document.words.push(' ');
            }
        }
    });
    documents
}
