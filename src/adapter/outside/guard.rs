//! A guard outside: a program that is run for each question, or an endpoint that is posted to.
//!
//! Questions are put on a thread of its own, so many at a time; those beyond that wait, and what waits longer than its patience
//! has been refused by the engine. Invariant: whatever goes wrong is a failure, never an answer.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::{Notify, Semaphore};

use super::envelope;
#[cfg(feature = "webhook")]
use super::{Client, Endpoint, MessageId, Patience, Post, SigningKey};
#[cfg(feature = "command")]
use super::{Ended, Program};
use crate::domain::{GuardAnswer, Span};
use crate::engine::GuardQuestion;
use crate::limits;
#[cfg(feature = "webhook")]
use crate::port::Clock;
use crate::port::{Guard, GuardReply};

/// Who is asked, and how.
pub enum GuardWay {
    /// A program: the question is its input, and its output the answer.
    #[cfg(feature = "command")]
    Command(Program),
    /// An endpoint: the question is the body of a post, and the answer that of its reply.
    #[cfg(feature = "webhook")]
    Webhook(Box<Hook>),
}

/// An endpoint that is asked.
#[cfg(feature = "webhook")]
pub struct Hook {
    /// Who posts, and may post there.
    pub client: Client,
    /// Where to.
    pub endpoint: Endpoint,
    /// What questions are signed with.
    pub keys: Vec<SigningKey>,
    /// When they are.
    pub clock: Arc<dyn Clock>,
}

/// A guard outside. Dropping it lets go of its thread, and of the questions that are open.
pub struct GuardOutside {
    way: Arc<GuardWay>,
    runtime: Handle,
    room: Arc<Semaphore>,
    stop: Arc<Notify>,
}

impl GuardOutside {
    /// A guard with a thread to ask on.
    ///
    /// # Errors
    /// What the operating system says when it has no thread to give.
    pub fn start(way: GuardWay) -> io::Result<GuardOutside> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        std::thread::Builder::new()
            .name("reveille-guard".into())
            .spawn(move || runtime.block_on(stopped.notified()))?;
        let room = usize::try_from(limits::GUARD_QUESTIONS.value).unwrap_or(1);
        Ok(GuardOutside { way: Arc::new(way), runtime: handle, room: Arc::new(Semaphore::new(room)), stop })
    }
}

impl Drop for GuardOutside {
    fn drop(&mut self) {
        self.stop.notify_one();
    }
}

impl Guard for GuardOutside {
    fn ask(&self, question: GuardQuestion, reply: GuardReply) {
        let (way, room) = (Arc::clone(&self.way), Arc::clone(&self.room));
        self.runtime.spawn(async move {
            let patience = duration(question.patience);
            let asked = async {
                // It is never closed.
                let _place = room.acquire().await;
                way.ask(&question).await
            };
            let answered = tokio::time::timeout(patience, asked).await;
            reply.give(answered.unwrap_or_else(|_| envelope::failed("it did not answer in time")));
        });
    }
}

impl GuardWay {
    async fn ask(&self, question: &GuardQuestion) -> GuardAnswer {
        let body = envelope::print(question);
        match self {
            #[cfg(feature = "command")]
            GuardWay::Command(program) => {
                let program = Program { time: duration(question.patience), ..program.clone() };
                match program.run(&body).await {
                    Ok(told) if told.ended == Ended::Code(0) => envelope::parse(&told.output),
                    Ok(told) => envelope::failed(format!("the guard's program ended with {:?}", told.ended)),
                    Err(fault) => envelope::failed(fault.to_string()),
                }
            }
            #[cfg(feature = "webhook")]
            GuardWay::Webhook(hook) => hook.ask(question, &body).await,
        }
    }
}

#[cfg(feature = "webhook")]
impl Hook {
    /// A client with a guard's patience, which is shorter than that of deliveries.
    #[must_use]
    pub fn with_patience(self, patience: Span) -> Hook {
        let time = duration(patience);
        Hook { client: self.client.with_patience(Patience { connect: time, total: time }), ..self }
    }

    async fn ask(&self, question: &GuardQuestion, body: &[u8]) -> GuardAnswer {
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
