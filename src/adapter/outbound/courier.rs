//! Adapter: courier that delivers parcels to the channels that operators have configured.
//!
//! Every attempt sends the same text, so that a receiver can recognize a repetition. What lives
//! elsewhere: which deliveries are tried again, and when (`engine`).

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::endpoint::Endpoint;
use super::mail::Mailer;
use super::pace::{Bucket, Pace};
use super::parcel_json::envelope;
use super::places::Places;
use super::post::{Client, Post, PostFault};
use super::program::{Ended, Program, ProgramFault};
use super::shape::Shape;
use super::signature::{MessageId, SigningKey};
use super::turns::Asks;
use crate::domain::{Channel, ChannelKind, Failure, Phase, Reason, Refusal, Span};
use crate::engine::Parcel;
use crate::limits::{self, Limit};
use crate::port::{Carried, Courier, IsComing, UnderWay};

/// How a channel delivers.
pub enum ChannelRoute {
    /// By posts to an endpoint, signed with these keys.
    Webhook {
        /// The form of the posts.
        shape: Shape,
        /// The endpoint to post to.
        endpoint: Endpoint,
        /// The signing keys; there are two while keys are rotated.
        keys: Vec<SigningKey>,
        /// The client that posts, limited to this endpoint.
        client: Client,
    },
    /// By a program that gets the parcel as its input.
    Command(Program),
    /// By e-mail.
    Email(Box<Mailer>),
}

/// Delivers parcels to channels, each on a task of its own.
pub struct OutboundCourier {
    routes: Arc<BTreeMap<Box<str>, ChannelRoute>>,
    paces: Arc<BTreeMap<Box<str>, Bucket>>,
    places: Arc<Places>,
    is_coming: OnceLock<IsComing>,
    /// `None` once the courier is being dropped.
    runtime: Option<Runtime>,
}

impl OutboundCourier {
    /// Starts a courier for these channels.
    ///
    /// # Errors
    /// The error of the operating system if it cannot start a thread.
    pub fn start(ways: BTreeMap<Box<str>, ChannelRoute>) -> io::Result<OutboundCourier> {
        OutboundCourier::start_at(ways, BTreeMap::new())
    }

    /// Starts a courier for these channels, some of which have a pace.
    ///
    /// # Errors
    /// The error of the operating system if it cannot start a thread.
    pub fn start_at(
        ways: BTreeMap<Box<str>, ChannelRoute>,
        paces: BTreeMap<Box<str>, Pace>,
    ) -> io::Result<OutboundCourier> {
        // One thread is enough: tasks wait for sockets and processes, they do not compute.
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("reveille-outside")
            .enable_all()
            .build()?;
        let (routes, places) = (Arc::new(ways), Arc::new(Places::new()));
        let paces = paces.into_iter().map(|(channel, pace)| (channel, Bucket::new(pace))).collect();
        let is_coming = OnceLock::new();
        Ok(OutboundCourier { routes, paces: Arc::new(paces), places, is_coming, runtime: Some(runtime) })
    }
}

impl OutboundCourier {
    /// Takes a place at the pace of a parcel's channel, if it has one. Returns how long to wait otherwise.
    fn take_pace(&self, parcel: &Parcel) -> Result<(), Span> {
        let Some(bucket) = self.paces.get(&parcel.route.channel) else { return Ok(()) };
        let family = (!parcel.is_operators).then_some(&parcel.family);
        let asks = Asks { run: &parcel.run, family, now: parcel.at };
        // Without an engine to ask, each run that was told a time counts as coming.
        bucket.take(&asks, &|run| self.is_coming.get().is_none_or(|is_coming| is_coming(run)))
    }
}

impl ChannelRoute {
    /// Describes the channel under this name, without its secrets.
    pub fn channel(&self, name: Box<str>, agents: bool) -> Channel {
        let (kind, goes_to) = match self {
            ChannelRoute::Webhook { endpoint, .. } => (ChannelKind::Webhook, endpoint.to_string().into()),
            ChannelRoute::Command(program) => {
                (ChannelKind::Command, program.argv.first().map(String::as_str).unwrap_or_default().into())
            }
            ChannelRoute::Email(mailer) => (ChannelKind::Email, mailer.server.to_string().into()),
        };
        Channel { name, kind, goes_to, agents, agents_manage: false }
    }

    async fn take(&self, parcel: &Parcel) -> Result<(), Failure> {
        match self {
            ChannelRoute::Webhook { shape, endpoint, keys, client } => {
                post(*shape, (endpoint, keys, client), parcel).await
            }
            ChannelRoute::Command(program) => run(program, &envelope(parcel)).await,
            ChannelRoute::Email(mailer) => mailer.send(parcel).await,
        }
    }
}

impl Courier for OutboundCourier {
    fn under_way(&self) -> UnderWay {
        self.places.under_way()
    }

    fn ask_of_runs(&self, is_coming: IsComing) {
        // Contract: this is called once.
        let _ = self.is_coming.set(is_coming);
    }

