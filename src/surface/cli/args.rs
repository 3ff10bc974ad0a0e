//! The command line as types. Help texts, errors and checks are generated from them; doc comments are the help texts.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::agents::{AgentsArgs, HookArgs, McpArgs, PluginArgs, SetupArgs};
use super::asking::{AskingArgs, CallerArgs, DaemonArgs, session_id};
use super::controls::{
    ApproveArgs, CalendarArgs, CreateArgs, DashboardArgs, DenyArgs, GrantArgs, HoldArgs, InboxArgs, OneArgs,
    OneOrAllArgs, OperatorArgs, PauseArgs, RescheduleArgs, RunArgs,
};
use super::flags::RunsFlags;
use super::reading::{ExplainArgs, ForecastArgs, ListArgs, ListingArgs, LogArgs, WatchArgs};
use super::store::{BackupArgs, DoctorArgs, ExportArgs, ImportArgs};
use crate::domain::{Moment, SessionId};

/// Wakes AI agents: an agent asks for something to happen later, Reveille owns the timing, proves what it did and says
/// why it did not.
#[derive(Debug, Parser)]
#[command(
    name = "reveille",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  reveille demo
  reveille serve
  reveille stdio --session main
  reveille tool list --session main '{}'"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a demo on a real engine: a message, a queued message, a fresh session, a cancellation that holds.
    ///
    /// Needs no setup and takes about two seconds. Shows each tool call with its answer, and each delivery as it
    /// happens, with its lateness.
    #[command(after_help = "Example:\n  reveille demo")]
    Demo,
    /// Run the daemon: HTTP on a loopback address, and the EDN stream protocol on a Unix socket.
    ///
    /// Once ready, it prints one line to stdout, `reveille ready http://…`; logs go to stderr. Every route but
    /// /healthz needs a token: the operator's is in DATA-DIR/operator.token, a read-only one is in
    /// DATA-DIR/observer.token, one for a host in DATA-DIR/host.token, and a session gets its own when it is opened.
    /// A host opens sessions, reaches those that its token has opened, and nothing else. REVEILLE_TOKEN, at least 32
    /// characters, replaces the operator's. SIGTERM, SIGINT and SIGHUP stop the daemon in an orderly way within five seconds.
    ///
    /// Sessions and durable schedules are on disk before they are acknowledged, and continue after a
    /// restart. Volatile schedules (psi's) are cancelled when the daemon stops; after a crash, the next
    /// start reports how many were lost.
    ///
    /// The jobs of the cron_* tools are shared, as they are meant to be: every session sees them all. A session's token
    /// changes those of others, or has jobs delivered into other sessions, only with the grant cron-others (`reveille
    /// grant SESSION-ID --cron-others`), which is off unless an operator turns it on.
    #[command(after_help = "\
Example:
  reveille serve --listen 127.0.0.1:0 --data-dir ./state
  curl -H \"Authorization: Bearer $(cat ./state/operator.token)\" http://127.0.0.1:PORT/tools

