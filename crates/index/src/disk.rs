//! The words of everything that was folded, in tantivy's index: a document is a chunk, told by its number.
//!
//! tantivy keeps the postings; scores are ours, since they count only what a view holds.
//! Invariant: what the index holds is told in its payload, the id of the log and how far of it was folded in.

use std::collections::HashMap;
use std::sync::Arc;

use base::AbsPath;
use host::{Files, RealFiles};
use tantivy::directory::MmapDirectory;
use tantivy::index::SegmentId;
use tantivy::indexer::IndexWriterOptions;
use tantivy::postings::Postings;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};
use tantivy::{
    DocSet, Index, IndexSettings, IndexWriter, ReloadPolicy, TERMINATED, TantivyDocument, Term,
};

/// Bytes that words may take before they are written: the least that tantivy allows.
const BUDGET: usize = 15_000_000;

/// The index, to be written.
pub(crate) struct Disk {
    index: Index,
    words: Field,
    chunk: Field,
    folder: AbsPath,
}

/// Words on their way into the index. What is dropped before `finish` never was in.
pub(crate) struct Folding {
    writer: IndexWriter,
    words: Field,
    chunk: Field,
}

/// The index at one moment, to be read.
#[derive(Clone)]
pub(crate) struct Snapshot {
    words: Field,
    parts: Vec<Part>,
}

#[derive(Clone)]
struct Part {
    id: SegmentId,
    inverted: Arc<tantivy::InvertedIndexReader>,
    /// The chunk of each document.
    chunks: Arc<Vec<u32>>,
}

/// A chunk with its words, each as often as it occurs, with a blank between.
pub(crate) struct Document {
    pub(crate) chunk: u32,
    pub(crate) words: String,
}

impl Disk {
    /// Opens the index in `folder`, and says how far of the log `id` it holds: 0 where it is new, damaged, of another
    /// log, or tells of more than the log's `end`, which was cut. What is of no use is begun anew, but without
    /// `may_write`, as another program may be at it.
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
        let blanks = TextAnalyzer::builder(Blanks::default()).build();
        index.tokenizers().register("blanks", blanks);
        Ok(Self {
            index,
            words,
            chunk,
            folder: folder.clone(),
        })
    }

    /// How far of the log `id` was folded in.
    fn folded(&self, id: u64) -> tantivy::Result<u64> {
        let payload = self.index.load_metas()?.payload.unwrap_or_default();
        let folded = payload.split_once(' ').and_then(|(of, upto)| {
            let is_ours = of.parse() == Ok(id);
            is_ours.then(|| upto.parse().ok())?
        });
        Ok(folded.unwrap_or(0))
    }

    /// Begins to take words in.
    pub(crate) fn begin(&self) -> tantivy::Result<Folding> {
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(BUDGET)
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        Ok(Folding {
            writer: self.index.writer_with_options(options)?,
            words: self.words,
            chunk: self.chunk,
        })
    }

    /// What it holds now. Parts that `before` knew already are taken from it.
    pub(crate) fn read(&self, before: Option<&Snapshot>) -> tantivy::Result<Snapshot> {
        let reader = self
            .index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        let known: HashMap<SegmentId, &Part> = before
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
            parts.push(Part {
                id: segment.segment_id(),
                inverted: segment.inverted_index(self.words)?,
                chunks: Arc::new((0..segment.max_doc()).map(chunk).collect()),
            });
        }
        Ok(Snapshot {
            words: self.words,
            parts,
        })
    }

    /// Bytes of its files.
    pub(crate) fn size(&self) -> u64 {
        let listing = RealFiles.list(&self.folder).unwrap_or_default();
        let stats = listing
            .entries
            .iter()
            .filter_map(|entry| RealFiles.stat(&entry.path).ok());
        stats.map(|stat| stat.stamp.size).sum()
    }
}

impl Folding {
    /// Adds chunks. They are taken in by another thread.
    pub(crate) fn add(&mut self, documents: impl Iterator<Item = Document>) -> tantivy::Result<()> {
        for document in documents {
            let mut fields = TantivyDocument::default();
            fields.add_text(self.words, document.words);
            fields.add_u64(self.chunk, u64::from(document.chunk));
            self.writer.add_document(fields)?;
        }
        Ok(())
    }

    /// Makes what was added part of the index; `upto` is how far of the log `id` is then in. Durable when it returns.
    pub(crate) fn finish(mut self, id: u64, upto: u64) -> tantivy::Result<()> {
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&format!("{id} {upto}"));
        commit.commit()?;
        self.writer.wait_merging_threads()
    }
}

impl Snapshot {
    /// Calls `each` with the chunks that hold a word, and how often.
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

    /// How many chunks it holds, those of no view included.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.chunks.len()).sum()
    }
}

fn refused(error: host::Error) -> tantivy::TantivyError {
    tantivy::TantivyError::SystemError(error.to_string())
}

/// Cuts at blanks: words come as they were counted.
#[derive(Clone, Default)]
struct Blanks {
    token: Token,
}

struct BlankStream<'a> {
    rest: &'a str,
    token: &'a mut Token,
}

impl Tokenizer for Blanks {
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
