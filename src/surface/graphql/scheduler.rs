//! Where GraphQL begins in the scheduler: the roots of its `Query`, `Mutation` and `Subscription`.
//!
//! Lives here: declarations. Everything below the roots is a walk over the scheduler's registry. Source: the project's
//! interface description, §6.

use super::roots::{Kind, Mutation, Pages, Param, Payload, Query, QueryKind, Roots, Subscription};
use super::standing;
use crate::graph::attr::mutation;
use crate::graph::listing::ScheduleOrder;

/// The roots of the scheduler's GraphQL.
pub fn roots() -> Roots {
    let pages = |entity, entries, cursor| Pages { entity, entries, cursor };
    Roots {
        queries: queries(),
        mutations: mutations(),
        subscriptions: subscriptions(),
        pages: vec![
            pages("schedule-page", "reveille.schedule-page/schedules", "psi.scheduler/cursor"),
            pages("session-page", "reveille.session-page/sessions", "psi.agent-session/session-id"),
            pages("decision-page", "reveille.decision-page/decisions", "reveille.decision/cursor"),
        ],
        params: params(),
        hidden: vec![
            "psi.agent-session/token",
            "psi.agent-session/changed-count",
            "psi.agent-session/left-count",
            "psi.scheduler/created?",
            "psi.scheduler/understood",
            // Good for one look only.
            "reveille.slot/number",
            "reveille.explanation/number",
        ],
        longs: vec![],
    }
}

fn queries() -> Vec<Query> {
    let query = |name, doc, kind| Query { name, doc, kind };
    vec![
        query("schedule", "The schedule of this id.", QueryKind::Entity("schedule")),
        query(
            "schedules",
            "Schedules, ended ones included: a session's own, everybody's for an operator.",
            QueryKind::Attribute("psi.scheduler/schedule-page"),
        ),
        query(
            "pendingCount",
            "How many schedules have not ended.",
            QueryKind::Attribute("psi.scheduler/pending-count"),
        ),
        query("session", "The open session of this id.", QueryKind::Entity("session")),
        query(
            "sessions",
            "The open sessions, by id.",
            QueryKind::Attribute("psi.agent-session/session-page"),
        ),
        query(
            "forecast",
            "The slots to come, by when something comes of them, as if nobody did anything more.",
            QueryKind::Attribute("reveille/forecast"),
        ),
        query(
            "whatIf",
            "The slots of which something else would become, were the process down or a schedule changed.",
            QueryKind::Attribute("reveille/what-if"),
        ),
        query(
            "explain",
            "Why a schedule has fired at an instant, or has not, or when it will.",
            QueryKind::Attribute("reveille/explain"),
        ),
        query("engine", "The engine as a whole.", QueryKind::Root("engine")),
        query(
            "attributes",
            "Every attribute of the graph, by ident.",
            QueryKind::Attribute("psi.graph/attributes"),
        ),
    ]
}

/// What lists take.
fn params() -> Vec<(&'static str, Vec<Param>)> {
    let schedules = || {
        let mut params = vec![
            optional("filter", "", "What the schedules have to be: all of it.", schedule_filter()),
            optional(
                "orderBy",
                "order-by",
                "Their order; by slot unless told otherwise.",
                Kind::Enum("ScheduleOrder", ScheduleOrder::NAMES),
            ),
        ];
        params.extend(window());
        params
    };
    let decisions = || {
        let mut params =
            vec![optional("filter", "", "What the decisions have to be: all of it.", decision_filter())];
        params.extend(window());
        params
    };
    vec![
        ("psi.scheduler/schedule-page", schedules()),
        ("psi.scheduler/schedules", schedules()),
        ("psi.scheduler/schedule-count", vec![schedules().swap_remove(0)]),
        ("psi.agent-session/schedule-page", schedules()),
        ("psi.agent-session/schedules", schedules()),
        ("psi.agent-session/session-page", window()),
        ("psi.agent-session/sessions", window()),
        ("psi.agent-session/messages", window()),
        ("reveille/forecast", stretch()),
        ("reveille/what-if", supposed()),
        ("reveille/explain", vec![of_schedule(), explained_at()]),
        ("psi.scheduler/explain", vec![explained_at()]),
        ("psi.scheduler/upcoming", vec![optional("first", "first", "How many.", Kind::Int)]),
        ("reveille.engine/decision-page", decisions()),
        ("reveille.engine/decisions", decisions()),
        ("psi.graph/attributes", vec![optional("entity", "entity", "Only those of this.", Kind::String)]),
    ]
}