    fn carry(&self, parcel: Parcel, carried: Carried) {
        let (ways, places, paces) =
            (Arc::clone(&self.routes), Arc::clone(&self.places), Arc::clone(&self.paces));
        let Some(runtime) = &self.runtime else {
            carried(Err(failed(Reason::HostRefused, "the daemon is stopping")));
            return;
        };
        // Before the place: a parcel over its channel's pace must not hold one.
        if let Err(wait) = self.take_pace(&parcel) {
            let failure = failed(Reason::OverBudget, "the channel's pace is used up for now");
            carried(Err(failure.with_wait(Some(wait))));
            return;
        }
        runtime.spawn(async move {
            // Waiting for a place is bounded, because the engine counts the parcel as under way. One that waited too
            // long goes back to it, and comes again.
            let family = (!parcel.is_operators).then_some(parcel.family.as_str());
            let place = timeout(PATIENCE, places.take(family, &parcel.route.channel)).await;
            let answer = match (ways.get(&parcel.route.channel), place) {
                (None, _) => Err(failed(Reason::ChannelUnknown, Reason::ChannelUnknown.doc())),
                (Some(way), Ok(Some(_place))) => way.take(&parcel).await,
                (Some(_), _) => {
                    // It was not sent, so another one may go at this pace.
                    if let Some(pace) = paces.get(&parcel.route.channel) {
                        pace.give_back();
                    }
                    Err(without_place(places.used_up(family, &parcel.route.channel)))
                }
            };
            carried(answer);
        });
    }
}

impl Drop for OutboundCourier {
    fn drop(&mut self) {
        // The runtime is not waited for: a name lookup may hang in the system's resolver for longer
        // than a shutdown may take.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn post(
    shape: Shape,
    (endpoint, keys, client): (&Endpoint, &[SigningKey], &Client),
    parcel: &Parcel,
) -> Result<(), Failure> {
    let text = shape.print(parcel);
    let id = MessageId::of(&parcel.run.to_string())
        .ok_or_else(|| failed(Reason::LimitReached, "the run's id is too long for a message"))?;
    let post = Post {
        endpoint,
        id: &id,
        at: parcel.at,
        keys,
        media_type: shape.media_type(),
        body: text.as_bytes(),
        // The status alone is the receipt; only of a refusal for speed is the body read, if there is no header.
        answer_bytes_max: 0,
    };
    let reply = client.post(post).await.map_err(|fault| failed(reason_of(&fault), fault.to_string()))?;
    let (status, code) = (reply.status, i32::from(reply.status));
    match status {
        200..=299 => Ok(()),
        // 410 Gone unsubscribes. Source: Standard Webhooks 1.0.
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

/// Maps a fault to what is known of the delivery: refused (not received, safe to repeat), overdue
/// (perhaps received), or a bound (never possible).
fn reason_of(fault: &PostFault) -> Reason {
    if let PostFault::TooLong { .. } = fault {
        return Reason::LimitReached;
    }
    // Where the request may have been sent, the endpoint may have it.
    if fault.is_unsent() { Reason::HostRefused } else { Reason::ReceiptOverdue }
}

async fn run(program: &Program, text: &str) -> Result<(), Failure> {
    let told = program.run(text.as_bytes()).await.map_err(|fault| {
        let reason = match fault {
            ProgramFault::NotAbsolute | ProgramFault::Unstarted { .. } => Reason::HostRefused,
            // A program that was started and left no exit code may have acted on the parcel.
            ProgramFault::TimedOut { .. } | ProgramFault::Lost { .. } => Reason::ReceiptOverdue,
        };
        failed(reason, fault.to_string())
    })?;
    match told.ended {
        Ended::Code(0) => Ok(()),
        Ended::Code(code) => {
            // An exit code other than 0 is the program's statement that it did not accept the
            // parcel.
            Err(failed(Reason::HostRefused, format!("it ended with exit code {code}")).with_code(code))
        }
        Ended::Signal(signal) => Err(failed(Reason::HostRefused, format!("it was ended by signal {signal}"))),
    }
}

/// The answer to a parcel that waited for a place in vain. The limits are our own and nothing was sent, so it counts as no
/// attempt.
fn without_place(limit: Limit) -> Failure {
    let limit = Refusal::LimitReached { limit };
    let text = format!("too many deliveries are on their way outside: {limit}");
    failed(Reason::OverBudget, text).with_wait(Some(COMES_AGAIN_AFTER))
}

fn failed(reason: Reason, message: impl Into<Box<str>>) -> Failure {
    Failure::new(Phase::Outside, reason, message)
}

/// How long a parcel waits for a place before it goes back to the engine.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a parcel that found no place stays with the engine: longer than any delivery takes, so that all places have
/// changed hands, and seldom enough that waiting does not fill the log.
const COMES_AGAIN_AFTER: Span = Span::from_millis(30_000);

const _: () = assert!(COMES_AGAIN_AFTER.millis() > limits::WEBHOOK_MS.value);
const _: () = assert!(COMES_AGAIN_AFTER.millis() > limits::PROGRAM_MS.value);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parcel_without_a_place_was_not_tried() {
        let failure = without_place(limits::OUTSIDE_OF_SESSION);
        assert_eq!((failure.reason, failure.phase), (Reason::OverBudget, Phase::Outside));
        assert_eq!(failure.again_after, Some(COMES_AGAIN_AFTER));
        assert!(failure.message.contains("outside-of-session"), "{}", failure.message);
    }
}
