//! The reranker of index results: MiniLM, or a provider that the settings name.
//!
//! Knows: `settings`, `router`, `index`. Nothing is read or requested before the first rerank;
//! changed settings apply from the next one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::AbsPath;
use host::{Clock, Dirs, Files, RealClock, RealFiles};
use index::minilm::{FILES, MiniLm};
use index::{Encoder, RerankError, Reranker};
use model::{FailureClass, ModelId};
use router::http::HttpClient;
use tokio::runtime::Builder;

use crate::models;

/// The time an endpoint is skipped after a timeout, so that not every query waits for it again.
const LEFT_ALONE: Duration = Duration::from_secs(60);
/// A failure this fast costs little, so a server that is not up yet may be tried with every query.
const SHORT: Duration = Duration::from_secs(1);

/// Returns the reranker for all indexes of the program. The reranker reads the settings before each
/// use.
pub(crate) fn reranker(dirs: &Dirs) -> Arc<Reranker> {
    let chooser = RerankerChoice::new(dirs, Arc::new(RealClock::default()));
    Arc::new(Reranker::new(move || chooser.choose()))
}

struct RerankerChoice {
    dirs: Dirs,
    /// Read when it is first wanted; tens of megabytes.
    minilm: Mutex<Option<Arc<MiniLm>>>,
    silence: Arc<BackoffTable>,
}

impl RerankerChoice {
    fn new(dirs: &Dirs, clock: Arc<dyn Clock>) -> Self {
        Self {
            dirs: dirs.clone(),
            minilm: Mutex::default(),
            silence: Arc::new(BackoffTable {
                clock,
                until: Mutex::default(),
            }),
        }
    }

    /// Returns the encoder that the settings select. Returns `None` if reranking is off or MiniLM
    /// is not installed, and an error if the model's name is invalid or MiniLM cannot be loaded.
    fn choose(&self) -> Result<Option<Arc<dyn Encoder>>, RerankError> {
        let mut problems = Vec::new();
        let settings = models::setup::read_settings(&RealFiles, &self.dirs, &mut problems);
        match settings.search.second_look.as_str() {
            "off" => Ok(None),
            "auto" => self.minilm(),
            named => {
                let model = ModelId::parse(named).ok_or_else(|| {
                    RerankError::Encoder(format!(
                        "search.second_look is \"{named}\"; write auto, off, or a model as provider/model"
                    ))
                })?;
                Ok(Some(Arc::new(Endpoint {
                    name: named.to_owned(),
                    model,
                    dirs: self.dirs.clone(),
                    silence: self.silence.clone(),
                })))
            }
        }
    }

    /// Returns MiniLM, loaded on first use. Returns `None` if one of its files is missing, and an
    /// error if it cannot be loaded.
    fn minilm(&self) -> Result<Option<Arc<dyn Encoder>>, RerankError> {
        let folder = minilm_folder(&self.dirs);
        if FILES
            .iter()
            .any(|name| RealFiles.stat(&folder.join(name)).is_err())
        {
            return Ok(None);
        }
        let mut loaded = self.minilm.lock().unwrap_or_else(PoisonError::into_inner);
        let model = match &*loaded {
            Some(model) => model.clone(),
            None => {
                let model = MiniLm::open(folder.as_path())?;
                loaded.insert(Arc::new(model)).clone()
            }
        };
        Ok(Some(model))
    }
}

/// Returns the folder of MiniLM's files.
fn minilm_folder(dirs: &Dirs) -> AbsPath {
    dirs.config.join("models").join("minilm")
}

/// The endpoint that timed out, and the time until which it is skipped.
struct BackoffTable {
    clock: Arc<dyn Clock>,
    until: Mutex<Option<(String, Duration)>>,
}

impl BackoffTable {
    /// Returns the remaining time that the endpoint is skipped, if it is.
    fn remaining(&self, name: &str) -> Option<Duration> {
        let until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, until) = until.as_ref().filter(|(silent, _)| silent == name)?;
        until
            .checked_sub(self.clock.elapsed())
            .filter(|left| !left.is_zero())
    }

    /// Records the result of a request that started at `began` on the clock.
    fn record_result(&self, name: &str, began: Duration, failed: Option<FailureClass>) {
        let is_silent = matches!(failed, Some(FailureClass::Stalled | FailureClass::Offline))
            && self.clock.elapsed().saturating_sub(began) > SHORT;
        let mut until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        *until = is_silent.then(|| (name.to_owned(), self.clock.elapsed() + LEFT_ALONE));
    }
}

