//! The words of all folded records, in a tantivy index with one document per chunk.
//!
//! tantivy stores the postings; scores are computed here, since they cover only the chunks of a
//! view.
//! Invariant: the index's payload states its extent: the id of the log, and the offset up to which
//! it was folded in.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base::AbsPath;
use host::{Files, RealFiles};
use tantivy::directory::MmapDirectory;
use tantivy::directory::error::LockError;
use tantivy::index::SegmentId;
use tantivy::indexer::IndexWriterOptions;
use tantivy::postings::Postings;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};
use tantivy::{
    DocSet, Index, IndexSettings, IndexWriter, ReloadPolicy, TERMINATED, TantivyDocument,
    TantivyError, Term,
};

/// Number of times that a busy lock is tried again, and the pause before each. A process inherits the handles of this
/// one between its creation and its start, and the lock with them.
const LOCK_TRIES: usize = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Memory budget of the writer in bytes: the minimum that tantivy accepts.
const WRITER_BYTES: usize = 15_000_000;

/// The writable index of words on disk, by chunk (tantivy).
pub(crate) struct LexicalIndex {
    index: Index,
    words: Field,
    chunk: Field,
    folder: AbsPath,
}

/// Words being added to the index. If dropped before `finish`, they are discarded.
pub(crate) struct LexicalFold {
    writer: IndexWriter,
    words: Field,
    chunk: Field,
}

/// A read-only snapshot of the index of words, for queries.
#[derive(Clone)]
pub(crate) struct LexicalSnapshot {
    words: Field,
    parts: Vec<LexicalSegment>,
}

#[derive(Clone)]
struct LexicalSegment {
    id: SegmentId,
    inverted: Arc<tantivy::InvertedIndexReader>,
    /// The chunk number of each document.
    chunks: Arc<Vec<u32>>,
}

/// A chunk with its words, repeated as often as they occur and separated by blanks.
pub(crate) struct ChunkDocument {
    pub(crate) chunk: u32,
    pub(crate) words: String,
}

impl LexicalIndex {
    /// Opens the index in `folder` and returns the offset up to which it contains the log `id`: 0
    /// if it is new, damaged, of another log, or ahead of the log's `end`, which was truncated. An
    /// unusable index is recreated, but only with `may_write`, since another program may be using
    /// it.
    pub(crate) fn open(
        folder: &AbsPath,
        id: u64,
        end: u64,
        may_write: bool,
    ) -> tantivy::Result<(Self, u64)> {
        let opened = Self::at(folder).and_then(|disk| {
            let folded = disk.folded(id)?;
            Ok((disk, if folded <= end { folded } else { 0 }))
        });
        match opened {
            Ok((disk, folded)) if folded > 0 || !may_write => Ok((disk, folded)),
            Err(error) if !may_write => Err(error),
            _ => {
                if RealFiles.exists(folder) {
                    RealFiles.remove(folder).map_err(refused)?;
                }
                Ok((Self::at(folder)?, 0))
            }
        }
    }