A configuration file has the options as keys:
  listen = \"127.0.0.1:7517\"
  data-dir = \"/var/lib/reveille\"
  allow-hosts = [\"reveille.example:7517\"]
  allow-origins = [\"http://localhost:3000\"]
  zone = \"Europe/Berlin\"            # of times that name none; the machine's if left out
  host-tokens = [\"editor\"]         # further hosts, each with a token: DATA-DIR/host-editor.token

Families of tools are off unless they are switched on:
  [primitives]
  memory = true                     # a session's facts, goal and tasks
  watchers = true
  scheduler = true                  # needs watchers
  wakes-per-hour = 120              # of one session, by what its watches and calls came to
  app = \"default\"                   # in the ids of scheduled calls

Rules decide about each run when it is about to be dispatched; the first that matches applies:
  [[guard.rules]]
  name = \"fresh sessions at night\"
  kinds = [\"session\"]             # also: sessions, dialects, tools (of a fresh session)
  window = { from = \"22:00\", until = \"06:00\", zone = \"Europe/Berlin\" }
  then = \"hold\"                   # until an operator approves it; or refuse, or allow

A program can be asked about runs that the rules allow. It gets JSON and answers {\"decision\": \"allow\"}, hold or refuse:
  [guard]
  command = [\"/usr/local/bin/guard\", \"--strict\"]   # or url, with key-file
  timeout-ms = 5000                 # no answer in time is a refusal")]
    Serve(ServeArgs),
    /// Check the whole store, whether or not a daemon has it open.
    ///
    /// Exit code 0 if it is sound, 1 if it is not or cannot be read.
    #[command(after_help = "Example:\n  reveille doctor --data-dir ./state")]
    Doctor(DoctorArgs),
    /// Copy the store of a data directory into one new file, whether or not a daemon has it open.
    ///
    /// The copy is of one moment, and is checked before it gets its name. Tokens and the configuration are not in it. Exit
    /// code 0 if it is written, 1 if it is not; there is no file then.
    #[command(after_help = "Example:\n  reveille backup --data-dir ./state ./reveille-2026-11-25.db")]
    Backup(BackupArgs),
    /// Put a backup in the place of the store of a data directory.
    ///
    /// No daemon may be using the data directory. The files that were there are moved into a directory beside it. What
    /// happened after the backup is forgotten: its runs are done again, and its cancels are undone. A file that is not a
    /// sound store is refused, and nothing is changed.
    #[command(after_help = "Example:\n  reveille restore --data-dir ./state ./reveille-2026-11-25.db")]
    Restore(BackupArgs),
    /// Write the history of a data directory's schedules: cron jobs to jobs.jsonl and runs.jsonl, all others to
    /// schedules.jsonl.
    ///
    /// Each line is one event, with its own time and revision. A daemon may be using the directory. Existing files are not
    /// overwritten. What was pruned, and what the files have no place for, is reported on stderr. Volatile schedules are in
    /// the daemon's memory only, and are not exported.
    #[command(after_help = "Example:\n  reveille export --data-dir ./state ./tasks")]
    Export(ExportArgs),
    /// Import schedules from jobs.jsonl, runs.jsonl and schedules.jsonl, each under its existing id.
    ///
    /// No daemon may be using the data directory. Definitions come back, and whether they are paused; revisions and runs
    /// begin anew. Prints the ids of the imported schedules; unusual lines and what is left out are reported on stderr. A
    /// file that cannot be parsed at all is refused as a whole.
    #[command(after_help = "Example:\n  reveille import --data-dir ./state --owner main ./tasks")]
    Import(ImportArgs),
    /// Speak the stream protocol, in EDN or JSON, on stdin and stdout, with a daemon or with an engine
    /// that exists until the end of the stream.
    ///
    /// One map per message, one line per answer. If the first is JSON, {"op":…}, all are. Without a daemon, the end of
    /// the input, SIGTERM and SIGINT stop the engine in an orderly way: unfinished schedules are cancelled, and a line
    /// on stderr says how many. With a daemon, schedules stay there; if it closes the stream while there is still input,
    /// the exit code is 2.
    #[command(after_help = "\
Example (a reminder in one second, followed as events):
  ( echo '{:id 1 :op :subscribe}'
    echo '{:action \"scheduler\" :op \"create\" :kind \"message\"
           :delay-ms 1000 :message \"Check the build.\"}'
    sleep 2 ) | reveille stdio --session main

A harness gets deliveries pushed. It sends {:op :host/attach :sessions [\"main\"]}, and answers
each push with {:op :delivery/ack :delivery-id \"…\"} within 30 s.")]
    Stdio(StdioArgs),
    /// Serve the Model Context Protocol on stdin and stdout, for a daemon.
    ///
    /// One JSON-RPC message per line. A model sees seven tools: create, list, cancel, update, explain, inbox, query. A
    /// daemon offers the same at POST /mcp, with the same tokens as on its other routes. --session opens a
    /// session of that id if none is open. Without a daemon it ends with exit code 2, unless --embedded: then schedules
    /// are cancelled when the input ends.
    #[command(after_help = "\
Examples:
  reveille mcp --session main
  reveille mcp --session main --url http://127.0.0.1:7517 --tools native,cron
  echo '{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\"}' | reveille mcp --embedded")]
    Mcp(McpArgs),
    /// Called by the hooks of an agent: tells the daemon which conversation a process is in and when turns begin and end,
    /// and hands over what is due.
    ///
    /// Reads the hook's JSON on stdin and ends with code 0 whatever happens. With --wait it blocks until something is
    /// due, prints it to stderr and ends with code 2, which wakes Claude Code.
    #[command(after_help = "Example:\n  reveille plugin claude    # writes the hooks that call it")]
    Hook(HookArgs),
    /// Write an agent's plugin, and print where it is: the tool server, and for Claude Code and Gemini CLI the hooks.
    #[command(after_help = "\
Examples:
  claude plugin marketplace add \"$(reveille plugin claude)\" && claude plugin install reveille@reveille
  gemini extensions install \"$(reveille plugin gemini)\"")]
    Plugin(PluginArgs),
    /// List the agents on this machine: program, version, and how each can be woken.
    #[command(after_help = "Examples:\n  reveille agents\n  reveille agents test codex")]
    Agents(AgentsArgs),
    /// Show what an agent needs to schedule and to be woken; with --yes, do it.
    #[command(after_help = "Example:\n  reveille setup claude --yes")]
    Setup(SetupArgs),
    /// Call one tool and print its answer in the notation of its arguments.
    ///
    /// Exit code 0: done. 1: refused, and the answer says why. 2: the call could not be parsed, or there is no daemon.
    /// With --wait or --embedded, the engine exists until the end of the call.
    #[command(after_help = "\
Examples:
  reveille tool psi-tool --session main '{:action \"scheduler\" :op \"list\"}'
  echo '{\"first\": 5}' | reveille tool list --session main
  reveille tool psi-tool --wait '{:action \"scheduler\" :op \"create\" :kind \"message\"
                                  :delay-ms 1000 :message \"Stretch your legs.\"}'")]
    Tool(ToolArgs),
    /// Query the graph in EQL, and print the answer as EDN.
    ///
    /// Exit code 0: answered. 1: a strict query failed, and the answer says so, or the daemon refuses the caller. 2: the query
    /// is invalid or exceeds a limit, or there is no daemon. With --embedded the engine is empty, and only the schema can be
    /// queried.
    #[command(after_help = "\
Examples:
  reveille eql '[:psi.scheduler/pending-count {:psi.scheduler/schedules [:psi.scheduler/label :psi.scheduler/status]}]'
  reveille eql '[:psi.scheduler/message]' --entity '{:psi.scheduler/schedule-id \"sch-…\"}'
  reveille eql '[{(:psi.scheduler/schedules {:status :failed :first 10}) [*]}]' --lenient
  reveille eql '[:psi.graph/attributes]'")]
    Eql(EqlArgs),
    /// Run one GraphQL query or mutation, and print the answer as JSON.
    ///
    /// Exit code 0: answered. 1: answered with errors, also of the document. 2: the variables are no JSON, or no daemon. With
    /// --embedded the engine is empty, and only the schema can be queried.
    #[command(after_help = "\
Examples:
  reveille graphql '{ pendingCount schedules(first: 10) { totalCount nodes { label status fireAt } } }'
  reveille graphql 'query($id: ID!) { schedule(scheduleId: $id) { status reason } }' --variables '{\"id\": \"sch-…\"}'
  reveille graphql 'mutation { cancelSchedule(scheduleId: \"sch-…\") { schedule { status } } }'")]
    Graphql(GraphqlArgs),
    /// Show how a daemon stands: its mode, a hold, what waits for somebody, and the accounts.
    #[command(after_help = "Example:\n  reveille status")]
    Status(OperatorArgs),
    /// List schedules: how each stands, when it is next due, and of which session it is. Unfinished ones, unless --status
    /// or --all asks for others.
    #[command(after_help = "\
Examples:
  reveille list --session main
  reveille list --failing
  reveille list --text build --all --order-by created-at-desc --first 20")]
    List(ListArgs),
    /// List runs, the latest slot first: what was delivered, what waits and why, and what failed.
    #[command(after_help = "\
Examples:
  reveille runs --state failed,left
  reveille runs --from 2026-04-22T00:00:00Z --to 2026-04-22T06:00:00Z
  reveille runs --schedule-id sch-… --json")]
    Runs(ListingArgs<RunsFlags>),
    /// List the watches, or show one with its newest checks.
    ///
    /// A watch calls a tool again and again, and tells its session what matters. Its schedule can be paused, resumed and
    /// cancelled as any other.
    #[command(
        after_help = "Examples:\n  reveille watch\n  reveille watch --session main\n  reveille watch 5c2d84 --json"
    )]
    Watch(WatchArgs),
    /// List the tasks that were begun in the background: what works, what has ended, and how.
    #[command(after_help = "Example:\n  reveille tasks --session main")]
    Tasks(ListingArgs),
    /// List the channels over which messages leave: who may use each, and which is disabled.
    #[command(after_help = "Example:\n  reveille channels")]
    Channels(AskingArgs),
    /// Show what will fire, and what will be skipped, held or paused, in time order.
    ///
    /// Assumes that nothing is changed and that turns take no time. Applies all policies, zones,
    /// pauses, holds and limits.
    #[command(
        after_help = "Examples:\n  reveille forecast --hours 24\n  reveille forecast --schedule sch-… --edn"
    )]
    Forecast(ForecastArgs),
    /// Show one schedule: all that it is, its latest runs, and why it stands as it does.
    #[command(after_help = "Examples:\n  reveille show sch-…\n  reveille show \"the morning review\" --json")]
    Show(OneArgs),
    /// Explain why a schedule fired at an instant, why it did not, or when it will.
    #[command(
        after_help = "Examples:\n  reveille explain sch-…\n  reveille explain sch-… --at 2026-04-22T13:00:00Z --json"
    )]
    Explain(ExplainArgs),
    /// Show the latest decisions of a daemon: what was done, when, why, and by whom.
    ///
    /// Refusals of authority are decisions as well. Older decisions than the daemon's feed retains are in `reveille export`.
    #[command(after_help = "\
