//! Folding: moves the words of new entries from memory into tantivy's index.
//!
//! During a full pass they are added as they arrive, so that tantivy processes them in parallel;
//! they become part of the index only once the log is on disk and the fold is finished.

use crate::lexical::{self, ChunkDocument, LexicalFold};
use crate::record::each_term;

use super::{ChunkStore, StorePersister, StoredFile};

/// The condition under which words in memory are folded into the index on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldPolicy {
    /// Fold if there are enough for a segment.
    Now,
    /// Fold only if they use much memory.
    WhenMany,
    /// Like `WhenMany`, but start processing words already, since more will follow.
    InBackground,
}

impl ChunkStore {
    /// Passes the words that are not yet in the index to a fold.
    pub(super) fn start_fold(
        &self,
        persister: &mut StorePersister,
    ) -> tantivy::Result<Option<(LexicalFold, usize)>> {
        let Some(disk) = &persister.disk else {
            return Ok(None);
        };
        let (mut folding, handed) = match persister.folding.take() {
            Some(begun) => begun,
            None => (disk.start_fold()?, 0),
        };
        // One entry at a time, so that they are processed while the next ones are prepared.
        let rest = persister.unfolded.get(handed..).unwrap_or_default();
        folding.add(rest.iter().flat_map(|id| {
            let contents = self.contents();
            contents.entry(*id).map_or_else(Vec::new, documents)
        }))?;
        Ok(Some((folding, persister.unfolded.len())))
    }

    pub(super) fn fold(&self, persister: &mut StorePersister) {
        let (Some(log), Some(_)) = (&mut persister.log, &persister.disk) else {
            return;
        };
        let upto = log.end_offset();
        if let Err(error) = log.sync() {
            return persister.give_up(&error.to_string());
        }
        let folded = self.folded(persister, upto);
        let ids = std::mem::take(&mut persister.unfolded);
        persister.unfolded_chunks = 0;
        if let Some(folded) = persister.or_without_disk(folded) {
            let mut contents = self.change();
            contents.folded = Some(folded);
            let mut delta = std::mem::take(&mut contents.delta);
            let chunks = |id: &u32| contents.entry(*id).map_or(0..0, StoredFile::chunks);
            let records: Vec<_> = ids.iter().map(chunks).collect();
            delta.remove_all(&records);
            contents.delta = delta;
        }
    }

    /// Folds the pending words, which cover the log up to `upto`.
    fn folded(
        &self,
        persister: &mut StorePersister,
        upto: u64,
    ) -> tantivy::Result<Option<lexical::LexicalSnapshot>> {
        let folding = self.start_fold(persister)?;
        let Some((folding, disk)) = folding.zip(persister.disk.as_ref()) else {
            return Ok(None);
        };
        folding.0.finish(persister.id, upto)?;
        let before = self.contents().folded.clone();
        disk.read(before.as_ref()).map(Some)
    }
}

impl StorePersister {
    /// Unwraps the result of writing words. On failure the words stay in memory, where they are
    /// still searchable.
    pub(super) fn or_without_disk<T>(&mut self, result: tantivy::Result<Option<T>>) -> Option<T> {
        result.unwrap_or_else(|error| {
            let note = format!("The index of words cannot be written: {error}.");
            self.notes.push(note);
            self.disk = None;
            None
        })
    }
}

fn documents(entry: &StoredFile) -> Vec<ChunkDocument> {
    let count = entry.layout.count;
    let mut documents: Vec<ChunkDocument> = (0..count)
        .map(|ix| ChunkDocument {
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
