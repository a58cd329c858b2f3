//! semble 0.7 with Burin's table, loaded in a Python process.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::NamedTempFile;

const ASK: &str = include_str!("ask_semble.py");
/// The table that is linked into the index.
const TABLE: &[u8] = include_bytes!("../../../../assets/models/code-embedding.bin");

/// Tokenization of semble's texts for Burin's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tokens {
    /// The tokenization that model2vec uses for any text.
    Plain,
    /// With identifiers first split into their parts, as in Burin.
    Prepared,
}

/// A hit: path below the indexed folder, first and last line, counted from 1.
pub(crate) type Lines = (String, u64, u64);

/// The result of semble for one folder.
pub(crate) struct Answer {
    pub(crate) chunks: usize,
    /// Time to walk, split, count and embed, without semble's start and the loading of the table.
    pub(crate) index_millis: f64,
    /// The same as CPU time, which other processes do not increase.
    pub(crate) index_busy: f64,
    /// Median time of each query.
    pub(crate) query_millis: Vec<f64>,
    pub(crate) hits: Vec<Vec<Lines>>,
}

/// The Python process that runs semble.
pub(crate) struct Semble {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _table: NamedTempFile,
}

impl Semble {
    pub(crate) fn start(tokens: Tokens) -> Result<Self, String> {
        const INSTALL: &str = "the peer semble is missing; install it with: python3 -m venv semble && \
             semble/bin/pip install semble==0.7.0, and set BURIN_SEMBLE_PYTHON=semble/bin/python";
        let cannot = |error: std::io::Error| format!("cannot write the table: {error}");
        let mut table = NamedTempFile::new().map_err(cannot)?;
        table.write_all(TABLE).map_err(cannot)?;
        let python = std::env::var_os("BURIN_SEMBLE_PYTHON").unwrap_or_else(|| "python3".into());
        let mut process = Command::new(python)
            .args(["-c", ASK])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{INSTALL} ({error})"))?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("python has no pipes".to_owned());
        };
        let mut semble = Self {
            process,
            input,
            output: BufReader::new(output),
            _table: table,
        };
        let path = semble._table.path().to_path_buf();
        let setup = json!({"table": path, "prepare": tokens == Tokens::Prepared});
        semble.exchange(&setup).map_err(|_| INSTALL.to_owned())?;
        Ok(semble)
    }

    /// Builds a new index of `root` and runs each query `runs` times.
    pub(crate) fn ask(
        &mut self,
        root: &Path,
        queries: &[&str],
        limit: usize,
        runs: usize,
    ) -> Result<Answer, String> {
        let request = json!({"root": root, "queries": queries, "limit": limit, "runs": runs});
        let answer = self.exchange(&request)?;
        let numbers = |value: &Value| -> Vec<f64> {
            value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_f64)
                .collect()
        };
        let hits = answer["answers"].as_array().into_iter().flatten();
        Ok(Answer {
            chunks: answer["chunks"].as_u64().unwrap_or_default() as usize,
            index_millis: answer["index_ms"].as_f64().ok_or("semble told no time")?,
            index_busy: answer["index_cpu_ms"]
                .as_f64()
                .ok_or("semble told no time")?,
            query_millis: numbers(&answer["query_ms"]),
            hits: hits.map(lines).collect(),
        })
    }

    fn exchange(&mut self, request: &Value) -> Result<Value, String> {
        let failed = |error: std::io::Error| format!("semble's process broke off: {error}");
        writeln!(self.input, "{request}").map_err(failed)?;
        self.input.flush().map_err(failed)?;
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(failed)?;
        serde_json::from_str(&line).map_err(|error| format!("semble's process broke off: {error}"))
    }
}

fn lines(hits: &Value) -> Vec<Lines> {
    let line = |hit: &Value| {
        Some((
            hit[0].as_str()?.to_owned(),
            hit[1].as_u64()?,
            hit[2].as_u64()?,
        ))
    };
    hits.as_array()
        .into_iter()
        .flatten()
        .filter_map(line)
        .collect()
}

impl Drop for Semble {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
