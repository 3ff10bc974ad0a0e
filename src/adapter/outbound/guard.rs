//! Adapter: external guard, which runs a program or posts to an endpoint for each question.
//!
//! Questions are asked on a thread of the guard, a bounded number at a time; further questions
//! wait. If one waits longer than its patience, the engine has already refused the run. Invariant:
//! whatever goes wrong is a failure, never an answer.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::{Notify, Semaphore};

use super::envelope;
use super::{Client, Endpoint, MessageId, Patience, Post, SigningKey};
use super::{Ended, Program};
use crate::domain::{GuardAnswer, Span};
use crate::engine::GuardQuestion;
use crate::limits;
use crate::port::Clock;
use crate::port::{Guard, GuardReply};

/// How questions are asked.
pub enum GuardRoute {
    /// By running a program: the question is its input, the answer its output.
    Command(Program),
    /// By a post: the question is its body, the answer the body of the response.
    Webhook(Box<Hook>),
}

/// The endpoint of a guard.
pub struct Hook {
    /// The client that posts, limited to this endpoint.
    pub client: Client,
    /// The endpoint to post to.
    pub endpoint: Endpoint,
    /// The keys that questions are signed with.
    pub keys: Vec<SigningKey>,
    /// The clock that gives the time of a signature.
    pub clock: Arc<dyn Clock>,
}

/// An external guard. Dropping it stops its thread, and drops the open questions, which fail.
pub struct OutboundGuard {
    way: Arc<GuardRoute>,
    runtime: Handle,
    room: Arc<Semaphore>,
    stop: Arc<Notify>,
}

impl OutboundGuard {
    /// Starts a guard, with a thread of its own.
    ///
    /// # Errors
    /// The error of the operating system if it cannot start a thread.
    pub fn start(way: GuardRoute) -> io::Result<OutboundGuard> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        // The runtime lives on this thread and ends with it. The handle only reaches it.
        std::thread::Builder::new()
            .name("reveille-guard".into())
            .spawn(move || runtime.block_on(stopped.notified()))?;
        let room = usize::try_from(limits::GUARD_QUESTIONS.value).unwrap_or(1);
        Ok(OutboundGuard { way: Arc::new(way), runtime: handle, room: Arc::new(Semaphore::new(room)), stop })
    }
}

impl Drop for OutboundGuard {
    fn drop(&mut self) {
        self.stop.notify_one();
    }
}

impl Guard for OutboundGuard {
    fn ask(&self, question: GuardQuestion, reply: GuardReply) {
        let (way, room) = (Arc::clone(&self.way), Arc::clone(&self.room));
        self.runtime.spawn(async move {
            let patience = duration(question.patience);
            let asked = async {
                // The semaphore is never closed, so this never fails.
                let _place = room.acquire().await;
                way.ask(&question).await
            };
            // The time spent waiting for a place counts as well: the engine's deadline does not
            // know of the queue.
            let answered = tokio::time::timeout(patience, asked).await;
            reply.give(answered.unwrap_or_else(|_| envelope::failed("it did not answer in time")));
        });
    }
}

impl GuardRoute {
    async fn ask(&self, question: &GuardQuestion) -> GuardAnswer {
        let body = envelope::print(question);
        match self {
            GuardRoute::Command(program) => {
                let program = Program { time: duration(question.patience), ..program.clone() };
                match program.run(&body).await {
                    // Only success has an answer: the output of a program that failed may be
                    // incomplete.
                    Ok(told) if told.ended == Ended::Code(0) => envelope::parse(&told.output),
                    Ok(told) => envelope::failed(format!("the guard's program ended with {:?}", told.ended)),
                    Err(fault) => envelope::failed(fault.to_string()),
                }
            }
            GuardRoute::Webhook(hook) => hook.ask(question, &body).await,
        }
    }
}

impl Hook {
    /// Sets the time limits of the client to the guard's patience, which is shorter than that of
    /// deliveries.
    #[must_use]
    pub fn with_patience(self, patience: Span) -> Hook {
        let time = duration(patience);
        Hook { client: self.client.with_patience(Patience { connect: time, total: time }), ..self }
    }

    async fn ask(&self, question: &GuardQuestion, body: &[u8]) -> GuardAnswer {
        // The digest is part of the id: a changed run is another question, not a repetition.
        let Some(id) = MessageId::of(&format!("{}/{}", question.run, question.digest)) else {
            return envelope::failed("the run has no id");
        };
        let post = Post {
            endpoint: &self.endpoint,
            id: &id,
            at: self.clock.now().wall,
            keys: &self.keys,
            media_type: "application/json",
            body,
            answer_bytes_max: usize::try_from(limits::GUARD_ANSWER_BYTES.value).unwrap_or(usize::MAX),
        };
        match self.client.post(post).await {
            Ok(reply) if reply.status == 200 => envelope::parse(&reply.body),
            Ok(reply) => envelope::failed(format!("the guard's endpoint answered {}", reply.status)),
            Err(fault) => envelope::failed(fault.to_string()),
        }
    }
}

fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.nanos())
}
