//! Formats the status of a folder's index as text.

use index::{IndexPhase, IndexStatus};

/// Formats the status for the status bar.
pub(crate) fn short(status: &IndexStatus) -> String {
    match &status.phase {
        _ if status.is_paused && status.phase != IndexPhase::Ready => {
            format!("Index paused at {}", percent(status))
        }
        IndexPhase::Walking => "Index \u{2026}".to_owned(),
        IndexPhase::Reading | IndexPhase::Embedding => format!("Index {}", percent(status)),
        IndexPhase::Ready => "Index".to_owned(),
        IndexPhase::Off(_) => "No index".to_owned(),
    }
}

/// Returns whether the index reads files or computes embeddings now.
pub(crate) fn is_working(status: &IndexStatus) -> bool {
    let is_idle = matches!(status.phase, IndexPhase::Ready | IndexPhase::Off(_));
    !status.is_paused && !is_idle
}

/// Returns a note for search results that may be incomplete; `None` if indexing is done.
pub(crate) fn pending_hint(status: &IndexStatus) -> Option<String> {
    match &status.phase {
        _ if status.is_paused && status.phase != IndexPhase::Ready => {
            Some("the index is paused".to_owned())
        }
        IndexPhase::Walking => Some("the index looks for files".to_owned()),
        IndexPhase::Reading => Some(format!("the index reads files: {}", percent(status))),
        IndexPhase::Embedding => Some(format!("the index learns meanings: {}", percent(status))),
        IndexPhase::Ready => None,
        IndexPhase::Off(reason) => Some(reason.clone()),
    }
}

/// Describes the status in full, one string per line.
pub(crate) fn describe(status: &IndexStatus) -> Vec<String> {
    let mut lines = Vec::new();
    let what = pending_hint(status)
        .unwrap_or_else(|| "Everything is found by words and by meaning".to_owned());
    lines.push(capital(&what));
    lines.push(format!(
        "{} of {}, {}",
        number(status.done),
        counted(status.files, "file"),
        counted(
            usize::try_from(status.chunks).unwrap_or(usize::MAX),
            "place"
        )
    ));
    // Sizes are known after the first pass.
    if status.memory_bytes > 0 {
        lines.push(format!(
            "{} on disk, {} in memory",
            size(status.disk_bytes),
            size(status.memory_bytes)
        ));
    }
    let left = status.left_out;
    let reasons: Vec<String> = [
        (left.secret, "with secrets"),
        (left.large, "too large"),
        (left.binary, "not text"),
        (left.generated, "written by programs"),
        (left.unreadable, "not readable"),
    ]
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, reason)| format!("{} {reason}", number(*count)))
    .collect();
    if !reasons.is_empty() {
        lines.push(format!("Left out: {}", reasons.join(", ")));
    }
    lines.extend(status.notes.iter().map(|note| capital(note)));
    lines
}

fn percent(status: &IndexStatus) -> String {
    let share = status.done.saturating_mul(100) / status.files.max(1);
    // Shows at most 99 % until indexing is done.
    format!("{}\u{2009}%", share.min(99))
}

fn capital(sentence: &str) -> String {
    let mut chars = sentence.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

fn counted(count: usize, one: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {one}{plural}", number(count))
}

fn number(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use index::{IndexPhase, IndexStatus, LeftOut};

    use super::{describe, pending_hint, short};

    fn status(phase: IndexPhase) -> IndexStatus {
        IndexStatus {
            phase,
            is_paused: false,
            done: 5_120,
            files: 10_240,
            left_out: LeftOut {
                secret: 2,
                large: 0,
                binary: 1_040,
                generated: 0,
                unreadable: 0,
            },
            chunks: 61_000,
            embedded: 10,
            disk_bytes: 31_450_000,
            memory_bytes: 900,
            notes: vec!["the store was of another version and is made again".to_owned()],
        }
    }

    #[test]
    fn each_phase_has_words() {
        let check = |status: &IndexStatus, bar: &str, told: Option<&str>| {
            assert_eq!(short(status), bar);
            assert_eq!(pending_hint(status).as_deref(), told);
        };
        check(
            &status(IndexPhase::Embedding),
            "Index 50\u{2009}%",
            Some("the index learns meanings: 50\u{2009}%"),
        );
        check(&status(IndexPhase::Ready), "Index", None);
        let mut paused = status(IndexPhase::Reading);
        paused.is_paused = true;
        check(
            &paused,
            "Index paused at 50\u{2009}%",
            Some("the index is paused"),
        );
        let off = status(IndexPhase::Off("there is no room on the disk".to_owned()));
        check(&off, "No index", Some("there is no room on the disk"));
    }

    #[test]
    fn everything_is_told() {
        assert_eq!(
            describe(&status(IndexPhase::Ready)),
            [
                "Everything is found by words and by meaning",
                "5,120 of 10,240 files, 61,000 places",
                "31.4 MB on disk, 1 kB in memory",
                "Left out: 2 with secrets, 1,040 not text",
                "The store was of another version and is made again",
            ]
        );
    }
}
