//! The facts of a release: its version and time, and who publishes it.

use cargo_metadata::Metadata;

use crate::changelog::{self, ReleaseNotes};
use crate::error::Error;
use crate::tools;

const CHANGELOG: &str = include_str!("../../../CHANGELOG.md");

/// The facts of a release that its packages name.
#[derive(Clone, Debug)]
pub(crate) struct Release {
    pub(crate) version: String,
    /// The time of every file in the packages, in seconds since 1970.
    pub(crate) epoch: u64,
    /// The processor of this machine, for which the programs are built, as Rust names it.
    pub(crate) architecture: &'static str,
    pub(crate) homepage: String,
    /// Address for reports of problems.
    pub(crate) issues: String,
    /// Name and address, in the form of e-mail.
    pub(crate) maintainer: String,
    pub(crate) oldest_macos: String,
    /// This release and the earlier ones, the newest first.
    pub(crate) notes: Vec<ReleaseNotes>,
}

impl Release {
    /// Reads the facts from the manifest of the workspace and the changelog. The time is `SOURCE_DATE_EPOCH`, or that of
    /// the last commit, or that of the release in the changelog.
    pub(crate) fn read(metadata: &Metadata) -> Result<Self, Error> {
        let value = |table: &str, name: &str, key: &'static str| {
            let value = metadata.workspace_metadata[table][name].as_str();
            value
                .map(str::to_owned)
                .ok_or(Error::MetadataMissing { key })
        };
        let notes = changelog::parse(CHANGELOG)?;
        let burin = metadata.packages.iter().find(|it| it.name == "burin");
        let version = burin.map(|package| package.version.to_string());
        let release = Self {
            version: version.unwrap_or_default(),
            epoch: epoch(metadata, &notes),
            architecture: std::env::consts::ARCH,
            homepage: value("publishing", "homepage", "publishing.homepage")?,
            issues: value("publishing", "issues", "publishing.issues")?,
            maintainer: value("publishing", "maintainer", "publishing.maintainer")?,
            oldest_macos: value("toolchain", "macos", "toolchain.macos")?,
            notes,
        };
        release.check()?;
        Ok(release)
    }

    fn check(&self) -> Result<(), Error> {
        match self.notes.first() {
            Some(newest) if newest.version == self.version => Ok(()),
            _ => Err(Error::Changelog {
                problem: format!("its first release is not {}", self.version),
            }),
        }
    }

    /// Returns a template with the facts in the places of `@NAME@`.
    pub(crate) fn fill(&self, template: &str) -> String {
        let releases = changelog::metainfo(&self.notes);
        let mit = include_str!("../../../LICENSE-MIT");
        let indented = mit.lines().map(|row| match row {
            "" => " .".to_owned(),
            row => format!(" {row}"),
        });
        let mit = indented.collect::<Vec<_>>().join("\n");
        template
            .replace("@VERSION@", &self.version)
            .replace("@HOMEPAGE@", &self.homepage)
            .replace("@ISSUES@", &self.issues)
            .replace("@MACOS@", &self.oldest_macos)
            .replace("@RELEASES@", &releases)
            .replace("@MIT@", &mit)
    }

    /// Returns the facts of an invented release.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        let notes = "## 1.2.3 (2026-11-30)\n\n- A change.\n";
        Self {
            version: "1.2.3".to_owned(),
            // Noon of that day.
            epoch: 1_796_040_000,
            architecture: "x86_64",
            homepage: "https://example.org".to_owned(),
            issues: "https://example.org/issues".to_owned(),
            maintainer: "Maintainer <maintainer@example.org>".to_owned(),
            oldest_macos: "12.0".to_owned(),
            notes: changelog::parse(notes).expect("a changelog"),
        }
    }
}

fn epoch(metadata: &Metadata, notes: &[ReleaseNotes]) -> u64 {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok();
    let committed = || {
        let mut git = tools::command("git");
        git.args(["log", "-1", "--format=%ct"]);
        git.current_dir(&metadata.workspace_root);
        tools::output(&mut git, "Install git").ok()
    };
    let seconds = given.or_else(committed);
    let seconds = seconds.and_then(|text| text.trim().parse().ok());
    let released = || notes.first().map(|release| release.day.noon());
    seconds.or_else(released).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Release;
    use crate::workspace;

    #[test]
    fn manifest_and_changelog_describe_one_release() {
        let metadata = workspace::metadata(&["--no-deps", "--offline"]).expect("the manifests");
        let release = Release::read(&metadata).expect("a release");
        assert!(!release.version.is_empty());
        for address in [&release.homepage, &release.issues] {
            assert!(address.starts_with("https://"), "{address}");
        }
        assert!(release.maintainer.ends_with('>'), "{}", release.maintainer);
        let newest = release.notes.first().expect("a release");
        assert!(release.epoch > 0 && newest.day.noon() > 0);
    }

    #[test]
    fn a_version_without_notes_is_refused() {
        let release = Release {
            version: "9.9.9".to_owned(),
            ..Release::for_tests()
        };
        let problem = release.check().expect_err("no notes").to_string();
        assert_eq!(problem, "CHANGELOG.md: its first release is not 9.9.9");
    }
}
