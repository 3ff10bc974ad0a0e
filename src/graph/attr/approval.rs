//! What an operator is asked about a run: everything that an approval covers.
//!
//! What lives elsewhere: the digest (`engine/guard.rs`), and the question to an external guard, which is asked about the same
//! parts (`adapter/outbound/envelope.rs`). Invariant: two runs that differ are shown differently. Every definition is taken
//! apart into all of its parts, so a part that is added to one does not compile before it is shown here.

use crate::calendar;
use crate::domain::{
    Cause, Creation, Descent, Dialect, Digest, Durability, Envelope, Hold, Lineage, Moment, NewSession,
    Payload, PayloadKind, Policy, RunId, Schedule, Scope, SessionConfig, SessionId, Settings, Target,
};
use crate::edn::{Map, Value};
use crate::graph::mutation::{LIFETIME, print_lifetime, print_policy};
use crate::graph::params::{FromParam, IdText, field};
use crate::graph::psi_terms;
use crate::graph::registry::{Param, ParamType, Record};
use crate::graph::session_config;

/// A run that waits, and what is asked about it.
pub(crate) struct Asked<'a> {
    pub(crate) hold: &'a Hold,
    pub(crate) digest: Digest,
    pub(crate) cause: Cause,
    pub(crate) revision: u32,
    pub(crate) schedule: &'a Schedule,
    /// The configuration of the fresh session, with what it inherits; `None` if none is opened.
    pub(crate) config: Option<SessionConfig>,
    /// The block of memory below the prompt; `None` if nothing is remembered.
    pub(crate) memory: Option<Box<str>>,
    /// Who looks: a session learns no names of operator tokens.
    pub(crate) viewer: &'a Scope,
}

/// The fields of an approval, as [`Asked::shown`] fills them in.
pub(super) const APPROVAL: Record = Record {
    name: "approval",
    doc: "The approval that a held run waits for.",
    params: &[
        field::<Digest>("digest", "The digest to approve."),
        field::<Box<str>>("rule", "The name of the rule that holds the run."),
        field::<Box<str>>("why", "The reason that the rule gives. Nil if none.").or_nil(),
        field::<Moment>("until", "When the approval expires."),
        field::<PayloadKind>("kind", "The kind of the schedule."),
        field::<Box<str>>("message", "The prompt, the text of the notice, or the name of the tool."),
        field::<Box<str>>(
            "memory",
            "What the session remembers, which the model reads below the prompt. Nil if nothing.",
        )
        .or_nil(),
        Param::shown(
            "call",
            ParamType::Record(&psi_terms::CALL),
            "For a call: the tool and its arguments. Nil for other kinds.",
        )
        .or_nil(),
        Param::shown(
            "notice",
            ParamType::Record(&psi_terms::NOTICE),
            "For a notice: its subject and the attached file. Nil for other kinds.",
        )
        .or_nil(),
        field::<Box<str>>(
            "description",
            "What the schedule is for, in its creator's words. The model is told it in some envelopes. Nil if not given.",
        )
        .or_nil(),
        Param::shown(
            "envelope",
            ParamType::Enum { name: "schedule-envelope", values: Envelope::NAMES },
            "How the prompt is presented to the model.",
        ),
        Param::shown(
            "target",
            psi_terms::TARGET_KIND,
            "The kind of target that the run would be delivered to.",
        ),
        Param::shown(
            "session-config",
            ParamType::Record(&psi_terms::CONFIG_SUMMARY),
            "For a fresh session: its configuration, in summary.",
        )
        .or_nil(),
        Param::shown("revision", ParamType::COUNT, "The revision of the schedule."),
        field::<Box<str>>("label", "The name of the schedule. Nil if none.").or_nil(),
        field::<IdText>("owner", "The id of the session that owns the schedule."),
        field::<Box<str>>(
            "made-by",
            "The actor that created the schedule, and where its fresh sessions come from. The owner if no other is recorded.",
        ),
        field::<Box<str>>(
            "edited-by",
            "The actors other than the owner that changed the schedule, the last one in front. Nil if nobody did.",
        )
        .or_nil(),
        field::<IdText>(
            "session-id",
            "The id of the session that the run would be delivered into. Nil if none.",
        )
        .or_nil(),
        field::<Box<str>>("channel", "The channel that the run would be delivered to. Nil if none.").or_nil(),
        field::<Box<str>>("conversation", "The recipient on that channel. Nil if none.").or_nil(),
        field::<Box<str>>("thread", "The thread of that conversation. Nil if none.").or_nil(),
        field::<Map>(
            "config",
            "For a fresh session: its whole configuration, with what it inherits. Nil for other runs.",
        )
        .or_nil(),
        Param::shown(
            "lineage",
            ParamType::Record(&LINEAGE),
            "The chain of turns in which it was made. Nil if none.",
        )
        .or_nil(),
        Param::shown(
            "cause",
            ParamType::Enum { name: "run-cause", values: Cause::NAMES },
            "What caused the run.",
        ),
        field::<Box<str>>("when", "The trigger of the schedule, as a phrase."),
        Param::shown(
            "policy",
            Policy::TYPE,
            "What happens when a slot is late, the session is busy, runs overlap, or a run fails.",
        ),
        Param::shown(
            "lifetime",
            ParamType::Record(&LIFETIME),
            "What ends the schedule besides its trigger.",
        ),
        field::<Dialect>("dialect", "The dialect of the tool that created the schedule."),
        field::<Durability>("durability", "Whether the schedule survives a restart."),
        field::<bool>(
            "shared?",
            "Whether every session may see the schedule, and change it with the grant `cron-others`.",
        ),
        field::<Box<str>>("idempotency-key", "The idempotency key of the schedule. Nil if none.").or_nil(),
        field::<Moment>("created-at", "When the schedule was created."),
    ],
};

