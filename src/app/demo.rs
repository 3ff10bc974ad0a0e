//! `reveille demo`: plays a script against a real engine, in real time, and shows what happens.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::process::ExitCode;

use super::client::in_process;
use super::client::question::query;
use super::exit::Exit;
use crate::dialect::{Notation, REQUEST_CAPS, psi};
use crate::domain::{Caller, Decision, DecisionKind, HostId, Message, ScheduleId, SessionConfig, SessionId};
use crate::edn::{self, Keyword, Map, Value};
use crate::engine::{Input, Ledger, Report, SessionRecord, State};
use crate::graph::eql::Boundary;
use crate::runtime::{Handle, Subscription};
use crate::service::{Service, reply};
use crate::surface::graphql::{GraphqlRequest, GraphqlService};

const SCRIPT: &str = include_str!("../../fixtures/demo.edn");
const SESSION: &str = "demo";

pub(super) fn demo(output: &mut impl Write) -> io::Result<ExitCode> {
    let mut engine = in_process::start()?;
    let handle = engine.handle().clone();
    let session = SessionId::new(SESSION).map_err(io::Error::other)?;
    handle
        .open_session(Some(session.clone()), HostId::LOCAL, SessionConfig::default())
        .map_err(io::Error::other)?;
    // From the present cursor on: the opening of the session is not part of the demo.
    let subscription = handle.subscribe(handle.view(State::cursor));
    let mut demo = Demo {
        service: engine.service().clone(),
        handle,
        session,
        subscription,
        ids: BTreeMap::new(),
        seen: BTreeSet::new(),
        output,
    };
    for form in edn::read_all(SCRIPT.as_bytes(), &REQUEST_CAPS).map_err(io::Error::other)? {
        demo.play(&form)?;
    }
    engine.shut_down();
    Ok(Exit::Done.into())
}

struct Demo<'a, W> {
    service: Service,
    handle: Handle,
    session: SessionId,
    subscription: Subscription,
    /// The schedule ids by their labels in the script.
    ids: BTreeMap<String, ScheduleId>,
    /// The decisions shown so far, by kind and schedule.
    seen: BTreeSet<(String, Option<ScheduleId>)>,
    output: &'a mut W,
}

