//! `burin-agent index` and `burin-agent search`: the semantic index on the command line.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use base::count_of;
use clap::{Args, ValueEnum};
use host::{Clock, Dirs, Files, RealClock};
use index::trigram::Trigrams;
use index::{
    Index as Engine, IndexOptions, IndexQuery, IndexStatus, QueryMode, SearchHit, trigram_folder,
};
use runtime::indexes::IndexRegistry;
use serde_json::{Value, json};

use crate::{Streams, folder, print_notice, write_error};

/// Bring the semantic index of a folder up to date
#[derive(Debug, Args)]
pub(crate) struct IndexCommand {
    /// The folder to index
    #[arg(long)]
    root: Option<PathBuf>,
    /// Print statistics of the index
    #[arg(long)]
    stats: bool,
    /// Print an object {files, chunks, embedded, left_out, disk_bytes, memory_bytes, ms, text_ms, notes}
    #[arg(long)]
    json: bool,
}

/// Find code by its meaning
#[derive(Debug, Args)]
pub(crate) struct SearchCommand {
    /// A question in plain words, or the name of a symbol
    question: String,
    /// The folder to search
    #[arg(long)]
    root: Option<PathBuf>,
    /// Search only below this folder, relative to the root
    #[arg(long)]
    folder: Option<PathBuf>,
    /// The most places to print
    #[arg(long, default_value_t = 10)]
    limit: usize,
    /// Ranking of the results
    #[arg(long, value_enum, default_value_t = RankingArg::Fused)]
    by: RankingArg,
    /// Print an object {complete, hits: [{path, lines, score, parts, symbol, kind, text}]}
    #[arg(long)]
    json: bool,
}

/// The signal that results are ranked by.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RankingArg {
    Fused,
    Words,
    Meaning,
    /// The question is the name of a definition.
    Symbol,
}

impl IndexCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let clock = RealClock::default();
        let (engine, reported) = open_engine(self.root.as_deref(), files, dirs, streams)?;
        let ms = clock.elapsed().as_secs_f64() * 1_000.0;
        if let Some(folder) = IndexOptions::kept_in(&dirs.cache).folder {
            let store = trigram_folder(&folder, engine.root());
            let trigrams = Trigrams::open(engine.root().clone(), store);
            let read = trigrams.refresh(&AtomicBool::new(false));
            let persisted = read.and_then(|_| trigrams.persist());
            persisted.unwrap_or_else(|error| print_notice(streams, &error.to_string()));
        }
        let text_ms = clock.elapsed().as_secs_f64() * 1_000.0 - ms;
        let status = wait_until_written(&engine, &reported, streams);
        let text = if self.json {
            format!("{}\n", status_json(&status, ms, text_ms))
        } else {
            status_text(&status, ms, self.stats)
        };
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(write_error)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl SearchCommand {
    /// Exit code 0 with places, 1 without.
    pub(crate) fn run(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let (engine, status) = open_engine(self.root.as_deref(), files, dirs, streams)?;
        let means = match self.by {
            RankingArg::Fused | RankingArg::Symbol => QueryMode::Fused,
            RankingArg::Words => QueryMode::Words,
            RankingArg::Meaning => QueryMode::Meaning,
        };
        let hits = match self.by {
            RankingArg::Symbol => engine.symbols(&self.question, self.limit),
            _ => {
                let query = IndexQuery {
                    folder: self.folder.clone(),
                    mode: means,
                    ..IndexQuery::new(&self.question, self.limit)
                };
                let twice = engine.search_reranked(&query);
                let (answer, failed) = twice.unwrap_or_else(|| (engine.search(&query), None));
                if let Some(sentence) = failed {
                    print_notice(streams, &format!("not reranked: {sentence}"));
                }
                answer.hits
            }
        };
        let text = if self.json {
            let hits: Vec<Value> = hits.iter().map(hit_json).collect();
            format!(
                "{}\n",
                json!({ "complete": status.is_ready(), "hits": hits })
            )
        } else {
            hits.iter().map(hit_text).collect()
        };
        streams
            .output
            .write_all(text.as_bytes())
            .and_then(|()| streams.output.flush())
            .map_err(write_error)?;
        // The answer is printed first; data that speeds up the next query is written after it.
        wait_until_written(&engine, &status, streams);
        Ok(if hits.is_empty() {
            ExitCode::from(1)
        } else {
            ExitCode::SUCCESS
        })
    }
}

