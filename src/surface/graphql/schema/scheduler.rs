//! The root fields of the scheduler's GraphQL schema: the entry points of `Query`, `Mutation` and `Subscription`.
//!
//! Lives here: declarations. Everything below the roots is generated from the scheduler's registry. Source: the project's
//! interface description, §6.

use super::roots::{MutationRoot, Pages, QueryKind, QueryRoot, RootPayload, Roots, SubscriptionRoot};
use crate::graph::mutation::MutationName;
use crate::graph::registry::{Param, ParamGroup, ParamType};
use crate::graph::schedule_filter::ScheduleFilter;

/// Returns the root fields of the scheduler's schema.
pub fn roots() -> Roots {
    let pages = |entity, entries, cursor| Pages { entity, entries, cursor };
    Roots {
        queries: queries(),
        mutations: [mutations(), memory_mutations()].concat(),
        subscriptions: subscriptions(),
        pages: vec![
            pages("schedule-page", "reveille.schedule-page/schedules", "psi.scheduler/cursor"),
            // Sessions are ordered by id, so the id is the cursor.
            pages("session-page", "reveille.session-page/sessions", "psi.agent-session/session-id"),
            // The id of a run has all that its list is sorted by.
            pages("run-page", "reveille.run-page/runs", "reveille.run/id"),
            pages("decision-page", "reveille.decision-page/decisions", "reveille.decision/cursor"),
        ],
        hidden: vec![
            // Valid only in the result of a mutation.
            "psi.agent-session/token",
            "psi.agent-session/changed-count",
            "psi.agent-session/left-count",
            "psi.agent-session/taken",
            "psi.agent-session/noted-id",
            "psi.agent-session/pinged-at",
            "psi.scheduler/created?",
            "psi.scheduler/matched-count",
            "psi.scheduler/changed-count",
            "psi.scheduler/unchanged-count",
            "psi.scheduler/understood",
            // Valid only within one query.
            "reveille.slot/number",
            "reveille.timeline-cell/number",
            "reveille.explanation/number",
        ],
    }
}