Examples:
  reveille log --by main
  reveille log --kind operation-refused --last 20
  reveille log --schedule sch-… --json")]
    Log(LogArgs),
    /// Show what was left in a session in which nobody listens, and take it with --take.
    ///
    /// A message that is taken counts as delivered, and is not shown again.
    #[command(after_help = "Examples:\n  reveille inbox main\n  reveille inbox main --take")]
    Inbox(InboxArgs),
    /// Create a schedule for a session of a daemon: when it is due, and what is delivered then.
    #[command(after_help = "\
Examples:
  reveille create main 'in 10m' 'see whether the build is done'
  reveille create main 'weekdays at 9' 'review the changes of the night' --kind session --zone Europe/Berlin")]
    Create(CreateArgs),
    /// Cancel a schedule of a daemon, or all schedules of a session.
    ///
    /// A cancelled schedule is never delivered. A run that a host has received cannot be cancelled.
    #[command(after_help = "Examples:\n  reveille cancel sch-…\n  reveille cancel --all-of main")]
    Cancel(OneOrAllArgs),
    /// Pause a schedule of a daemon, or all schedules of a session: their slots get no runs.
    #[command(after_help = "\
Examples:
  reveille pause sch-… --reason \"the branch is frozen\"
  reveille pause --all-of main --reason maintenance")]
    Pause(PauseArgs),
    /// Resume a paused schedule, or all paused schedules of a session.
    #[command(after_help = "Examples:\n  reveille resume sch-…\n  reveille resume --all-of main")]
    Resume(OneOrAllArgs),
    /// Run a schedule at once. One with a single slot does not run again then, unless --keep-slot.
    #[command(after_help = "Examples:\n  reveille run-now sch-…\n  reveille run-now sch-… --keep-slot")]
    RunNow(RunArgs),
    /// Try again what failed: a single slot becomes due now, and what recurs gets a run at once.
    #[command(after_help = "Example:\n  reveille retry sch-…")]
    Retry(OneArgs),
    /// Change the time, prompt or label of a schedule; what is omitted stays as it is.
    #[command(after_help = "\
