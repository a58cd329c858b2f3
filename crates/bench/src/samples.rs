//! Real source files of given sizes in several languages.
//!
//! Rust files come from the corpus (`corpus::root`). Python and TypeScript files come from packages that
//! `packaging/setup.sh bench` unpacks, or from the folders in `BURIN_BENCH_SOURCES`, a colon-separated list.
//! A size that no file has is reached by repeating a shorter file, and the label says so.

use std::path::{Path, PathBuf};

use crate::corpus;

/// Sizes of the files, in lines.
const SIZES: [usize; 4] = [600, 2_000, 9_000, 50_000];
/// The ratios of a file's lines to the wanted lines at which it is used as it is.
const ALIKE: std::ops::RangeInclusive<f64> = 0.85..=1.2;
/// Files with many longer lines, in bytes, are generated.
const MAX_LINE_BYTES: usize = 200;
const MAX_LONG_LINES: f64 = 0.001;
/// Files with a smaller share of simple statements hold tables or declarations.
const MIN_STATEMENTS: f64 = 0.02;
/// Lengths of the lines that are typed, in bytes, and the number of different ones.
const TYPED_BYTES: std::ops::RangeInclusive<usize> = 14..=60;
const TYPED_LINES: usize = 12;
/// Minimum length of a file that is repeated, in lines.
const MIN_REPEATED: usize = 300;

/// A language with the extension of its files.
pub(crate) const LANGUAGES: [(&str, &str); 3] =
    [("Rust", "rs"), ("Python", "py"), ("TypeScript", "ts")];

/// A source file, or a repeated one.
pub(crate) struct Sample {
    /// Name of the language, as `syntax` knows it.
    pub(crate) language: &'static str,
    pub(crate) extension: &'static str,
    /// Language and number of lines, and how often the file is repeated.
    pub(crate) label: String,
    pub(crate) text: String,
    /// Index of the row behind which lines are typed: a statement about the middle.
    pub(crate) row: usize,
    /// Lines to type there: statements of the file without their indentation.
    pub(crate) typed: Vec<String>,
}

/// Returns a file of every size in every language, the shortest of a language first.
pub(crate) fn samples() -> Result<Vec<Sample>, String> {
    let mut samples = Vec::new();
    for (language, extension) in LANGUAGES {
        let candidates = candidates(language, extension)?;
        for size in SIZES {
            samples.push(sample(language, extension, size, &candidates)?);
        }
    }
    Ok(samples)
}

/// A file that people could have written, with its number of lines.
struct Candidate {
    path: PathBuf,
    lines: usize,
}

fn candidates(language: &str, extension: &str) -> Result<Vec<Candidate>, String> {
    let folders = match language {
        "Rust" => vec![corpus::root()?],
        _ => source_folders()?,
    };
    let mut paths = Vec::new();
    for folder in &folders {
        corpus::collect(folder, extension, &mut paths);
    }
    paths.sort();
    let candidates = paths.into_iter().filter_map(|path| {
        let text = std::fs::read_to_string(&path).ok()?;
        let lines = text.lines().count();
        let is_typed =
            is_typed_code(&text, lines, language) && typed_lines(&text, language).is_some();
        is_typed.then_some(Candidate { path, lines })
    });
    Ok(candidates.collect())
}

/// Whether people could have typed this code: few long lines, and many statements.
fn is_typed_code(text: &str, lines: usize, language: &str) -> bool {
    let long = text.lines().filter(|line| line.len() > MAX_LINE_BYTES);
    let long = long.count() as f64;
    let statements = text.lines().filter(|line| is_statement(line, language));
    long <= lines as f64 * MAX_LONG_LINES
        && statements.count() as f64 >= lines as f64 * MIN_STATEMENTS
}

/// Whether a line is a complete simple statement, which may be typed behind any other one.
fn is_statement(line: &str, language: &str) -> bool {
    const NOT_IN_A_BODY: [&str; 9] = [
        "use ", "import ", "from ", "export ", "pub ", "mod ", "fn ", "type ", "declare ",
    ];
    let code = line.trim();
    let end = if language == "Python" { ')' } else { ';' };
    TYPED_BYTES.contains(&code.len())
        && code.len() < line.len()
        && code.ends_with(end)
        && code.starts_with(|ch: char| ch.is_ascii_alphabetic())
        && !NOT_IN_A_BODY.iter().any(|word| code.starts_with(word))
        && is_balanced(code)
}