fn queries() -> Vec<QueryRoot> {
    let query = |name, doc, kind| QueryRoot { name, doc, kind };
    vec![
        query("schedule", "The schedule of this id.", QueryKind::Entity("schedule")),
        query(
            "schedules",
            "Schedules, ended ones included. A session sees its own, an operator sees all.",
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
            "runs",
            "The retained runs of all schedules, latest slot first.",
            QueryKind::Attribute("reveille.engine/run-page"),
        ),
        query("watch", "The watch of this id.", QueryKind::Entity("watch")),
        query("watches", "The watches, stopped ones included.", QueryKind::Attribute("reveille/watches")),
        query("task", "The task of this id.", QueryKind::Entity("task")),
        query(
            "tasks",
            "The tasks that were begun in the background, ended ones included.",
            QueryKind::Attribute("reveille/tasks"),
        ),
        query("tool", "The tool of this name, among those of the caller.", QueryKind::Entity("tool")),
        query(
            "tools",
            "The tools that the caller's session can have called; for an operator, those of every session.",
            QueryKind::Attribute("reveille/tools"),
        ),
        query(
            "forecast",
            "The upcoming slots, by the time at which they are handled, assuming no further changes.",
            QueryKind::Attribute("reveille/forecast"),
        ),
        query(
            "timeline",
            "How many slots there were and will be in each stretch of time, by what becomes of them.",
            QueryKind::Attribute("reveille/timeline"),
        ),
        query(
            "whatIf",
            "The slots whose outcome would differ if the process were down or a schedule were changed.",
            QueryKind::Attribute("reveille/what-if"),
        ),
        query(
            "explain",
            "Why a schedule fired at an instant, did not, or when it will.",
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

fn mutations() -> Vec<MutationRoot> {
    use MutationName as Name;
    let plain =
        |name, symbol: Name, payload| MutationRoot { name, symbol: symbol.name(), has_input: false, payload };
    // Clients pass the many parameters of a definition as one variable.
    let with_input =
        |name, symbol: Name, payload| MutationRoot { has_input: true, ..plain(name, symbol, payload) };
    let schedule = || vec![("schedule", RootPayload::Entity("schedule"))];
    let session = || {
        vec![("session", RootPayload::Entity("session")), ("sessionId", RootPayload::Attribute(SESSION_ID))]
    };
    let counts = || {
        vec![
            ("session", RootPayload::Entity("session")),
            ("changed", RootPayload::Attribute("psi.agent-session/changed-count")),
            ("left", RootPayload::Attribute("psi.agent-session/left-count")),
        ]
    };
    let taken = || {
        vec![
            ("taken", RootPayload::Attribute("psi.agent-session/taken")),
            ("inboxCount", RootPayload::Attribute("psi.agent-session/inbox-count")),
        ]
    };
    let many = || {
        vec![
            ("matched", RootPayload::Attribute("psi.scheduler/matched-count")),
            ("changed", RootPayload::Attribute("psi.scheduler/changed-count")),
            ("unchanged", RootPayload::Attribute("psi.scheduler/unchanged-count")),
        ]
    };
    let held = || vec![("held", RootPayload::Attribute("reveille.engine/held"))];
    let run = || vec![("run", RootPayload::Entity("run"))];
    let understood = ("understood", RootPayload::Maybe("psi.scheduler/understood"));
    let created = ("created", RootPayload::Attribute("psi.scheduler/created?"));
    let token = ("token", RootPayload::Attribute("psi.agent-session/token"));
    let and = |mut parts: Vec<_>, more: &[(&'static str, RootPayload)]| {
        parts.extend_from_slice(more);
        parts
    };
    vec![
        plain("runScheduleNow", Name::RunNow, schedule()),
        plain("retrySchedule", Name::Retry, schedule()),
        plain("changeSchedules", Name::ChangeMany, many()),
        plain("pauseSchedule", Name::Pause, schedule()),
        plain("resumeSchedule", Name::Resume, schedule()),
        plain("skipNextSlot", Name::SkipNext, schedule()),
        plain("cancelAllSchedules", Name::CancelAll, counts()),
        plain("pauseAllSchedules", Name::PauseAll, counts()),
        plain("resumeAllSchedules", Name::ResumeAll, counts()),
        plain("holdAll", Name::HoldAll, held()),
        plain("releaseAll", Name::ReleaseAll, held()),
        plain("approveRun", Name::Approve, run()),
        plain("denyRun", Name::Deny, run()),
        plain("setSessionGrant", Name::SetGrant, vec![("sessionId", RootPayload::Attribute(SESSION_ID))]),
        with_input(
            "rescheduleSchedule",
            Name::Reschedule,
            and(schedule(), std::slice::from_ref(&understood)),
        ),
        with_input("createSchedule", Name::Create, and(schedule(), &[created, understood])),
        plain("cancelSchedule", Name::Cancel, schedule()),
        plain("openSession", Name::Open, and(session(), &[token])),
        plain("closeSession", Name::Close, session()),
        plain("takeMessages", Name::TakeMessages, taken()),
        plain("sendUserMessage", Name::UserMessage, session()),
        plain("setSessionBusy", Name::Busy, session()),
        plain("reportJobReady", Name::JobReady, session()),
    ]
}

/// The mutations of what a session remembers, and of its pings.
fn memory_mutations() -> Vec<MutationRoot> {
    use MutationName as Name;
    let noted = Some(("id", RootPayload::Attribute("psi.agent-session/noted-id")));
    let pinged = Some(("pingedAt", RootPayload::Attribute("psi.agent-session/pinged-at")));
    let mutation = |name, symbol: Name, more: Option<(&'static str, RootPayload)>| {
        let session =
            [("session", RootPayload::Entity("session")), ("sessionId", RootPayload::Attribute(SESSION_ID))];
        let payload = session.into_iter().chain(more).collect();
        MutationRoot { name, symbol: symbol.name(), has_input: false, payload }
    };
    vec![
        mutation("remember", Name::Remember, noted.clone()),
        mutation("setGoal", Name::SetGoal, None),
        mutation("createTask", Name::CreateTask, noted.clone()),
        mutation("updateTask", Name::UpdateTask, noted),
        mutation("pingSession", Name::Ping, pinged),
    ]
}

fn subscriptions() -> Vec<SubscriptionRoot> {
    let truncated = ("truncated", RootPayload::Given(TRUNCATED, ParamType::Boolean));
    let lagged = ("lagged", RootPayload::Given(LAGGED, ParamType::Boolean));
    // A mark of a gap has a cursor but no decision, so all attributes of the decision may be missing.
    let maybe = |name, ident| (name, RootPayload::Maybe(ident));
    let event = vec![
        ("cursor", RootPayload::Attribute("reveille.decision/cursor")),
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
        ("cursor", RootPayload::Attribute("reveille.decision/cursor")),
        ("isWhole", RootPayload::Given(WHOLE, ParamType::Boolean)),
        ("changed", RootPayload::Entities("schedule", CHANGED)),
        ("removed", RootPayload::Given(REMOVED, ParamType::List(&ParamType::Id))),
        truncated,
        lagged,
    ];
    let subscription = |name, doc, params, payload| SubscriptionRoot { name, doc, params, payload };
    vec![
        subscription("events", "Every decision, with its reason.", &[AFTER], ("Event", event)),
        subscription(
            "schedules",
            "The list of schedules: first as a whole, then its changes.",
            &[ScheduleFilter::GROUP, AFTER],
            ("ScheduleListPatch", patch),
        ),
        subscription("messages", "The messages of a session.", &[OF_SESSION, AFTER], ("message", Vec::new())),
        subscription(
            "turn",
            "What an agent does in the turn that a run began, as it stands and whenever it has changed. It ends with the turn.",
            &[OF_RUN],
            ("turn", Vec::new()),
        ),
    ]
}

/// The parameter from which a subscription continues.
const AFTER: &ParamGroup = &ParamGroup {
    doc: "Where a subscription continues.",
    folded: None,
    params: &[Param {
        name: "after",
        alias: None,
        doc: "The cursor, or the id of the message, that was seen last. The subscription continues after it.",
        kind: ParamType::Text,
        is_required: false,
        is_nullable: true,
    }],
};

/// The parameter that selects the session of messages.
const OF_SESSION: &ParamGroup = &ParamGroup {
    doc: "The session whose messages are followed.",
    folded: None,
    params: &[Param {
        name: "session-id",
        alias: None,
        doc: "The session.",
        kind: ParamType::Id,
        is_required: true,
        is_nullable: false,
    }],
};

/// The parameter that selects the run of a turn.
const OF_RUN: &ParamGroup = &ParamGroup {
    doc: "The run whose turn is followed.",
    folded: None,
    params: &[Param {
        name: "run-id",
        alias: None,
        doc: "The run.",
        kind: ParamType::Id,
        is_required: true,
        is_nullable: false,
    }],
};

pub(super) const SESSION_ID: &str = "psi.agent-session/session-id";
/// Marks that items before this one are not available any more: the client has to query the state instead.
pub(in crate::surface::graphql) const TRUNCATED: &str = "reveille.push/truncated?";
/// Marks that the client was too slow, and items before this one were left out.
pub(in crate::surface::graphql) const LAGGED: &str = "reveille.push/lagged?";
/// Whether a patch contains the whole list.
pub(in crate::surface::graphql) const WHOLE: &str = "reveille.push/whole?";
/// The schedules of a patch.
pub(in crate::surface::graphql) const CHANGED: &str = "reveille.push/changed";
/// The ids of schedules that are not in the list.
pub(in crate::surface::graphql) const REMOVED: &str = "reveille.push/removed";
