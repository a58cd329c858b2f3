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
use index::{IndexOptions, trigram_folder};
use project::search::{
    CaseSensitivity, Prefilter, SearchEvent, SearchQuery, SearchScope, Syntax, search,
};
use project::{HiddenFiles, IgnoredFiles, WalkBackend, WalkOptions};

use crate::{Streams, write_error};

/// Search the files of a folder as the project search of the editor does
///
/// The pattern is plain text; with --regex it is a regular expression.
///
/// Exit codes: 0 there are matches; 1 there are none, or the search failed; 2 wrong arguments.
#[derive(Debug, Args)]
pub(crate) struct GrepCommand {
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
    /// Include files whose names start with a dot
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

impl GrepCommand {
    fn query(&self) -> SearchQuery {
        SearchQuery {
            syntax: if self.regex {
                Syntax::Regex
            } else {
                Syntax::Literal
            },
            case: match self.case {
                CaseArg::Smart => CaseSensitivity::Smart,
                CaseArg::Sensitive => CaseSensitivity::Sensitive,
                CaseArg::Insensitive => CaseSensitivity::Insensitive,
            },
            whole_word: self.word,
            files: WalkOptions {
                include: self.include.clone(),
                exclude: self.exclude.clone(),
                hidden: if self.hidden {
                    HiddenFiles::Visit
                } else {
                    HiddenFiles::Skip
                },
                ignored: if self.ignored {
                    IgnoredFiles::Visit
                } else {
                    IgnoredFiles::Skip
                },
            },
            only_rows: true,
            ..SearchQuery::literal(&self.pattern)
        }
    }

    /// Prints `path:row:text` per matching row. The exit code is 0 with matches and 1 without, like
    /// grep's. Files that the index rules out are skipped.
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        /// The maximum number of files whose results wait for the terminal; a full queue pauses the
        /// search.
        const AHEAD: usize = 1_024;
        let (sender, events) = async_channel::bounded(AHEAD);
        let query = self.query();
        let root = std::path::absolute(&self.root).ok().and_then(AbsPath::new);
        let root = root.ok_or_else(|| format!("{} is not a folder", self.root.display()))?;
        let prefilter = open_prefilter(dirs, &root);
        let scope = SearchScope::new(WalkBackend::Disk, root).with_prefilter(prefilter);
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
            printed.map_err(write_error)?;
            found.map_err(|error| error.to_string())
        })?;
        Ok(if summary.matches > 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(1)
        })
    }
}

/// Opens the trigram index of the folder, or of its nearest indexed ancestor.
fn open_prefilter(dirs: &Dirs, root: &AbsPath) -> Option<Arc<dyn Prefilter>> {
    let folder = IndexOptions::kept_in(&dirs.cache).folder?;
    let mut above = root.as_path().ancestors().filter_map(AbsPath::new);
    let stored = above.find_map(|root| {
        let store = trigram_folder(&folder, &root);
        Trigrams::open_kept(root, store)
    })?;
    Some(Arc::new(stored))
}

/// Prints matches as `path:line:text`, with lines from 1, and problems to standard error, until the
/// search closes the channel. Fails if the output cannot be written.
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
