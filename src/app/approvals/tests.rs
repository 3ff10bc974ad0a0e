//! Whatever differs between two runs differs in what an operator and a guard are shown, and in the digest; and no text of an
//! agent is more on the screen than a text.
//!
//! Two random definitions are drawn, and each part of one is put into the other. A part that is added to a definition does not
//! compile here before it is drawn and compared.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::drawn::{config_of, fresh_session, schedule};
use super::{as_text, compared};
use crate::adapter::outbound::envelope;
use crate::domain::{
    Actor, Attachment, Awaits, BootTime, Call, Cause, Creation, Descent, Filter, Hold, Lasting, Lifetime,
    Lineage, Message, Model, Moment, NewSession, Notice, Payload, Policy, PromptSelection, Route, RunId,
    Schedule, Scope, SessionConfig, Settings, Skill, Span, Target,
};
use crate::edn::{Map, Value, is_hidden};
use crate::engine::GuardQuestion;
use crate::engine::guard::{Additions, digest_of};
use crate::graph::attr::approval::Asked;
use crate::graph::attr::approval_difference::differences;

/// A value with each of its parts taken from another one, one at a time, and the name of the part.
macro_rules! swapped {
    ($one:expr, $other:expr, $type:ident { $($part:ident),+ $(,)? }) => {{
        // Without `..`: a part that is added has to be named here.
        let $type { $($part),+ } = $other.clone();
        vec![$((stringify!($part), $type { $part, ..$one.clone() })),+]
    }};
}

