//! Lists of file names and search matches.

use std::collections::BTreeMap;

use super::log::LogReducer;

/// Maximum number of names shown per folder, and of folders.
const NAMES: usize = 3;
const FOLDERS: usize = 60;
/// Maximum number of names when a single folder is listed.
const NAMED: usize = 100;
/// Maximum number of matches shown per file, and of files with matches.
const MATCHES: usize = 2;
const FILES: usize = 25;

/// Marks a long list of paths: replaces the names by their folders, with the number of files of
/// each kind. Keeps short lists unchanged.
pub(crate) fn mark_names(log: &mut LogReducer<'_>) {
    if log.lines.len() < 60 {
        return;
    }
    if log.lines.iter().any(|line| line.starts_with("total ")) {
        return mark_ls(log);
    }
    // Deep paths count for their ancestor at a depth where folders are still few.
    let depth = depth_for(log);
    let mut folders: BTreeMap<String, ListedFolder> = BTreeMap::new();
    let mut order = Vec::new();
    for ix in 0..log.lines.len() {
        let line = log.lines[ix].trim_end();
        if line.is_empty() || line.contains(": ") {
            continue;
        }
        let key = folder_of(line, depth);
        let folder = folders.entry(key.clone()).or_insert_with(|| {
            order.push((ix, key));
            ListedFolder::default()
        });
        folder.count += 1;
        let name = line.rsplit('/').next().unwrap_or(line);
        if folder.names.len() < NAMES {
            folder.names.push(name.to_owned());
        }
        *folder.kinds.entry(kind_of(name)).or_default() += 1;
    }
    for (ix, key) in order.iter().take(FOLDERS) {
        log.replace_line(*ix, folders[key].summary(key));
    }
    let all: usize = folders.values().map(|folder| folder.count).sum();
    for ix in 0..log.lines.len() {
        if !log.lines[ix].contains(": ") {
            log.drop_line(ix, "");
        }
    }
    log.count("names in all", all);
    log.count("further folders", order.len().saturating_sub(FOLDERS));
}

#[derive(Default)]
struct ListedFolder {
    count: usize,
    names: Vec<String>,
    kinds: BTreeMap<String, usize>,
}

impl ListedFolder {
    fn summary(&self, key: &str) -> String {
        let names = self.names.join(", ");
        if self.count <= NAMES {
            return format!("{key}: {names}");
        }
        let mut kinds: Vec<(&String, &usize)> = self.kinds.iter().collect();
        kinds.sort_by(|one, two| two.1.cmp(one.1).then(one.0.cmp(two.0)));
        let kinds: Vec<String> = kinds
            .iter()
            .take(4)
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        format!("{key}: {} ({}): {names}, …", self.count, kinds.join(", "))
    }
}

fn folder_of(path: &str, depth: usize) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    let folders = &parts[..parts.len() - 1];
    let shown = folders[..folders.len().min(depth)].join("/");
    format!("{shown}/")
}

/// Returns the number of leading folders by which names are grouped: the largest up to 12 with at
/// most `FOLDERS` groups, or one more if that makes fewer than ten groups.
fn depth_for(log: &LogReducer<'_>) -> usize {
    let count = |depth: usize| {
        let folders: std::collections::HashSet<String> = log
            .lines
            .iter()
            .map(|line| folder_of(line, depth))
            .collect();
        folders.len()
    };
    let depth = (1..=12)
        .take_while(|depth| count(*depth) <= FOLDERS)
        .last()
        .unwrap_or(1);
    // If the next depth has many folders, the first of them are more informative than a handful of
    // parents.
    if count(depth) < 10 { depth + 1 } else { depth }
}

fn kind_of(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((stem, kind)) if !stem.is_empty() => format!(".{kind}"),
        _ => "without ending".to_owned(),
    }
}