/// What a forecast takes.
fn stretch() -> Vec<Param> {
    vec![
        optional("from", "from", "From when on; now if left out.", Kind::DateTime),
        optional("to", "to", "Until when; a day later if left out.", Kind::DateTime),
        optional("first", "first", "At most so many.", Kind::Int),
        optional("scheduleId", "schedule-id", "Of this schedule only.", Kind::Id),
    ]
}

fn supposed() -> Vec<Param> {
    let mut params = stretch();
    params.extend([
        optional("downFrom", "down-from", "Suppose the process is down from here on.", Kind::DateTime),
        optional("downUntil", "down-until", "And is back then.", Kind::DateTime),
    ]);
    params.extend(ways());
    params.extend(conditions());
    params
}

pub(super) fn of_schedule() -> Param {
    required("scheduleId", "schedule-id", "The schedule.", Kind::Id)
}

fn explained_at() -> Param {
    optional("at", "at", "The instant; what matters now if left out.", Kind::DateTime)
}

/// The ways to say when, beside psi's two.
fn ways() -> Vec<Param> {
    vec![
        optional(
            "when",
            "when",
            "When, in a phrase: weekdays at 8:30, in 2 hours, every 5 minutes.",
            Kind::String,
        ),
        optional("cron", "cron", "When, by five fields of cron.", Kind::String),
        optional("zone", "zone", "On whose clock a phrase or cron is read; UTC if left out.", Kind::String),
        optional("everyMs", "every-ms", "Every so many milliseconds, from now on.", Kind::Long),
        optional("trigger", "trigger", "When, as the attribute trigger shows it.", Kind::Keyed),
        optional("ifPast", "if-past", "fire-now, to have what has passed fire now.", Kind::String),
    ]
}

fn conditions() -> Vec<Param> {
    vec![
        optional("policy", "policy", "What applies when it is late, busy or fails.", Kind::Keyed),
        optional("lifetime", "lifetime", "What ends it.", Kind::Keyed),
    ]
}

fn window() -> Vec<Param> {
    vec![
        optional("first", "first", "At most so many, from the front.", Kind::Int),
        optional("after", "after", "Only what stands behind this cursor.", Kind::String),
        optional("last", "last", "At most so many, from the back.", Kind::Int),
        optional("before", "before", "Only what stands before this cursor.", Kind::String),
    ]
}

fn schedule_filter() -> Kind {
    let status = Kind::ListOf(Box::new(Kind::EnumOf("psi.scheduler/status")));
    let fields = vec![
        optional("status", "status", "One of these.", status),
        optional("kind", "kind", "This.", Kind::EnumOf("psi.scheduler/kind")),
        optional("label", "label", "Exactly this.", Kind::String),
        optional("sessionId", "session-id", "The session that asked for it.", Kind::Id),
        optional("dueAfter", "due-after", "A slot later than this.", Kind::DateTime),
        optional("dueBefore", "due-before", "A slot earlier than this.", Kind::DateTime),
    ];
    Kind::Object("ScheduleFilter", fields)
}

fn decision_filter() -> Kind {
    let kinds = Kind::ListOf(Box::new(Kind::EnumOf("reveille.decision/kind")));
    let fields = vec![
        optional("kind", "kind", "One of these.", kinds),
        optional("scheduleId", "schedule-id", "The schedule concerned.", Kind::Id),
        optional("sessionId", "session-id", "The session concerned.", Kind::Id),
    ];
    Kind::Object("DecisionFilter", fields)
}

