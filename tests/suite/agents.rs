//! One process in one conversation, as a machine: whatever an agent writes and whenever time passes, a prompt is sent once at
//! most, a turn ends once, and the machine comes to an end.

use std::sync::Arc;

use proptest::prelude::*;
use reveille::adapter::agent::{
    AgentPlan, Conversation, Environment, Input, NotSent, Output, Prompt, Resume, Timing, Told, read_line,
};
use reveille::domain::{
    Address, AgentKind, AgentName, BootTime, Moment, Now, Reason, RunId, SessionId, Span, TurnOutcome,
};

fn plan() -> AgentPlan {
    AgentPlan {
        name: AgentName::new("fake").expect("a name"),
        command: vec!["/bin/false".to_owned()],
        environment: Environment::default(),
        directory: None,
        mode: Some("ask".into()),
        tools: None,
        allow: Vec::new(),
        ask: Vec::new(),
        resume: Resume::default(),
        processes: 4,
        turns_per_hour: None,
        cost_per_day: None,
        timing: Timing::default(),
        kind: AgentKind::of("claude"),
    }
}

fn run(number: u32) -> RunId {
    RunId::parse(&format!("sch-1~{number}~2026-04-22T13:00:00Z")).expect("an id")
}

/// A conversation on a clock of its own.
struct Scene {
    machine: Conversation,
    now: BootTime,
    sent: Vec<String>,
    told: Vec<Told>,
    signals: Vec<Output>,
}

impl Scene {
    fn new(plan: AgentPlan) -> Scene {
        let now = BootTime::from_nanos(1);
        let address: Address = "fake:c1".parse().expect("an address");
        let session = SessionId::new("s").expect("an id");
        let machine = Conversation::new(Arc::new(plan), &session, address, "/work".into(), at(now));
        Scene { machine, now, sent: Vec::new(), told: Vec::new(), signals: Vec::new() }
    }

    fn put(&mut self, input: Input) {
        for output in self.machine.step(at(self.now), input) {
            match output {
                Output::Send(line) => self.sent.push(line),
                Output::Told(told) => self.told.push(told),
                Output::Terminate | Output::Kill => self.signals.push(output),
            }
        }
    }

    fn line(&mut self, line: &str) {
        self.put(Input::Line(read_line(line.as_bytes())));
    }

    /// Answers the last request.
    fn answer(&mut self, result: &str) {
        let last =
            self.sent.iter().rev().find(|line| line.contains("\"id\":") && line.contains("\"method\""));
        let last = last.expect("a request");
        let id: serde_json::Value = serde_json::from_str(last).expect("JSON");
        self.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", id["id"]));
    }

    fn pass(&mut self, millis: u64) {
        self.now = self.now.after(Span::from_millis(millis));
        self.put(Input::Tick);
    }

    /// Up to where the prompt is out.
    fn prompt(&mut self, number: u32) {
        self.put(Input::Started { process: Some(7) });
        self.put(Input::Prompt(Prompt { run: run(number), text: "look".into() }));
        self.answer(INITIALIZED);
        self.answer("{}");
        self.answer("{}");
        assert_eq!(self.prompts(), 1, "{:?}", self.sent);
    }

    fn prompts(&self) -> usize {
        self.sent.iter().filter(|line| line.contains("session/prompt")).count()
    }

    fn outcomes(&self) -> Vec<TurnOutcome> {
        let turns = self.told.iter().filter_map(|told| {
            let Told::Turn(turn) = told else { return None };
            turn.outcome
        });
        turns.collect()
    }

    fn chunk(&mut self, kind: &str) {
        self.line(&format!(
            "{{\"method\":\"session/update\",\"params\":{{\"sessionId\":\"c1\",\"update\":{{\"sessionUpdate\":\"{kind}\",\
             \"content\":{{\"type\":\"text\",\"text\":\"hi\"}}}}}}}}"
        ));
    }
}

fn at(boot: BootTime) -> Now {
    Now { wall: Moment::EPOCH, boot }
}

const INITIALIZED: &str = "{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true,\
    \"sessionCapabilities\":{\"resume\":{}}}}";

#[test]
fn a_turn_goes_its_way() {
    let mut scene = Scene::new(plan());
    scene.prompt(1);
    assert!(scene.sent.iter().any(|line| line.contains("session/resume")), "{:?}", scene.sent);
    // What belongs to no turn is no receipt.
    scene.chunk("available_commands_update");
    assert!(!scene.told.contains(&Told::Receipt(run(1))));
    scene.chunk("agent_message_chunk");
    assert!(scene.told.contains(&Told::Receipt(run(1))));
    scene.answer("{\"stopReason\":\"end_turn\"}");
    assert_eq!(scene.outcomes(), [TurnOutcome::Completed]);
    assert!(scene.machine.is_idle());
    scene.pass(120_000);
    assert_eq!(scene.signals, [Output::Terminate], "it is idle for too long");
    scene.pass(5_000);
    assert_eq!(scene.signals, [Output::Terminate, Output::Kill]);
    scene.put(Input::Ended("".into()));
    assert_eq!(scene.machine.deadline(), None);
}

