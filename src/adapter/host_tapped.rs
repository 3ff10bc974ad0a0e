//! Adapter: a host with a listener, which is called with each message that was delivered.
//!
//! Invariant: it passes on every call of [`Host`], also those that have a default, which the host may answer otherwise.

use std::sync::Arc;

use crate::domain::{Message, Obstacle, RunId, SessionConfig, SessionId, Transcript, Turn};
use crate::engine::{Delivery, Opening, QuestionAnswer};
use crate::port::{Host, HostAnswer};

/// A host that tells a listener what another host has accepted.
pub struct HostTapped<L> {
    host: Arc<dyn Host>,
    listener: L,
}

impl<L: Fn(&SessionId, &Message) + Send + Sync> HostTapped<L> {
    /// Taps a host. The listener is called on the delivering thread and must return at once; it should only pass the message
    /// on.
    pub fn new(host: Arc<dyn Host>, listener: L) -> HostTapped<L> {
        HostTapped { host, listener }
    }
}

impl<L: Fn(&SessionId, &Message) + Send + Sync> Host for HostTapped<L> {
    fn opened(&self, session: &SessionId, config: &SessionConfig) {
        self.host.opened(session, config);
    }

    fn create(&self, opening: &Opening) -> HostAnswer {
        self.host.create(opening)
    }

    fn deliver(&self, delivery: &Delivery) -> HostAnswer {
        let answer = self.host.deliver(delivery);
        // `Later` is no receipt yet: a host of that kind reports to its own program.
        if answer == HostAnswer::Done {
            (self.listener)(&delivery.session, &delivery.message);
        }
        answer
    }

    fn record(&self, session: &SessionId, message: &Message) {
        self.host.record(session, message);
    }

    fn forget(&self, session: &SessionId) {
        self.host.forget(session);
    }

    fn transcript(&self, session: &SessionId) -> Option<Transcript> {
        self.host.transcript(session)
    }

    fn transcript_bytes(&self, session: &SessionId) -> Option<u64> {
        self.host.transcript_bytes(session)
    }

    fn turn(&self, run: &RunId) -> Option<Arc<Turn>> {
        self.host.turn(run)
    }

    fn asking(&self) -> Vec<RunId> {
        self.host.asking()
    }

    fn obstacle(&self, session: &SessionId) -> Option<Obstacle> {
        self.host.obstacle(session)
    }

    fn answer_question(&self, answer: &QuestionAnswer) {
        self.host.answer_question(answer);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::domain::{Digest, Moment, ScheduleId, Scope, Usage};

    fn run() -> RunId {
        RunId { schedule: ScheduleId::new("a").expect("an id"), incarnation: 1, slot: Moment::EPOCH }
    }

    /// A host that has an answer of its own to each call with a default.
    #[derive(Default)]
    struct Agents(Mutex<Vec<SessionId>>);

    impl Host for Agents {
        fn opened(&self, _: &SessionId, _: &SessionConfig) {}

        fn create(&self, _: &Opening) -> HostAnswer {
            HostAnswer::Later
        }

        fn deliver(&self, _: &Delivery) -> HostAnswer {
            HostAnswer::Later
        }

        fn record(&self, _: &SessionId, _: &Message) {}

        fn forget(&self, _: &SessionId) {}

        fn transcript(&self, _: &SessionId) -> Option<Transcript> {
            None
        }

        fn transcript_bytes(&self, _: &SessionId) -> Option<u64> {
            Some(7)
        }

        fn turn(&self, run: &RunId) -> Option<Arc<Turn>> {
            Some(Arc::new(Turn {
                run: run.clone(),
                address: "x:1".parse().expect("an address"),
                started_at: Moment::EPOCH,
                receipt_at: None,
                ended_at: None,
                outcome: None,
                stop_reason: None,
                text: "".into(),
                usage: Usage::default(),
                tool_calls: Vec::new(),
                questions: Vec::new(),
                process: None,
                version: None,
            }))
        }

        fn asking(&self) -> Vec<RunId> {
            vec![run()]
        }

        fn obstacle(&self, _: &SessionId) -> Option<Obstacle> {
            Some(Obstacle { holder: None, error: Some("no".into()) })
        }

        fn answer_question(&self, answer: &QuestionAnswer) {
            self.0.lock().expect("no test panics here").push(answer.session.clone());
        }
    }

    #[test]
    fn calls_that_have_a_default_reach_the_host() {
        let agents = Arc::new(Agents::default());
        let tapped = HostTapped::new(agents.clone(), |_: &SessionId, _: &Message| ());
        let session = SessionId::new("one").expect("an id");
        assert_eq!(tapped.transcript_bytes(&session), Some(7));
        assert_eq!(tapped.turn(&run()).map(|turn| turn.run.clone()), Some(run()));
        assert_eq!(tapped.asking(), [run()]);
        assert_eq!(tapped.obstacle(&session).and_then(|it| it.error).as_deref(), Some("no"));
        let by = Scope::Operator.into();
        tapped.answer_question(&QuestionAnswer {
            session: session.clone(),
            question: Digest([0; 32]),
            is_allowed: true,
            by,
        });
        assert_eq!(*agents.0.lock().expect("no test panics here"), [session]);
    }
}
