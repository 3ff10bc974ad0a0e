//! Random definitions, of every kind and with every part, whose texts pretend to be more than texts.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::calendar::parse_cron;
use crate::domain::{
    About, Actor, Address, Attachment, CacheBreakpoint, Calendar, Call, CallPurpose, CallVia, Content,
    CountFrom, Creation, Descent, Dialect, Durability, Edge, EndsWith, Envelope, Event, Every, Filter, Gaps,
    JobId, Lasting, Lifetime, Lineage, Message, Missed, Model, Moment, Notice, NotifyWhen, Overlap, Payload,
    Policy, PromptComponent, PromptSelection, PromptSource, Recovery, Role, Route, RunId, Schedule,
    ScheduleId, Scope, SessionConfig, SessionId, Settings, Show, Sink, Skill, SkillSource, Span, Target,
    ThinkingLevel, TimeOfDay, TokenName, ToolName, Trigger, Via, Weekday, Weekdays, WhenBusy, Zone,
};
use crate::edn::Value;
use crate::engine::{parse_condition, parse_path};

/// Pieces of which texts that pretend are made: forged lines, escapes, controls, marks of direction, quotes that look escaped.
const PIECES: &[&str] = &[
    "a",
    "b",
    "nil",
    " ",
    "  ",
    "\n",
    "\n  rule        safe-rule\n",
    "\r",
    "\t",
    "\u{1b}]0;pwned\u{7}",
    "\u{1b}[2J",
    "\u{9b}2J",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{e0041}",
    "\u{2028}",
    "\"",
    "\\",
    "\\n",
    "\\u{202e}",
    "{:a 1}",
    "]",
    ":key",
    "digest  0000",
];

fn text() -> BoxedStrategy<Box<str>> {
    vec(select(PIECES), 0..5).prop_map(|pieces| pieces.concat().into()).boxed()
}

/// A text for places that take neither controls nor nothing.
fn name() -> BoxedStrategy<String> {
    text().prop_map(|text| format!("x{}", text.replace(char::is_control, ""))).boxed()
}

fn moment() -> BoxedStrategy<Moment> {
    (0_u64..4)
        .prop_map(|hours| Moment::EPOCH.checked_add(Span::from_millis(hours * 3_600_001)).expect("in range"))
        .boxed()
}

fn span() -> BoxedStrategy<Span> {
    (1_u64..4).prop_map(Span::from_millis).boxed()
}

fn session() -> BoxedStrategy<SessionId> {
    name().prop_map(|text| SessionId::new(&text).expect("an id")).boxed()
}

fn schedule_id() -> BoxedStrategy<ScheduleId> {
    name().prop_map(|text| ScheduleId::new(&text).expect("an id")).boxed()
}

fn trigger() -> BoxedStrategy<Trigger> {
    let zone = || select(vec![Zone::Utc, Zone::Local, Zone::parse("Europe/Berlin").expect("a zone")]);
    let days = vec(select(Weekday::ALL), 1..4).prop_map(|days| Weekdays::new(days).expect("a day"));
    let time = (0_u8..24, 0_u8..60, 0_u8..2).prop_map(|(h, m, s)| TimeOfDay::new(h, m, s).expect("a time"));
    let job = name().prop_map(|text| JobId::new(&text).expect("an id"));
    prop_oneof![
        moment().prop_map(Trigger::At),
        (1_u64..4, moment(), select(CountFrom::ALL)).prop_map(|(hours, anchor, from)| {
            Every::new(Span::from_millis(hours * 3_600_000), anchor, from).expect("a period").into()
        }),
        (days, time, zone()).prop_map(|(weekdays, time, zone)| {
            Trigger::Calendar(Box::new(Calendar { weekdays, time, zone }))
        }),
        (select(vec!["* * * * *", "0 9 * * 1-5", "@daily"]), zone())
            .prop_map(|(cron, zone)| { Trigger::Cron(parse_cron(cron).expect("cron").into(), zone.into()) }),
        (job, option::of(moment())).prop_map(|(job, latest)| Trigger::Event(Box::new(Event { job, latest }))),
    ]
    .boxed()
}

fn actor() -> BoxedStrategy<Actor> {
    let tool = || option::of(select(Dialect::ALL));
    let token = name().prop_map(|name| Via::Operator(TokenName::new(&name).expect("a name")));
    let way = prop_oneof![Just(Via::Embedder), Just(Via::Peer), token];
    // No owner has such an id: that the owner made it is not told twice.
    let other = name().prop_map(|text| SessionId::new(&format!("other {text}")).expect("an id"));
    prop_oneof![
        (way, tool()).prop_map(|(via, tool)| Actor {
            scope: Scope::Operator,
            via: Some(via),
            tool,
            as_model: false
        }),
        (other, tool(), any::<bool>()).prop_map(|(id, tool, as_model)| Actor {
            scope: Scope::Session(id),
            via: Some(if as_model { Via::Peer } else { Via::Session }),
            tool,
            as_model
        }),
    ]
    .boxed()
}