/// A model for embeddings of a provider.
struct Endpoint {
    name: String,
    model: ModelId,
    dirs: Dirs,
    silence: Arc<BackoffTable>,
}

impl Encoder for Endpoint {
    fn name(&self) -> &str {
        &self.name
    }

    /// Waits for the network: only where waiting is allowed.
    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, RerankError> {
        if let Some(left) = self.silence.remaining(&self.name) {
            return Err(RerankError::Encoder(format!(
                "{} did not answer; the next attempt is in {} s",
                self.name,
                left.as_secs_f64().ceil()
            )));
        }
        let began = self.silence.clock.elapsed();
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime
            .map_err(|error| RerankError::Encoder(format!("no thread for the network: {error}")))?;
        runtime.block_on(async {
            let (providers, _) = models::setup::providers(&RealFiles, &self.dirs);
            let profiles = Arc::new(|_: &ModelId| None);
            let client = HttpClient::new(
                providers,
                profiles,
                Arc::new(models::setup::secret_source()),
            );
            let vectors = client.embed(&self.model, texts).await;
            let failed = vectors.as_ref().err().map(|failure| failure.class);
            self.silence.record_result(&self.name, began, failed);
            vectors.map_err(|failure| RerankError::Encoder(failure.message))
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
        let chooser = RerankerChoice::new(&dirs, Arc::new(host::FakeClock::at(0)));
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
            let chosen = chooser.choose().map_err(|error| error.to_string());
            chosen.map(|encoder| encoder.map(|encoder| encoder.name().to_owned()))
        };
        assert_eq!(chosen("off"), Ok(None));
        assert_eq!(chosen("auto"), Ok(None), "MiniLM is not there");
        assert_eq!(chosen("ollama/nomic"), Ok(Some("ollama/nomic".to_owned())));
        assert!(chosen("whatever").is_err_and(|error| error.to_string().contains("\"whatever\"")));
        // Files that are not weights are reported, and the search continues without reranking.
        for name in FILES {
            write(minilm_folder(&dirs).join(name), "nonsense");
        }
        assert!(chosen("auto").is_err_and(|error| error.to_string().contains("MiniLM")));
        assert_eq!(chosen("off"), Ok(None));
    }

    #[test]
    fn timed_out_endpoint_is_skipped_for_a_while() {
        let clock = Arc::new(host::FakeClock::at(0));
        let silence = Arc::new(BackoffTable {
            clock: clock.clone(),
            until: Mutex::default(),
        });
        let check = |failed, took: u64, is_left_alone: bool| {
            let began = clock.elapsed();
            clock.advance(Duration::from_secs(took));
            silence.record_result("ollama/nomic", began, failed);
            let left = silence.remaining("ollama/nomic");
            assert_eq!(left, is_left_alone.then_some(LEFT_ALONE), "{failed:?}");
            assert_eq!(silence.remaining("ollama/other"), None);
        };
        check(Some(FailureClass::Stalled), 10, true);
        clock.advance(LEFT_ALONE);
        assert_eq!(silence.remaining("ollama/nomic"), None);
        check(Some(FailureClass::Offline), 3, true);
        let named = "ollama/nomic";
        let left_alone = Endpoint {
            name: named.to_owned(),
            model: ModelId::parse(named).expect("a model"),
            dirs: Dirs {
                config: AbsPath::new("/nowhere").expect("absolute"),
                state: AbsPath::new("/nowhere").expect("absolute"),
                cache: AbsPath::new("/nowhere").expect("absolute"),
            },
            silence: silence.clone(),
        };
        let told = left_alone.vectors(&["one"]);
        assert!(told.is_err_and(|error| error.to_string().contains("the next attempt is in 60 s")));
        check(None, 3, false);
        // Refused at once: it may be up with the next question.
        check(Some(FailureClass::Offline), 0, false);
        check(Some(FailureClass::Authentication), 10, false);
    }
}