/// Reduces `ls -l`, possibly of many folders, to a few rows of each.
fn mark_ls(log: &mut LogReducer<'_>) {
    let folders = log
        .lines
        .iter()
        .filter(|line| line.starts_with("total "))
        .count();
    if folders == 1 {
        return mark_one_folder(log);
    }
    let shown = if folders > 10 { 2 } else { 20 };
    let mut row = 0;
    let mut title = None;
    let mut titles = 0;
    for ix in 0..log.lines.len() {
        let line = log.lines[ix];
        if line.ends_with(':') && !line.starts_with(' ') {
            title = Some(ix);
        } else if line.starts_with("total ") {
            row = 0;
            titles += 1;
            if let Some(title) = title.take() {
                if titles <= FOLDERS {
                    log.keep_line(title)
                } else {
                    log.drop_line(title, "folders")
                }
            }
            log.drop_line(ix, "");
        } else if line.is_empty() {
            log.drop_line(ix, "");
        } else {
            row += 1;
            if row <= shown && titles <= FOLDERS && !line.ends_with(" .") && !line.ends_with(" ..")
            {
                log.replace_line(ix, ls_name(line))
            } else {
                log.drop_line(ix, "entries")
            }
        }
    }
}

/// Reduces `ls -l` of one folder to its names.
fn mark_one_folder(log: &mut LogReducer<'_>) {
    let rows: Vec<usize> = (0..log.lines.len())
        .filter(|ix| log.lines[*ix].starts_with(['-', 'd', 'l']))
        .collect();
    let names: Vec<String> = rows
        .iter()
        .take(NAMED)
        .map(|ix| ls_name(log.lines[*ix]))
        .collect();
    let names: Vec<&str> = names
        .iter()
        .map(|name| {
            name.rsplit_once(' ')
                .map_or(name.as_str(), |(name, _)| name)
        })
        .collect();
    let Some(first) = rows.first() else {
        return;
    };
    // A long line is truncated, and ten names fit.
    let names: Vec<String> = names.chunks(10).map(|names| names.join(", ")).collect();
    log.replace_line(*first, names.join("\n"));
    for ix in 0..log.lines.len() {
        log.drop_line(ix, "");
    }
    log.count("names in all", rows.len());
}

/// Returns the kind, size and name from `drwxr-xr-x 2 root root 4096 Nov 21 21:00 name`.
fn ls_name(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let kind = match line.chars().next() {
        Some('d') => "/",
        _ => "",
    };
    if words.len() >= 9 && line.starts_with(['-', 'd', 'l']) {
        format!("{}{kind} {}", words[8..].join(" "), words[4])
    } else {
        line.to_owned()
    }
}

/// Marks the output of grep, in the form `path:3:text` or in lines below a path. Keeps the first
/// matches of each file.
pub(crate) fn mark_matches(log: &mut LogReducer<'_>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut order = Vec::new();
    for line in &log.lines {
        if let Some(path) = match_path(line) {
            let count = counts.entry(path).or_insert_with(|| {
                order.push(path);
                0
            });
            *count += 1;
        }
    }
    let all: usize = counts.values().sum();
    if all < 40 || all * 10 < log.lines.len() * 8 {
        return;
    }
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for ix in 0..log.lines.len() {
        let Some(path) = match_path(log.lines[ix]) else {
            continue;
        };
        let rank = order.iter().take(FILES).position(|it| *it == path);
        let seen = shown.entry(path).or_default();
        *seen += 1;
        if rank.is_some() && *seen <= MATCHES {
            if *seen == MATCHES && counts[path] > MATCHES {
                let text: String = log.lines[ix].chars().take(200).collect();
                log.replace_line(
                    ix,
                    format!("{text}\n[{} more in {path}]", counts[path] - MATCHES),
                );
            } else {
                log.keep_line(ix);
            }
        } else {
            log.drop_line(ix, "lines found");
        }
    }
    log.count("lines found in all", all);
    log.count("files with lines", order.len());
}

/// Returns the path of a match such as `path:3:text`; `None` if the line has another form, or if
/// the path is empty or contains a space.
fn match_path(line: &str) -> Option<&str> {
    let mut parts = line.splitn(3, ':');
    let (path, number) = (parts.next()?, parts.next()?);
    let is_number = number.parse::<u32>().is_ok();
    (is_number && !path.is_empty() && !path.contains(' ')).then_some(path)
}