fn creation_of() -> BoxedStrategy<Option<Box<Creation>>> {
    let run = (schedule_id(), 1_u32..3, moment());
    let run = run.prop_map(|(schedule, incarnation, slot)| RunId { schedule, incarnation, slot });
    let chain = (run, 1_u32..4, schedule_id()).prop_map(|(run, depth, root)| Lineage { run, depth, root });
    let session = || name().prop_map(|text| SessionId::new(&format!("fresh {text}")).expect("an id"));
    let descent = (session(), session(), session());
    let descent = descent.prop_map(|(session, origin, root)| Descent { session, origin, root });
    let edits = (option::of(actor()), vec(actor(), 0..3), vec(descent, 0..3));
    let all = (option::of(actor()), option::of(chain), edits);
    all.prop_map(|(by, chain, (edited_by, editors, descents))| {
        Creation { by, chain, edited_by, editors, descents }.recorded()
    })
    .boxed()
}

fn settings_of() -> BoxedStrategy<Option<Box<Settings>>> {
    let policy = (
        (select(Overlap::ALL), select(Missed::ALL), option::of(span()), select(WhenBusy::ALL)),
        (select(Recovery::ALL), select(EndsWith::ALL), option::of(span()), vec(span(), 0..3)),
    );
    let policy = policy.prop_map(
        |((overlap, missed, max_late, when_busy), (recovery, ends_with, timeout, backoff))| Policy {
            overlap,
            missed,
            max_late,
            when_busy,
            recovery,
            ends_with,
            timeout,
            backoff,
        },
    );
    let lifetime = (option::of(1_u32..4), option::of(moment()), any::<bool>(), any::<bool>());
    let lifetime =
        lifetime.prop_map(|(runs, expires_at, cancel_on_user_activity, dies_with_session)| Lifetime {
            max_runs: runs.and_then(NonZeroU32::new),
            expires_at,
            cancel_on_user_activity,
            dies_with_session,
        });
    let route = (text(), text(), option::of(text())).prop_map(|(channel, conversation, thread)| {
        Target::Route(Box::new(Route { channel, conversation, thread }))
    });
    let target = prop_oneof![Just(Target::Owner), session().prop_map(Target::Session), route];
    let texts = (option::of(text()), option::of(text()), any::<bool>());
    let all = (texts, target, select(Envelope::ALL), policy, lifetime);
    all.prop_map(|((description, key, shared), target, envelope, policy, lifetime)| {
        Some(Box::new(Settings { description, key, shared, target, envelope, policy, lifetime }))
    })
    .boxed()
}

fn file() -> BoxedStrategy<Attachment> {
    (text(), option::of(text())).prop_map(|(path, name)| Attachment { path, name }).boxed()
}

pub(super) fn config_of() -> BoxedStrategy<SessionConfig> {
    let model = (text(), text(), any::<bool>());
    let model = model.prop_map(|(provider, id, reasoning)| Model { provider, id, reasoning });
    let skill = (text(), text(), text(), text(), select(SkillSource::ALL), any::<bool>(), option::of(text()));
    let skill = skill.prop_map(
        |(name, description, file_path, base_dir, source, disable_model_invocation, lambda_description)| {
            Skill {
                name,
                description,
                file_path,
                base_dir,
                source,
                disable_model_invocation,
                lambda_description,
            }
        },
    );
    let content = (vec(text().prop_map(Content::Text), 1..3), option::of(file().prop_map(Content::File)));
    let content = content.prop_map(|(texts, file)| texts.into_iter().chain(file).collect());
    let message = (select(Role::ALL), content, option::of(moment()));
    let message =
        message.prop_map(|(role, content, timestamp)| Message { role, content, timestamp, provenance: None });
    let names = || option::of(vec(text(), 0..3));
    let components = vec(select(PromptComponent::ALL), 0..3).prop_map(BTreeSet::from_iter);
    let selection = (option::of(any::<bool>()), names(), names(), names(), option::of(components));
    let selection = selection.prop_map(
        |(agents_md, extension_prompt_contributions, tool_names, skill_names, components)| PromptSelection {
            agents_md,
            extension_prompt_contributions,
            tool_names,
            skill_names,
            components,
        },
    );
    let breakpoints = vec(select(CacheBreakpoint::ALL), 0..3).prop_map(BTreeSet::from_iter);
    let texts =
        (option::of(text()), option::of(text()), option::of(text()), option::of(select(PromptSource::ALL)));
    let lists =
        (option::of(vec(skill, 0..3)), names(), option::of(vec(message, 0..3)), option::of(breakpoints));
    let settings = (option::of(model), option::of(select(ThinkingLevel::ALL)), option::of(selection));
    let beside = (option::of(address_of()), option::of(select(vec![Zone::Utc, Zone::Local])));
    let all = (texts, settings, lists, beside);
    all.prop_map(|(texts, (model, thinking_level, prompt_component_selection), lists, (address, zone))| {
        let (session_name, system_prompt, developer_prompt, developer_prompt_source) = texts;
        let (skills, tool_ids, preloaded_messages, cache_breakpoints) = lists;
        SessionConfig {
            session_name,
            system_prompt,
            model,
            thinking_level,
            skills,
            tool_ids,
            developer_prompt,
            developer_prompt_source,
            preloaded_messages,
            cache_breakpoints,
            prompt_component_selection,
            address,
            zone,
        }
    })
    .boxed()
}