Examples:
  reveille reschedule sch-… --when \"tomorrow at 9\" --zone Europe/Berlin
  reveille reschedule sch-… --delay-ms 600000 --message \"Check the build again.\"")]
    Reschedule(RescheduleArgs),
    /// Hold everything: no slot is claimed and no run is dispatched until release-all.
    #[command(after_help = "Example:\n  reveille hold-all --reason \"an incident\"")]
    HoldAll(HoldArgs),
    /// Release the hold; schedules paused individually stay paused.
    #[command(after_help = "Example:\n  reveille release-all")]
    ReleaseAll(OperatorArgs),
    /// List what waits for an operator: runs with what would be delivered, under which rule, until when; and what agents ask
    /// permission for in their turns.
    #[command(after_help = "Example:\n  reveille approvals")]
    Approvals(OperatorArgs),
    /// Approve a held run, or what an agent asks for in its turn, as it was shown.
    ///
    /// Exit code 1 if it has changed since: list it again.
    #[command(after_help = "Example:\n  reveille approve RUN-ID --digest DIGEST")]
    Approve(ApproveArgs),
    /// Deny a held run, which fails, or what an agent asks for in its turn, which goes on without it.
    #[command(after_help = "Example:\n  reveille deny RUN-ID --reason \"not on a Friday\"")]
    Deny(DenyArgs),
    /// Change at once what a session may do: its calls, and the runs of its schedules.
    #[command(after_help = "\
