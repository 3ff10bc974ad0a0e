//! The life of one process: it is started if nobody else holds the conversation, driven by its machine, and missed when it ends.

use std::future::pending;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;

use super::conversation::Conversation;
use super::exchange::{Found, Input, NotSent, Output, Prompt, Told};
use super::host::Inner;
use super::plan::{AgentPlan, Resume};
use super::process::{Process, Unstarted, is_ours};
use super::wire::Incoming;
use crate::domain::{Address, BootTime, Reason, RunId, SessionId, Span};
use crate::limits;
use crate::port::Holder;

/// A process to start.
pub(super) struct Start {
    pub(super) session: SessionId,
    pub(super) plan: Arc<AgentPlan>,
    pub(super) address: Address,
}

/// What is left to do when a process has ended.
#[derive(Default)]
struct Left {
    doubt: Option<RunId>,
    found: Option<Found>,
}

/// Starts a process for a prompt, and serves the conversation until the process ends.
pub(super) async fn serve(
    inner: Arc<Inner>,
    start: Start,
    prompt: Prompt,
    mut inputs: mpsc::Receiver<Input>,
) {
    let session = start.session.clone();
    let run = prompt.run.clone();
    let left = match ready(&inner, &start).await {
        Ok((process, directory)) => {
            drive(&inner, start, (process, directory), (Input::Prompt(prompt), &mut inputs)).await
        }
        Err(why) => {
            not_sent(&inner, &start, run, why);
            Left::default()
        }
    };
    // What came in while the process ended was not sent.
    inputs.close();
    while let Some(input) = inputs.recv().await {
        if let Input::Prompt(prompt) = input {
            let why = NotSent::Waits(Reason::HostBusy, "its process ended".into());
            inner.told(&session, Told::NotSent(prompt.run, why));
        }
    }
    if let Some(run) = left.doubt {
        look_until_known(&inner, &session, run).await;
    }
    inner.process_ended(&session);
}

/// Finds out about a run of an earlier process, as soon as there is a place for it.
pub(super) async fn recover(inner: Arc<Inner>, session: SessionId, run: RunId) {
    let end = inner.now().boot.after(Span::from_millis(limits::AGENT_RECEIPT_MS.value));
    loop {
        if let Some(start) = inner.place_for_look(&session) {
            // Only the place is needed: `look_until_known` reads plan and address itself.
            drop(start);
            look_until_known(&inner, &session, run).await;
            break;
        }
        if inner.now().boot >= end {
            inner.told(&session, Told::Found(run, Found::Unknown));
            break;
        }
        pause(Duration::from_millis(500)).await;
    }
    // The place is free before the session is reported as reachable, so that its next prompt finds one.
    inner.process_ended(&session);
    inner.reach(&session);
}

/// A session that could not be reached: says that it can be, once nobody holds its conversation.
pub(super) async fn knock(inner: Arc<Inner>, session: SessionId) {
    let Some((plan, address)) = inner.plan_of(&session) else { return };
    let (reason, wait) = if !plan.is_installed() {
        (Reason::AgentMissing, plan.missing_wait())
    } else if inner.make_way_beside(&session) || !is_free(&inner, &session, (&plan, &address)).await {
        (Reason::HeldElsewhere, plan.timing.probe)
    } else if inner.plan_of(&session).is_none() {
        // A window has taken it meanwhile.
        return;
    } else {
        return inner.reach(&session);
    };
    if inner.waits_on(&session, reason) {
        inner.look_when_free(&session, wait);
    } else {
        // What waits there is handed over once more, and waits for this reason from then on.
        inner.reach(&session);
    }
}

/// Looks into the conversation until it is known what it shows of a run, or a few starts have failed.
async fn look_until_known(inner: &Arc<Inner>, session: &SessionId, run: RunId) {
    let mut found = Found::Unknown;
    let end = inner.now().boot.after(Span::from_millis(limits::AGENT_RECEIPT_MS.value));
    let mut failed = 0;
    while let Some((plan, address)) = inner.plan_of(session)
        && address.conversation().is_some()
    {
        // The shift is small: the loop ends after `AGENT_FAILED_STARTS`.
        let wait = plan.timing.backoff.millis() << failed;
        let start = Start { session: session.clone(), plan, address };
        match ready(inner, &start).await {
            // Its holder may take long; nothing is lost by waiting.
            Err(NotSent::Waits(Reason::HeldElsewhere, _)) if inner.now().boot < end => {}
            Err(_) => failed += 1,
            Ok(process) => {
                // `drive` reads no prompts while it looks, so this inbox stays empty.
                let (_keep, mut none) = mpsc::channel(1);
                let left = drive(inner, start, process, (Input::Look(run.clone()), &mut none)).await;
                found = left.found.unwrap_or(Found::Unknown);
                // A look that finds nothing out counts as a failed start, so that the loop ends.
                failed += 1;
            }
        }
        if found != Found::Unknown || failed >= limits::AGENT_FAILED_STARTS.value {
            break;
        }
        pause(Duration::from_millis(wait)).await;
    }
    inner.told(session, Told::Found(run, found));
}

