//! `burin-agent index` and `burin-agent search` as processes, killed and not.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::home::Home;

const CART: &str = "/// Adds up what everything in the cart costs.\npub fn total_price(items: &[Item]) -> u64 {\n    \
                    items.iter().map(|item| item.price).sum()\n}\n";
const RETRY: &str = "/// Waits longer after every failure.\npub fn retry_with_backoff(request: Request) -> Response {\n    \
                     loop { send(&request) }\n}\n";

fn project(home: &Home) {
    home.write("project/src/cart.rs", CART);
    home.write("project/src/retry.rs", RETRY);
    home.write("project/server.key", "retry_with_backoff\n");
    home.write("project/.gitignore", "ignored/\n");
    home.write("project/ignored/a.rs", RETRY);
}

fn searched(home: &Home, arguments: &[&str]) -> Value {
    let mut all = vec!["search", "--json"];
    all.extend(arguments);
    let left = home.run(&all);
    assert_eq!(left.code, Some(0), "{left:?}");
    serde_json::from_str(&left.output).expect("json")
}

#[test]
fn the_index_is_made_once_and_answers() {
    let home = Home::new(&json!([]));
    project(&home);
    std::fs::create_dir(home.path("project/.git")).expect("a folder");
    let first: Value = serde_json::from_str(&home.run(&["index", "--json"]).output).expect("json");
    assert_eq!(first["embedded"], 2, "{first}");
    assert_eq!(first["left_out"]["secret"], 1, "{first}");
    let again: Value = serde_json::from_str(&home.run(&["index", "--json"]).output).expect("json");
    assert_eq!(again["embedded"], 0, "{again}");
    assert_eq!(again["chunks"], first["chunks"]);
    let text = home.run(&["index", "--stats"]).output;
    assert!(
        text.contains("1 for secrets") && text.contains("MB on disk"),
        "{text}"
    );

    let found = searched(&home, &["try again after an error", "--limit", "1"]);
    let hit = &found["hits"][0];
    assert_eq!(found["complete"], true);
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(1));
    assert_eq!(hit["path"], "src/retry.rs");
    assert_eq!(hit["lines"], json!([1, 4]));
    assert_eq!(hit["symbol"], "retry_with_backoff");
    assert_eq!(hit["kind"], "function");
    assert_eq!(hit["text"], RETRY.trim_end());
    assert!(hit["score"].is_number() && hit["parts"]["meaning"].is_number());
    let symbol = searched(&home, &["total", "--by", "symbol"]);
    assert_eq!(symbol["hits"][0]["symbol"], "total_price");
    let elsewhere = home.run(&["search", "anything", "--root", "nowhere"]);
    assert_ne!(elsewhere.code, Some(0));
    assert!(elsewhere.errors.contains("nowhere"), "{elsewhere:?}");
    home.write("project/src/cart.rs", "pub fn weigh_parcel() {}\n");
    let found = searched(&home, &["weigh_parcel"]);
    assert_eq!(found["hits"][0]["path"], "src/cart.rs");
}

#[test]
fn a_foreign_store_is_made_anew_and_said() {
    let home = Home::new(&json!([]));
    project(&home);
    let before = searched(&home, &["retry"]);
    let entries = entries_file(&home.path("")).expect("a store");
    std::fs::write(&entries, "something else").expect("a file");
    let left = home.run(&["search", "--json", "retry"]);
    assert!(left.errors.contains("The index is made anew"), "{left:?}");
    let after: Value = serde_json::from_str(&left.output).expect("json");
    assert_eq!(after, before);
}

fn entries_file(folder: &Path) -> Option<std::path::PathBuf> {
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            let found = entries_file(&path);
            if found.is_some() {
                return found;
            }
        } else if path.file_name().is_some_and(|name| name == "entries") {
            return Some(path);
        }
    }
    None
}

#[test]
fn killed_at_any_moment_it_is_never_wrong() {
    const TIMES: u32 = 100;
    let home = Home::new(&json!([]));
    for ix in 0..150 {
        let functions: String = (0..20)
            .map(|at| format!("/// Does {at} of {ix}.\nfn work_{ix}_{at}() {{\n    let part = step({at});\n    finish(part);\n}}\n"))
            .collect();
        home.write(&format!("project/src/f{ix}.rs"), &functions);
    }
    let begun = Instant::now();
    let left = home.run(&["index", "--json"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    let whole = begun.elapsed().max(Duration::from_millis(50));
    let questions = ["work_7_3", "finish a part", "step 11 of 90"];
    let answers = || questions.map(|question| searched(&home, &[question]));
    let expected = answers();
    let mut random = 12_345_u32;
    for time in 0..TIMES {
        if time % 5 == 0 {
            let cache = home.path("cache");
            let store = entries_file(&home.path("")).expect("a store");
            let folder = store.parent().expect("a folder").to_path_buf();
            std::fs::remove_dir_all(folder).expect("removed");
            assert!(!cache.join("entries").exists());
        }
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let wait = whole.mul_f64(f64::from(random >> 8) / f64::from(1 << 24));
        let mut child = home.start(&["index", "--json"], Stdio::null());
        std::thread::sleep(wait);
        child.kill().expect("killed");
        child.wait().expect("ended");
        if time % 5 == 4 {
            assert_eq!(answers(), expected, "after {time} kills");
        }
    }
}
