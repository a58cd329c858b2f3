//! The command line of the chore.

use std::path::PathBuf;

use crate::error::Error;

const USAGE: &str =
    "usage: cargo xtask package [deb|archive|appimage|app]… [--programs FOLDER] [--out FOLDER]
    Without a format: deb, archive and (on x86_64) appimage on Linux, app on macOS.
    --programs  packs the programs in a folder instead of building them
    --out       the folder of the packages; the default is target/package";

/// A kind of package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PackageFormat {
    Deb,
    Archive,
    AppImage,
    /// The bundle for macOS.
    App,
}

impl PackageFormat {
    fn named(name: &str) -> Option<Self> {
        match name {
            "deb" => Some(Self::Deb),
            "archive" => Some(Self::Archive),
            "appimage" => Some(Self::AppImage),
            "app" => Some(Self::App),
            _ => None,
        }
    }

    /// Returns the formats for an operating system and a processor, as Rust names them.
    fn usual(system: &str, architecture: &str) -> Vec<Self> {
        match (system, architecture) {
            ("macos", _) => vec![Self::App],
            (_, "x86_64") => vec![Self::Deb, Self::Archive, Self::AppImage],
            // AppImages have no runtime for other processors.
            _ => vec![Self::Deb, Self::Archive],
        }
    }
}

/// The packages to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackageOptions {
    pub(crate) formats: Vec<PackageFormat>,
    /// The folder of programs that are built already.
    pub(crate) programs: Option<PathBuf>,
    /// The folder for the packages, if it is not the usual one.
    pub(crate) out: Option<PathBuf>,
}

impl PackageOptions {
    /// Parses the arguments after the chore's name.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, Error> {
        let problem = |problem: String| Error::Usage {
            problem,
            usage: USAGE,
        };
        let mut options = Self {
            formats: Vec::new(),
            programs: None,
            out: None,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let folder = match argument.as_str() {
                "--programs" => &mut options.programs,
                "--out" => &mut options.out,
                name => {
                    let format = PackageFormat::named(name);
                    let format = format.ok_or_else(|| problem(format!("there is no {name}")))?;
                    options.formats.push(format);
                    continue;
                }
            };
            let value = arguments.next();
            let value = value.ok_or_else(|| problem(format!("{argument} needs a folder")))?;
            *folder = Some(PathBuf::from(value));
        }
        if options.formats.is_empty() {
            options.formats = PackageFormat::usual(std::env::consts::OS, std::env::consts::ARCH);
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{PackageFormat, PackageOptions};

    fn parse(arguments: &[&str]) -> Result<PackageOptions, String> {
        let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
        PackageOptions::parse(&arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn formats_and_folders_are_read() {
        let options = parse(&["deb", "--out", "/o", "app", "--programs", "/p"]).expect("good");
        assert_eq!(options.formats, [PackageFormat::Deb, PackageFormat::App]);
        assert_eq!(options.out.as_deref(), Some(Path::new("/o")));
        assert_eq!(options.programs.as_deref(), Some(Path::new("/p")));
    }

    #[test]
    fn each_system_has_usual_formats() {
        assert!(!parse(&[]).expect("good").formats.is_empty());
        let usual = PackageFormat::usual;
        assert_eq!(usual("macos", "aarch64"), [PackageFormat::App]);
        assert!(usual("linux", "x86_64").contains(&PackageFormat::AppImage));
        assert!(!usual("linux", "aarch64").contains(&PackageFormat::AppImage));
    }

    #[test]
    fn problems_come_with_the_usage() {
        for (arguments, expected) in [
            (&["rpm"][..], "there is no rpm\nusage: "),
            (&["--out"][..], "--out needs a folder\nusage: "),
        ] {
            let problem = parse(arguments).expect_err("bad");
            assert!(problem.starts_with(expected), "{problem}");
        }
    }
}