/// Checks that nobody else holds the conversation, and starts a process in it.
async fn ready(inner: &Arc<Inner>, start: &Start) -> Result<(Process, PathBuf), NotSent> {
    let Start { plan, address, .. } = start;
    let fails = |text: &str| NotSent::Fails(Reason::HostRefused, text.into());
    let directory = address.directory().map(PathBuf::from).or_else(|| plan.directory.clone());
    let directory = directory.ok_or_else(|| {
        fails("no working directory is known: open the session with `directory`, or configure one for the agent")
    })?;
    if !directory.is_dir() {
        return Err(fails(
            "the working directory of the conversation does not exist; create it, or open the session with another \
             `directory`",
        ));
    }
    // Asked first: where the agent is not there, nobody can say who holds the conversation.
    if !plan.is_installed() {
        return Err(NotSent::Waits(Reason::AgentMissing, Reason::AgentMissing.doc().into()));
    }
    if !is_free(inner, &start.session, (plan, address)).await {
        return Err(NotSent::Waits(Reason::HeldElsewhere, Reason::HeldElsewhere.doc().into()));
    }
    let process = Process::start(plan, &directory).map_err(|why| match why {
        Unstarted::Missing(text) => NotSent::Waits(Reason::AgentMissing, text),
        Unstarted::Failed(text) => NotSent::Waits(Reason::AgentBroken, text),
    })?;
    Ok((process, directory))
}

/// Returns whether nobody else holds the conversation of a session, as far as that can be found out.
async fn is_free(inner: &Arc<Inner>, session: &SessionId, (plan, address): (&AgentPlan, &Address)) -> bool {
    if address.conversation().is_none() {
        return true;
    }
    let (prober, address) = (Arc::clone(&inner.prober), address.clone());
    let holder = tokio::task::spawn_blocking(move || prober.holder(&address, &is_ours)).await;
    let holder = holder.unwrap_or(Holder::Unknown(None));
    inner.note_holder(session, holder);
    match holder {
        Holder::Nobody => true,
        Holder::Other(_) => false,
        // What is not known counts as held, unless an operator says otherwise.
        Holder::Unknown(_) => plan.resume == Resume::WhenUnknown,
    }
}

fn not_sent(inner: &Arc<Inner>, start: &Start, run: RunId, why: NotSent) {
    if let NotSent::Waits(Reason::HeldElsewhere, _) = why {
        inner.unreached(&start.session, run, Reason::HeldElsewhere);
        inner.look_when_free(&start.session, start.plan.timing.probe);
    } else {
        inner.told(&start.session, Told::NotSent(run, why));
    }
}

