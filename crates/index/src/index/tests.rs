//! Tests of indexes over real folders and real repositories.

use base::AbsPath;
use host::{Files, RealFiles, TempFolder};
use test_support::{FoldingVolume, Spellings, skip, spelling_count};

use super::{Index, IndexOptions};
use crate::{IndexQuery, QueryMode};

const CART: &str = "//! A shopping cart.

/// Adds up what everything in the cart costs, taxes included.
pub fn total_price(items: &[Item]) -> u64 {
    items.iter().map(|item| item.price).sum()
}
";

const RETRY: &str = "/// Waits longer after every failure, and gives up at last.
pub async fn retry_with_backoff(request: Request) -> Result<Response, Error> {
    let mut delay = Duration::from_millis(100);
    loop {
        match send(&request).await {
            Ok(response) => return Ok(response),
            Err(error) if delay > LIMIT => return Err(error),
            Err(_) => sleep(delay).await,
        }
        delay *= 2;
    }
}
";

pub(crate) fn write(root: &AbsPath, name: &str, text: &str) {
    let path = root.join(name);
    let folder = path.parent().expect("inside");
    RealFiles.create_folder(&folder).expect("create");
    RealFiles
        .write_private(&path, text.as_bytes())
        .expect("write");
}

fn sample() -> (TempFolder, AbsPath) {
    let folder = TempFolder::new().expect("a temporary folder");
    let root = RealFiles
        .canonicalize(folder.path())
        .expect("there")
        .join("project");
    write(&root, "src/cart.rs", CART);
    write(&root, "src/net/retry.rs", RETRY);
    write(&root, "README.md", "# Shop\n\nHow to run the shop.\n");
    write(&root, ".env", "PASSWORD=retry\n");
    write(&root, "certs/server.key", "retry retry\n");
    (folder, root)
}

fn found(index: &Index, question: &str) -> Vec<String> {
    let answer = index.search(&IndexQuery::new(question, 5));
    assert!(answer.is_complete);
    let names = answer.hits.iter();
    names.map(|hit| hit.path.display().to_string()).collect()
}

#[test]
fn a_query_finds_the_matching_chunk() {
    let (_folder, root) = sample();
    let index = Index::open(root, IndexOptions::in_memory());
    index.wait_until_synced();
    assert!(index.status().is_ready(), "{:?}", index.status());
    let answer = index.search(&IndexQuery::new("wait and try again after an error", 5));
    let hit = &answer.hits[0];
    assert_eq!(hit.path.to_str(), Some("src/net/retry.rs"));
    assert_eq!(hit.symbol.as_deref(), Some("retry_with_backoff"));
    assert_eq!(hit.rows, 0..12);
    assert_eq!(hit.text, RETRY.trim_end());
    assert!(hit.parts.meaning > 0.0, "{:?}", hit.parts);
    assert_eq!(found(&index, "total_price")[0], "src/cart.rs");
    let secret = index.search(&IndexQuery::new("PASSWORD retry", 20));
    assert!(secret.hits.iter().all(|hit| !hit.text.contains("PASSWORD")));
    assert_eq!(
        index.status().left_out.secret,
        1,
        "hidden files are not even looked at"
    );
}

#[test]
fn every_query_mode_returns_hits() {
    let (_folder, root) = sample();
    let index = Index::open(root, IndexOptions::in_memory());
    index.wait_until_synced();
    for means in [QueryMode::Fused, QueryMode::Words, QueryMode::Meaning] {
        let query = IndexQuery {
            mode: means,
            ..IndexQuery::new("retry with backoff", 5)
        };
        let answer = index.search(&query);
        assert_eq!(
            answer.hits[0].path.to_str(),
            Some("src/net/retry.rs"),
            "{means:?}"
        );
    }
    let query = IndexQuery {
        folder: Some("src/net".into()),
        ..IndexQuery::new("total price of the cart", 5)
    };
    let answer = index.search(&query);
    assert!(
        answer
            .hits
            .iter()
            .all(|hit| hit.path.starts_with("src/net"))
    );
    assert_eq!(index.search(&IndexQuery::new("", 5)).hits.len(), 0);
}

