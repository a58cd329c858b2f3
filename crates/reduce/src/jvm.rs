//! Output of Maven and Gradle, including javac and JUnit.

use std::collections::HashSet;

use super::log::LogReducer;

/// Help texts that Maven prints below every failure.
const HELP: [&str; 7] = [
    "To see the full stack trace",
    "Re-run Maven using",
    "For more information about the errors",
    "[Help 1]",
    "Please refer to",
    "-> [Help 1]",
    "After correcting the problems",
];

/// Marks the output of Maven: keeps one copy of each error, and drops progress and help.
pub(crate) fn mark_maven(log: &mut LogReducer<'_>) {
    let mut seen = HashSet::new();
    let mut is_java_error = false;
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        if let Some(text) = line.strip_prefix("[INFO] ") {
            mark_info(log, ix, text);
        } else if line.trim_end() == "[INFO]" || line.trim_end() == "[ERROR]" {
            log.drop_line(ix, "");
        } else if let Some(text) = line.strip_prefix("[ERROR] ") {
            let text = text.trim();
            if HELP.iter().any(|help| text.starts_with(help))
                || !seen.insert(without_column(text).to_owned())
            {
                log.drop_line(ix, "");
            } else {
                log.keep_line(ix);
            }
            is_java_error = true;
        } else if let Some(text) = line.strip_prefix("[WARNING] ") {
            if !seen.insert(without_column(text).to_owned()) || text.contains("has been relocated")
            {
                log.drop_line(ix, "warnings of Maven");
            }
        } else if line.starts_with("Download") {
            log.drop_line(ix, "downloads");
        } else if is_java_error && (line.is_empty() || is_exception(line)) {
            log.keep_line(ix);
        }
    }
    mark_frames(log);
    fold_prints(log);
}

fn mark_info(log: &mut LogReducer<'_>, ix: usize, text: &str) {
    let text = text.trim();
    if text.starts_with("Tests run:") {
        if text.contains(" - in ") || text.contains("-- in ") {
            log.drop_line(ix, "classes of tests that pass")
        } else {
            log.keep_line(ix)
        }
    } else if text.starts_with("BUILD ")
        || text.starts_with("Reactor Summary")
        || text.contains(" FAILURE [")
    {
        log.keep_line(ix);
    } else {
        log.drop_line(ix, "lines of Maven");
    }
}

fn without_column(text: &str) -> &str {
    text.trim_end_matches([' ', '.'])
}

/// Returns whether a line begins with the qualified name of an exception.
fn is_exception(line: &str) -> bool {
    let name = line.split([':', ' ']).next().unwrap_or_default();
    name.contains('.')
        && (name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Failure"))
}

/// Drops the frames of libraries.
fn mark_frames(log: &mut LogReducer<'_>) {
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
        if THEIRS.iter().any(|package| frame.starts_with(package)) {
            log.drop_line(ix, "frames of libraries")
        } else {
            log.keep_line(ix)
        }
    }
}

/// Drops blank lines. Output printed by tests follows no known format; `rest` folds it.
fn fold_prints(log: &mut LogReducer<'_>) {
    for ix in 0..log.lines.len() {
        if log.lines[ix].trim().is_empty() {
            log.drop_line(ix, "");
        }
    }
}

/// Marks the output of Gradle: keeps failed tasks and their causes, and drops passing tests and
/// progress.
pub(crate) fn mark_gradle(log: &mut LogReducer<'_>) {
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
            log.drop_line(ix, "passing tests");
        } else if line.ends_with(" SKIPPED") && line.contains(" > ") {
            log.drop_line(ix, "skipped tests");
        } else if line.ends_with(" FAILED")
            || line.starts_with("BUILD ")
            || line.contains(" tests completed")
        {
            log.keep_line(ix);
        } else if section.starts_with("* Try")
            || section.starts_with("* Get more help")
            || line.starts_with("* Get more help")
        {
            log.drop_line(ix, "");
        } else if task.starts_with(':') && !line.contains("error:") {
            log.drop_line(ix, "tasks");
        } else if line.starts_with("Deprecated Gradle")
            || line.starts_with("openjdk version")
            || line.starts_with("OpenJDK")
            || line.trim().is_empty()
        {
            log.drop_line(ix, "");
        }
    }
    mark_frames(log);
}
