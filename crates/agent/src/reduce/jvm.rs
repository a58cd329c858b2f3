//! Maven and Gradle, with javac and JUnit beneath them.

use std::collections::HashSet;

use super::log::Log;

/// What Maven says below a failure, whatever it was.
const HELP: [&str; 7] = [
    "To see the full stack trace",
    "Re-run Maven using",
    "For more information about the errors",
    "[Help 1]",
    "Please refer to",
    "-> [Help 1]",
    "After correcting the problems",
];

pub(crate) fn mark_maven(log: &mut Log<'_>) {
    let mut seen = HashSet::new();
    let mut is_java_error = false;
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        if let Some(text) = line.strip_prefix("[INFO] ") {
            mark_info(log, ix, text);
        } else if line.trim_end() == "[INFO]" || line.trim_end() == "[ERROR]" {
            log.drop(ix, "");
        } else if let Some(text) = line.strip_prefix("[ERROR] ") {
            let text = text.trim();
            if HELP.iter().any(|help| text.starts_with(help))
                || !seen.insert(without_column(text).to_owned())
            {
                log.drop(ix, "");
            } else {
                log.keep(ix);
            }
            is_java_error = true;
        } else if let Some(text) = line.strip_prefix("[WARNING] ") {
            if !seen.insert(without_column(text).to_owned()) || text.contains("has been relocated")
            {
                log.drop(ix, "warnings of Maven");
            }
        } else if line.starts_with("Download") {
            log.drop(ix, "downloads");
        } else if is_java_error && (line.is_empty() || is_exception(line)) {
            log.keep(ix);
        }
    }
    mark_frames(log);
    fold_prints(log);
}

fn mark_info(log: &mut Log<'_>, ix: usize, text: &str) {
    let text = text.trim();
    if text.starts_with("Tests run:") {
        match text.contains(" - in ") || text.contains("-- in ") {
            true => log.drop(ix, "classes of tests that pass"),
            false => log.keep(ix),
        }
    } else if text.starts_with("BUILD ")
        || text.starts_with("Reactor Summary")
        || text.contains(" FAILURE [")
    {
        log.keep(ix);
    } else {
        log.drop(ix, "lines of Maven");
    }
}

fn without_column(text: &str) -> &str {
    text.trim_end_matches([' ', '.'])
}

fn is_exception(line: &str) -> bool {
    let name = line.split([':', ' ']).next().unwrap_or_default();
    name.contains('.')
        && (name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Failure"))
}

/// Frames of libraries go.
fn mark_frames(log: &mut Log<'_>) {
    const THEIRS: [&str; 9] = [
        "org.junit",
        "java.",
        "jdk.",
        "sun.",
        "org.gradle",
        "org.apache.maven",
        "org.assertj",
        "com.sun.",
        "junit.",
    ];
    for ix in 0..log.lines.len() {
        let Some(frame) = log.lines[ix].trim_start().strip_prefix("at ") else {
            continue;
        };
        if !log.lines[ix].starts_with(char::is_whitespace) {
            continue;
        }
        match THEIRS.iter().any(|package| frame.starts_with(package)) {
            true => log.drop(ix, "frames of libraries"),
            false => log.keep(ix),
        }
    }
}

/// What tests print by themselves is folded by `rest`; nothing is known of it here.
fn fold_prints(log: &mut Log<'_>) {
    for ix in 0..log.lines.len() {
        if log.lines[ix].trim().is_empty() {
            log.drop(ix, "");
        }
    }
}

pub(crate) fn mark_gradle(log: &mut Log<'_>) {
    let mut section = "";
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        let task = line.strip_prefix("> Task ").unwrap_or(line);
        if line.starts_with("* ") {
            section = line;
        } else if line.is_empty() && !section.starts_with("* What went wrong") {
            section = "";
        }
        if line.ends_with(" PASSED") {
            log.drop(ix, "passing tests");
        } else if line.ends_with(" SKIPPED") && line.contains(" > ") {
            log.drop(ix, "skipped tests");
        } else if line.ends_with(" FAILED")
            || line.starts_with("BUILD ")
            || line.contains(" tests completed")
        {
            log.keep(ix);
        } else if section.starts_with("* Try")
            || section.starts_with("* Get more help")
            || line.starts_with("* Get more help")
        {
            log.drop(ix, "");
        } else if task.starts_with(':') && !line.contains("error:") {
            log.drop(ix, "tasks");
        } else if line.starts_with("Deprecated Gradle")
            || line.starts_with("openjdk version")
            || line.starts_with("OpenJDK")
            || line.trim().is_empty()
        {
            log.drop(ix, "");
        }
    }
    mark_frames(log);
}
