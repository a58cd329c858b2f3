//! The workspace as Cargo describes it.

use std::ffi::OsString;

use cargo_metadata::{Metadata, MetadataCommand};

use crate::error::Error;
use crate::tools;

/// Returns the program that runs this chore, or else the one on the path.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Reads the manifests of the workspace around the working folder and of the crates that this system needs. Crates that are
/// not on this machine are downloaded, unless the options forbid it.
pub(crate) fn metadata(options: &[&str]) -> Result<Metadata, Error> {
    let version = tools::output(tools::command(cargo()).arg("-vV"), "Install Rust")?;
    let host = parse_host(&version)?;
    let fixed = ["--locked", "--filter-platform", host];
    let all = fixed.iter().chain(options);
    let all: Vec<String> = all.map(|option| (*option).to_owned()).collect();
    let mut command = MetadataCommand::new();
    command.cargo_path(cargo()).other_options(all);
    Ok(command.exec()?)
}

/// Returns the platform that Cargo was built for, from its verbose version.
fn parse_host(version: &str) -> Result<&str, Error> {
    let host = version.lines().find_map(|row| row.strip_prefix("host: "));
    host.ok_or_else(|| Error::Output {
        program: "cargo -vV",
        problem: "it names no host".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::parse_host;

    #[test]
    fn the_host_is_in_the_verbose_version() {
        let version =
            "cargo 1.95.0 (a 2026-03-21)\nrelease: 1.95.0\nhost: x86_64-unknown-linux-gnu\n";
        assert_eq!(parse_host(version).ok(), Some("x86_64-unknown-linux-gnu"));
        assert!(parse_host("cargo 1.95.0\n").is_err());
    }
}