/// Whether every bracket and quote of a line is closed in it.
pub(crate) fn is_balanced(code: &str) -> bool {
    let mut open = Vec::new();
    for ch in code.chars() {
        match ch {
            '(' | '[' | '{' => open.push(ch),
            ')' | ']' | '}' => {
                let opener = open.pop();
                if !matches!(
                    (opener, ch),
                    (Some('('), ')') | (Some('['), ']') | (Some('{'), '}')
                ) {
                    return false;
                }
            }
            _ => {}
        }
    }
    let is_even = |quote: char| code.matches(quote).count().is_multiple_of(2);
    open.is_empty() && ['"', '\'', '`'].into_iter().all(is_even)
}

/// Returns the first row from the middle on that is a statement, and statements from all over a text.
fn typed_lines(text: &str, language: &str) -> Option<(usize, Vec<String>)> {
    let rows: Vec<&str> = text.lines().collect();
    let is_typed = |row: &usize| is_statement(rows[*row], language);
    let row = (rows.len() / 2..rows.len()).find(is_typed)?;
    let mut lines: Vec<String> = (0..rows.len())
        .filter(is_typed)
        .map(|row| rows[row].trim().to_owned())
        .collect();
    let mut known = std::collections::HashSet::new();
    lines.retain(|line| known.insert(line.clone()));
    let step = lines.len().div_ceil(TYPED_LINES).max(1);
    let typed: Vec<String> = lines.into_iter().step_by(step).collect();
    (typed.len() > 2).then_some((row, typed))
}

fn source_folders() -> Result<Vec<PathBuf>, String> {
    if let Some(list) = std::env::var_os("BURIN_BENCH_SOURCES") {
        return Ok(std::env::split_paths(&list).collect());
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")));
    let folder = cache.map(|cache| cache.join("burin-bench-sources"));
    match folder.filter(|folder| folder.is_dir()) {
        Some(folder) => Ok(vec![folder]),
        None => Err(
            "sources in Python and TypeScript are missing; fetch them with: packaging/setup.sh bench, \
             or set BURIN_BENCH_SOURCES to folders with large files in both languages"
                .to_owned(),
        ),
    }
}

fn sample(
    language: &'static str,
    extension: &'static str,
    size: usize,
    candidates: &[Candidate],
) -> Result<Sample, String> {
    let is_alike = |it: &&Candidate| ALIKE.contains(&(it.lines as f64 / size as f64));
    let whole = candidates.iter().filter(is_alike);
    let whole = whole.min_by_key(|it| it.lines.abs_diff(size));
    let shorter = candidates.iter().filter(|it| it.lines < size);
    let shorter = shorter.filter(|it| it.lines >= MIN_REPEATED);
    let Some(source) = whole.or_else(|| shorter.max_by_key(|it| it.lines)) else {
        return Err(format!(
            "there is no {language} file to make {size} lines of"
        ));
    };
    let text = std::fs::read_to_string(&source.path)
        .map_err(|error| format!("cannot read {}: {error}", source.path.display()))?;
    let (text, repeated) = if whole.is_some() {
        (text, String::new())
    } else {
        let lines = text.lines().cycle().take(size);
        let count = size.div_ceil(source.lines);
        let repeated = format!(" ({} lines, {count} times)", source.lines);
        (lines.flat_map(|line| [line, "\n"]).collect(), repeated)
    };
    let lines = text.lines().count();
    let label = format!("{language}, {lines} lines{repeated}");
    let path = source.path.display();
    eprintln!("{label}: {path}");
    let typed = typed_lines(&text, language);
    let (row, typed) = typed.ok_or_else(|| format!("{path} has no statements to type"))?;
    Ok(Sample {
        language,
        extension,
        label,
        text,
        row,
        typed,
    })
}

#[cfg(test)]
mod tests {
    use super::{is_statement, typed_lines};

    #[test]
    fn statements_are_whole_and_indented() {
        assert!(is_statement("    let total = sum(a, b);", "Rust"));
        assert!(is_statement("    self.items.append(item)", "Python"));
        for line in [
            "let total = sum(a, b);",
            "    use std::path::Path;",
            "    });",
            "    let total = sum(a,",
            "    let name = \"a;",
        ] {
            assert!(!is_statement(line, "Rust"), "{line}");
        }
    }

    #[test]
    fn typing_begins_behind_a_statement_of_the_middle() {
        let body: String = (0..8)
            .map(|ix| format!("fn f{ix}() {{\n    let value{ix} = {ix};\n}}\n"))
            .collect();
        let (row, typed) = typed_lines(&body, "Rust").expect("statements");
        assert_eq!(row, 13);
        assert_eq!(typed.len(), 8);
        assert_eq!(typed[0], "let value0 = 0;");
    }
}
