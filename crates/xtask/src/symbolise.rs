//! Resolves the addresses in a note about a crash: `cargo xtask symbolise NOTE SYMBOLS`.
//!
//! SYMBOLS is the file `burin.debug` or `burin-agent.debug` of the release, or a program with symbols.

use std::path::Path;
use std::process::Command;

/// A function with its address, counted from the beginning of the program.
struct Symbol {
    address: u64,
    name: String,
}

/// Returns the note with the names of functions. Fails if a file cannot be read, or if note and symbols are of different
/// builds.
pub(crate) fn symbolise(note: &Path, symbols: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(note)
        .map_err(|error| format!("cannot read {}: {error}", note.display()))?;
    let build = output("readelf", &["--notes"], symbols)?;
    check_build(&text, &build)?;
    let listed = output(
        "nm",
        &["--demangle", "--defined-only", "--numeric-sort"],
        symbols,
    )?;
    let program = symbols.file_name().unwrap_or_default().to_string_lossy();
    let program = program.strip_suffix(".debug").unwrap_or(&program);
    Ok(resolved(&text, program, &parse_symbols(&listed)))
}

fn output(program: &str, options: &[&str], file: &Path) -> Result<String, String> {
    let done = Command::new(program).args(options).arg(file).output();
    let done = done.map_err(|error| format!("cannot start {program}: {error}"))?;
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    } else {
        let errors = String::from_utf8_lossy(&done.stderr);
        Err(format!("{program} failed: {}", errors.trim()))
    }
}

/// Fails if the note names another build than the output of `readelf`. A note without a build matches every program.
fn check_build(note: &str, readelf: &str) -> Result<(), String> {
    let field = |text: &str, name: &str| {
        let mut rows = text.lines();
        let row = rows.find_map(|row| row.trim().strip_prefix(name).map(str::trim));
        row.map(str::to_owned)
    };
    let wanted = field(note, "build:").filter(|build| build != "unknown");
    let found = field(readelf, "Build ID:");
    match (wanted, found) {
        (Some(wanted), Some(found)) if wanted != found => Err(format!(
            "the note is of the build {wanted}, the symbols are of {found}"
        )),
        _ => Ok(()),
    }
}

/// Parses the output of `nm`: address, kind and name of each symbol. Keeps functions.
fn parse_symbols(output: &str) -> Vec<Symbol> {
    let rows = output.lines().filter_map(|row| {
        let mut words = row.splitn(3, ' ');
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let is_function = matches!(words.next()?, "t" | "T" | "w" | "W");
        let name = words.next()?.to_owned();
        is_function.then_some(Symbol { address, name })
    });
    let mut symbols: Vec<Symbol> = rows.collect();
    symbols.sort_by_key(|symbol| symbol.address);
    symbols
}

/// Appends the name of the function to each line with an address in the program, such as `burin+0x1010`.
fn resolved(note: &str, program: &str, symbols: &[Symbol]) -> String {
    let mark = format!("{program}+0x");
    let lines = note.lines().map(|line| {
        let digits = line.split_once(&mark).map(|(_, rest)| {
            let end = rest.find(|letter: char| !letter.is_ascii_hexdigit());
            &rest[..end.unwrap_or(rest.len())]
        });
        let address = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        match address.and_then(|address| function_at(symbols, address)) {
            Some(name) => format!("{line}  {name}\n"),
            None => format!("{line}\n"),
        }
    });
    lines.collect()
}

/// Returns the function around a return address, which follows the call.
fn function_at(symbols: &[Symbol], address: u64) -> Option<&str> {
    let call = address.checked_sub(1)?;
    let after = symbols.partition_point(|symbol| symbol.address <= call);
    let symbol = symbols.get(after.checked_sub(1)?)?;
    Some(&symbol.name)
}

#[cfg(test)]
mod tests {
    use super::{check_build, parse_symbols, resolved};

    const NM: &str = "0000000000001000 T text::Buffer::replace\n0000000000001800 r table\n\
                      0000000000002000 t <a::B as c::D>::e f\n                 U malloc\n";

    #[test]
    fn addresses_get_the_names_of_functions() {
        let note = "thread: main\nbacktrace:\n  0: burin+0x1010 - <unknown>\n  1: burin+0x2000 - <unknown>\n  \
                    2: burin+0x2001\n  3: burin+0x10\n  4: 0x7f00 - libc\n";
        let text = resolved(note, "burin", &parse_symbols(NM));
        let expected = "thread: main\nbacktrace:\n  0: burin+0x1010 - <unknown>  text::Buffer::replace\n  \
                        1: burin+0x2000 - <unknown>  text::Buffer::replace\n  2: burin+0x2001  <a::B as c::D>::e f\n  \
                        3: burin+0x10\n  4: 0x7f00 - libc\n";
        assert_eq!(text, expected);
        let other = resolved(note, "burin-agent", &parse_symbols(NM));
        assert_eq!(other, note);
    }

    #[test]
    fn symbols_of_another_build_are_refused() {
        let readelf = "  GNU  0x00000014  NT_GNU_BUILD_ID\n    Build ID: 0aff\n";
        assert_eq!(check_build("build: 0aff\n", readelf), Ok(()));
        assert_eq!(check_build("build: unknown\n", readelf), Ok(()));
        assert_eq!(check_build("build: 0aff\n", "no notes"), Ok(()));
        let refused = check_build("build: 0bff\n", readelf);
        assert!(refused.is_err_and(|sentence| sentence.contains("0bff")));
    }
}
