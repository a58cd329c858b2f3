//! The permission to run tasks, for windows: see `runtime::task_permission`.

use base::AbsPath;
use host::{Dirs, RealFiles};
use runtime::task_permission;
use tasks::TaskFile;
use workbench::services::TaskTrust;

/// The permission as the state folder records it.
pub(crate) struct StoredTaskTrust {
    dirs: Dirs,
}

impl StoredTaskTrust {
    /// Creates the permission of the user to whom the folders belong.
    pub(crate) fn new(dirs: &Dirs) -> Self {
        Self { dirs: dirs.clone() }
    }
}

impl TaskTrust for StoredTaskTrust {
    fn is_trusted(&self, root: &AbsPath) -> bool {
        runtime::trust::is_trusted(&RealFiles, &self.dirs, root)
    }

    fn is_allowed(&self, root: &AbsPath, file: &TaskFile) -> bool {
        task_permission::is_allowed(&self.dirs, root, file)
    }

    fn allow(&self, root: &AbsPath, file: &TaskFile) -> Result<(), host::Error> {
        task_permission::allow(&self.dirs, root, file)
    }
}

#[cfg(test)]
mod tests {
    use base::AbsPath;
    use host::{Dirs, RealFiles};
    use tasks::TaskFile;
    use workbench::services::TaskTrust as _;

    use super::StoredTaskTrust;

    #[test]
    fn a_changed_file_of_tasks_needs_a_new_permission() {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = AbsPath::new(temporary.path()).expect("absolute");
        let dirs = Dirs::under(&folder.join("own"));
        dirs.create().expect("folders");
        let (root, other) = (folder.join("p"), folder.join("q"));
        let trust = StoredTaskTrust::new(&dirs);
        assert!(!trust.is_trusted(&root));
        runtime::trust::set_trusted(&RealFiles, &dirs, &root, true).expect("written");
        assert!(trust.is_trusted(&root) && !trust.is_trusted(&other));
        let mut file = TaskFile {
            path: root.join(".vscode/tasks.json"),
            name: ".vscode/tasks.json",
            text: "{}".to_owned(),
        };
        assert!(!trust.is_allowed(&root, &file));
        trust.allow(&root, &file).expect("written");
        assert!(trust.is_allowed(&root, &file));
        assert!(!trust.is_allowed(&other, &file));
        file.text = "{ }".to_owned();
        assert!(!trust.is_allowed(&root, &file));
    }
}
