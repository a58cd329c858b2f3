//! `burin-agent grep`: the project search on the command line.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use async_channel::Receiver;
use base::AbsPath;
use clap::{Args, ValueEnum};
use host::Dirs;
use index::trigram::Trigrams;
use index::{Options, trigram_folder};
use project::search::{Case, SearchEvent, SearchQuery, SearchScope, Sieve, Syntax, search};
use project::{Ground, Hidden, Ignored, WalkOptions};

use crate::{Streams, unwritten};

/// Search the files of a folder as the project search of the editor does
///
/// The pattern is plain text; with --regex it is a regular expression.
///
/// Exit codes: 0 there are matches; 1 there are none, or the search failed; 2 wrong arguments.
#[derive(Debug, Args)]
pub(crate) struct Grep {
    /// The text to search for, or with --regex the regular expression
    pattern: String,
    /// The folder to search
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: std::path::PathBuf,
    /// Treat the pattern as a regular expression
    #[arg(short = 'e', long)]
    regex: bool,
    /// Whether case matters; smart: only if the pattern has a capital letter
    #[arg(long, value_enum, default_value_t = CaseArg::Smart)]
    case: CaseArg,
    /// Find whole words only
    #[arg(long)]
    word: bool,
    /// Search only files that match this glob; can be repeated
    #[arg(long)]
    include: Vec<String>,
    /// Skip files that match this glob; can be repeated
    #[arg(long)]
    exclude: Vec<String>,
    /// Search files whose names start with a dot, too
    #[arg(long)]
    hidden: bool,
    /// Search files that ignore rules exclude, too
    #[arg(long)]
    ignored: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CaseArg {
    Smart,
    Sensitive,
    Insensitive,
}

impl Grep {
    fn query(&self) -> SearchQuery {
        SearchQuery {
            syntax: if self.regex {
                Syntax::Regex
            } else {
                Syntax::Literal
            },
            case: match self.case {
                CaseArg::Smart => Case::Smart,
                CaseArg::Sensitive => Case::Sensitive,
                CaseArg::Insensitive => Case::Insensitive,
            },
            whole_word: self.word,
            files: WalkOptions {
                include: self.include.clone(),
                exclude: self.exclude.clone(),
                hidden: if self.hidden {
                    Hidden::Visit
                } else {
                    Hidden::Skip
                },
                ignored: if self.ignored {
                    Ignored::Visit
                } else {
                    Ignored::Skip
                },
            },
            only_rows: true,
            ..SearchQuery::literal(&self.pattern)
        }
    }

    /// Prints `path:row:text` per matching row. Exit code 0 with matches, 1 without, as grep has it.
    /// Files that an index of the folder, or of one above it, says cannot match are passed over.
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        /// Files of results that may wait for the terminal; the search waits behind them.
        const AHEAD: usize = 1_024;
        let (sender, events) = async_channel::bounded(AHEAD);
        let query = self.query();
        let root = std::path::absolute(&self.root).ok().and_then(AbsPath::new);
        let root = root.ok_or_else(|| format!("{} is no folder", self.root.display()))?;
        let sieve = sieve(dirs, &root);
        let scope = SearchScope::new(Ground::Disk, root).with_sieve(sieve);
        let summary = std::thread::scope(|threads| {
            let search = threads.spawn(|| {
                let found = search(&query, &scope, &AtomicBool::new(false), &sender);
                sender.close();
                found
            });
            let printed = print(&events, streams);
            events.close();
            let found = search
                .join()
                .map_err(|_| "the search broke off".to_owned())?;
            printed.map_err(unwritten)?;
            found.map_err(|error| error.to_string())
        })?;
        Ok(if summary.matches > 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(1)
        })
    }
}

/// What `burin-agent index` or the editor keeps of the folder, or of the nearest one above it.
fn sieve(dirs: &Dirs, root: &AbsPath) -> Option<Arc<dyn Sieve>> {
    let folder = Options::kept_in(&dirs.cache).folder?;
    let mut above = root.as_path().ancestors().filter_map(AbsPath::new);
    let kept = above.find_map(|root| {
        let store = trigram_folder(&folder, &root);
        Trigrams::open_kept(root, store)
    })?;
    Some(Arc::new(kept))
}

fn print(events: &Receiver<SearchEvent>, streams: &mut Streams<'_>) -> io::Result<()> {
    let mut output = BufWriter::with_capacity(64 << 10, &mut *streams.output);
    while let Ok(event) = events.recv_blocking() {
        match event {
            SearchEvent::File(file) => {
                let path = file.path.to_string();
                for row in &file.rows {
                    output.write_all(path.as_bytes())?;
                    write!(output, ":{}:", row.row.0 + 1)?;
                    output.write_all(row.text.as_bytes())?;
                    output.write_all(b"\n")?;
                }
            }
            SearchEvent::Problem(problem) => writeln!(streams.errors, "{}", problem.0)?,
            SearchEvent::Done(_) => {}
        }
    }
    output.flush()
}
