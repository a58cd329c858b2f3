//! Requests of a hosted agent: permission, forms, files, terminals.

use agent_client_protocol as acp;
use agent_client_protocol::v1::{Responder, schema as v1};
use base::LogErr;
use serde_json::Value;

use super::HostedAgentEvent;
use super::files::AgentFiles;
use super::session::{AgentReply, HostedSession};
use crate::acp::protocol::Filled;
use crate::acp::v1 as convert;
use crate::error::Error;
use crate::mcp::ElicitationForm;

impl HostedSession {
    /// Handles a request of the agent: answers it, or emits an event that asks the user. Refuses
    /// unknown methods.
    pub(super) async fn on_request(&mut self, method: &str, params: Value, responder: Responder) {
        match method {
            "session/request_permission" => match serde_json::from_value(params) {
                Ok(request) => self.ask_permission(request, responder).await,
                Err(error) => refuse(responder, &error),
            },
            "elicitation/create" => self.ask_form(&params, responder).await,
            "fs/read_text_file" => match serde_json::from_value(params) {
                Ok(request) => self.read(request, responder),
                Err(error) => refuse(responder, &error),
            },
            "fs/write_text_file" => match serde_json::from_value(params) {
                Ok(request) => self.write(request, responder),
                Err(error) => refuse(responder, &error),
            },
            _ if method.starts_with("terminal/") => self.terminal(method, params, responder),
            _ => refuse_method(method, responder),
        }
    }

    async fn ask_permission(
        &mut self,
        request: v1::RequestPermissionRequest,
        responder: Responder,
    ) {
        self.number += 1;
        self.questions.insert(self.number, responder);
        let event = HostedAgentEvent::Asking {
            number: self.number,
            call: convert::call_update(request.tool_call),
            choices: request
                .options
                .into_iter()
                .map(convert::permission_choice)
                .collect(),
        };
        self.emit(event).await;
    }

    /// Answers the permission request `number` with the id of a choice. `None` cancels the request.
    /// Ignores unknown numbers.
    pub(super) fn decide(&mut self, number: u64, choice: Option<String>) {
        let Some(responder) = self.questions.remove(&number) else {
            return;
        };
        let outcome = match choice {
            Some(id) => {
                v1::RequestPermissionOutcome::Selected(v1::SelectedPermissionOutcome::new(id))
            }
            None => v1::RequestPermissionOutcome::Cancelled,
        };
        respond(responder, &v1::RequestPermissionResponse::new(outcome));
    }

    /// Handles a request for a form or a page.
    async fn ask_form(&mut self, params: &Value, responder: Responder) {
        let text = |key: &str| params.get(key).and_then(Value::as_str).map(str::to_owned);
        let why = text("message").unwrap_or_default();
        self.number += 1;
        let number = self.number;
        let is_page = params.get("mode").is_some_and(|mode| mode == "url");
        let (form, event) = match (text("url"), params.get("requestedSchema")) {
            (Some(url), _) if is_page => (None, HostedAgentEvent::Page { number, url, why }),
            (_, Some(schema)) if !is_page => {
                let form = ElicitationForm::new(why, schema);
                (Some(form.clone()), HostedAgentEvent::Form { number, form })
            }
            _ => {
                let text = "only forms and pages are supported";
                let error = acp::Error::new(acp::ErrorCode::INVALID_PARAMS, text);
                responder.respond_with_error(error).log_err();
                return;
            }
        };
        self.forms.insert(number, (responder, form));
        self.emit(event).await;
    }

    /// Answers the form `number`. Ignores unknown numbers.
    pub(super) fn fill(&mut self, number: u64, filled: Filled) {
        let Some((responder, form)) = self.forms.remove(&number) else {
            return;
        };
        let answer = match (filled, form) {
            (Filled::Accepted(values), Some(form)) => {
                serde_json::json!({ "action": "accept", "content": form.complete(values) })
            }
            (Filled::Accepted(_), None) => serde_json::json!({ "action": "accept" }),
            (Filled::Declined, _) => serde_json::json!({ "action": "decline" }),
            (Filled::Cancelled, _) => serde_json::json!({ "action": "cancel" }),
        };
        respond(responder, &answer);
    }