#[test]
fn every_step_has_its_deadline() {
    let mut scene = Scene::new(plan());
    scene.put(Input::Started { process: None });
    scene.put(Input::Prompt(Prompt { run: run(1), text: "look".into() }));
    scene.pass(9_999);
    assert!(scene.told.is_empty());
    scene.pass(1);
    let why = |told: &Told| matches!(told, Told::NotSent(_, NotSent::Waits(Reason::AgentBroken, _)));
    assert!(scene.told.iter().any(why), "{:?}", scene.told);
    let mut scene = Scene::new(plan());
    scene.put(Input::Started { process: None });
    scene.put(Input::Prompt(Prompt { run: run(1), text: "look".into() }));
    scene.answer(INITIALIZED);
    scene.pass(30_000);
    let why = |told: &Told| matches!(told, Told::NotSent(_, NotSent::Fails(Reason::ResumeFailed, _)));
    assert!(scene.told.iter().any(why), "{:?}", scene.told);
    let mut scene = Scene::new(plan());
    scene.prompt(1);
    scene.pass(90_000);
    assert!(scene.told.iter().any(|told| matches!(told, Told::Failed(_, Reason::AgentSilent, _))));
    assert!(scene.sent.last().expect("a line").contains("session/cancel"));
    scene.pass(5_000);
    scene.pass(5_000);
    assert_eq!(scene.signals, [Output::Terminate, Output::Kill]);
    assert_eq!(scene.outcomes(), [TurnOutcome::Silent]);
}

#[test]
fn a_turn_that_never_ends_is_stopped() {
    let mut scene = Scene::new(plan());
    scene.prompt(1);
    for _ in 0..29 {
        scene.pass(60_000);
        scene.chunk("agent_thought_chunk");
    }
    assert!(scene.outcomes().is_empty());
    scene.pass(60_000);
    scene.answer("{\"stopReason\":\"cancelled\"}");
    assert_eq!(scene.outcomes(), [TurnOutcome::TimedOut]);
    assert!(scene.machine.is_idle(), "the agent obeyed, and its process can go on");
}

/// An agent whose model is overloaded may have the prompt in its conversation: nothing may send it a second time.
#[test]
fn an_error_as_the_answer_to_a_prompt_is_no_refusal() {
    for (code, reason) in [(-32_603, Reason::OutcomeUnknown), (-32_000, Reason::NotAuthenticated)] {
        let mut scene = Scene::new(plan());
        scene.prompt(1);
        let last = scene.sent.last().expect("the prompt");
        let prompt: serde_json::Value = serde_json::from_str(last).expect("JSON");
        let error = format!("{{\"code\":{code},\"message\":\"429\"}}");
        scene.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{error}}}", prompt["id"]));
        let is_told = |told: &Told| *told == Told::Failed(run(1), reason, "429".into());
        assert!(scene.told.iter().any(is_told), "{:?}", scene.told);
        assert_eq!(scene.outcomes(), [TurnOutcome::Error]);
    }
}

#[test]
fn a_second_prompt_waits_for_the_turn() {
    let mut scene = Scene::new(plan());
    scene.prompt(1);
    scene.put(Input::Prompt(Prompt { run: run(2), text: "again".into() }));
    assert!(
        scene.told.iter().any(|told| matches!(told, Told::NotSent(_, NotSent::Waits(Reason::HostBusy, _))))
    );
    assert_eq!(scene.prompts(), 1);
}

/// A window opens the conversation while the process is on its way into it: at each step of that way nothing is sent, and the run
/// waits for the window. A prompt that was sent stays sent.
#[test]
fn nothing_is_sent_where_a_window_has_come_meanwhile() {
    let answers = [INITIALIZED, "{}", "{}"];
    for steps in 0..answers.len() {
        let mut scene = Scene::new(plan());
        assert!(!scene.machine.is_opening());
        scene.put(Input::Started { process: Some(7) });
        scene.put(Input::Prompt(Prompt { run: run(1), text: "look".into() }));
        answers[..steps].iter().for_each(|answer| scene.answer(answer));
        assert!(scene.machine.is_opening());
        scene.put(Input::Held);
        answers[steps..].iter().for_each(|answer| scene.answer(answer));
        scene.put(Input::Held);
        let is_held =
            |told: &&Told| matches!(told, Told::NotSent(_, NotSent::Waits(Reason::HeldElsewhere, _)));
        assert_eq!(scene.told.iter().filter(is_held).count(), 1, "after {steps}: {:?}", scene.told);
        assert_eq!((scene.prompts(), &*scene.signals), (0, &[Output::Terminate][..]), "after {steps}");
        scene.put(Input::Ended("".into()));
        assert_eq!(scene.machine.deadline(), None);
    }
    let mut scene = Scene::new(plan());
    scene.prompt(1);
    scene.put(Input::Held);
    assert!(!scene.machine.is_opening() && scene.signals.is_empty(), "{:?}", scene.signals);
}

