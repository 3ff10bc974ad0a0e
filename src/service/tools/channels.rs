//! One call of a tool of channels: arguments in, the tool's own answer out.
//!
//! What lives elsewhere: words and shapes (`dialect::channels`), retries (`engine`), what goes over the wire
//! (`adapter::outbound`). Invariant: a channel that the caller may not use is one that does not exist, in lists, errors and
//! counts alike.

use super::super::admission::{Admitted, admit_target};
use super::super::{Arrival, Arrived, Service, creation};
use crate::dialect::channels::{self, Call, OutMessage, Provider, Tool};
use crate::dialect::{Answer, Notation};
use crate::domain::{
    Caller, CallerRole, ChannelEvent, Dialect, Durability, Moment, Reason, Refusal, RunId, ScheduleId, Scope,
    SessionId, Ways,
};
use crate::edn::Value;
use crate::engine::{ChannelRecord, Command, Input, NewSchedule, State};
use crate::limits;
use crate::runtime::Handle;

/// A call of a tool of channels.
pub(super) struct ChannelCall<'a> {
    pub(super) service: &'a Service,
    pub(super) admitted: Admitted<'a>,
}

impl<'a> ChannelCall<'a> {
    fn handle(&self) -> &'a Handle {
        self.service.handle()
    }

    fn caller(&self) -> &'a Caller {
        self.admitted.caller()
    }

    pub(super) fn call(&self, tool: Tool, args: &Value, notation: Notation) -> Answer {
        let call = match channels::parse(tool, args, notation) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        match call {
            Call::Send { channel, message, session } => {
                let field = if tool == Tool::SendMessage { "channel" } else { PROVIDER };
                self.send((field, &channel), message, session)
            }
            Call::Broadcast { channels, message } => self.broadcast(channels, &message),
            Call::Reply { text } => self.reply(text),
            Call::Pause { channel, ways } => self.pause(&channel, ways, true),
            Call::Resume { channel, ways } => self.pause(&channel, ways, false),
            Call::Simulate { channel, source, message, payload } => {
                if let Err(answer) = self.managed(&channel) {
                    return answer;
                }
                if self.service.inbound(&channel).is_none() {
                    return self.not_inbound(&channel);
                }
                // What comes in belongs to no chain, so that a turn which a schedule began could go on for ever.
                if self.is_woken() {
                    return channels::refused(&Refusal::WokenTurn);
                }
                let event = format!(
                    "sim-{}",
                    ScheduleId::fresh(Durability::Volatile, || Moment::EPOCH, self.handle().random_bits())
                );
                let simulated = Some(self.caller().scope.clone());
                let arrival = Arrival { event: event.into(), source, message, payload, simulated };
                match self.service.arrive(&channel, &arrival) {
                    Ok(Arrived::Begun { schedule } | Arrived::Duplicate { schedule }) => {
                        channels::arrived(&channel, &arrival.event, Some(&schedule))
                    }
                    Ok(Arrived::Filtered) => channels::arrived(&channel, &arrival.event, None),
                    Err(Refusal::ChannelNotAllowed { .. }) => self.unknown(PROVIDER, &channel),
                    Err(refusal) => channels::refused(&refusal),
                }
            }
            Call::List { with_status } => channels::listed(&self.providers(), with_status),
            Call::Status { channel } => self.of_one(&channel, channels::status),
            Call::History(asked) => {
                let is_asked =
                    |event: &ChannelEvent| asked.direction.is_none_or(|way| event.direction == way);
                let answer = |of: &[Provider]| channels::history(of, asked.limit, is_asked);
                self.of_some(asked.channel.as_deref(), answer)
            }
            Call::Stats { channel } => self.of_some(channel.as_deref(), channels::stats),
        }
    }

    /// The channels that the caller may use, by name, with the events that it may see.
    fn providers(&self) -> Vec<Provider> {
        self.handle().view(|state| {
            let open = state.channels().filter(|it| self.is_open(it));
            open.map(|it| self.shown(state, it)).collect()
        })
    }

    /// One of them.
    fn provider(&self, channel: &str) -> Option<Provider> {
        self.handle().view(|state| {
            let found = state.channel(channel).filter(|it| self.is_open(it))?;
            Some(self.shown(state, found))
        })
    }

    /// A channel with its events, which are many: of one channel only its own are copied.
    fn shown(&self, state: &State, record: &ChannelRecord) -> Provider {
        let (name, session) = (&*record.channel.name, self.caller().scope.session());
        let arrivals = self.service.inbound(name).map(|_| self.service.arrivals(name));
        let pauses = state.channel_pauses().get(name).cloned().unwrap_or_default();
        let mut shown = Provider::of((record, pauses), arrivals, session);
        shown.filtered = session.is_none().then(|| self.service.filtered(name));
        shown
    }

    /// Whether the caller may use a channel.
    fn is_open(&self, record: &ChannelRecord) -> bool {
        self.sees_all() || record.channel.agents
    }

    /// The answer to a channel that the caller may not use, or that is not there.
    fn unknown(&self, field: &'static str, channel: &str) -> Answer {
        self.handle().view(|state| {
            let open = state.channels().filter(|it| self.is_open(it));
            let known: Vec<&str> = open.map(|it| &*it.channel.name).collect();
            channels::unknown_channel(field, channel, &known)
        })
    }

    /// The answer to an event for a channel by which nothing comes in.
    fn not_inbound(&self, channel: &str) -> Answer {
        self.handle().view(|state| {
            let is_inbound =
                |it: &&ChannelRecord| self.is_open(it) && self.service.inbound(&it.channel.name).is_some();
            let open = state.channels().filter(is_inbound).map(|it| &*it.channel.name);
            channels::not_inbound(channel, &open.collect::<Vec<&str>>())
        })
    }

    /// Whether the caller may use channels that are closed to sessions.
    fn sees_all(&self) -> bool {
        matches!(self.caller().role, CallerRole::Operator | CallerRole::Observer)
            && *self.caller_scope() == Scope::Operator
    }

    fn caller_scope(&self) -> &'a Scope {
        &self.caller().scope
    }

    /// Whether a schedule began the present turn of the session that calls.
    fn is_woken(&self) -> bool {
        let session = self.caller_scope().session();
        session.is_some_and(|id| {
            self.handle().view(|state| state.session(id).is_some_and(|it| it.chain().is_some()))
        })
    }

    /// The channel of this name, if the caller may pause, resume and try it.
    fn managed(&self, channel: &str) -> Result<Provider, Answer> {
        let found = self.provider(channel).ok_or_else(|| self.unknown(PROVIDER, channel))?;
        if self.sees_all() || found.agents_manage {
            return Ok(found);
        }
        Err(channels::not_managed(channel))
    }

    fn pause(&self, channel: &str, ways: Ways, is_paused: bool) -> Answer {
        let provider = match self.managed(channel) {
            Ok(provider) => provider,
            Err(answer) => return answer,
        };
        // Read before the change, because the answer says whether the call made a difference.
        let was_so = ways.directions().iter().all(|way| provider.is_paused(*way) == is_paused);
        let by = self.caller().actor_with(Dialect::Channels);
        let channel: Box<str> = channel.into();
        let command = match is_paused {
            true => Command::PauseChannel { channel, ways, by },
            false => Command::ResumeChannel { channel, ways, by },
        };
        // Also where nothing changes: what somebody else has just changed is on disk before the answer says so.
        match self.handle().submit(Input::Command(command)) {
            Ok(_) => channels::paused(&provider.name, provider.takes, ways, is_paused, was_so),
            Err(refusal) => channels::refused(&refusal),
        }
    }

    fn of_one(&self, channel: &str, answer: impl FnOnce(&Provider) -> Answer) -> Answer {
        let found = self.provider(channel);
        found.map_or_else(|| self.unknown(PROVIDER, channel), |provider| answer(&provider))
    }

    fn of_some(&self, channel: Option<&str>, answer: impl FnOnce(&[Provider]) -> Answer) -> Answer {
        match channel {
            Some(channel) => self.of_one(channel, |provider| answer(std::slice::from_ref(provider))),
            None => answer(&self.providers()),
        }
    }

    fn send(
        &self,
        (field, channel): (&'static str, &str),
        message: OutMessage,
        session: Option<SessionId>,
    ) -> Answer {
        let Some(owner) = self.caller().scope.session().cloned().or(session) else {
            return channels::no_session();
        };
        match self.create(channel, message, &owner) {
            Ok((run, standing)) => channels::sent(channel, &run, standing),
            Err(Refusal::ChannelNotAllowed { .. }) => self.unknown(field, channel),
            Err(refusal) => channels::refused(&refusal),
        }
    }

    /// Answers the event that began the turn of the caller's session.
    fn reply(&self, text: Box<str>) -> Answer {
        let Some(session) = self.caller().scope.session() else { return channels::no_session() };
        let way_back = self.handle().view(|state| {
            // The schedule of an event has a key of this form, and the way back in its description (`service/inbound.rs`).
            let begun_by = &state.session(session)?.chain()?.run.schedule;
            let settings = state.schedule(begun_by)?.schedule().settings();
            settings.key.as_deref().filter(|key| key.starts_with("in/"))?;
            let (channel, conversation) = settings.description.as_deref()?.split_once(' ')?;
            Some((channel.to_owned(), conversation.to_owned()))
        });
        let Some((channel, conversation)) = way_back else { return channels::nothing_to_answer() };
        let recipient = Some(conversation.into());
        let message = OutMessage { text, subject: None, recipient, thread: None };
        match self.create(&channel, message, session) {
            Ok((run, standing)) => channels::sent(&channel, &run, standing),
            Err(refusal) => channels::refused(&refusal),
        }
    }

    /// Sends a message by each of these channels. Each message counts as one that the session creates.
    fn broadcast(&self, names: Vec<Box<str>>, message: &OutMessage) -> Answer {
        let Some(owner) = self.caller().scope.session() else { return channels::no_session() };
        let mut results: Vec<(Box<str>, Result<RunId, String>)> = Vec::with_capacity(names.len());
        for name in names {
            let is_named_before = results.iter().any(|(other, _)| *other == name);
            let sent = match is_named_before {
                true => Err(NAMED_BEFORE.to_owned()),
                // The first is counted with the admission of the whole.
                false if !results.is_empty() && !self.service.take_another(self.admitted) => {
                    Err(Refusal::LimitReached { limit: limits::CREATES_PER_MINUTE }.to_string())
                }
                false => self.broadcast_one(&name, message, owner),
            };
            results.push((name, sent));
        }
        channels::broadcast(results)
    }

    fn broadcast_one(&self, name: &str, message: &OutMessage, owner: &SessionId) -> Result<RunId, String> {
        let sent = self.create(name, message.clone(), owner).map(|(run, ..)| run);
        let is_unknown = matches!(sent, Err(Refusal::ChannelNotAllowed { .. }));
        sent.map_err(|refusal| if is_unknown { NO_CHANNEL.to_owned() } else { refusal.to_string() })
    }

    /// Creates the schedule that sends a message now; returns its run, and how that is.
    fn create(
        &self,
        channel: &str,
        message: OutMessage,
        owner: &SessionId,
    ) -> Result<(RunId, Standing), Refusal> {
        let target = message.target(channel);
        // One that is closed, and one that is not there, are refused alike.
        let is_there = |state: &State| state.channel(channel).is_some_and(|it| self.is_open(it));
        if !self.handle().view(is_there) {
            return Err(Refusal::ChannelNotAllowed { channel: channel.into() });
        }
        admit_target(self.handle(), self.caller(), Some(&target))?;
        let durability = creation::durability(self.handle());
        let now = self.handle().now().wall;
        let id = ScheduleId::fresh(durability, || now, self.handle().random_bits());
        let new = message.into_new(id.clone(), owner.clone(), channel, durability);
        let made_by = self.caller().maker(owner, Some(Dialect::Channels), Some(&target));
        let created = Input::Command(Command::CreateSchedule(NewSchedule { made_by, ..new }));
        self.handle().submit(created)?;
        // It is due: it goes out before the answer, so that the answer can say so.
        self.handle().run_due();
        self.handle().view(|state| Ok(standing(state, &id, now)))
    }
}

