//! What looks a second time at what the index found: MiniLM, or a provider of the person's, as the settings say.
//!
//! Knows: `settings`, `router`, `index`. Nothing is read or asked before somebody waits for a second look; settings count
//! from the next one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::AbsPath;
use host::{Clock, Dirs, Files, RealClock, RealFiles};
use index::minilm::{FILES, MiniLm};
use index::{Encoder, SecondLook};
use model::{FailureClass, ModelId};
use router::http::HttpClient;
use router::keys::SystemVault;
use tokio::runtime::Builder;

use crate::models;

/// How long an endpoint that did not answer is left alone: every question would wait for it as long again.
const LEFT_ALONE: Duration = Duration::from_secs(60);

/// What looks again, for all indexes of the program.
pub fn second_look(dirs: &Dirs) -> Arc<SecondLook> {
    let chooser = Chooser::new(dirs, Arc::new(RealClock::default()));
    Arc::new(SecondLook::new(move || chooser.choose()))
}

struct Chooser {
    dirs: Dirs,
    /// Read when it is first wanted; tens of megabytes.
    minilm: Mutex<Option<Arc<MiniLm>>>,
    silence: Arc<Silence>,
}

impl Chooser {
    fn new(dirs: &Dirs, clock: Arc<dyn Clock>) -> Self {
        Self {
            dirs: dirs.clone(),
            minilm: Mutex::default(),
            silence: Arc::new(Silence {
                clock,
                until: Mutex::default(),
            }),
        }
    }

    fn choose(&self) -> Result<Option<Arc<dyn Encoder>>, String> {
        let mut problems = Vec::new();
        let settings = models::setup::read_settings(&RealFiles, &self.dirs, &mut problems);
        match settings.search.second_look.as_str() {
            "off" => Ok(None),
            "auto" => self.minilm(),
            named => {
                let model = ModelId::parse(named).ok_or_else(|| {
                    format!(
                        "search.second_look is \"{named}\"; write auto, off, or a model as provider/model"
                    )
                })?;
                if let Some(left) = self.silence.left(named) {
                    let seconds = left.as_secs_f64().ceil();
                    return Err(format!(
                        "{named} did not answer a moment ago, and is asked again in {seconds} s"
                    ));
                }
                Ok(Some(Arc::new(Endpoint {
                    name: named.to_owned(),
                    model,
                    dirs: self.dirs.clone(),
                    silence: self.silence.clone(),
                })))
            }
        }
    }

    /// MiniLM, if its files are there.
    fn minilm(&self) -> Result<Option<Arc<dyn Encoder>>, String> {
        let folder = minilm_folder(&self.dirs);
        if FILES
            .iter()
            .any(|name| RealFiles.stat(&folder.join(name)).is_err())
        {
            return Ok(None);
        }
        let mut kept = self.minilm.lock().unwrap_or_else(PoisonError::into_inner);
        let model = match &*kept {
            Some(model) => model.clone(),
            None => {
                let model = MiniLm::open(folder.as_path()).map_err(|error| error.to_string())?;
                kept.insert(Arc::new(model)).clone()
            }
        };
        Ok(Some(model))
    }
}

/// Where MiniLM's files are looked for.
fn minilm_folder(dirs: &Dirs) -> AbsPath {
    dirs.config.join("models").join("minilm")
}

/// Remembers which endpoint did not answer, and until when it is left alone.
struct Silence {
    clock: Arc<dyn Clock>,
    until: Mutex<Option<(String, Duration)>>,
}

impl Silence {
    /// How long this one is still left alone.
    fn left(&self, name: &str) -> Option<Duration> {
        let until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, until) = until.as_ref().filter(|(silent, _)| silent == name)?;
        until
            .checked_sub(self.clock.elapsed())
            .filter(|left| !left.is_zero())
    }

    fn heard(&self, name: &str, failed: Option<FailureClass>) {
        let is_silent = matches!(failed, Some(FailureClass::Stalled | FailureClass::Offline));
        let mut until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        *until = is_silent.then(|| (name.to_owned(), self.clock.elapsed() + LEFT_ALONE));
    }
}

/// A model for embeddings of a provider.
struct Endpoint {
    name: String,
    model: ModelId,
    dirs: Dirs,
    silence: Arc<Silence>,
}

impl Encoder for Endpoint {
    fn name(&self) -> &str {
        &self.name
    }

    /// Waits for the network: only where waiting is allowed.
    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("no thread for the network: {error}"))?;
        runtime.block_on(async {
            let (providers, _) = models::setup::providers(&RealFiles, &self.dirs);
            let profiles = Arc::new(|_: &ModelId| None);
            let client = HttpClient::new(providers, profiles, Arc::new(SystemVault));
            let vectors = client.embed(&self.model, texts).await;
            let failed = vectors.as_ref().err().map(|failure| failure.class);
            self.silence.heard(&self.name, failed);
            vectors.map_err(|failure| failure.message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_choose_who_looks() {
        let folder = host::TempFolder::new().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let dirs = Dirs {
            config: at("config"),
            state: at("state"),
            cache: at("cache"),
        };
        let clock = Arc::new(host::FakeClock::at(0));
        let chooser = Chooser::new(&dirs, clock.clone());
        let write = |path: AbsPath, text: &str| {
            let parent = path.parent().expect("a folder");
            RealFiles.create_folder(&parent).expect("a folder");
            RealFiles
                .write_private(&path, text.as_bytes())
                .expect("written");
        };
        let chosen = |setting: &str| {
            let text = format!(r#"{{ "search": {{ "second_look": "{setting}" }} }}"#);
            write(dirs.config.join("settings.json"), &text);
            let chosen = chooser.choose();
            chosen.map(|encoder| encoder.map(|encoder| encoder.name().to_owned()))
        };
        assert_eq!(chosen("off"), Ok(None));
        assert_eq!(chosen("auto"), Ok(None), "MiniLM is not there");
        assert_eq!(chosen("ollama/nomic"), Ok(Some("ollama/nomic".to_owned())));
        assert!(chosen("whatever").is_err_and(|why| why.contains("\"whatever\"")));
        // One that is silent is left alone for a while; another is asked.
        let heard = |failed| chooser.silence.heard("ollama/nomic", failed);
        heard(Some(FailureClass::Stalled));
        assert!(chosen("ollama/nomic").is_err_and(|why| why.contains("again in 60 s")));
        assert_eq!(chosen("ollama/other"), Ok(Some("ollama/other".to_owned())));
        clock.advance(LEFT_ALONE);
        assert_eq!(chosen("ollama/nomic"), Ok(Some("ollama/nomic".to_owned())));
        heard(Some(FailureClass::Offline));
        assert!(chosen("ollama/nomic").is_err());
        heard(None);
        heard(Some(FailureClass::Authentication));
        assert_eq!(chosen("ollama/nomic"), Ok(Some("ollama/nomic".to_owned())));
        // Files that are no weights are told of, and the search goes on without.
        for name in FILES {
            write(minilm_folder(&dirs).join(name), "nonsense");
        }
        assert!(chosen("auto").is_err_and(|why| why.contains("MiniLM")));
        assert_eq!(chosen("off"), Ok(None));
    }
}