fn mutations() -> Vec<Mutation> {
    let session = || required("sessionId", "session-id", "The session.", Kind::Id);
    let of_session = |name, doc, symbol, params| Mutation {
        name,
        doc,
        symbol,
        params,
        has_input: false,
        payload: vec![("session", Payload::Entity("session")), ("sessionId", Payload::Attribute(SESSION_ID))],
    };
    let text = required("text", "text", "What the person says.", Kind::String);
    let busy = required("busy", "busy", "Whether a turn is under way.", Kind::Boolean);
    let job = required("jobId", "job-id", "The job.", Kind::Id);
    let mut mutations = standing::all();
    mutations.push(reschedule());
    mutations.extend([
        create(),
        Mutation {
            name: "cancelSchedule",
            doc: "Calls off a schedule that is pending or queued; others are refused with their status.",
            symbol: mutation::CANCEL,
            params: vec![required("scheduleId", "schedule-id", "The schedule.", Kind::Id)],
            has_input: false,
            payload: vec![("schedule", Payload::Entity("schedule"))],
        },
        Mutation {
            name: "openSession",
            doc: "Opens a session of the built-in host. The token is given here, once.",
            symbol: mutation::OPEN,
            params: vec![
                optional("sessionId", "session-id", "Its id; one is made if there is none.", Kind::Id),
                optional("sessionConfig", "session-config", "Its configuration.", Kind::Keyed),
            ],
            has_input: false,
            payload: vec![
                ("session", Payload::Entity("session")),
                ("sessionId", Payload::Attribute(SESSION_ID)),
                ("token", Payload::Attribute("psi.agent-session/token")),
            ],
        },
        of_session(
            "closeSession",
            "Closes a session and calls off its schedules.",
            mutation::CLOSE,
            vec![session()],
        ),
        of_session(
            "sendUserMessage",
            "Puts a person's message into a session.",
            mutation::USER_MESSAGE,
            vec![session(), text],
        ),
        of_session(
            "setSessionBusy",
            "Reports that a turn began or ended.",
            mutation::BUSY,
            vec![session(), busy],
        ),
        of_session(
            "reportJobReady",
            "Reports that a job is ready: what waits for it has its slot.",
            mutation::JOB_READY,
            vec![session(), job],
        ),
    ]);
    mutations
}

fn reschedule() -> Mutation {
    let mut params = vec![
        of_schedule(),
        standing::base(),
        optional("delayMs", "delay-ms", "How long from now, in milliseconds.", Kind::Long),
        optional("at", "at", "When.", Kind::DateTimeText),
    ];
    params.extend(ways());
    params.extend([
        optional("label", "label", "Its name for people; null takes it away.", Kind::String),
        optional("description", "description", "What it is for; null takes it away.", Kind::String),
        optional("message", "message", "The prompt.", Kind::String),
    ]);
    params.extend(conditions());
    Mutation {
        name: "rescheduleSchedule",
        doc: "Gives a schedule another definition; what is left out stays as it is.",
        symbol: mutation::RESCHEDULE,
        params,
        has_input: true,
        payload: vec![
            ("schedule", Payload::Entity("schedule")),
            ("understood", Payload::Maybe("psi.scheduler/understood")),
        ],
    }
}

fn create() -> Mutation {
    let mut mutation = create_as_psi();
    mutation.params.extend(ways());
    mutation.params.extend(conditions());
    mutation.params.extend([
        optional(
            "durability",
            "durability",
            "Whether it survives a restart: volatile or durable.",
            Kind::String,
        ),
        optional("idempotencyKey", "idempotency-key", "A name by which a repeat is known.", Kind::String),
        optional("description", "description", "What it is for.", Kind::String),
        optional(
            "channel",
            "channel",
            "The channel that it goes out by, in place of the session.",
            Kind::String,
        ),
        optional("conversation", "conversation", "To whom there.", Kind::String),
    ]);
    mutation
}