/// An agent's conversation, with or without a place and a profile.
fn address_of() -> BoxedStrategy<Address> {
    let whose = select(vec!["claude:c-1", "claude:c-2", "codex:t-1"]);
    let all = (whose, option::of(select(vec!["/srv/one", "/srv/two"])), option::of(select(vec!["a", "b"])));
    let address = |(whose, directory, profile): (&str, Option<&str>, Option<&str>)| {
        let read = Address::from_parts(Some(whose), directory, profile).expect("an address");
        read.expect("one was given")
    };
    all.prop_map(address).boxed()
}

/// What a watch is told beyond its call, with every part that it can have.
fn filter() -> BoxedStrategy<Filter> {
    let condition = select(vec!["result.status != 200", "result.status == 200", "result.count > 3"])
        .prop_map(|text| Arc::new(parse_condition(text).expect("a condition")));
    let paths = || {
        let path = select(vec!["result.status", "result.items"]);
        let path = path.prop_map(|text| parse_path(text).expect("a path"));
        vec(path, 0..3).prop_map(Vec::into_boxed_slice)
    };
    let spans = || option::of(span());
    let lasting = (1_u16..4, 0_u64..3).prop_map(|(checks, millis)| {
        let span = Span::from_millis(millis);
        Lasting { checks, span }
    });
    let moments =
        (select(NotifyWhen::ALL), option::of(condition), select(Edge::ALL), lasting, select(Gaps::ALL));
    let times = ((0_u64..3).prop_map(Span::from_millis), spans(), spans(), spans());
    let shown = (paths(), paths(), option::of(select(Show::ALL)));
    let counts = (1_u16..20, 0_u8..4, 0_u16..500);
    (moments, times, shown, counts)
        .prop_map(|(moments, times, (only, ignore, show), (batch, recall, jitter))| {
            let (when, condition, edge, lasting, gaps) = moments;
            let (cooldown, again, silence, backoff) = times;
            Filter {
                when,
                condition,
                batch,
                edge,
                lasting,
                gaps,
                cooldown,
                again,
                silence,
                only,
                ignore,
                recall,
                show,
                backoff,
                jitter,
            }
        })
        .boxed()
}

fn call() -> BoxedStrategy<Call> {
    let tool = "[a-z]{1,8}\\.[a-z]{1,8}".prop_map(|name| ToolName::new(&name).expect("a name"));
    let args = (text(), text()).prop_map(|(key, value)| {
        Arc::new(Value::Map([(Value::string(key), Value::string(value))].into_iter().collect()))
    });
    let sink = prop_oneof![Just(Sink::Nobody), Just(Sink::Session), text().prop_map(Sink::Channel),];
    let filter = option::of(filter().prop_map(Arc::new));
    (tool, args, select(CallVia::ALL), select(CallPurpose::ALL), sink, filter)
        .prop_map(|(tool, args, via, purpose, sink, filter)| Call { tool, args, via, purpose, sink, filter })
        .boxed()
}

fn payload_of() -> BoxedStrategy<Payload> {
    let notice = (select(About::ALL), text(), option::of(file()));
    prop_oneof![
        1 => text().prop_map(|text| Payload::Turn { text }),
        2 => notice.prop_map(|(about, text, file)| Payload::Notice(Box::new(Notice { about, text, file }))),
        2 => call().prop_map(|call| Payload::Call(Box::new(call))),
        4 => (text(), config_of()).prop_map(|(text, config)| Payload::new_session(text, Arc::new(config))),
    ]
    .boxed()
}

/// A definition that opens a fresh session.
pub(super) fn fresh_session() -> BoxedStrategy<Schedule> {
    let payload =
        (text(), config_of()).prop_map(|(text, config)| Payload::new_session(text, Arc::new(config)));
    (schedule(), payload).prop_map(|(schedule, payload)| Schedule { payload, ..schedule }).boxed()
}

/// A definition.
pub(super) fn schedule() -> BoxedStrategy<Schedule> {
    let ids = (schedule_id(), session(), option::of(text()));
    let kinds = (select(Dialect::ALL), select(Durability::ALL));
    let all = (ids, kinds, trigger(), payload_of(), moment(), creation_of(), settings_of());
    all.prop_map(
        |((id, owner, label), (dialect, durability), trigger, payload, created_at, creation, settings)| {
            Schedule {
                id,
                dialect,
                durability,
                label,
                owner,
                trigger,
                payload,
                created_at,
                creation,
                settings,
            }
        },
    )
    .boxed()
}