Examples:
  reveille grant main --right read
  reveille grant main --right change --dialects psi,reminder
  reveille grant main --cron-others         # every session sees all jobs of cron_*; this one may change them too
  reveille grant main --right none")]
    Grant(GrantArgs),
    /// Open the dashboard of a daemon in a browser, logged in.
    ///
    /// Prints an address with a code that works once, for a minute, and opens it if this is a terminal. Other users of this
    /// machine can read it while a browser starts, unless --print. The browser stays logged in for 12 hours at most.
    #[command(after_help = "Examples:\n  reveille dashboard\n  reveille dashboard --print --read-only")]
    Dashboard(DashboardArgs),
    /// Print a link by which a calendar program shows when schedules fire.
    ///
    /// Everybody who has the link sees when they fire and what they are called, not what they say, and can change nothing. It is
    /// good until all links are revoked.
    #[command(after_help = "\
Examples:
  reveille calendar                         # all schedules
  reveille calendar sch-0198c2f4            # one
  reveille calendar --session main          # those of a session, for as long as it is open
  reveille calendar --revoke")]
    Calendar(CalendarArgs),
    /// Print one of the generated schemas.
    #[command(after_help = "Example:\n  reveille schema attributes > attributes.edn")]
    Schema(SchemaArgs),
}

