//! Progress of fetch, push and clone, as Git prints it for people.
//!
//! Pure. Invariant: memory is bounded, whatever a remote sends.

use crate::records::text;

/// Length of the longest line that is read, in bytes.
const MAX_LINE_BYTES: usize = 8 << 10;

/// A report of a remote operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteReport {
    /// A stage goes on.
    Progress(RemoteProgress),
    /// A line of the remote, without `remote: `. Foreign: to be made printable.
    Remote(String),
    /// A line of Git.
    Local(String),
}

/// The progress of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteProgress {
    /// Whether the remote does the work.
    pub is_remote: bool,
    /// The name of the stage, such as `Receiving objects`.
    pub stage: String,
    /// Finished units.
    pub done: u64,
    /// All units; `None` if unknown.
    pub total: Option<u64>,
    /// The amount and rate, such as `1.20 MiB | 3.00 MiB/s`.
    pub throughput: Option<String>,
    /// Whether the stage has ended.
    pub is_finished: bool,
}

/// Reads progress in any pieces.
#[derive(Debug, Default)]
pub struct ProgressParser {
    line: Vec<u8>,
}

impl ProgressParser {
    /// Returns the reports that `bytes` complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<RemoteReport> {
        let mut reports = Vec::new();
        for byte in bytes {
            match byte {
                b'\r' | b'\n' => reports.extend(self.end_line()),
                _ if self.line.len() < MAX_LINE_BYTES => self.line.push(*byte),
                // The rest of a line that is too long.
                _ => {}
            }
        }
        reports
    }

    /// Returns the report of a last line without an end.
    pub fn finish(&mut self) -> Option<RemoteReport> {
        self.end_line()
    }

    fn end_line(&mut self) -> Option<RemoteReport> {
        let line = text(&std::mem::take(&mut self.line));
        // Git erases the rest of the line.
        let line = line.replace("\u{1b}[K", "");
        let line = line.trim_end();
        if line.is_empty() {
            return None;
        }
        let (is_remote, line) = match line.strip_prefix("remote:") {
            Some(line) => (true, line.trim_start()),
            None => (false, line),
        };
        let progress = read_progress(line, is_remote).map(RemoteReport::Progress);
        progress.or_else(|| {
            let line = line.to_owned();
            let report = if is_remote {
                RemoteReport::Remote(line)
            } else {
                RemoteReport::Local(line)
            };
            Some(report)
        })
    }
}

/// Reads `STAGE:  45% (9/20), AMOUNT | RATE, done.` or `STAGE: 20, done.`
fn read_progress(line: &str, is_remote: bool) -> Option<RemoteProgress> {
    let (stage, rest) = line.split_once(": ")?;
    let is_finished = rest.ends_with(", done.");
    let rest = rest.trim_end_matches(", done.").trim();
    let (counts, throughput) = match rest.split_once(", ") {
        Some((counts, throughput)) => (counts, Some(throughput.to_owned())),
        None => (rest, None),
    };
    let (done, total) = match counts.split_once("% (") {
        Some((percent, counts)) => {
            percent.trim().parse::<u8>().ok()?;
            let (done, total) = counts.strip_suffix(')')?.split_once('/')?;
            (done.parse().ok()?, Some(total.parse().ok()?))
        }
        None => (counts.parse().ok()?, None),
    };
    Some(RemoteProgress {
        is_remote,
        stage: stage.to_owned(),
        done,
        total,
        throughput,
        is_finished,
    })
}

#[cfg(test)]
mod tests {
    use super::{MAX_LINE_BYTES, ProgressParser, RemoteReport};

    const OUTPUT: &str = "remote: Enumerating objects: 5, done.        \u{1b}[K\n\
        remote: Compressing objects:  66% (2/3)\rremote: Compressing objects: 100% (3/3), done.\n\
        Receiving objects:  45% (9/20), 1.20 MiB | 3.00 MiB/s\rReceiving objects: 100% (20/20), 2.00 MiB | 3.00 MiB/s, done.\n\
        remote: Create a pull request: https://h/p\nFrom ../a\n * [new branch] main -> origin/main";

    fn read(piece: usize) -> Vec<RemoteReport> {
        let mut parser = ProgressParser::default();
        let pieces = OUTPUT.as_bytes().chunks(piece);
        let mut reports: Vec<_> = pieces.flat_map(|bytes| parser.feed(bytes)).collect();
        reports.extend(parser.finish());
        reports
    }

    #[test]
    fn stages_and_messages_are_told_apart() {
        let reports = read(usize::MAX);
        let progress = |ix: usize| match &reports[ix] {
            RemoteReport::Progress(progress) => progress,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            (progress(0).done, progress(0).total, progress(0).is_finished),
            (5, None, true)
        );
        assert_eq!(
            (progress(1).done, progress(1).total, progress(1).is_remote),
            (2, Some(3), true)
        );
        assert_eq!(
            progress(3).throughput.as_deref(),
            Some("1.20 MiB | 3.00 MiB/s")
        );
        assert!(progress(4).is_finished && !progress(4).is_remote);
        let remote = RemoteReport::Remote("Create a pull request: https://h/p".to_owned());
        assert_eq!(reports[5], remote);
        assert_eq!(reports.len(), 8);
    }

    #[test]
    fn pieces_do_not_matter_and_long_lines_are_cut() {
        for piece in [1, 3, 50] {
            assert_eq!(read(piece), read(usize::MAX));
        }
        let mut parser = ProgressParser::default();
        assert!(parser.feed(&vec![b'x'; 1 << 20]).is_empty());
        let Some(RemoteReport::Local(line)) = parser.finish() else {
            panic!("no line");
        };
        assert_eq!(line.len(), MAX_LINE_BYTES);
    }
}
