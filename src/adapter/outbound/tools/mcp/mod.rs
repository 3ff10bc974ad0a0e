//! Executor of the tools of one server of the Model Context Protocol, which an operator has named.
//!
//! What lives elsewhere: the protocol itself (the crate `rmcp`). Invariants: what a server says of its tools opens none of them
//! to sessions and lets none be called twice; a call that is cancelled is called off at the server, and is not waited for; each
//! step of a server has a bound.

mod answer;
mod connection;
mod events;
mod http;
mod lines;
mod link;
mod message;
mod offer;
mod place;
mod process;
mod wire;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, JsonObject, MetaObject, RequestMetaObject};
use rmcp::service::ServiceError;
use tokio::time::timeout;

use self::http::PostFailed;
use self::link::{Line, Up};
pub use self::place::{McpEndpoint, McpPlace};
use self::wire::Down;
use super::ToolTasks;
use crate::dialect::json;
use crate::domain::{Outcome, Risk, SessionId, Span, ToolName, ToolSpec};
use crate::engine::Invocation;
use crate::limits;
use crate::port::{Executor, Returned};

/// A server, as an operator has configured it.
pub struct McpServer {
    /// Its name, which is the module of its tools.
    pub name: Box<str>,
    /// Where it is.
    pub place: McpPlace,
    /// What the operator says of its tools.
    pub terms: McpTerms,
    /// The bounds on its steps.
    pub bounds: McpBounds,
}

/// What an operator says of all tools of a server, and of some of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpTerms {
    /// The tools that sessions may call with their own tokens: names without the server's, or beginnings with `*` behind them.
    pub agents: Vec<Box<str>>,
    /// Whether an operator approves each call.
    pub approval: bool,
    /// What a call can do to the world; `None` to go by what the server says.
    pub risk: Option<Risk>,
    /// How long a call may take; `None` for `limits::CALL_MS`.
    pub time_max: Option<Span>,
    /// Single tools, by their names without the server's.
    pub tools: BTreeMap<Box<str>, McpToolTerms>,
}

/// What an operator says of one tool. What is `None` is as for all tools of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpToolTerms {
    /// Whether sessions may call it with their own tokens.
    pub agents: Option<bool>,
    /// Whether an operator approves each call.
    pub approval: Option<bool>,
    /// What a call can do to the world.
    pub risk: Option<Risk>,
    /// Whether a second call does no harm.
    pub idempotent: bool,
    /// How long a call may take.
    pub time_max: Option<Span>,
}

/// Bounds on the steps of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McpBounds {
    /// Until the server has introduced itself, and again until it has listed its tools.
    pub start: Duration,
    /// From the closing of its input until it is killed.
    pub end: Duration,
    /// How long it is left alone after a failure, at first.
    pub rest: Duration,
    /// How long it is left alone at most.
    pub rest_max: Duration,
}

impl Default for McpBounds {
    fn default() -> McpBounds {
        McpBounds {
            start: Duration::from_millis(limits::SERVER_START_MS.value),
            end: Duration::from_millis(limits::SERVER_END_MS.value),
            rest: Duration::from_millis(limits::SERVER_REST_MS.value),
            rest_max: Duration::from_millis(limits::SERVER_REST_MS_MAX.value),
        }
    }
}

impl McpBounds {
    /// How long a server is left alone that has failed again after so many failures.
    fn rest_after(self, failures: u32) -> Duration {
        self.rest.saturating_mul(1_u32.checked_shl(failures).unwrap_or(u32::MAX)).min(self.rest_max)
    }
}

/// Says what else has a tool's name, in words.
pub type TakenNames = Box<dyn Fn(&ToolName) -> Option<String> + Send + Sync>;

/// The tools of one server.
pub struct McpTools {
    tasks: Arc<ToolTasks>,
    server: Arc<Server>,
}

/// What the executor and the task that keeps the connection share.
struct Server {
    configured: McpServer,
    taken: TakenNames,
    specs: RwLock<Arc<[ToolSpec]>>,
    line: Line,
}

impl McpTools {
    /// Makes the executor, and has the server started and asked for its tools. `taken` says which names its tools cannot have.
    pub fn start(tasks: Arc<ToolTasks>, configured: McpServer, taken: TakenNames) -> McpTools {
        let specs = RwLock::new(Arc::from([]));
        let server = Arc::new(Server { configured, taken, specs, line: Line::default() });
        server.line.want();
        // It ends with `close`, or with the runtime.
        drop(tasks.handle.spawn(link::keep(Arc::clone(&server))));
        McpTools { tasks, server }
    }

    /// Waits until each of these servers has listed its tools, or has failed to, but no longer than this in all. Not to be called
    /// on a runtime.
    pub fn wait_for_lists(servers: &[Arc<McpTools>], most: Duration) {
        let Some(first) = servers.first() else { return };
        first.tasks.handle.block_on(async {
            let all = async {
                for tools in servers {
                    tools.server.line.tried().await;
                }
            };
            let _ = timeout(most, all).await;
        });
    }

    /// Has the server ended: its input is closed, and what is left of it after a while is killed. No call is made any more.
    pub fn end(&self) {
        self.server.line.end();
    }