/// Drives a process until it has ended.
async fn drive(
    inner: &Arc<Inner>,
    start: Start,
    (mut process, directory): (Process, PathBuf),
    (first, inputs): (Input, &mut mpsc::Receiver<Input>),
) -> Left {
    let is_look = matches!(first, Input::Look(_));
    let directory = directory.to_string_lossy().into();
    let (plan, session, address) = (Arc::clone(&start.plan), start.session.clone(), start.address.clone());
    // Taken out, so that lines can be awaited while the process is borrowed by the wait for its end.
    let mut lines = std::mem::replace(&mut process.lines, mpsc::channel(1).1);
    let mut driven = Driven { inner, start, left: Left::default(), process, is_taken: false };
    let mut machine = Conversation::new(plan, &session, address, directory, inner.now());
    // Inputs are read until their senders are gone: then there would be an end of inputs at once, each time that it is asked for.
    let (mut is_open, mut is_heard) = (true, !is_look);
    let started = Input::Started { process: driven.process.id() };
    driven.step(&mut machine, started);
    driven.step(&mut machine, first);
    while let Some(deadline) = machine.deadline() {
        let wait = until(deadline, inner.now().boot);
        let input = tokio::select! {
            line = lines.recv(), if is_open => line.map_or_else(
                || {
                    // An agent that says no more is of no use, whether it lives or not.
                    is_open = false;
                    driven.process.kill();
                    Input::Tick
                },
                Input::Line,
            ),
            () = driven.process.wait() => {
                // What is left of its group is of no use either, and holds the outputs open.
                driven.process.kill();
                driven.last_lines(&mut machine, &mut lines).await;
                Input::Ended(driven.process.errors(&driven.start.plan))
            }
            input = inputs.recv(), if is_heard => input.unwrap_or_else(|| {
                is_heard = false;
                Input::LetGo
            }),
            _ = timeout(wait, pending::<()>()) => Input::Tick,
        };
        if let Some(input) = driven.checked(input).await {
            // Until the conversation is open seconds pass, in which a window may have opened it too. Each of these may be
            // followed by the prompt.
            let may_open = matches!(input, Input::Line(Incoming::Answer(..)) | Input::Tick);
            if may_open && machine.is_opening() && driven.is_taken().await {
                driven.step(&mut machine, Input::Held);
            }
            driven.step(&mut machine, input);
        }
        if is_look && driven.left.found.is_some() && machine.is_idle() {
            driven.step(&mut machine, Input::LetGo);
        }
    }
    driven.left
}

/// A process with what has come of it so far.
struct Driven<'a> {
    inner: &'a Arc<Inner>,
    start: Start,
    process: Process,
    left: Left,
    /// Whether a window has opened the conversation before the prompt was sent.
    is_taken: bool,
}

impl Driven<'_> {
    /// Takes the lines that were on their way when the process ended.
    async fn last_lines(&mut self, machine: &mut Conversation, lines: &mut mpsc::Receiver<Incoming>) {
        // A descendant that left the group may hold the output open for ever.
        while let Ok(Some(line)) = timeout(DRAIN, lines.recv()).await {
            self.step(machine, Input::Line(line));
        }
    }

    /// Passes a prompt on only if still nobody else holds the conversation; otherwise the process ends.
    async fn checked(&mut self, input: Input) -> Option<Input> {
        let Input::Prompt(prompt) = input else { return Some(input) };
        let address = self.inner.address(&self.start.session).unwrap_or_else(|| self.start.address.clone());
        if is_free(self.inner, &self.start.session, (&self.start.plan, &address)).await {
            return Some(Input::Prompt(prompt));
        }
        not_sent(self.inner, &self.start, prompt.run, NotSent::Waits(Reason::HeldElsewhere, "".into()));
        Some(Input::LetGo)
    }

    /// Looks whether a window has said meanwhile that it has the conversation open.
    async fn is_taken(&mut self) -> bool {
        let (inner, session) = (self.inner, &self.start.session);
        let address = inner.address(session).unwrap_or_else(|| self.start.address.clone());
        let prober = Arc::clone(&inner.prober);
        let window = tokio::task::spawn_blocking(move || prober.window(&address, &is_ours)).await;
        let Ok(Some(window)) = window else { return false };
        inner.note_holder(session, Holder::Other(window));
        self.is_taken = true;
        true
    }

    fn step(&mut self, machine: &mut Conversation, input: Input) {
        for output in machine.step(self.inner.now(), input) {
            match output {
                Output::Send(line) => {
                    if !self.process.send(line) {
                        self.process.kill();
                    }
                }
                Output::Terminate => self.process.terminate(),
                Output::Kill => self.process.kill(),
                Output::Told(Told::Found(_, found)) => self.left.found = Some(found),
                Output::Told(Told::Doubt(run)) => self.left.doubt = Some(run),
                Output::Told(Told::NotSent(run, why)) if self.is_taken => {
                    not_sent(self.inner, &self.start, run, why);
                }
                Output::Told(told) => self.inner.told(&self.start.session, told),
            }
        }
    }
}

fn until(deadline: BootTime, now: BootTime) -> Duration {
    Duration::from_nanos(deadline.since(now).nanos())
}

/// Waits for nothing but time.
async fn pause(time: Duration) {
    // The error is that the time is over, which is the point.
    let _ = timeout(time, pending::<()>()).await;
}

const DRAIN: Duration = Duration::from_millis(limits::PROGRAM_DRAIN_MS.value);
