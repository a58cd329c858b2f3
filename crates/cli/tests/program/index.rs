//! Tests `burin-agent index` and `burin-agent search` as processes, with and without kills.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
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
    assert!(left.errors.contains("The index is rebuilt"), "{left:?}");
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

/// An embedding server for which the first text, the question, is similar to the definition of
/// `fox` and to nothing else. It serves one connection at a time.
fn fox_server() -> (String, std::sync::mpsc::Receiver<Value>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let (sender, asked) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = BufReader::new(socket.expect("a connection"));
            let Some(asked) = posted(&mut socket) else {
                continue;
            };
            let texts = asked["input"].as_array().expect("texts").iter();
            let data: Vec<Value> = texts
                .enumerate()
                .map(|(ix, text)| {
                    let is_fox = ix == 0 || text.as_str().expect("a text").contains("fn fox");
                    json!({ "index": ix, "embedding": if is_fox { [1, 0] } else { [0, 1] } })
                })
                .collect();
            let body = json!({ "data": data }).to_string();
            let length = body.len();
            write!(
                socket.get_mut(),
                "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            )
            .expect("written");
            if sender.send(asked).is_err() {
                return;
            }
        }
    });
    (url, asked)
}

/// Reads a request and returns the JSON posted to `/v1/embeddings`.
fn posted(socket: &mut BufReader<std::net::TcpStream>) -> Option<Value> {
    let (mut line, mut length) = (String::new(), 0);
    socket.read_line(&mut line).ok().filter(|read| *read > 0)?;
    assert!(line.starts_with("POST /v1/embeddings "), "{line}");
    loop {
        line.clear();
        socket.read_line(&mut line).ok()?;
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    socket.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

#[test]
fn an_endpoint_of_ones_own_looks_a_second_time() {
    let home = Home::new(&json!([]));
    project(&home);
    home.write(
        "project/src/fox.rs",
        "/// Waits after a failure.\npub fn fox() {}\n",
    );
    let question = "waits longer after every failure";
    let first = searched(&home, &[question]);
    assert_eq!(first["hits"][0]["symbol"], "retry_with_backoff", "{first}");
    assert_eq!(first["hits"][0]["parts"]["second_look"], Value::Null);

    let (url, asked) = fox_server();
    let settings = |look: &str| {
        let provider = json!({ "name": "own", "wire": "openai", "url": url });
        json!({ "models": { "providers": [provider] }, "search": { "second_look": look } })
            .to_string()
    };
    home.write("config/settings.json", &settings("own/m"));
    let second = searched(&home, &[question]);
    assert_eq!(second["hits"][0]["path"], "src/fox.rs", "{second}");
    assert_eq!(second["hits"][0]["parts"]["second_look"], 1.0);
    let asked = asked.recv().expect("a request");
    assert_eq!(
        (&asked["model"], &asked["input"][0]),
        (&json!("m"), &json!(question))
    );
    // A symbol is found by name, without a model request.
    let symbol = searched(&home, &["retry_with_backoff"]);
    assert_eq!(symbol["hits"][0]["parts"]["second_look"], Value::Null);

    // If the reranker fails, the first ranking holds and the reason is reported.
    for (look, words) in [
        ("nobody/m", "There is no provider"),
        ("mine", "provider/model"),
    ] {
        home.write("config/settings.json", &settings(look));
        let left = home.run(&["search", "--json", question]);
        assert!(
            left.errors.contains("not reranked:") && left.errors.contains(words),
            "{left:?}"
        );
        let found: Value = serde_json::from_str(&left.output).expect("json");
        assert_eq!(found, first);
    }
}

#[test]
fn a_project_sends_nothing_to_its_own_endpoint() {
    let home = Home::new(&json!([]));
    project(&home);
    let (url, asked) = fox_server();
    let provider = json!({ "name": "own", "wire": "openai", "url": url });
    let settings =
        json!({ "models": { "providers": [provider] }, "search": { "second_look": "own/m" } });
    home.write("project/.burin/settings.json", &settings.to_string());
    let found = searched(&home, &["wait after a failure"]);
    assert_eq!(found["hits"][0]["parts"]["second_look"], Value::Null);
    assert!(asked.try_recv().is_err());
}