impl<W: Write> Demo<'_, W> {
    fn play(&mut self, form: &Value) -> io::Result<()> {
        let map = form.as_map().ok_or_else(|| io::Error::other("the script holds maps only"))?;
        if let Some(text) = map.keyword("say").and_then(Value::as_str) {
            writeln!(self.output, "\n;; {text}")
        } else if map.keyword("action").is_some() {
            self.call(map)
        } else if let Some(busy) = map.keyword("busy?").and_then(Value::as_bool) {
            writeln!(self.output, "{{:op :session/busy :session-id {SESSION:?} :busy? {busy}}}")?;
            let report = Report::Busy { session: self.session.clone(), busy, by: None };
            self.handle.submit(Input::Report(report)).map_err(io::Error::other)
        } else if let Some(kind) = map.keyword("await").and_then(Value::as_keyword) {
            self.follow(kind, map.keyword("label").and_then(Value::as_str))
        } else if let Some(label) = map.keyword("explain").and_then(Value::as_str) {
            self.explain(label)
        } else if let Some(query) = map.keyword("eql") {
            self.ask_eql(query)
        } else if let Some(query) = map.keyword("graphql").and_then(Value::as_str) {
            self.ask_graphql(query)
        } else if map.keyword("transcripts").is_some() {
            self.show_transcripts()
        } else {
            let ledger = self.handle.view(State::ledger);
            show_accounts(self.output, ledger)
        }
    }

    fn call(&mut self, map: &Map) -> io::Result<()> {
        let label = map.keyword("label").and_then(Value::as_str).map(str::to_owned);
        // `@label` stands for the id of the schedule that the script created with this label.
        let named =
            map.keyword("schedule-id").and_then(Value::as_str).and_then(|text| text.strip_prefix('@'));
        let id = named.and_then(|label| self.ids.get(label));
        let args: Value = match id {
            Some(id) => map.clone().with("schedule-id", id.to_string()).into(),
            None => map.clone().into(),
        };
        writeln!(self.output, "{}", laid_out(&args, 0))?;
        let answer =
            self.service.call_tool(psi::TOOL, &Caller::session(self.session.clone()), &args, Notation::Edn);
        let answer =
            answer.map_err(io::Error::other)?.ok_or_else(|| io::Error::other("psi-tool is always there"))?;
        writeln!(self.output, "=> {}", laid_out(&without_nils(&answer.value), 3))?;
        if let (Some(label), Some(id)) = (label, created_id(&answer.value)) {
            self.ids.insert(label, id);
        }
        self.output.flush()
    }

    fn ask_eql(&mut self, query: &Value) -> io::Result<()> {
        writeln!(self.output, "{}", laid_out(query, 0))?;
        let answer = self.answered(query)?;
        writeln!(self.output, "=> {}", laid_out(&without_nils(&answer.into()), 3))
    }

    fn answered(&self, query: &Value) -> io::Result<Map> {
        let boundary = Boundary::read(query).map_err(io::Error::other)?;
        let answer = self.service.query(&Caller::OPERATOR, &boundary, false).map_err(io::Error::other)?;
        Ok(reply(&boundary, answer))
    }

    /// Shows in one sentence what became of a schedule.
    fn explain(&mut self, label: &str) -> io::Result<()> {
        let id = self.ids.get(label).map(ToString::to_string).unwrap_or_default();
        let query =
            query("reveille/explain", Map::new().with("schedule-id", id), "[:reveille.explanation/sentence]");
        let query = edn::read(query.as_bytes(), &REQUEST_CAPS).map_err(io::Error::other)?;
        let answer = self.answered(&query)?;
        let explanation = answer.keyword("reveille/explain").and_then(Value::as_map);
        let sentence = explanation.and_then(|map| map.keyword("reveille.explanation/sentence")?.as_str());
        writeln!(self.output, "   {label}: {}", sentence.unwrap_or_default())
    }

    fn ask_graphql(&mut self, query: &str) -> io::Result<()> {
        writeln!(self.output, "{query}")?;
        let service = GraphqlService::new(&self.service);
        let service = service.map_err(|faults| io::Error::other(format!("{faults:?}")))?;
        let answer = service.answer(&Caller::OPERATOR, &GraphqlRequest::new(query), false);
        writeln!(self.output, "=> {}", answer.body)
    }

    /// Shows decisions as they happen, until the awaited one, which may have been shown already.
    fn follow(&mut self, kind: &Keyword, label: Option<&str>) -> io::Result<()> {
        let schedule = label.and_then(|label| self.ids.get(label)).cloned();
        let awaited = (kind.as_str().to_owned(), schedule);
        // A decision can precede the `await` for it, so decisions shown earlier count as well.
        while !self.seen.contains(&awaited) {
            let batch =
                self.subscription.next_batch(1).ok_or_else(|| io::Error::other("the engine has stopped"))?;
            for decision in &batch.decisions {
                self.show(decision)?;
                self.seen.insert((decision.kind.name().to_owned(), decision.schedule().cloned()));
            }
        }
        Ok(())
    }

    fn show(&mut self, decision: &Decision) -> io::Result<()> {
        let Some(id) = decision.schedule() else {
            return Ok(());
        };
        let label = self.ids.iter().find(|(_, known)| *known == id).map_or("", |(label, _)| label.as_str());
        let (at, kind) = (decision.at, decision.kind.name());
        if decision.kind == DecisionKind::RunDelivered {
            let late = decision.run().map_or(0, |run| at.since(run.slot).nanos());
            // Printed as milliseconds with three decimals, without floating point.
            let micros = late / 1_000;
            let (whole, part) = (micros / 1_000, micros % 1_000);
            writeln!(self.output, "   {at}  {kind} {label:?}, {whole}.{part:03} ms late")?;
        } else if WITH_REASONS.contains(&decision.kind) {
            let reason = decision.reason.map_or("", crate::domain::Reason::name);
            writeln!(self.output, "   {at}  {kind} {label:?}, because {reason}")?;
        }
        self.output.flush()
    }

    fn show_transcripts(&mut self) -> io::Result<()> {
        let sessions =
            self.handle.view(|state| state.sessions().into_iter().cloned().collect::<Vec<SessionRecord>>());
        for session in sessions {
            let config = psi::session_config::print(session.config());
            writeln!(self.output, "session {}\n   {}", session.id(), laid_out(&config, 3))?;
            if let Some(provenance) = session.provenance() {
                let (schedule, origin) = (&provenance.schedule, &provenance.origin);
                let label = provenance.label.as_deref().unwrap_or_default();
                writeln!(self.output, "   opened by {schedule} of session {origin}, label {label:?}")?;
            }
            for message in self.handle.sessions().transcript(session.id()).unwrap_or_default().messages {
                show_message(self.output, &message)?;
            }
        }
        Ok(())
    }
}