/// The index of a folder, with everything in.
fn open_engine(
    root: Option<&std::path::Path>,
    files: &dyn Files,
    dirs: &Dirs,
    streams: &mut Streams<'_>,
) -> Result<(Engine, IndexStatus), String> {
    let root = folder(root, files)?;
    let stat = files.stat(&root).map_err(|error| error.to_string())?;
    if stat.kind != host::FileKind::Folder {
        return Err(format!("{root} is not a folder"));
    }
    let engine = IndexRegistry::new(dirs).open(&root);
    engine.wait_until_synced();
    let status = engine.status();
    if let index::IndexPhase::Off(why) = &status.phase {
        return Err(format!("there is no index: {why}"));
    }
    for note in &status.notes {
        print_notice(streams, note);
    }
    Ok((engine, status))
}

/// Waits until everything is written, and reports problems that `reported` does not contain.
fn wait_until_written(
    engine: &Engine,
    reported: &IndexStatus,
    streams: &mut Streams<'_>,
) -> IndexStatus {
    engine.wait_until_idle();
    let status = engine.status();
    for note in &status.notes {
        if !reported.notes.contains(note) {
            print_notice(streams, note);
        }
    }
    status
}

fn status_json(status: &IndexStatus, ms: f64, text_ms: f64) -> Value {
    let left_out = &status.left_out;
    json!({
        "files": status.files, "chunks": status.chunks, "embedded": status.embedded,
        "left_out": {
            "secret": left_out.secret, "large": left_out.large, "binary": left_out.binary, "generated": left_out.generated,
            "unreadable": left_out.unreadable,
        },
        "disk_bytes": status.disk_bytes, "memory_bytes": status.memory_bytes, "ms": ms, "text_ms": text_ms,
        "notes": status.notes,
    })
}

fn status_text(status: &IndexStatus, ms: f64, stats: bool) -> String {
    let left_out = &status.left_out;
    let out = left_out.secret
        + left_out.large
        + left_out.binary
        + left_out.generated
        + left_out.unreadable;
    let mut text = format!(
        "{} in {}; {} of them read now, {:.0} ms\n",
        count_of(status.files - out.min(status.files), "file"),
        count_of(status.chunks as usize, "chunk"),
        status.embedded,
        ms
    );
    if stats {
        text.push_str(&format!(
            "left out: {} for secrets, {} too large, {} binary, {} generated, {} unreadable\n",
            left_out.secret,
            left_out.large,
            left_out.binary,
            left_out.generated,
            left_out.unreadable
        ));
        text.push_str(&format!(
            "{:.1} MB on disk, {:.1} MB in memory\n",
            status.disk_bytes as f64 / 1e6,
            status.memory_bytes as f64 / 1e6
        ));
    }
    text
}

fn hit_json(hit: &SearchHit) -> Value {
    let boosts: serde_json::Map<String, Value> = hit
        .parts
        .boosts
        .iter()
        .map(|(name, amount)| ((*name).to_owned(), json!(amount)))
        .collect();
    json!({
        "path": hit.path.to_string_lossy(), "lines": [hit.rows.start + 1, hit.rows.end.max(hit.rows.start + 1)],
        "score": hit.score,
        "parts": { "words": hit.parts.words, "meaning": hit.parts.meaning, "second_look": hit.parts.rerank, "boosts": boosts },
        "symbol": hit.symbol, "kind": hit.kind.map(|kind| format!("{kind:?}").to_lowercase()), "text": hit.text,
    })
}

fn hit_text(hit: &SearchHit) -> String {
    let symbol = hit.symbol.as_ref().map(|symbol| format!("  {symbol}"));
    format!(
        "{}:{}-{}{}  {:.2}\n",
        hit.path.display(),
        hit.rows.start + 1,
        hit.rows.end.max(hit.rows.start + 1),
        symbol.unwrap_or_default(),
        hit.score
    )
}