/// A session is closed while its conversation is being opened: the process ends at once, and tells nothing more of it.
#[test]
fn a_conversation_that_is_let_go_is_not_opened_any_more() {
    let answers = [INITIALIZED, "{}"];
    for steps in 0..=answers.len() {
        let mut scene = Scene::new(plan());
        scene.put(Input::Started { process: Some(7) });
        scene.put(Input::Prompt(Prompt { run: run(1), text: "look".into() }));
        answers[..steps].iter().for_each(|answer| scene.answer(answer));
        let told = scene.told.len();
        scene.put(Input::LetGo);
        assert_eq!(scene.signals, [Output::Terminate], "after {steps}");
        let why = |told: &Told| matches!(told, Told::NotSent(_, NotSent::Waits(Reason::HostBusy, _)));
        assert!(matches!(&scene.told[told..], [one] if why(one)), "after {steps}: {:?}", scene.told);
        answers[steps..].iter().for_each(|answer| scene.answer(answer));
        scene.answer("{}");
        assert_eq!((scene.told.len(), scene.prompts()), (told + 1, 0), "after {steps}");
    }
}

/// One of the things that can happen.
#[derive(Clone, Debug)]
enum Event {
    Answer(&'static str),
    Error(i64),
    Chunk(&'static str),
    Question,
    Junk(Vec<u8>),
    Prompt,
    Held,
    LetGo,
    Pass(u64),
    Ended,
}

fn event() -> impl Strategy<Value = Event> {
    let answers = [
        INITIALIZED,
        "{}",
        "7",
        "{\"stopReason\":\"end_turn\"}",
        "{\"stopReason\":\"max_tokens\"}",
        "{\"modes\":{\"availableModes\":[]}}",
    ];
    let chunks =
        ["agent_message_chunk", "user_message_chunk", "tool_call", "plan", "current_mode_update", "?"];
    prop_oneof![
        6 => proptest::sample::select(answers.to_vec()).prop_map(Event::Answer),
        1 => proptest::sample::select(vec![-32_000, -32_603]).prop_map(Event::Error),
        3 => proptest::sample::select(chunks.to_vec()).prop_map(Event::Chunk),
        1 => Just(Event::Question),
        1 => proptest::collection::vec(any::<u8>(), 0..40).prop_map(Event::Junk),
        2 => Just(Event::Prompt),
        1 => Just(Event::Held),
        1 => Just(Event::LetGo),
        2 => (0_u64..100_000).prop_map(Event::Pass),
        1 => Just(Event::Ended),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn whatever_happens_each_prompt_comes_to_one_end(
        opened in any::<bool>(),
        events in proptest::collection::vec(event(), 0..60),
    ) {
        let mut scene = Scene::new(plan());
        scene.put(Input::Started { process: None });
        let mut prompts = 0;
        if opened {
            for answer in [INITIALIZED, "{}", "{}"] {
                scene.answer(answer);
            }
        }
        for event in events {
            match event {
                Event::Answer(result) => scene.answer(result),
                Event::Error(code) => {
                    let is_request = |line: &&String| line.contains("\"id\":") && line.contains("\"method\"");
                    let id = scene.sent.iter().filter(is_request).count();
                    scene.line(&format!("{{\"id\":{id},\"error\":{{\"code\":{code},\"message\":\"no\"}}}}"));
                }
                Event::Chunk(kind) => scene.chunk(kind),
                Event::Question => scene.line(
                    "{\"id\":1,\"method\":\"session/request_permission\",\"params\":{\"options\":[{\"optionId\":\"a\",\
                     \"kind\":\"allow_always\"}]}}",
                ),
                Event::Junk(bytes) => scene.put(Input::Line(read_line(&bytes))),
                Event::Prompt => {
                    prompts += 1;
                    scene.put(Input::Prompt(Prompt { run: run(prompts), text: "look".into() }));
                }
                Event::Held => scene.put(Input::Held),
                Event::LetGo => scene.put(Input::LetGo),
                Event::Pass(millis) => scene.pass(millis),
                Event::Ended => scene.put(Input::Ended("gone".into())),
            }
        }
        // The process ends at last, whatever it did.
        scene.put(Input::Ended("gone".into()));
        prop_assert_eq!(scene.machine.deadline(), None);
        let began = scene.told.iter().filter(|told| matches!(told, Told::Began(_))).count();
        prop_assert_eq!(scene.prompts(), began);
        prop_assert_eq!(scene.outcomes().len(), began, "each turn ends once: {:?}", scene.told);
        for number in 1..=prompts {
            let is_end = |told: &&Told| {
                let (Told::NotSent(of, _) | Told::Receipt(of) | Told::Failed(of, ..) | Told::Doubt(of)) = told else {
                    return false;
                };
                *of == run(number)
            };
            let ends = scene.told.iter().filter(is_end);
            prop_assert_eq!(ends.count(), 1, "of {}: {:?}", number, scene.told);
        }
        let says = scene.sent.join("");
        prop_assert!(!says.contains("\"optionId\""), "nothing is allowed for always: {}", says);
    }
}
