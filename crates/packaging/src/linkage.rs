//! The libraries that a program of Linux loads, and the oldest systems on which it starts.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::Error;
use crate::tools;

/// The oldest glibc that the programs must start with: that of Ubuntu 22.04. Debian 12 has 2.36.
const OLDEST_GLIBC: GlibcVersion = GlibcVersion(2, 35);

/// The Debian packages of libraries, by the name under which programs load them. None of them has another name in the
/// releases since Ubuntu 22.04 and Debian 12.
const PACKAGES: &[(&str, &str)] = &[
    ("libfontconfig.so.1", "libfontconfig1"),
    ("libfreetype.so.6", "libfreetype6"),
    ("libgcc_s.so.1", "libgcc-s1"),
    ("libstdc++.so.6", "libstdc++6"),
    ("libxcb.so.1", "libxcb1"),
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    ("libxkbcommon.so.0", "libxkbcommon0"),
    ("libz.so.1", "zlib1g"),
];

/// Libraries of glibc. The version of the package comes from the symbols.
const GLIBC: &[&str] = &[
    "ld-linux-aarch64.so.1",
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GlibcVersion(u32, u32);

impl GlibcVersion {
    /// Parses `2.34` or `2.2.5`, whose third part does not matter: it occurs in old versions only.
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').map(|number| number.parse().ok());
        Some(Self(numbers.next()??, numbers.next()??))
    }
}

impl std::fmt::Display for GlibcVersion {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}", self.0, self.1)
    }
}

/// The libraries that a program loads at its start, and the symbols of glibc that it uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProgramLinkage {
    program: String,
    libraries: Vec<String>,
    /// The symbols by the version of glibc that introduced them.
    symbols: BTreeMap<GlibcVersion, Vec<String>>,
}

impl ProgramLinkage {
    /// Reads the tables of a program with `objdump`, which every compiler needs. Fails if the program needs a newer glibc
    /// than the oldest supported systems have.
    pub(crate) fn of(program: &Path) -> Result<Self, Error> {
        let output = tools::output(
            tools::command("objdump")
                .args(["--private-headers", "--dynamic-syms"])
                .arg(program),
            "Install binutils",
        )?;
        let linkage = Self::read(&program.display().to_string(), &output);
        linkage.check()?;
        Ok(linkage)
    }

    /// Parses the output of `objdump --private-headers --dynamic-syms`.
    pub(crate) fn read(program: &str, output: &str) -> Self {
        let mut linkage = Self {
            program: program.to_owned(),
            ..Self::default()
        };
        for row in output.lines() {
            let words: Vec<&str> = row.split_whitespace().collect();
            if let ["NEEDED", library] = words[..] {
                linkage.libraries.push(library.to_owned());
            }
            // A weak symbol may be missing.
            let is_weak = words.get(1) == Some(&"w");
            let version = words.iter().find_map(|word| {
                let version = word.trim_matches(['(', ')']).strip_prefix("GLIBC_")?;
                GlibcVersion::parse(version)
            });
            // A row of the versions of a library ends with the version, a row of symbols with the symbol.
            let symbol = words.last().filter(|word| !word.contains("GLIBC_"));
            if let (Some(version), Some(symbol), false) = (version, symbol, is_weak) {
                let symbols = linkage.symbols.entry(version).or_default();
                symbols.push((*symbol).to_owned());
            }
        }
        linkage
    }

    fn check(&self) -> Result<(), Error> {
        let newer = self
            .symbols
            .iter()
            .filter(|(version, _)| **version > OLDEST_GLIBC);
        let symbols: Vec<String> = newer.flat_map(|(_, symbols)| symbols.clone()).collect();
        match self.symbols.last_key_value() {
            Some((found, _)) if !symbols.is_empty() => Err(Error::NewerGlibc {
                program: self.program.clone(),
                found: found.to_string(),
                bound: OLDEST_GLIBC.to_string(),
                symbols,
            }),
            _ => Ok(()),
        }
    }

    /// Returns the Debian packages that the programs need, sorted, in the form of the field `Depends`.
    pub(crate) fn debian_packages(programs: &[Self]) -> Result<Vec<String>, Error> {
        let newest = programs.iter().filter_map(|it| it.symbols.last_key_value());
        let glibc = newest.map(|(version, _)| *version).max();
        let glibc = glibc.map(|version| format!("libc6 (>= {version})"));
        let mut packages: Vec<String> = glibc.into_iter().collect();
        for program in programs {
            for library in &program.libraries {
                packages.extend(program.debian_package(library)?);
            }
        }
        packages.sort_unstable();
        packages.dedup();
        Ok(packages)
    }

    /// Returns the Debian package of a library; `None` for the libraries of glibc.
    fn debian_package(&self, library: &str) -> Result<Option<String>, Error> {
        if GLIBC.contains(&library) {
            return Ok(None);
        }
        let package = PACKAGES.iter().find(|(name, _)| *name == library);
        let package = package.map(|(_, package)| Some((*package).to_owned()));
        package.ok_or_else(|| Error::UnknownLibrary {
            program: self.program.clone(),
            library: library.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ProgramLinkage;
    use crate::error::Error;

    /// Rows of the output for a program.
    const OUTPUT: &str = "
Dynamic Section:
  NEEDED               libxkbcommon.so.0
  NEEDED               libz.so.1
  NEEDED               libc.so.6
  INIT                 0x0000000000b2f000

Version References:
  required from libc.so.6:
    0x09691a75 0x00 07 GLIBC_2.2.5
    0x069691b5 0x00 09 GLIBC_2.35

DYNAMIC SYMBOL TABLE:
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.2.5) getenv
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.35) hypot
0000000000000000      DF *UND*\t0000000000000000  GLIBC_2.34  dlopen
0000000000000000  w   D  *UND*\t0000000000000000  Base        __gmon_start__
";

    #[test]
    fn packages_follow_from_libraries_and_symbols() {
        let linkage = ProgramLinkage::read("burin", OUTPUT);
        let other = "  NEEDED  libgcc_s.so.1\n x (GLIBC_2.9) pipe2\n";
        let other = ProgramLinkage::read("burin-agent", other);
        assert!(linkage.check().is_ok());
        let packages = ProgramLinkage::debian_packages(&[other, linkage]).expect("packages");
        let expected = ["libc6 (>= 2.35)", "libgcc-s1", "libxkbcommon0", "zlib1g"];
        assert_eq!(packages, expected);
    }

    #[test]
    fn a_symbol_of_a_newer_glibc_is_named() {
        let newer = format!("{OUTPUT} x (GLIBC_2.36) pidfd_open\n 0 w (GLIBC_2.39) pidfd_spawn\n");
        let linkage = ProgramLinkage::read("burin", &newer);
        let Err(Error::NewerGlibc { symbols, found, .. }) = linkage.check() else {
            panic!("{linkage:?}");
        };
        assert_eq!(
            (found.as_str(), symbols),
            ("2.36", vec!["pidfd_open".to_owned()])
        );
    }

    #[test]
    fn a_library_without_a_package_is_an_error() {
        let linkage = ProgramLinkage::read("burin", "  NEEDED  libssl.so.3\n");
        let packages = ProgramLinkage::debian_packages(&[linkage]);
        assert!(matches!(packages, Err(Error::UnknownLibrary { .. })));
    }
}