/// What is shown beside deliveries: what has not arrived.
const WITH_REASONS: [DecisionKind; 4] = [
    DecisionKind::RunQueued,
    DecisionKind::RunLeft,
    DecisionKind::RunFailed,
    DecisionKind::ScheduleCancelled,
];

fn show_message(output: &mut impl Write, message: &Message) -> io::Result<()> {
    let from = match &message.provenance {
        Some(provenance) => format!("{} by schedule {}", message.role.name(), provenance.run.schedule),
        None => message.role.name().to_owned(),
    };
    writeln!(output, "   {from}: {}", message.text())
}

fn show_accounts(output: &mut impl Write, ledger: Ledger) -> io::Result<()> {
    let Ledger { expected, delivered, left, skipped, cancelled, failed, lost, pending } = ledger;
    writeln!(
        output,
        "   expected {expected} = delivered {delivered} + left {left} + skipped {skipped} + cancelled {cancelled} \
         + failed {failed} + lost {lost} + pending {pending}"
    )
}

/// The answer without keys that are nil, for readability.
fn without_nils(value: &Value) -> Value {
    if let Some(map) = value.as_map() {
        let entries = map.iter().filter(|(_, value)| !value.is_nil());
        return Value::Map(entries.map(|(key, value)| (key.clone(), without_nils(value))).collect());
    }
    match value.as_items() {
        Some(items) => Value::vector(items.iter().map(without_nils).collect::<Vec<Value>>()),
        None => value.clone(),
    }
}

/// The value in lines that fit a terminal: what is too wide for one has an entry in each. `indent` is the column where it begins.
fn laid_out(value: &Value, indent: usize) -> String {
    let plain = value.to_string();
    if indent + plain.len() <= WIDTH {
        return plain;
    }
    let inner = indent + 1;
    let lines = |parts: Vec<String>| parts.join(&format!("\n{}", " ".repeat(inner)));
    if let Some(map) = value.as_map() {
        let entry = |(key, value): (&Value, &Value)| {
            let key = key.to_string();
            format!("{key} {}", laid_out(value, inner + key.len() + 1))
        };
        return format!("{{{}}}", lines(map.iter().map(entry).collect()));
    }
    match value.as_items() {
        Some(items) => {
            let (open, close) = if plain.starts_with('(') { ('(', ')') } else { ('[', ']') };
            format!("{open}{}{close}", lines(items.iter().map(|item| laid_out(item, inner)).collect()))
        }
        None => plain,
    }
}

const WIDTH: usize = 110;

fn created_id(answer: &Value) -> Option<ScheduleId> {
    let schedule = answer.as_map()?.keyword("psi-tool/scheduler")?.as_map()?.keyword("schedule")?;
    ScheduleId::new(schedule.as_map()?.keyword("schedule-id")?.as_str()?).ok()
}