    /// Waits until the server has ended after `end`, within the bounds. Not to be called on a runtime.
    pub fn wait_for_end(&self) {
        // The killing takes a moment as well.
        let most = self.server.configured.bounds.end + Duration::from_millis(limits::SERVER_REST_MS.value);
        self.tasks.handle.block_on(async {
            let _ = timeout(most, self.server.line.ended()).await;
        });
    }
}

impl Drop for McpTools {
    fn drop(&mut self) {
        self.end();
    }
}

impl Executor for McpTools {
    fn specs(&self, _session: &SessionId) -> Arc<[ToolSpec]> {
        Arc::clone(&self.server.specs.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn call(&self, invocation: Invocation, returned: Returned) {
        let server = Arc::clone(&self.server);
        let id = invocation.id.clone();
        self.tasks.begin(&id, returned, async move { server.call(invocation).await });
    }

    fn cancel(&self, id: &str) {
        // Its task is dropped, and the server is told by what it drops.
        self.tasks.cancel(id);
    }
}

impl Server {
    async fn call(&self, invocation: Invocation) -> Outcome {
        let failed = |why: &str| Outcome::of_error(format!("{}: {why}", self.configured.name), Span::ZERO);
        let time = Duration::from_nanos(invocation.timeout.nanos());
        let mut may_repeat = true;
        loop {
            let up = match self.line.connected(time).await {
                Ok(up) => up,
                Err(why) => return failed(&why),
            };
            let asked = self.ask(&up, request(&invocation)).await;
            if let Err(Unanswered { is_untaken: true, why, .. }) = &asked {
                // The connection is of no use to anybody any more. The call is made once more on the next one: nothing has been
                // done for it.
                up.wire.end(Down::Broken(why.clone()));
                self.line.why_down(up.number).await;
                if std::mem::take(&mut may_repeat) {
                    continue;
                }
            }
            return asked.unwrap_or_else(|Unanswered { why, code, .. }| Outcome { code, ..failed(&why) });
        }
    }

    /// Makes a call on a connection.
    async fn ask(&self, up: &Up, request: CallToolRequestParams) -> Result<Outcome, Unanswered> {
        let answered = tokio::select! {
            // An answer that has come counts, also from a server that is gone by now.
            biased;
            answered = up.peer.call_tool_once(request) => answered,
            why = self.line.why_down(up.number) => return Err(Unanswered::because(why)),
        };
        match answered {
            Ok(response) => {
                self.line.has_answered();
                Ok(answer::outcome(response))
            }
            Err(ServiceError::McpError(error)) => {
                self.line.has_answered();
                Err(Unanswered { code: Some(error.code.0), ..Unanswered::because(error.message.into()) })
            }
            Err(ServiceError::TransportSend(fault)) => match fault.error.downcast_ref::<PostFailed>() {
                Some(PostFailed { why, is_untaken }) => {
                    Err(Unanswered { is_untaken: *is_untaken, ..Unanswered::because(why.clone()) })
                }
                None => Err(Unanswered::because(self.line.why_down(up.number).await)),
            },
            Err(ServiceError::TransportClosed) => {
                Err(Unanswered::because(self.line.why_down(up.number).await))
            }
            Err(_) => Err(Unanswered::because("its answer is not one of a tool".into())),
        }
    }

    fn offer(&self, tools: Vec<rmcp::model::Tool>) {
        let name = &*self.configured.name;
        let (specs, faults) = offer::specs(name, &self.configured.terms, tools, &*self.taken);
        for fault in faults {
            tracing::error!(target: "reveille", server = name, fault, "a tool of a server is not as it should be");
        }
        tracing::info!(target: "reveille", server = name, tools = specs.len(), "tools of a server listed");
        *self.specs.write().unwrap_or_else(PoisonError::into_inner) = specs.into();
    }
}

/// Why a call has no answer.
struct Unanswered {
    why: Box<str>,
    code: Option<i32>,
    /// Whether the server has certainly not acted on it.
    is_untaken: bool,
}

impl Unanswered {
    fn because(why: Box<str>) -> Unanswered {
        Unanswered { why, code: None, is_untaken: false }
    }
}

/// What is asked of the server. The id of the call goes along, by which it can recognize one that is made again.
fn request(invocation: &Invocation) -> CallToolRequestParams {
    let action = invocation.tool.as_str().split_once('.').map_or("", |(_, action)| action);
    let mut text = String::new();
    json::write(&invocation.args, &mut text);
    let arguments: JsonObject = serde_json::from_str(&text).unwrap_or_default();
    let mut request = CallToolRequestParams::new(action.to_owned()).with_arguments(arguments);
    let mut meta = MetaObject::default();
    meta.0.insert(CALL_ID.to_owned(), (*invocation.id).into());
    request.meta = Some(RequestMetaObject(meta));
    request
}

/// The key of the call's id among what is said about a request.
const CALL_ID: &str = "reveille/call-id";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_fails_again_and_again_is_left_alone_for_longer_up_to_a_minute() {
        let bounds = McpBounds::default();
        let rests: Vec<u64> =
            [0, 1, 2, 5, 6, 7, 31, 32, u32::MAX].map(|failures| bounds.rest_after(failures).as_secs()).into();
        assert_eq!(rests, [1, 2, 4, 32, 60, 60, 60, 60, 60]);
    }
}