    /// Opens or creates the index in `folder`. Returns an error if the folder cannot be created or
    /// contains an unreadable index or one with other fields.
    fn at(folder: &AbsPath) -> tantivy::Result<Self> {
        RealFiles.create_folder(folder).map_err(refused)?;
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("blanks")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::WithFreqs);
        let words = schema.add_text_field(
            "words",
            TextOptions::default().set_indexing_options(indexing),
        );
        let chunk = schema.add_u64_field("chunk", NumericOptions::default() | FAST);
        let directory = MmapDirectory::open(folder.as_path())?;
        let index = Index::builder()
            .schema(schema.build())
            .settings(IndexSettings::default())
            .open_or_create(directory)?;
        let blanks = TextAnalyzer::builder(BlankTokenizer::default()).build();
        index.tokenizers().register("blanks", blanks);
        Ok(Self {
            index,
            words,
            chunk,
            folder: folder.clone(),
        })
    }

    /// Returns the offset up to which the log `id` was folded in.
    fn folded(&self, id: u64) -> tantivy::Result<u64> {
        let payload = self.index.load_metas()?.payload.unwrap_or_default();
        let folded = payload.split_once(' ').and_then(|(of, upto)| {
            let is_ours = of.parse() == Ok(id);
            is_ours.then(|| upto.parse().ok())?
        });
        Ok(folded.unwrap_or(0))
    }

    /// Starts adding words. Only one fold may run at a time. Fails if the index cannot be written. Blocks for at most
    /// a second while a process that was just started holds a copy of the former fold's lock.
    pub(crate) fn start_fold(&self) -> tantivy::Result<LexicalFold> {
        let is_busy = |result: &tantivy::Result<LexicalFold>| {
            let busy = |error: &LockError| matches!(error, LockError::LockBusy);
            matches!(result, Err(TantivyError::LockFailure(error, _)) if busy(error))
        };
        let mut result = self.try_start_fold();
        for _ in 0..LOCK_TRIES {
            if !is_busy(&result) {
                break;
            }
            thread::park_timeout(LOCK_PAUSE);
            result = self.try_start_fold();
        }
        result
    }

    fn try_start_fold(&self) -> tantivy::Result<LexicalFold> {
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(WRITER_BYTES)
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        Ok(LexicalFold {
            writer: self.index.writer_with_options(options)?,
            words: self.words,
            chunk: self.chunk,
        })
    }

    /// Returns a snapshot of the current state. Segments that `before` contains are reused.
    pub(crate) fn read(
        &self,
        before: Option<&LexicalSnapshot>,
    ) -> tantivy::Result<LexicalSnapshot> {
        let reader = self
            .index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        let known: HashMap<SegmentId, &LexicalSegment> = before
            .iter()
            .flat_map(|before| before.parts.iter().map(|part| (part.id, part)))
            .collect();
        let mut parts = Vec::new();
        for segment in reader.searcher().segment_readers() {
            if let Some(part) = known.get(&segment.segment_id()) {
                parts.push((*part).clone());
                continue;
            }
            let column = segment.fast_fields().u64("chunk")?;
            let chunk = |document| column.first(document).unwrap_or(u64::from(u32::MAX)) as u32;
            parts.push(LexicalSegment {
                id: segment.segment_id(),
                inverted: segment.inverted_index(self.words)?,
                chunks: Arc::new((0..segment.max_doc()).map(chunk).collect()),
            });
        }
        Ok(LexicalSnapshot {
            words: self.words,
            parts,
        })
    }

    /// Returns the size of its files in bytes.
    pub(crate) fn size(&self) -> u64 {
        let listing = RealFiles.list(&self.folder).unwrap_or_default();
        let stats = listing
            .entries
            .iter()
            .filter_map(|entry| RealFiles.stat(&entry.path).ok());
        stats.map(|stat| stat.stamp.size).sum()
    }
}

impl LexicalFold {
    /// Adds chunks, which the writer's thread processes. The chunks become visible to searches with
    /// `finish`.
    pub(crate) fn add(
        &mut self,
        documents: impl Iterator<Item = ChunkDocument>,
    ) -> tantivy::Result<()> {
        for document in documents {
            let mut fields = TantivyDocument::default();
            fields.add_text(self.words, document.words);
            fields.add_u64(self.chunk, u64::from(document.chunk));
            self.writer.add_document(fields)?;
        }
        Ok(())
    }

    /// Commits the additions; `upto` is the offset of the log `id` that is then included. Durable
    /// on return.
    pub(crate) fn finish(mut self, id: u64, upto: u64) -> tantivy::Result<()> {
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&format!("{id} {upto}"));
        commit.commit()?;
        self.writer.wait_merging_threads()
    }
}

impl LexicalSnapshot {
    /// Calls `each` with every chunk that contains exactly `word`, and the number of occurrences in
    /// it.
    pub(crate) fn each(&self, word: &str, mut each: impl FnMut(u32, u32)) -> tantivy::Result<()> {
        let term = Term::from_field_text(self.words, word);
        for part in &self.parts {
            let postings = part
                .inverted
                .read_postings(&term, IndexRecordOption::WithFreqs)?;
            let Some(mut postings) = postings else {
                continue;
            };
            let mut document = postings.doc();
            while document != TERMINATED {
                if let Some(chunk) = part.chunks.get(document as usize) {
                    each(*chunk, postings.term_freq());
                }
                document = postings.advance();
            }
        }
        Ok(())
    }

    /// Returns the number of chunks, including those of no view.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.chunks.len()).sum()
    }
}

fn refused(error: host::Error) -> tantivy::TantivyError {
    tantivy::TantivyError::SystemError(error.to_string())
}

/// A tokenizer that splits at blanks: the words were determined before.
#[derive(Clone, Default)]
struct BlankTokenizer {
    token: Token,
}

struct BlankStream<'a> {
    rest: &'a str,
    token: &'a mut Token,
}

impl Tokenizer for BlankTokenizer {
    type TokenStream<'a> = BlankStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> BlankStream<'a> {
        self.token.reset();
        BlankStream {
            rest: text,
            token: &mut self.token,
        }
    }
}

impl TokenStream for BlankStream<'_> {
    fn advance(&mut self) -> bool {
        if self.rest.is_empty() {
            return false;
        }
        let (word, rest) = self.rest.split_once(' ').unwrap_or((self.rest, ""));
        self.token.text.clear();
        self.token.text.push_str(word);
        self.token.position = self.token.position.wrapping_add(1);
        self.rest = rest;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests;
