//! The channels that operators have named, and how a parcel goes out by one.
//!
//! What goes out is the same text on each attempt, so that whoever gets it twice gets the same thing twice. What lives elsewhere:
//! what is tried again and when (`engine`).

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::endpoint::Endpoint;
use super::post::{Client, Post, PostFault};
use super::program::{Ended, Program, ProgramFault};
use super::signature::{MessageId, SigningKey};
use crate::dialect::json;
use crate::domain::{Channel, ChannelKind, Failure, Phase, Reason};
use crate::edn::{Map, Value};
use crate::engine::Parcel;
use crate::limits;
use crate::port::{Carried, Courier};

/// What is behind a channel.
pub enum Way {
    /// An endpoint, by posts that are signed with these keys.
    Webhook {
        /// Where it is.
        endpoint: Endpoint,
        /// What posts are signed with: two while keys are exchanged.
        keys: Vec<SigningKey>,
        /// Who posts, and to nobody else.
        client: Client,
    },
    /// A program, with the parcel as its input.
    Command(Program),
}

/// Carries parcels out, each on a task of its own.
pub struct Outside {
    ways: Arc<BTreeMap<Box<str>, Way>>,
    room: Arc<Semaphore>,
    /// `None` once it is on its way down.
    runtime: Option<Runtime>,
}

impl Outside {
    /// Somebody who carries, and nothing to carry by yet.
    ///
    /// # Errors
    /// What the operating system says when it has no thread to give.
    pub fn start(ways: BTreeMap<Box<str>, Way>) -> io::Result<Outside> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("reveille-outside")
            .enable_all()
            .build()?;
        let room = usize::try_from(limits::OUTSIDE_IN_FLIGHT.value).unwrap_or(Semaphore::MAX_PERMITS);
        Ok(Outside { ways: Arc::new(ways), room: Arc::new(Semaphore::new(room)), runtime: Some(runtime) })
    }
}

impl Way {
    /// The channel that it is, under this name.
    pub fn channel(&self, name: Box<str>, agents: bool) -> Channel {
        let (kind, goes_to) = match self {
            Way::Webhook { endpoint, .. } => (ChannelKind::Webhook, endpoint.to_string().into()),
            Way::Command(program) => {
                (ChannelKind::Command, program.argv.first().map(String::as_str).unwrap_or_default().into())
            }
        };
        Channel { name, kind, goes_to, agents }
    }

    async fn take(&self, parcel: &Parcel) -> Result<(), Failure> {
        let text = envelope(parcel);
        match self {
            Way::Webhook { endpoint, keys, client } => post(endpoint, keys, client, parcel, &text).await,
            Way::Command(program) => run(program, &text).await,
        }
    }
}

impl Courier for Outside {
    fn carry(&self, parcel: Parcel, carried: Carried) {
        let (ways, room) = (Arc::clone(&self.ways), Arc::clone(&self.room));
        let Some(runtime) = &self.runtime else {
            carried(Err(failed(Reason::HostRefused, "the daemon is stopping")));
            return;
        };
        runtime.spawn(async move {
            let answer = match (ways.get(&parcel.route.channel), timeout(PATIENCE, room.acquire()).await) {
                (None, _) => Err(failed(Reason::ChannelUnknown, Reason::ChannelUnknown.doc())),
                (Some(way), Ok(Ok(_room))) => way.take(&parcel).await,
                (Some(_), _) => {
                    Err(failed(Reason::HostRefused, "too many deliveries are on their way outside"))
                }
            };
            carried(answer);
        });
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        // A lookup of a name may hang in the system's resolver for longer than anybody waits.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What goes out, as one line of JSON. Nothing in it depends on the attempt.
pub fn envelope(parcel: &Parcel) -> String {
    let text = |text: &Option<Box<str>>| text.as_deref().map_or(Value::Nil, Value::from);
    let data = Map::new()
        .with("run-id", parcel.run.to_string())
        .with("schedule-id", parcel.run.schedule.to_string())
        .with("slot", parcel.run.slot.to_string())
        .with("cause", parcel.cause.name())
        .with("folded", i64::try_from(parcel.folded).unwrap_or(i64::MAX))
        .with("session-id", parcel.session.as_str())
        .with("dialect", parcel.dialect.name())
        .with("label", text(&parcel.label))
        .with("channel", &*parcel.route.channel)
        .with("conversation", &*parcel.route.conversation)
        .with("thread", text(&parcel.route.thread))
        .with("text", &*parcel.text)
        .with("file", parcel.file.as_ref().map_or(Value::Nil, |file| Value::from(&*file.path)));
    let map = Map::new()
        .with("type", "reveille.delivery")
        .with("timestamp", parcel.run.slot.to_string())
        .with("data", data);
    let mut out = String::new();
    json::write(&map.into(), &mut out);
    out
}

async fn post(
    endpoint: &Endpoint,
    keys: &[SigningKey],
    client: &Client,
    parcel: &Parcel,
    text: &str,
) -> Result<(), Failure> {
    let id = MessageId::of(&parcel.run.to_string())
        .ok_or_else(|| failed(Reason::LimitReached, "the run's id is too long for a message"))?;
    let post = Post {
        endpoint,
        id: &id,
        at: parcel.at,
        keys,
        media_type: "application/json",
        body: text.as_bytes(),
        answer_bytes_max: 0,
    };
    let reply = client.post(post).await.map_err(|fault| failed(reason_of(&fault), fault.to_string()))?;
    let (status, code) = (reply.status, i32::from(reply.status));
    match status {
        200..=299 => Ok(()),
        410 => {
            let text = format!("{endpoint} answered 410: it wants nothing more");
            Err(failed(Reason::ChannelDisabled, text).with_code(code))
        }
        _ => {
            let failure = failed(Reason::HostRefused, format!("{endpoint} answered {status}"));
            Err(failure.with_code(code).with_wait(reply.retry_after))
        }
    }
}

/// Whether the endpoint has not got it, may have got it, or never will.
fn reason_of(fault: &PostFault) -> Reason {
    match fault {
        PostFault::NotListed { .. }
        | PostFault::InTheClear { .. }
        | PostFault::Forbidden { .. }
        | PostFault::Unresolved { .. }
        | PostFault::Unreachable { .. }
        | PostFault::Tls { .. }
        | PostFault::TimedOut { what: "connect", .. } => Reason::HostRefused,
        PostFault::TimedOut { .. } | PostFault::Broken { .. } | PostFault::AnswerTooLong { .. } => {
            Reason::ReceiptOverdue
        }
        PostFault::TooLong { .. } => Reason::LimitReached,
    }
}

async fn run(program: &Program, text: &str) -> Result<(), Failure> {
    let told = program.run(text.as_bytes()).await.map_err(|fault| {
        let reason = match fault {
            ProgramFault::NotAbsolute | ProgramFault::Unstarted { .. } => Reason::HostRefused,
            ProgramFault::TimedOut { .. } | ProgramFault::Lost { .. } => Reason::ReceiptOverdue,
        };
        failed(reason, fault.to_string())
    })?;
    match told.ended {
        Ended::Code(0) => Ok(()),
        Ended::Code(code) => {
            Err(failed(Reason::HostRefused, format!("it ended with exit code {code}")).with_code(code))
        }
        Ended::Signal(signal) => Err(failed(Reason::HostRefused, format!("it was ended by signal {signal}"))),
    }
}

fn failed(reason: Reason, message: impl Into<Box<str>>) -> Failure {
    Failure::new(Phase::Outside, reason, message)
}

/// How long a parcel waits for room; it is tried again after that.
const PATIENCE: Duration = Duration::from_secs(5);