/// The status of a run, how many attempts were made, and why it waits or has failed.
type Standing = (&'static str, u16, Option<Reason>);

/// How the only run of a schedule is, which may not have been claimed yet.
fn standing(state: &State, id: &ScheduleId, slot: Moment) -> (RunId, Standing) {
    let schedule = state.schedule(id);
    let record = schedule.and_then(|schedule| state.newest_run(schedule));
    let run = record.and_then(|record| state.run_id(record));
    // The id that its only run will have: a new schedule has its first trigger.
    let unclaimed = || RunId { schedule: id.clone(), incarnation: 1, slot };
    let status = match record.map(crate::engine::RunRecord::run) {
        Some(run) if run.delivered_at.is_some() => "delivered",
        Some(run) if run.state.is_terminal() => "failed",
        Some(_) | None => "queued",
    };
    // A run that waits has the number of its next attempt.
    let attempts = record.and_then(|record| record.run().attempts().last()).map_or(0, |made| made.number);
    let reason = record.and_then(|record| record.run().reason.or_else(|| state.run_waits_for(record)));
    (run.unwrap_or_else(unclaimed), (status, attempts, reason))
}

/// Why one message of a broadcast was not sent; `list_providers` has the names that would do.
const NO_CHANNEL: &str = "there is no such channel: list_providers has those that there are";

/// Why a channel that a broadcast names again gets nothing more.
const NAMED_BEFORE: &str = "it is named more than once: its first entry says what became of the message";

/// The argument that names a channel in all tools but one.
const PROVIDER: &str = "provider";