    fn agent_files(&self) -> AgentFiles {
        AgentFiles {
            files: self.start.files.clone(),
            root: self.start.root.clone(),
            recovery: self.start.recovery.clone(),
        }
    }

    fn read(&self, request: v1::ReadTextFileRequest, responder: Responder) {
        let files = self.agent_files();
        self.add_reply(async move {
            let read = move || files.read(&request.path, request.line, request.limit);
            let read = tokio::task::spawn_blocking(read).await;
            answer(responder, read.log_err(), |text| {
                v1::ReadTextFileResponse::new(text)
            });
            AgentReply::Done
        });
    }

    fn write(&self, request: v1::WriteTextFileRequest, responder: Responder) {
        let files = self.agent_files();
        self.add_reply(async move {
            let write = move || files.write(&request.path, &request.content);
            let written = tokio::task::spawn_blocking(write).await;
            answer(responder, written.log_err(), |()| {
                v1::WriteTextFileResponse::new()
            });
            AgentReply::Done
        });
    }

    fn terminal(&mut self, method: &str, params: Value, responder: Responder) {
        let Some(runner) = &self.start.terminals else {
            return refuse_method(method, responder);
        };
        if method == "terminal/create" {
            let created = serde_json::from_value(params)
                .map_err(|error: serde_json::Error| Error::Invalid(error.to_string()))
                .and_then(|request| {
                    let root = &self.start.root;
                    self.terminals.create(request, root, &**runner)
                });
            return answer(responder, Some(created), v1::CreateTerminalResponse::new);
        }
        let id = params
            .get("terminalId")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let id = v1::TerminalId::new(id);
        match method {
            "terminal/output" => answer(responder, Some(self.terminals.output(&id)), |it| it),
            "terminal/kill" => {
                let killed = self.terminals.kill(&id);
                answer(responder, Some(killed), |()| {
                    v1::KillTerminalResponse::new()
                });
            }
            "terminal/release" => {
                let released = self.terminals.release(&id);
                answer(responder, Some(released), |()| {
                    v1::ReleaseTerminalResponse::new()
                });
            }
            "terminal/wait_for_exit" => match self.terminals.wait_for_exit(&id) {
                Ok(ended) => self.add_reply(async move {
                    let status = ended.await;
                    respond(responder, &v1::WaitForTerminalExitResponse::new(status));
                    AgentReply::Done
                }),
                Err(why) => answer(responder, Some(Err(why)), |()| Value::Null),
            },
            _ => {
                let error = acp::Error::method_not_found();
                responder.respond_with_error(error).log_err();
            }
        }
    }
}

/// Responds with a value. An agent that has ended does not need it.
fn respond(responder: Responder, answer: &impl serde::Serialize) {
    match serde_json::to_value(answer) {
        Ok(value) => responder.respond(value).log_err(),
        Err(error) => responder.respond_with_internal_error(error).log_err(),
    };
}

fn refuse_method(method: &str, responder: Responder) {
    let text = format!("unknown method {method}");
    let error = acp::Error::new(acp::ErrorCode::METHOD_NOT_FOUND, text);
    responder.respond_with_error(error).log_err();
}

fn refuse(responder: Responder, error: &serde_json::Error) {
    let error = acp::Error::new(acp::ErrorCode::INVALID_PARAMS, error.to_string());
    responder.respond_with_error(error).log_err();
}

/// Responds with the result of a task; `None` if the task died.
fn answer<T, A: serde::Serialize>(
    responder: Responder,
    result: Option<Result<T, Error>>,
    make: impl FnOnce(T) -> A,
) {
    match result {
        Some(Ok(it)) => respond(responder, &make(it)),
        Some(Err(why)) => {
            let error = acp::Error::new(acp::ErrorCode::INVALID_PARAMS, why.to_string());
            responder.respond_with_error(error).log_err();
        }
        None => {
            responder
                .respond_with_internal_error("the task failed")
                .log_err();
        }
    }
}
