//! The demo model's sample project: copies of it, and its repository.

use base::AbsPath;
use host::{Dirs, Files, RealFiles};

use crate::Error;
use crate::models::setup::DEMO;

/// Returns the root for a session of a model. For the demo model, creates a new copy of the sample
/// project and returns it, unless `root` is already a copy. Otherwise returns `root`.
pub fn session_root(model: &str, root: AbsPath, dirs: &Dirs) -> Result<AbsPath, Error> {
    if model == DEMO && !is_sample(&root) {
        create(&RealFiles, dirs)
    } else {
        Ok(root)
    }
}

/// Returns whether a folder holds the sample project, judged by the presence of one of its files.
pub fn is_sample(root: &AbsPath) -> bool {
    RealFiles.exists(&root.join("todo/dates.py"))
}

/// Creates a fresh copy of the sample project below the state folder, without a repository, and
/// returns its real path. Blocks on the disk.
pub fn create(files: &dyn Files, dirs: &Dirs) -> Result<AbsPath, Error> {
    let mut number = 1;
    let folder = loop {
        let folder = dirs.state.join(format!("demo/{number}"));
        if files.exists(&folder) {
            number += 1
        } else {
            break folder;
        }
    };
    for (path, text) in mockllm::demo::SAMPLE {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            files.create_folder(&parent)?;
        }
        files.write_private(&path, text.as_bytes())?;
    }
    Ok(files.canonicalize(&folder)?)
}

/// Makes a copy of the sample project a Git repository with one commit.
pub fn create_repository(folder: &AbsPath) -> Result<(), Error> {
    Ok(git::init_repository(folder, "The sample project")?)
}