type Parts<T> = Vec<(&'static str, T)>;

/// What an operator and a guard are shown of a run of a definition, and the digest.
struct Look {
    shown: Map,
    attribute: String,
    printed: String,
    told: String,
    digest: String,
}

const DIGEST: &str = "(the digest)";

/// The configuration that a fresh session of the definition would have, with what it inherits of the session it comes from.
fn effective(schedule: &Schedule, origin: &SessionConfig) -> Option<SessionConfig> {
    schedule.payload.config().map(|config| config.over(origin))
}

fn look(schedule: &Schedule, origin: &SessionConfig) -> Look {
    look_with(schedule, origin, None)
}

/// As [`look`], into a session that remembers this.
fn look_with(schedule: &Schedule, origin: &SessionConfig, memory: Option<&str>) -> Look {
    let run = RunId { schedule: schedule.id.clone(), incarnation: 1, slot: Moment::EPOCH };
    let config = effective(schedule, origin);
    let more = Additions { config: config.clone(), memory: memory.map(Box::from) };
    let digest = digest_of(&run, 1, "rule", schedule, &more);
    let hold = Hold {
        awaits: Awaits::Operator,
        rule: "rule".into(),
        why: None,
        digest,
        until: Moment::EPOCH,
        due: BootTime::ZERO,
    };
    let asked = Asked {
        hold: &hold,
        digest,
        cause: Cause::Slot,
        revision: 1,
        schedule,
        config: config.clone(),
        memory: more.memory.clone(),
        viewer: &Scope::Operator,
    };
    let asked = asked.shown().with("digest", DIGEST);
    let shown =
        Map::new().with("reveille.run/id", run.to_string()).with("reveille.run/approval", asked.clone());
    let question = GuardQuestion {
        run,
        digest,
        schedule: schedule.clone(),
        config,
        memory: more.memory,
        revision: 1,
        cause: Cause::Slot,
        late: Span::ZERO,
        folded: 0,
        attempt: 1,
        session: None,
        provenance: None,
        patience: Span::ZERO,
    };
    let told = String::from_utf8(envelope::print(&question)).expect("JSON is UTF-8");
    Look {
        shown: asked,
        attribute: Value::from(shown.clone()).to_string(),
        printed: as_text(&[shown.into()]),
        told: told.replace(&digest.to_string(), DIGEST),
        digest: digest.to_string(),
    }
}

/// The parts of a definition, down to the smallest.
fn parts(one: &Schedule, other: &Schedule) -> Parts<Schedule> {
    let whole = swapped!(
        one,
        other,
        Schedule { id, dialect, durability, label, owner, trigger, payload, created_at, creation, settings }
    );
    let settings = settings(one.settings(), other.settings());
    let settings = settings
        .into_iter()
        .map(|(part, settings)| (part, Schedule { settings: Some(Box::new(settings)), ..one.clone() }));
    let creation = match (one.creation.as_deref(), other.creation.as_deref()) {
        (Some(one), Some(other)) => creation(one, other),
        (None, _) | (_, None) => Vec::new(),
    };
    let creation = creation
        .into_iter()
        .map(|(part, creation)| (part, Schedule { creation: Some(Box::new(creation)), ..one.clone() }));
    let payload = payload(&one.payload, &other.payload);
    let payload = payload.into_iter().map(|(part, payload)| (part, Schedule { payload, ..one.clone() }));
    whole.into_iter().chain(settings).chain(creation).chain(payload).collect()
}

fn settings(one: &Settings, other: &Settings) -> Parts<Settings> {
    let whole =
        swapped!(one, other, Settings { description, key, shared, target, envelope, policy, lifetime });
    let policy = swapped!(
        one.policy,
        other.policy,
        Policy { overlap, missed, max_late, when_busy, recovery, ends_with, timeout, backoff }
    );
    let policy = policy.into_iter().map(|(part, policy)| (part, Settings { policy, ..one.clone() }));
    let lifetime = swapped!(
        one.lifetime,
        other.lifetime,
        Lifetime { max_runs, expires_at, cancel_on_user_activity, dies_with_session }
    );
    let lifetime = lifetime.into_iter().map(|(part, lifetime)| (part, Settings { lifetime, ..one.clone() }));
    let route = match (&one.target, &other.target) {
        (Target::Route(one), Target::Route(other)) => {
            swapped!(**one, **other, Route { channel, conversation, thread })
        }
        (Target::Owner | Target::Session(_) | Target::Route(_) | Target::Fresh, _) => Vec::new(),
    };
    let route = route
        .into_iter()
        .map(|(part, route)| (part, Settings { target: Target::Route(Box::new(route)), ..one.clone() }));
    whole.into_iter().chain(policy).chain(lifetime).chain(route).collect()
}

fn creation(one: &Creation, other: &Creation) -> Parts<Creation> {
    let mut all = swapped!(one, other, Creation { by, chain, edited_by, editors, descents });
    if let (Some(by), Some(others)) = (&one.by, &other.by) {
        let actors = swapped!(by, others, Actor { scope, via, tool, as_model });
        all.extend(actors.into_iter().map(|(part, by)| (part, Creation { by: Some(by), ..one.clone() })));
    }
    if let ([from, ..], [others, ..]) = (&*one.descents, &*other.descents) {
        let descents = swapped!(from, others, Descent { session, origin, root });
        let with = |from| Creation { descents: vec![from], ..one.clone() };
        all.extend(descents.into_iter().map(|(part, from)| (part, with(from))));
    }
    if let (Some(chain), Some(others)) = (&one.chain, &other.chain) {
        let chains = swapped!(chain, others, Lineage { run, depth, root });
        let chains =
            chains.into_iter().map(|(part, chain)| (part, Creation { chain: Some(chain), ..one.clone() }));
        all.extend(chains);
    }
    all
}

fn payload(one: &Payload, other: &Payload) -> Parts<Payload> {
    match (one, other) {
        (Payload::Notice(one), Payload::Notice(other)) => {
            let mut all = swapped!(**one, **other, Notice { about, text, file });
            if let (Some(file), Some(others)) = (&one.file, &other.file) {
                let files = swapped!(file, others, Attachment { path, name });
                all.extend(
                    files
                        .into_iter()
                        .map(|(part, file)| (part, Notice { file: Some(file), ..(**one).clone() })),
                );
            }
            all.into_iter().map(|(part, notice)| (part, Payload::Notice(Box::new(notice)))).collect()
        }
        (Payload::NewSession(one), Payload::NewSession(other)) => {
            let mut all = swapped!(**one, **other, NewSession { text, config });
            let configs = config(&one.config, &other.config).into_iter();
            all.extend(
                configs
                    .map(|(part, config)| (part, NewSession { config: Arc::new(config), ..(**one).clone() })),
            );
            all.into_iter().map(|(part, fresh)| (part, Payload::NewSession(Box::new(fresh)))).collect()
        }
        (Payload::Call(one), Payload::Call(other)) => {
            let mut all = swapped!(**one, **other, Call { tool, args, via, purpose, sink, filter });
            if let (Some(it), Some(others)) = (&one.filter, &other.filter) {
                let with = |filter| Call { filter: Some(Arc::new(filter)), ..(**one).clone() };
                all.extend(filter(it, others).into_iter().map(|(part, filter)| (part, with(filter))));
            }
            all.into_iter().map(|(part, call)| (part, Payload::Call(Box::new(call)))).collect()
        }
        (Payload::Turn { .. } | Payload::Notice(_) | Payload::NewSession(_) | Payload::Call(_), _) => {
            Vec::new()
        }
    }
}

/// What a watch is told beyond its call.
fn filter(one: &Filter, other: &Filter) -> Parts<Filter> {
    let mut all = swapped!(
        one,
        other,
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
    );
    let lasting = swapped!(one.lasting, other.lasting, Lasting { checks, span });
    all.extend(lasting.into_iter().map(|(part, lasting)| (part, Filter { lasting, ..one.clone() })));
    all
}

fn config(one: &SessionConfig, other: &SessionConfig) -> Parts<SessionConfig> {
    let mut all = swapped!(
        one,
        other,
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
    );
    let mut add = |parts: Parts<SessionConfig>| all.extend(parts);
    if let (Some(it), Some(others)) = (&one.model, &other.model) {
        let models = swapped!(it, others, Model { provider, id, reasoning });
        let with = |model| SessionConfig { model: Some(model), ..one.clone() };
        add(models.into_iter().map(|(part, model)| (part, with(model))).collect());
    }
    if let ([it], [others]) =
        (one.skills.as_deref().unwrap_or_default(), other.skills.as_deref().unwrap_or_default())
    {
        let skills = swapped!(
            it,
            others,
            Skill {
                name,
                description,
                file_path,
                base_dir,
                source,
                disable_model_invocation,
                lambda_description,
            }
        );
        let with = |skill| SessionConfig { skills: Some(vec![skill]), ..one.clone() };
        add(skills.into_iter().map(|(part, skill)| (part, with(skill))).collect());
    }
    let messages = |config: &SessionConfig| config.preloaded_messages.clone().unwrap_or_default();
    if let ([it], [others]) = (&messages(one)[..], &messages(other)[..]) {
        let messages = swapped!(it, others, Message { role, content, timestamp, provenance });
        let with = |message| SessionConfig { preloaded_messages: Some(vec![message]), ..one.clone() };
        add(messages.into_iter().map(|(part, message)| (part, with(message))).collect());
    }
    if let (Some(it), Some(others)) = (&one.prompt_component_selection, &other.prompt_component_selection) {
        let selections = swapped!(
            it,
            others,
            PromptSelection {
                agents_md,
                extension_prompt_contributions,
                tool_names,
                skill_names,
                components,
            }
        );
        let with = |selection| SessionConfig { prompt_component_selection: Some(selection), ..one.clone() };
        add(selections.into_iter().map(|(part, selection)| (part, with(selection))).collect());
    }
    all
}

/// The definition as far as it has an effect: a fresh session has no target beside itself, and a level of thinking that its
/// model does not have is none.
fn in_effect(schedule: &Schedule, origin: &SessionConfig) -> Schedule {
    let mut schedule = schedule.clone();
    let Some(config) = effective(&schedule, origin) else { return schedule };
    schedule.payload = Payload::new_session(schedule.payload.text(), Arc::new(config));
    let settings = Settings { target: Target::Owner, ..schedule.settings().clone() };
    schedule.settings = Some(Box::new(settings));
    schedule
}

/// A part that differs is shown to an operator, printed, and told to a guard.
fn assert_seen(before: &Look, then: &Look, part: &str) -> Result<(), TestCaseError> {
    prop_assert_ne!(&before.attribute, &then.attribute, "{} is not shown", part);
    prop_assert_ne!(&before.printed, &then.printed, "{} is not printed", part);
    prop_assert_ne!(&before.told, &then.told, "the guard is not told of {}", part);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn what_differs_is_shown_and_signed(one in schedule(), other in schedule(), origin in config_of()) {
        let shown = look(&one, &origin);
        for (part, changed) in parts(&one, &other) {
            let then = look(&changed, &origin);
            if changed != one {
                prop_assert_ne!(&shown.digest, &then.digest, "{} is not in the digest", part);
            }
            if in_effect(&changed, &origin) != in_effect(&one, &origin) {
                assert_seen(&shown, &then, part)?;
                // What was approved last was a run of the schedule of that id.
                let is_in = part == "id" || !differences(&shown.shown, &then.shown).is_empty();
                prop_assert!(is_in, "{} is not in the difference", part);
            }
            if changed == one {
                prop_assert_eq!(differences(&shown.shown, &then.shown), Vec::<Value>::new(), "{}", part);
            }
        }
    }

    /// What a fresh session inherits is as much a part of it as what its schedule says.
    #[test]
    fn what_is_inherited_is_shown_and_signed(
        one in fresh_session(),
        origin in config_of(),
        other in config_of(),
    ) {
        let shown = look(&one, &origin);
        for (part, changed) in config(&origin, &other) {
            let then = look(&one, &changed);
            if effective(&one, &changed) != effective(&one, &origin) {
                prop_assert_ne!(&shown.digest, &then.digest, "{} is not in the digest", part);
                assert_seen(&shown, &then, part)?;
                let differ = differences(&shown.shown, &then.shown);
                prop_assert!(!differ.is_empty(), "{} is not in the difference", part);
            }
        }
    }

    /// What a session remembers stands below the prompt, so it is approved with it.
    #[test]
    fn what_is_remembered_is_shown_and_signed(one in schedule(), origin in config_of(), goal in "[a-z]{1,8}") {
        let shown = look(&one, &origin);
        let then = look_with(&one, &origin, Some(&goal));
        prop_assert_ne!(&shown.digest, &then.digest);
        assert_seen(&shown, &then, "memory")?;
    }

    /// Whatever the texts hold that differ: no control, no mark of direction, and two lines for each part.
    #[test]
    fn a_difference_is_two_texts_on_the_screen(
        one in schedule(),
        other in schedule(),
        origin in config_of(),
    ) {
        let differ = differences(&look(&one, &origin).shown, &look(&other, &origin).shown);
        let parts = differ.len();
        let printed = compared(&Map::new().with("run-id", "r").with("differences", differ));
        let raw = printed.chars().find(|it| *it != '\n' && (it.is_control() || is_hidden(*it)));
        prop_assert_eq!(raw, None, "{}", printed);
        for sign in ["    - ", "    + "] {
            let lines = printed.lines().filter(|line| line.starts_with(sign)).count();
            prop_assert_eq!(lines, parts, "{}", printed);
        }
    }

    /// One line for each part, whatever texts hold: no control, no mark of direction, and no line of their own.
    #[test]
    fn a_text_is_a_text_on_the_screen(one in schedule(), origin in config_of()) {
        let printed = look(&one, &origin).printed;
        let raw = printed.chars().find(|it| *it != '\n' && (it.is_control() || is_hidden(*it)));
        prop_assert_eq!(raw, None, "{}", printed);
        let mut keys = BTreeSet::new();
        for line in printed.lines().skip(1) {
            let key = line.trim_start().split(' ').next().unwrap_or_default().to_owned();
            prop_assert!(keys.insert(key), "a line twice: {}", printed);
        }
        prop_assert_eq!(printed.lines().nth(1).map(str::trim), Some(&*format!("digest      {DIGEST}")));
    }
}