fn create_as_psi() -> Mutation {
    Mutation {
        name: "createSchedule",
        doc: "Asks for something to happen later: a prompt into the session, or a fresh session.",
        symbol: mutation::CREATE,
        params: vec![
            optional(
                "originSessionId",
                "origin-session-id",
                "Whose schedule it is; a session's own if left out.",
                Kind::Id,
            ),
            optional(
                "kind",
                "kind",
                "A prompt into the session, or a fresh session; there is no default.",
                Kind::EnumOf("psi.scheduler/kind"),
            ),
            optional("label", "label", "A name for people.", Kind::String),
            optional("message", "message", "The prompt.", Kind::String),
            optional("delayMs", "delay-ms", "How long from now, in milliseconds; or give `at`.", Kind::Long),
            optional("at", "at", "When; or give `delayMs`.", Kind::DateTimeText),
            optional(
                "sessionConfig",
                "session-config",
                "Of a fresh session: its configuration.",
                Kind::Keyed,
            ),
        ],
        has_input: true,
        payload: vec![
            ("schedule", Payload::Entity("schedule")),
            ("created", Payload::Attribute("psi.scheduler/created?")),
            ("understood", Payload::Maybe("psi.scheduler/understood")),
        ],
    }
}

fn subscriptions() -> Vec<Subscription> {
    let after = optional("after", "after", "What was seen last: it goes on behind that.", Kind::String);
    let truncated = ("truncated", Payload::Given(TRUNCATED, Kind::Boolean));
    let lagged = ("lagged", Payload::Given(LAGGED, Kind::Boolean));
    let maybe = |name, ident| (name, Payload::Maybe(ident));
    let event = vec![
        ("cursor", Payload::Attribute("reveille.decision/cursor")),
        maybe("at", "reveille.decision/at"),
        maybe("kind", "reveille.decision/kind"),
        maybe("reason", "reveille.decision/reason"),
        maybe("by", "reveille.decision/by"),
        maybe("scheduleId", "reveille.decision/schedule-id"),
        maybe("schedule", "reveille.decision/schedule"),
        maybe("run", "reveille.decision/run"),
        maybe("sessionId", "reveille.decision/session-id"),
        maybe("detail", "reveille.decision/detail"),
        truncated.clone(),
        lagged.clone(),
    ];
    let patch = vec![
        ("cursor", Payload::Attribute("reveille.decision/cursor")),
        ("isWhole", Payload::Given(WHOLE, Kind::Boolean)),
        ("changed", Payload::Entities("schedule", CHANGED)),
        ("removed", Payload::Given(REMOVED, Kind::ListOf(Box::new(Kind::Id)))),
        truncated,
        lagged,
    ];
    let filter = optional("filter", "", "Which schedules; all of it has to hold.", schedule_filter());
    let session = required("sessionId", "session-id", "The session.", Kind::Id);
    let subscription = |name, doc, params, payload| Subscription { name, doc, params, payload };
    vec![
        subscription("events", "Every decision, with its reason.", vec![after.clone()], ("Event", event)),
        subscription(
            "schedules",
            "The list of schedules: as a whole first, then what has changed.",
            vec![filter, after.clone()],
            ("ScheduleListPatch", patch),
        ),
        subscription("messages", "The messages of a session.", vec![session, after], ("message", Vec::new())),
    ]
}

pub(super) fn optional(name: &'static str, param: &'static str, doc: &'static str, kind: Kind) -> Param {
    Param { name, param, doc, kind, is_required: false }
}

pub(super) fn required(name: &'static str, param: &'static str, doc: &'static str, kind: Kind) -> Param {
    Param { is_required: true, ..optional(name, param, doc, kind) }
}

pub(super) const SESSION_ID: &str = "psi.agent-session/session-id";
/// Says that something before this is no longer kept: look at the state instead.
pub(super) const TRUNCATED: &str = "reveille.push/truncated?";
/// Says that the reader was too slow, and something before this was left out.
pub(super) const LAGGED: &str = "reveille.push/lagged?";
pub(super) const WHOLE: &str = "reveille.push/whole?";
pub(super) const CHANGED: &str = "reveille.push/changed";
pub(super) const REMOVED: &str = "reveille.push/removed";
