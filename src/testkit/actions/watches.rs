//! Watches in a world: conditions that begin, last and cease, silence, and pings; in memory and on disk.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::domain::{
    Call, CallPurpose, CallVia, CountFrom, Durability, Edge, Every, Filter, Gaps, Lasting, Lifetime, Missed,
    NotifyWhen, Payload, Policy, Recovery, SessionId, Settings, Sink, Span, ToolName, When,
};
use crate::edn::Map;
use crate::engine::{Command, Input, NewSchedule, parse_condition, parse_path};
use crate::port::Clock;
use crate::testkit::laws::Broken;
use crate::testkit::reference::watch_condition::{CONDITIONS, KnownCondition, OVERDUE};
use crate::testkit::sim::sim_courier::CHANNELS;
use crate::testkit::sim::sim_executor::TOOL;
use crate::testkit::sim::sim_results::{LastPings, PING_TOOL};
use crate::testkit::world::World;

type Outcome = Result<(), Broken>;

/// The names that pings have where they are watched: few, so that they come in time.
pub(in crate::testkit) const WATCHED_PINGS: [&str; 2] = ["backup", "build"];

impl World {
    /// Whether the next schedule is a watch.
    pub(in crate::testkit) fn is_watch_drawn(&self) -> bool {
        self.config.watches_one_in > 0 && self.stage.entropy.one_in(self.config.watches_one_in)
    }

    pub(in crate::testkit) fn create_watch(&mut self, owner: SessionId) -> Outcome {
        let entropy = &self.stage.entropy;
        let (is_ping, now) = (entropy.one_in(3), self.stage.clock.now().wall);
        let name = if is_ping { PING_TOOL } else { TOOL };
        let every = Every::new(self.any_seconds(5, 25), now, CountFrom::Finish);
        // Both are fixed and right, so that a wrong one cannot be drawn.
        let (Ok(tool), Some(every)) = (ToolName::new(name), every) else { return Ok(()) };
        let ping = entropy.pick(&WATCHED_PINGS).copied().unwrap_or_default();
        let args = if is_ping { Map::new().with("name", ping) } else { Map::new().with("url", "somewhere") };
        let filter = if is_ping { self.any_filter_of_pings() } else { self.any_filter_of_results() };
        let sink = match entropy.below(8) {
            0 => Sink::Nobody,
            1 => Sink::Channel(entropy.pick(&CHANNELS).copied().unwrap_or(CHANNELS[0]).into()),
            _ => Sink::Session,
        };
        let call = Call {
            via: if entropy.one_in(6) { CallVia::Host } else { CallVia::Any },
            purpose: CallPurpose::Watch,
            sink,
            filter: Some(Arc::new(filter)),
            ..Call::new(tool, args)
        };
        let policy = Policy {
            missed: *entropy.pick(&[Missed::Skip, Missed::RunOnce]).unwrap_or(&Missed::Skip),
            recovery: *entropy.pick(Recovery::ALL).unwrap_or(&Recovery::Fail),
            timeout: Some(self.any_seconds(10, 50)),
            ..Policy::PLAIN
        };
        let runs = NonZeroU32::new(u32::try_from(1 + entropy.below(12)).unwrap_or(1));
        let end = now.checked_add(self.any_seconds(60, 1_200));
        let lifetime = Lifetime {
            max_runs: runs.filter(|_| entropy.one_in(8)),
            expires_at: end.filter(|_| entropy.one_in(8)),
            ..Lifetime::PLAIN
        };
        let new = NewSchedule {
            // Watches are no family of their own here: that one would have to be switched on.
            dialect: self.any_family(),
            durability: if entropy.one_in(3) { Durability::Volatile } else { Durability::Durable },
            payload: Payload::Call(Box::new(call)),
            settings: Some(Box::new(Settings { policy, lifetime, ..Settings::PLAIN })),
            session_live_max: self.config.session_live_max,
            ..NewSchedule::message(owner, When::By(every.into()), "")
        };
        self.submit(Input::Command(Command::CreateSchedule(new))).map(|_| ())
    }

    /// A filter of any strategy, with spans of a few checks.
    fn any_filter_of_results(&self) -> Filter {
        let entropy = &self.stage.entropy;
        let when = if entropy.one_in(2) {
            NotifyWhen::OnThreshold
        } else {
            *entropy.pick(NotifyWhen::ALL).unwrap_or(&NotifyWhen::OnChange)
        };
        let condition = entropy.pick(CONDITIONS).filter(|_| when == NotifyWhen::OnThreshold);
        let checks = u16::try_from(1 + entropy.below(3)).unwrap_or(1);
        let lasting = match entropy.below(3) {
            0 => Lasting::NONE,
            1 => Lasting { checks, span: Span::ZERO },
            _ => Lasting { checks, span: self.any_seconds(1, 60) },
        };
        let is_left_out = when == NotifyWhen::OnChange && entropy.one_in(3);
        let ignore = parse_path("count").ok().filter(|_| is_left_out);
        Filter {
            edge: *entropy.pick(Edge::ALL).filter(|_| condition.is_some()).unwrap_or(&Edge::Level),
            lasting,
            ignore: ignore.into_iter().collect(),
            recall: u8::try_from(entropy.below(3)).unwrap_or(0),
            batch: u16::try_from(1 + entropy.below(4)).unwrap_or(1),
            ..self.any_filter_of(when, condition)
        }
    }

    /// A filter of a watch that waits for pings: by silence, or by their age.
    fn any_filter_of_pings(&self) -> Filter {
        if self.stage.entropy.one_in(4) {
            return self.any_filter_of(NotifyWhen::OnThreshold, Some(&OVERDUE));
        }
        Filter {
            silence: Some(self.any_seconds(10, 60)),
            ignore: parse_path("age_seconds").into_iter().collect(),
            ..self.any_filter_of(NotifyWhen::OnChange, None)
        }
    }

    fn any_filter_of(&self, when: NotifyWhen, condition: Option<&KnownCondition>) -> Filter {
        let entropy = &self.stage.entropy;
        let condition = condition.and_then(|condition| parse_condition(condition.text).ok());
        Filter {
            condition: condition.map(Arc::new),
            gaps: *entropy.pick(Gaps::ALL).unwrap_or(&Gaps::Keep),
            cooldown: if entropy.one_in(3) { self.any_seconds(1, 90) } else { Span::ZERO },
            again: entropy.one_in(3).then(|| self.any_seconds(1, 60)),
            silence: entropy.one_in(2).then(|| self.any_seconds(10, 90)),
            backoff: entropy.one_in(4).then(|| self.any_seconds(1, 120)),
            jitter: if entropy.one_in(4) { 500 } else { 0 },
            ..Filter::plain(when)
        }
    }

    fn any_seconds(&self, least: u64, more: u64) -> Span {
        Span::from_millis(1_000 * (least + self.stage.entropy.below(more)))
    }

    /// Lets the executor know which pings have come, if anybody watches them.
    pub(in crate::testkit) fn show_pings(&self) {
        if self.config.watches_one_in == 0 {
            return;
        }
        let pings = self.handle.view(|state| {
            let mut pings = LastPings::new();
            for session in state.sessions() {
                let of_session = session.pings().all().iter();
                pings.extend(of_session.map(|it| ((session.id().clone(), it.name.as_str().into()), it.at)));
            }
            pings
        });
        self.executor.know_pings(pings);
    }
}