/// Arguments of `reveille eql`.
#[derive(Args, Debug)]
pub struct EqlArgs {
    /// The query: a vector in EDN.
    pub(crate) query: String,
    /// Known attributes to start from: a map in EDN.
    #[arg(long, value_name = "MAP")]
    pub(crate) entity: Option<String>,
    /// Answer what can be answered, with an error beside what cannot.
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Query the state at this ISO instant.
    #[arg(long, value_name = "INSTANT", value_parser = moment)]
    pub(crate) as_of: Option<Moment>,
    /// As whom to ask, and which daemon.
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

/// Arguments of `reveille graphql`.
#[derive(Args, Debug)]
pub struct GraphqlArgs {
    /// The GraphQL document.
    pub(crate) query: String,
    /// Its variables: an object in JSON.
    #[arg(long, value_name = "JSON")]
    pub(crate) variables: Option<String>,
    /// Query the state at this ISO instant.
    #[arg(long, value_name = "INSTANT", value_parser = moment)]
    pub(crate) as_of: Option<Moment>,
    /// As whom to ask, and which daemon.
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

/// Arguments of `reveille schema`.
#[derive(Args, Debug)]
pub struct SchemaArgs {
    /// Which schema.
    #[arg(value_enum)]
    pub(crate) kind: SchemaKind,
}

/// The generated schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    /// The GraphQL schema, as operators see it.
    Graphql,
    /// Every attribute of the graph, as EDN.
    Attributes,
    /// Every tool with the JSON Schema of its arguments, as JSON.
    Tools,
    /// Every error with its class, message and hint, as EDN.
    Errors,
}

/// Arguments of `reveille serve`. Missing options come from the configuration file, then from the defaults.
#[derive(Args, Debug)]
pub struct ServeArgs {
    /// The address to listen on; port 0 picks a free port [default: 127.0.0.1:7517]
    #[arg(long, value_name = "ADDRESS", env = "REVEILLE_LISTEN", hide_env_values = true)]
    pub(crate) listen: Option<SocketAddr>,
    /// Allow an address that other machines can reach; there is no TLS, so put a proxy in front.
    #[arg(long, env = "REVEILLE_LISTEN_PUBLIC", hide_env_values = true)]
    pub(crate) listen_public: bool,
    /// The directory of the store, the tokens, the lock and the socket [default: $XDG_STATE_HOME/reveille]
    #[arg(long, value_name = "DIR", env = "REVEILLE_DATA_DIR", hide_env_values = true)]
    pub(crate) data_dir: Option<PathBuf>,
    /// Persist nothing; with REVEILLE_TOKEN and no --data-dir, not even a token or a socket.
    #[arg(long, env = "REVEILLE_VOLATILE", hide_env_values = true)]
    pub(crate) volatile: bool,
    /// The Unix socket [default: DATA-DIR/reveille.sock]
    #[arg(long, value_name = "PATH", env = "REVEILLE_SOCKET", hide_env_values = true)]
    pub(crate) socket: Option<PathBuf>,
    /// A configuration file in TOML [default: DATA-DIR/reveille.toml, if it is there]
    #[arg(long, value_name = "FILE", env = "REVEILLE_CONFIG", hide_env_values = true)]
    pub(crate) config: Option<PathBuf>,
    /// Check the configuration, say where the daemon would listen and persist, and start nothing.
    #[arg(long)]
    pub(crate) check: bool,
    /// What to log: error, warn, info, debug or trace, also by part, as in `warn,reveille::http=info` [default: info]
    #[arg(long, value_name = "FILTER", env = "REVEILLE_LOG", hide_env_values = true)]
    pub(crate) log: Option<String>,
    /// Log objects in JSON, one a line.
    #[arg(long, env = "REVEILLE_LOG_JSON", hide_env_values = true)]
    pub(crate) log_json: bool,
    /// Another value of the Host header to accept, with its port.
    #[arg(
        long = "allow-host",
        value_name = "HOST:PORT",
        env = "REVEILLE_ALLOW_HOSTS",
        hide_env_values = true
    )]
    #[arg(value_delimiter = ',')]
    pub(crate) allow_hosts: Vec<String>,
    /// An origin whose pages may call the server.
    #[arg(
        long = "allow-origin",
        value_name = "ORIGIN",
        env = "REVEILLE_ALLOW_ORIGINS",
        hide_env_values = true
    )]
    #[arg(value_delimiter = ',')]
    pub(crate) allow_origins: Vec<String>,
}

/// Arguments of `reveille stdio`.
#[derive(Args, Debug)]
pub struct StdioArgs {
    /// Open a session of this id and act for it; without it, act as the operator.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub(crate) session: Option<SessionId>,
    /// Which daemon to ask.
    #[command(flatten)]
    pub(crate) daemon: DaemonArgs,
}

/// Arguments of `reveille tool`.
#[derive(Args, Debug)]
pub struct ToolArgs {
    /// The tool's name, such as psi-tool.
    pub(crate) name: String,
    /// The arguments in EDN or JSON; `-` or nothing reads them from stdin.
    pub(crate) args: Option<String>,
    /// The session that calls; an in-process engine opens it [default there: cli]
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub(crate) session: Option<SessionId>,
    /// Wait until every schedule has ended, and print each as it ends; with an in-process engine only.
    #[arg(long)]
    pub(crate) wait: bool,
    /// Which daemon to ask.
    #[command(flatten)]
    pub(crate) daemon: DaemonArgs,
}

fn moment(text: &str) -> Result<Moment, String> {
    Moment::parse(text).map_err(|error| error.to_string())
}