impl Asked<'_> {
    /// Returns what an operator is shown.
    pub(crate) fn shown(&self) -> Map {
        let Asked { hold, digest, cause, revision, schedule, config, memory, viewer } = self;
        // The schedule's id is part of the run's, under which this is shown.
        let Schedule {
            id: _,
            dialect,
            durability,
            label,
            owner,
            trigger,
            payload,
            created_at,
            creation,
            settings: _,
        } = *schedule;
        let Settings { description, key, shared, target: _, envelope, policy, lifetime } =
            schedule.settings();
        // A schedule without a record was made by its owner, outside of any chain.
        let plain = Creation::default();
        let Creation { by, chain, edited_by, editors, descents } = creation.as_deref().unwrap_or(&plain);
        let (message, notice, asked_config) = said(payload);
        // Of the settings' target, only what applies to the payload.
        let (into, route) = match schedule.target() {
            Target::Owner => (Some(owner), None),
            Target::Session(session) => (Some(session), None),
            Target::Route(route) => (None, Some(&**route)),
            Target::Fresh => (None, None),
        };
        let seen = |by: &crate::domain::Actor| by.seen_by(viewer).map(|by| by.to_string());
        // The owner stands in if no other actor is recorded, and if the viewer may not know the one that is.
        let made_by = by.as_ref().and_then(seen).unwrap_or_else(|| format!("session {owner}"));
        let made_by = made_by + &from(descents, viewer);
        // Who changed it last is named first.
        let edited: Vec<String> = edited_by.iter().chain(editors).filter_map(seen).collect();
        Map::new()
            .with("digest", digest.to_string())
            .with("rule", &*hold.rule)
            .with("why", hold.why.as_deref())
            .with("until", psi_terms::instant(hold.until))
            .with("kind", Value::keyword(payload.kind().name()))
            .with("message", message)
            .with("memory", memory.as_deref())
            .with("notice", notice)
            .with("call", payload.call().map(psi_terms::call))
            .with("description", description.as_deref())
            .with("envelope", Value::keyword(envelope.name()))
            .with("target", schedule.target().name())
            .with("session-config", asked_config.map(psi_terms::config_summary))
            .with("revision", *revision)
            .with("label", label.as_deref())
            .with("owner", owner.as_str())
            .with("made-by", made_by)
            .with("edited-by", (!edited.is_empty()).then(|| edited.join("; ")))
            .with("session-id", into.map(SessionId::as_str))
            .with("channel", route.map(|route| &*route.channel))
            .with("conversation", route.map(|route| &*route.conversation))
            .with("thread", route.and_then(|route| route.thread.as_deref()))
            .with("config", config.as_ref().map(session_config::whole))
            .with("lineage", chain.as_ref().map(lineage))
            .with("cause", Value::keyword(cause.name()))
            .with("when", calendar::print(trigger))
            .with("policy", print_policy(policy))
            .with("lifetime", print_lifetime(lifetime))
            .with("dialect", Value::keyword(dialect.name()))
            .with("durability", Value::keyword(durability.name()))
            .with("shared?", *shared)
            .with("idempotency-key", key.as_deref())
            .with("created-at", psi_terms::instant(*created_at))
    }
}

/// Returns where the fresh sessions come from that have a hand in a schedule, as far as the viewer may know them.
fn from(descents: &[Descent], viewer: &Scope) -> String {
    let shown = descents.iter().filter(|it| viewer.covers(&it.session));
    let line = |Descent { session, origin, root }: &Descent| {
        format!("; session {session} is a fresh session of {origin}, in the family of {root}")
    };
    shown.map(line).collect()
}

/// Returns what a payload says: its text, what a notice has besides, and the configuration of a fresh session.
fn said(payload: &Payload) -> (&str, Option<Map>, Option<&SessionConfig>) {
    match payload {
        Payload::Turn { text } => (text, None, None),
        Payload::NewSession(fresh) => {
            let NewSession { text, config } = &**fresh;
            (text, None, Some(config))
        }
        Payload::Notice(notice) => (&notice.text, Some(psi_terms::notice(notice)), None),
        Payload::Call(call) => (call.tool.as_str(), None, None),
    }
}

/// The fields of [`lineage`](fn@lineage).
pub(super) const LINEAGE: Record = Record {
    name: "lineage",
    doc: "The chain of turns in which a schedule was created.",
    params: &[
        field::<RunId>("run-id", "The id of the run that began the turn."),
        Param::shown("depth", ParamType::COUNT, "The number of such turns back to the root."),
        field::<IdText>("root-schedule-id", "The id of the schedule that a person or an operator asked for."),
    ],
};

pub(super) fn lineage(line: &Lineage) -> Map {
    let Lineage { run, depth, root } = line;
    Map::new()
        .with("run-id", run.to_string())
        .with("depth", *depth)
        .with("root-schedule-id", root.to_string())
}