#[test]
fn a_definition_is_found_by_its_name() {
    let (_folder, root) = sample();
    let index = Index::open(root, IndexOptions::in_memory());
    index.wait_until_synced();
    let first = |name: &str| {
        let hits = index.symbols(name, 3);
        hits.first()
            .map(|hit| (hit.symbol.clone().unwrap_or_default(), hit.rows.clone()))
    };
    let total = Some(("total_price".to_owned(), 3..6));
    assert_eq!(first("total_price"), total);
    assert_eq!(first("TOTAL_PRICE"), total);
    assert_eq!(first("total"), total);
    assert_eq!(first("ttlprc"), total);
    assert_eq!(first("cart::total_price()"), total);
    assert_eq!(first("nothing_like_it"), None);
}

#[test]
fn changed_files_are_found_again() {
    let (_folder, root) = sample();
    let index = Index::open(root.clone(), IndexOptions::in_memory());
    index.wait_until_synced();
    write(
        &root,
        "src/cart.rs",
        "pub fn weigh_parcel(parcel: &Parcel) -> Grams {}\n",
    );
    write(
        &root,
        "src/new.rs",
        "pub fn print_invoice(order: &Order) {}\n",
    );
    RealFiles.remove(&root.join("src/net")).expect("remove");
    let touched = ["src/cart.rs", "src/new.rs", "src/net"].map(|name| root.join(name));
    index.touch(touched.to_vec());
    index.wait_until_synced();
    assert_eq!(found(&index, "weigh_parcel")[0], "src/cart.rs");
    assert_eq!(found(&index, "print_invoice")[0], "src/new.rs");
    assert!(index.symbols("retry_with_backoff", 3).is_empty());
    assert!(index.symbols("total_price", 3).is_empty());
}

#[test]
fn an_unsaved_text_replaces_the_file() {
    let (_folder, root) = sample();
    let index = Index::open(root.clone(), IndexOptions::in_memory());
    index.wait_until_synced();
    let typed = "pub fn weigh_parcel(parcel: &Parcel) -> Grams {}\n";
    let buffer = text::Buffer::new(typed);
    index.set_unsaved(root.join("src/cart.rs"), Some(buffer.snapshot()));
    index.wait_until_synced();
    let hits = index.symbols("weigh_parcel", 3);
    assert_eq!(hits[0].text, typed);
    assert!(index.symbols("total_price", 3).is_empty());
    index.set_unsaved(root.join("src/cart.rs"), None);
    index.wait_until_synced();
    assert!(index.symbols("weigh_parcel", 3).is_empty());
    assert_eq!(index.symbols("total_price", 3).len(), 1);
}

#[test]
fn a_file_is_indexed_once_however_it_is_spelled() {
    let volume = match FoldingVolume::mount() {
        Ok(volume) => volume,
        Err(error) => return skip(format!("a FUSE volume cannot be mounted: {error}")),
    };
    let root = AbsPath::new(volume.path()).expect("absolute");
    let path = root.join("Src/Strasse/Kiosk.rs");
    write(&root, "Src/Strasse/Kiosk.rs", RETRY);
    let index = Index::open(root.clone(), IndexOptions::in_memory());
    index.wait_until_synced();
    let mut spellings = Spellings::new(41);
    let rounds = spelling_count(8);
    for round in 0..rounds {
        let relative = spellings.of("src/strasse/kiosk.rs");
        let spelled = root.join(&relative);
        let name = format!("turn_number_{round}");
        let text = format!("pub fn {name}(total: u64) -> u64 {{\n    total + 1\n}}\n");
        write(&root, &relative, &text);
        index.touch(vec![spelled.clone()]);
        index.wait_until_synced();
        // Another index takes too long for every round of a soak.
        if round % rounds.div_ceil(8) == 0 {
            let fresh = Index::open(root.clone(), IndexOptions::in_memory());
            fresh.wait_until_synced();
            assert_eq!(index.status().chunks, fresh.status().chunks, "{spelled}");
        }
        let hits = index.symbols(&name, 5);
        let paths: Vec<_> = hits.iter().map(|hit| root.join(&hit.path)).collect();
        assert_eq!(paths, std::slice::from_ref(&path), "{spelled}");
        let unsaved = text::Buffer::new("pub fn not_saved_yet() {}\n").snapshot();
        index.set_unsaved(
            root.join(spellings.of("src/strasse/kiosk.rs")),
            Some(unsaved),
        );
        // Otherwise both requests are done together.
        if round % 2 == 0 {
            index.wait_until_synced();
            assert_eq!(index.symbols("not_saved_yet", 5).len(), 1, "{spelled}");
        }
        index.set_unsaved(root.join(spellings.of("src/strasse/kiosk.rs")), None);
        index.wait_until_synced();
        assert!(index.symbols("not_saved_yet", 5).is_empty(), "{spelled}");
    }
}
