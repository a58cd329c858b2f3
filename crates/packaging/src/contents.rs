//! The files of each kind of package, before they are packed.

use std::collections::BTreeMap;

use crate::archive::gzip;
use crate::changelog;
use crate::error::Error;
use crate::icon;
use crate::package_tree::PackageTree;
use crate::release::Release;

const DESKTOP_ENTRY: &str = include_str!("../../../packaging/linux/burin.desktop");
const METAINFO: &str = include_str!("../../../packaging/linux/dev.burin.Burin.metainfo.xml");
const COPYRIGHT: &str = include_str!("../../../packaging/linux/copyright");
const APPARMOR: &str = include_str!("../../../packaging/linux/apparmor");
const LINTIAN_OVERRIDES: &str = include_str!("../../../packaging/linux/lintian-overrides");
const INSTALL_SCRIPT: &str = include_str!("../../../packaging/linux/install.sh");
const APP_RUN: &str = include_str!("../../../packaging/appimage/AppRun");
const INFO_PLIST: &str = include_str!("../../../packaging/macos/Info.plist");
const LICENCES: [(&str, &str); 2] = [
    ("LICENSE-APACHE", include_str!("../../../LICENSE-APACHE")),
    ("LICENSE-MIT", include_str!("../../../LICENSE-MIT")),
];

/// The parts of every package, whatever its format.
#[derive(Clone, Debug)]
pub(crate) struct PackageContents {
    /// The program with windows.
    pub(crate) burin: Vec<u8>,
    /// The program for the command line.
    pub(crate) agent: Vec<u8>,
    /// Manual pages and completions by `man/NAME`, `bash/NAME`, `zsh/NAME` and `fish/NAME`.
    pub(crate) texts: BTreeMap<String, String>,
    /// The bill of materials.
    pub(crate) bill: String,
    /// The licences of everything in the programs.
    pub(crate) licences: String,
    pub(crate) release: Release,
}

impl PackageContents {
    /// Returns the files of the Debian package, with paths from the root of the file system.
    pub(crate) fn debian(&self) -> Result<PackageTree, Error> {
        let mut tree = self.below_prefix("zsh/vendor-completions")?;
        let release = &self.release;
        let changes = changelog::debian(&release.notes, &release.maintainer);
        tree.add("share/doc/burin/changelog.gz", packed(&changes)?);
        tree.add("share/doc/burin/copyright", release.fill(COPYRIGHT));
        tree.add("share/lintian/overrides/burin", LINTIAN_OVERRIDES);
        tree.add("share/burin/apparmor/burin", APPARMOR);
        Ok(tree.below("usr"))
    }

    /// Returns the files of the archive that needs no root, with paths below its top folder.
    pub(crate) fn archive(&self) -> Result<PackageTree, Error> {
        let mut tree = self.below_prefix("zsh/site-functions")?;
        tree.add_program("install.sh", INSTALL_SCRIPT);
        for (name, text) in LICENCES {
            tree.add(name, text);
            tree.add(format!("share/doc/burin/{name}"), text);
        }
        Ok(tree)
    }

    /// Returns the files of the AppImage.
    pub(crate) fn app_dir(&self) -> Result<PackageTree, Error> {
        let mut tree = self.below_prefix("zsh/site-functions")?;
        for (name, text) in LICENCES {
            tree.add(format!("share/doc/burin/{name}"), text);
        }
        let mut tree = tree.below("usr");
        tree.add_program("AppRun", APP_RUN);
        // The program is not on the path, so a desktop that looks for it would hide the entry.
        let entry = DESKTOP_ENTRY.replace("TryExec=burin\n", "");
        tree.add("usr/share/applications/burin.desktop", entry.as_str());
        tree.add("burin.desktop", entry);
        let icon = "usr/share/icons/hicolor/256x256/apps/burin.png";
        tree.add_link("burin.png", icon);
        tree.add_link(".DirIcon", icon);
        Ok(tree)
    }

    /// Returns the bundle for macOS: the folder `Burin.app`, not yet signed.
    pub(crate) fn app_bundle(&self) -> Result<PackageTree, Error> {
        let mut tree = PackageTree::default();
        tree.add("Info.plist", self.release.fill(INFO_PLIST));
        tree.add("PkgInfo", "APPL????");
        tree.add_program("MacOS/burin", self.burin.clone());
        tree.add_program("MacOS/burin-agent", self.agent.clone());
        tree.add("Resources/Burin.icns", icon::icns()?);
        tree.add("Resources/burin.cdx.json", self.bill.as_str());
        tree.add("Resources/third-party-licenses.txt", self.licences.as_str());
        for (name, text) in LICENCES {
            tree.add(format!("Resources/{name}"), text);
        }
        for (name, text) in &self.texts {
            match name.split_once('/') {
                Some(("man", page)) => {
                    tree.add(format!("Resources/man/man1/{page}"), text.as_str())
                }
                _ => tree.add(format!("Resources/completions/{name}"), text.as_str()),
            }
        }
        Ok(tree.below("Burin.app/Contents"))
    }

    /// Returns the files of all packages for Linux, with paths from the folder in which they are installed. `zsh` is the
    /// folder of completions for `zsh` below `share`.
    fn below_prefix(&self, zsh: &str) -> Result<PackageTree, Error> {
        let mut tree = PackageTree::default();
        tree.add_program("bin/burin", self.burin.clone());
        tree.add_program("bin/burin-agent", self.agent.clone());
        tree.add("share/applications/burin.desktop", DESKTOP_ENTRY);
        let metainfo = self.release.fill(METAINFO);
        tree.add("share/metainfo/dev.burin.Burin.metainfo.xml", metainfo);
        tree.add("share/icons/hicolor/scalable/apps/burin.svg", icon::SVG);
        for size in icon::SIZES {
            let path = format!("share/icons/hicolor/{size}x{size}/apps/burin.png");
            tree.add(path, icon::png(*size)?);
        }
        let documents = "share/doc/burin";
        tree.add(
            format!("{documents}/burin.cdx.json.gz"),
            packed(&self.bill)?,
        );
        let licences = format!("{documents}/third-party-licenses.txt.gz");
        tree.add(licences, packed(&self.licences)?);
        for (name, text) in &self.texts {
            match name.split_once('/') {
                Some(("man", page)) => {
                    tree.add(format!("share/man/man1/{page}.gz"), packed(text)?);
                }
                Some(("bash", name)) => {
                    let path = format!("share/bash-completion/completions/{name}");
                    tree.add(path, text.as_str());
                }
                Some(("zsh", name)) => tree.add(format!("share/{zsh}/{name}"), text.as_str()),
                Some(("fish", name)) => {
                    let path = format!("share/fish/vendor_completions.d/{name}");
                    tree.add(path, text.as_str());
                }
                _ => {}
            }
        }
        Ok(tree)
    }
}

fn packed(text: &str) -> Result<Vec<u8>, Error> {
    gzip(text.as_bytes()).map_err(Error::pack("a text"))
}

#[cfg(test)]
mod tests;
