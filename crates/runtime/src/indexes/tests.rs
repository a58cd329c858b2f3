//! One index for each root, whoever asks for it.

use host::{Files as _, RealFiles, TempFolder};

use super::*;

struct Setup {
    folder: TempFolder,
    indexes: Arc<IndexRegistry>,
}

impl Setup {
    fn new() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let dirs = Dirs::under(&folder.path().join("own"));
        dirs.create().expect("folders");
        Self {
            folder,
            indexes: IndexRegistry::new(&dirs),
        }
    }

    fn root(&self, name: &str) -> AbsPath {
        let root = self.folder.path().join(name);
        RealFiles.create_folder(&root).expect("a folder");
        RealFiles.canonicalize(&root).expect("a real path")
    }
}

/// Whether two handles are of one index: they share its state.
fn is_same(one: &Index, other: &Index) -> bool {
    one.set_paused(true);
    let is_same = other.status().is_paused;
    one.set_paused(false);
    is_same
}

#[test]
fn window_and_agents_share_the_index_of_a_root() {
    let setup = Setup::new();
    let (root, other) = (setup.root("project"), setup.root("other"));
    let window = setup.indexes.open_for_window(&root);
    assert!(is_same(&window, &setup.indexes.open_for_window(&root)));
    assert!(is_same(&window, &setup.indexes.open_recent(&root)));
    assert!(is_same(&window, &setup.indexes.open(&root)));
    assert!(!is_same(&window, &setup.indexes.open(&other)));
}

#[test]
fn index_of_a_window_is_found_after_agents_used_many_roots() {
    let setup = Setup::new();
    let root = setup.root("project");
    let window = setup.indexes.open_for_window(&root);
    for number in 0..=MAX_RECENT {
        setup
            .indexes
            .open_recent(&setup.root(&format!("other-{number}")));
    }
    assert_eq!(setup.indexes.indexes().recent.len(), MAX_RECENT);
    assert!(is_same(&window, &setup.indexes.open_recent(&root)));
}

#[test]
fn index_closes_with_its_last_handle() {
    let setup = Setup::new();
    let root = setup.root("project");
    let window = setup.indexes.open_for_window(&root);
    assert!(setup.indexes.indexes().running(&root).is_some());
    drop(window);
    assert!(setup.indexes.indexes().running(&root).is_none());
}

#[test]
fn window_adds_text_search_to_an_index_of_agents() {
    let setup = Setup::new();
    let root = setup.root("project");
    let agents = setup.indexes.open_recent(&root);
    agents.wait_until_idle();
    assert!(agents.prefilter().is_none());
    let window = setup.indexes.open_for_window(&root);
    window.wait_until_idle();
    assert!(agents.prefilter().is_some());
}

#[tokio::test]
async fn agents_find_the_unsaved_text_of_a_window() {
    struct Unsaved(AbsPath);

    impl Buffers for Unsaved {
        fn text(&self, path: &AbsPath) -> Option<String> {
            (*path == self.0).then(|| "fn quicksilver() {}\n".to_owned())
        }

        fn unsaved(&self) -> Vec<AbsPath> {
            vec![self.0.clone()]
        }
    }

    let setup = Setup::new();
    let root = setup.root("project");
    let path = root.join("a.rs");
    RealFiles
        .write_private(&path, b"fn mercury() {}\n")
        .expect("a file");
    let buffers: Arc<dyn Buffers> = Arc::new(Unsaved(path));
    let search = AgentSearch::new(setup.indexes.clone(), Some(buffers));
    let window = setup.indexes.open_for_window(&root);
    let found = search.symbols(&root, "quicksilver".to_owned(), 5).await;
    assert_eq!(found.expect("an answer").len(), 1);
    assert_eq!(window.symbols("quicksilver", 5).len(), 1);
}
