//! Sets the options of a hosted session.

use agent_client_protocol::UntypedMessage;
use agent_client_protocol::v1::schema as v1;

use super::handshake::LEGACY_MODELS;
use super::session::{AgentReply, HostedSession};
use crate::acp::protocol::OptionChoice;
use crate::acp::v1 as convert;

impl HostedSession {
    /// Sets an option of the session. The agent's response arrives as an event. Does nothing before
    /// the session begins.
    pub(super) fn set_option(&self, id: String, chosen: OptionChoice) {
        let Some(session) = self.id.clone() else {
            return;
        };
        if id == LEGACY_MODELS {
            return self.set_legacy_model(&session, chosen);
        }
        let request =
            v1::SetSessionConfigOptionRequest::new(session, id, convert::set_value(chosen));
        let set = self.connection.agent.send_request(request);
        self.add_reply(async move {
            let set = set.block_task().await;
            AgentReply::Options(set.map(|it| convert::options(it.config_options)))
        });
    }

    fn set_legacy_model(&self, session: &v1::SessionId, chosen: OptionChoice) {
        let OptionChoice::One(model) = chosen else {
            return;
        };
        let options = self.with_model(&model);
        let params = serde_json::json!({ "sessionId": session, "modelId": model });
        match UntypedMessage::new("session/set_model", params) {
            Ok(request) => {
                let set = self.connection.agent.send_request(request);
                self.add_reply(async move {
                    AgentReply::Options(set.block_task().await.map(|_| options))
                });
            }
            Err(error) => self.add_reply(async move { AgentReply::Options(Err(error)) }),
        }
    }
}
