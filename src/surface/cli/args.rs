//! The arguments, as types: help, errors and checks come from here.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::controls::{
    ApproveArgs, DenyArgs, GrantArgs, HoldArgs, OneArgs, OneOrAllArgs, PauseArgs, ReleaseArgs, RescheduleArgs,
};
use crate::domain::{Moment, SessionId};
use crate::surface::mcp::{Offer, UnknownDialect};

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
  reveille tool psi-tool '{:action \"scheduler\" :op \"list\"}'"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play the main job on real input: a message, a queued message, a fresh session, a cancel that holds.
    ///
    /// Needs no setup and takes about two seconds. Shows each tool call with its answer, and each delivery as it
    /// happens, with its lateness.
    #[command(after_help = "Example:\n  reveille demo")]
    Demo,
    /// Run the daemon: HTTP on a loopback address, and the EDN stream protocol on a Unix socket.
    ///
    /// When it takes work it prints one line to stdout, `reveille ready http://…`; logs go to stderr. Every route but
    /// /healthz needs a token: the operator's is in DATA-DIR/operator.token, one that may only look is in
    /// DATA-DIR/observer.token, and a session's comes with its opening. REVEILLE_TOKEN, at least 32 characters, takes
    /// the place of the operator's. SIGTERM and SIGINT stop it in good order within five seconds.
    ///
    /// Sessions and durable schedules are on disk before anybody is told of them, and go on with the next start; those in
    /// memory only (psi's) are called off by a stop, and a start after a crash says how many were lost.
    #[command(after_help = "\
Example:
  reveille serve --listen 127.0.0.1:0 --data-dir ./state
  curl -H \"Authorization: Bearer $(cat ./state/operator.token)\" http://127.0.0.1:PORT/tools

A configuration file has the options as keys, and no others:
  listen = \"127.0.0.1:7517\"
  data-dir = \"/var/lib/reveille\"
  allow-hosts = [\"reveille.example:7517\"]
  allow-origins = [\"http://localhost:3000\"]

Runs are measured by rules when they are about to be handed over; the first that matches decides:
  [[guard.rules]]
  name = \"fresh sessions at night\"
  kinds = [\"session\"]             # also: sessions, dialects, tools (of a fresh session)
  window = { from = \"22:00\", until = \"06:00\", zone = \"Europe/Berlin\" }
  then = \"hold\"                   # until an operator approves it; or refuse, or allow

What they allow can be asked of a program, which gets JSON and answers {\"decision\": \"allow\"}, hold or refuse:
  [guard]
  command = [\"/usr/local/bin/guard\", \"--strict\"]   # or url, with key-file
  timeout-ms = 5000                 # silence is a refusal")]
    Serve(ServeArgs),
    /// Examine the store from end to end, whether a daemon has it open or not.
    ///
    /// Exit code 0 if it is sound, 1 if it is not or cannot be read.
    #[command(after_help = "Example:\n  reveille doctor --data-dir ./state")]
    Doctor(DoctorArgs),
    /// Write the scheduled tasks of a data directory to jobs.jsonl and runs.jsonl.
    ///
    /// A daemon may have the directory meanwhile. Nothing that exists is written over. What the files have no words for is
    /// on stderr.
    #[command(after_help = "Example:\n  reveille export --data-dir ./state ./tasks")]
    Export(ExportArgs),
    /// Take over scheduled tasks from jobs.jsonl and runs.jsonl, each under the id that it had.
    ///
    /// No daemon may have the data directory meanwhile. Prints the ids of what is there now; odd lines and what is left out
    /// are on stderr. A file that cannot be understood at all is refused as a whole.
    #[command(after_help = "Example:\n  reveille import --data-dir ./state --owner main ./tasks")]
    Import(ImportArgs),
    /// Speak the EDN stream protocol on stdin and stdout, over an engine that lives as long as the stream.
    ///
    /// One EDN map per message, one line per answer. The end of the input, SIGTERM and SIGINT stop the engine in good
    /// order: schedules that have not ended by then are called off, and a line on stderr says how many. With --url, the
    /// stream is the daemon's, and what it has made stays there.
    #[command(after_help = "\
Example (a reminder in one second; what happens to it is shown as events):
  ( echo '{:id 1 :op :subscribe}'
    echo '{:action \"scheduler\" :op \"create\" :kind \"message\"
           :delay-ms 1000 :message \"Check the build.\"}'
    sleep 2 ) | reveille stdio --session main

A harness gets deliveries pushed. It sends {:op :host/attach :sessions [\"main\"]}, and answers
each push with {:op :delivery/ack :delivery-id \"…\"} within 30 s.")]
    Stdio(StdioArgs),
    /// Speak the Model Context Protocol on stdin and stdout, for a daemon or with an engine that lives as long as the input.
    ///
    /// One JSON-RPC message a line. A model sees six tools: create, list, cancel, update, explain, query. A daemon has the
    /// same at POST /mcp, with the same tokens as everywhere. With a daemon, --session opens a session of that id if none is
    /// open; without one, schedules are called off when the input ends.
    #[command(after_help = "\
Examples:
  reveille mcp --session main
  reveille mcp --session main --url http://127.0.0.1:7517 --tools native,cron
  echo '{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\"}' | reveille mcp")]
    Mcp(McpArgs),
    /// Call one tool and print its answer in the notation of its arguments.
    ///
    /// Exit code 0: done. 1: refused, and the answer says why. 2: the call itself could not be read. Without --url, the
    /// engine lives as long as the call.
    #[command(after_help = "\
Examples:
  reveille tool psi-tool '{:action \"scheduler\" :op \"list\"}'
  echo '{\"action\": \"scheduler\", \"op\": \"list\"}' | reveille tool psi-tool
  reveille tool psi-tool --wait '{:action \"scheduler\" :op \"create\" :kind \"message\"
                                  :delay-ms 1000 :message \"Stretch your legs.\"}'")]
    Tool(ToolArgs),
    /// Ask the graph in EQL, and print the answer as EDN.
    ///
    /// Exit code 0: answered. 1: a strict query failed, and the answer says so. 2: no query, or too much of one. Without
    /// a daemon the engine is empty, and only what there is to ask for can be asked for.
    #[command(after_help = "\
Examples:
  reveille eql '[:psi.scheduler/pending-count {:psi.scheduler/schedules [:psi.scheduler/label :psi.scheduler/status]}]'
  reveille eql '[:psi.scheduler/message]' --entity '{:psi.scheduler/schedule-id \"sch-…\"}'
  reveille eql '[{(:psi.scheduler/schedules {:status :failed :first 10}) [*]}]' --lenient
  reveille eql '[:psi.graph/attributes]'")]
    Eql(EqlArgs),
    /// Run one GraphQL query or mutation, and print the answer as JSON.
    ///
    /// Exit code 0: answered. 1: answered with errors. 2: the request could not be read. Without a daemon the engine is
    /// empty, and only the schema can be asked for.
    #[command(after_help = "\
Examples:
  reveille graphql '{ pendingCount schedules(first: 10) { totalCount nodes { label status fireAt } } }'
  reveille graphql 'query($id: ID!) { schedule(scheduleId: $id) { status reason } }' --variables '{\"id\": \"sch-…\"}'
  reveille graphql 'mutation { cancelSchedule(scheduleId: \"sch-…\") { schedule { status } } }'")]
    Graphql(GraphqlArgs),
    /// Show what will fire, and what will be skipped, held or paused, in time order.
    ///
    /// As if nobody did anything more, and turns took no time: with all policies, zones, pauses, holds and limits.
    #[command(
        after_help = "Examples:\n  reveille forecast --hours 24\n  reveille forecast --schedule sch-… --edn"
    )]
    Forecast(ForecastArgs),
    /// Explain why a schedule has fired at an instant, or has not, or when it will.
    #[command(after_help = "\
Examples:
  reveille explain sch-…
  reveille explain sch-… --at 2026-04-22T13:00:00Z --json")]
    Explain(ExplainArgs),
    /// Cancel a schedule of a daemon, or all schedules of a session.
    ///
    /// What has been cancelled is never delivered. What a host has in hand cannot be cancelled any more.
    #[command(after_help = "Examples:\n  reveille cancel sch-…\n  reveille cancel --all-of main")]
    Cancel(OneOrAllArgs),
    /// Pause a schedule of a daemon, or all schedules of a session: their slots get no runs.
    #[command(after_help = "\
Examples:
  reveille pause sch-… --reason \"the branch is frozen\"
  reveille pause --all-of main --reason maintenance")]
    Pause(PauseArgs),
    /// Let a paused schedule go on, or all paused schedules of a session.
    #[command(after_help = "Examples:\n  reveille resume sch-…\n  reveille resume --all-of main")]
    Resume(OneOrAllArgs),
    /// Begin a run of a schedule at once; its slots stay as they are.
    #[command(after_help = "Example:\n  reveille run-now sch-…")]
    RunNow(OneArgs),
    /// Give a schedule another time, prompt or label; what is left out stays as it is.
    #[command(after_help = "\
Examples:
  reveille reschedule sch-… --when \"tomorrow at 9\" --zone Europe/Berlin
  reveille reschedule sch-… --delay-ms 600000 --message \"Check the build again.\"")]
    Reschedule(RescheduleArgs),
    /// Claim nothing and hand nothing over, of any schedule, until all is released.
    #[command(after_help = "Example:\n  reveille hold-all --reason \"an incident\"")]
    HoldAll(HoldArgs),
    /// Let everything go on; what was paused by itself stays so.
    #[command(after_help = "Example:\n  reveille release-all")]
    ReleaseAll(ReleaseArgs),
    /// List the runs that wait for an operator's approval: what would be handed over, under which rule, until when.
    #[command(after_help = "Example:\n  reveille approvals")]
    Approvals(ReleaseArgs),
    /// Approve a run that is held, as it was shown.
    ///
    /// Exit code 1 if it is not what was shown any more: look at it again.
    #[command(after_help = "Example:\n  reveille approve RUN-ID --digest DIGEST")]
    Approve(ApproveArgs),
    /// Deny a run that is held: it fails.
    #[command(after_help = "Example:\n  reveille deny RUN-ID --reason \"not on a Friday\"")]
    Deny(DenyArgs),
    /// Change what a session may do, at once: its calls, and the runs of its schedules.
    #[command(after_help = "\
Examples:
  reveille grant main --right read
  reveille grant main --right change --dialects psi,reminder
  reveille grant main --right none")]
    Grant(GrantArgs),
    /// Print one of the generated schemas.
    #[command(after_help = "Example:\n  reveille schema attributes > attributes.edn")]
    Schema(SchemaArgs),
}

/// Arguments of `reveille eql`.
#[derive(Args, Debug)]
pub struct EqlArgs {
    /// The query: a vector in EDN.
    pub query: String,
    /// What is known to begin with: a map in EDN.
    #[arg(long, value_name = "MAP")]
    pub entity: Option<String>,
    /// Answer what can be answered, with an error beside what cannot.
    #[arg(long)]
    pub lenient: bool,
    /// Ask as of this instant: what was kept by then. An ISO instant.
    #[arg(long, value_name = "INSTANT", value_parser = moment)]
    pub as_of: Option<Moment>,
    /// Ask as this session; without it, as the operator.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub session: Option<SessionId>,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

/// Arguments of `reveille graphql`.
#[derive(Args, Debug)]
pub struct GraphqlArgs {
    /// The document.
    pub query: String,
    /// Its variables: an object in JSON.
    #[arg(long, value_name = "JSON")]
    pub variables: Option<String>,
    /// Ask as of this instant: what was kept by then. An ISO instant.
    #[arg(long, value_name = "INSTANT", value_parser = moment)]
    pub as_of: Option<Moment>,
    /// Ask as this session; without it, as the operator.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub session: Option<SessionId>,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

/// Arguments of `reveille forecast`.
#[derive(Args, Debug)]
pub struct ForecastArgs {
    /// How far ahead.
    #[arg(long, value_name = "HOURS", default_value_t = 24)]
    pub hours: u64,
    /// At most so many slots.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    pub first: u32,
    /// Of this schedule only.
    #[arg(long, value_name = "ID")]
    pub schedule: Option<String>,
    /// How it is printed.
    #[command(flatten)]
    pub printing: Printing,
    /// Ask as this session; without it, as the operator.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub session: Option<SessionId>,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

/// Arguments of `reveille explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The schedule.
    #[arg(value_name = "SCHEDULE-ID")]
    pub schedule: String,
    /// The instant; what matters now if left out.
    #[arg(long, value_name = "INSTANT")]
    pub at: Option<String>,
    /// How it is printed.
    #[command(flatten)]
    pub printing: Printing,
    /// Ask as this session; without it, as the operator.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub session: Option<SessionId>,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

/// How an answer is printed: for people unless told otherwise.
#[derive(Args, Debug)]
pub struct Printing {
    /// Print EDN.
    #[arg(long)]
    pub edn: bool,
    /// Print JSON.
    #[arg(long, conflicts_with = "edn")]
    pub json: bool,
}

/// Arguments of `reveille schema`.
#[derive(Args, Debug)]
pub struct SchemaArgs {
    /// Which one.
    #[arg(value_enum)]
    pub kind: SchemaKind,
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

/// Arguments of `reveille serve`. What is not given comes from the configuration file, then from the defaults.
#[derive(Args, Debug)]
pub struct ServeArgs {
    /// The address to listen on; port 0 takes any free one [default: 127.0.0.1:7517]
    #[arg(long, value_name = "ADDRESS", env = "REVEILLE_LISTEN", hide_env_values = true)]
    pub listen: Option<SocketAddr>,
    /// Allow an address that other machines can reach; there is no TLS, so put a proxy in front.
    #[arg(long, env = "REVEILLE_LISTEN_PUBLIC", hide_env_values = true)]
    pub listen_public: bool,
    /// Where the store, tokens, the lock and the socket are [default: $XDG_STATE_HOME/reveille]
    #[arg(long, value_name = "DIR", env = "REVEILLE_DATA_DIR", hide_env_values = true)]
    pub data_dir: Option<PathBuf>,
    /// Keep nothing on disk; with REVEILLE_TOKEN and no --data-dir, not even a token or a socket.
    #[arg(long, env = "REVEILLE_VOLATILE", hide_env_values = true)]
    pub volatile: bool,
    /// The Unix socket [default: DATA-DIR/reveille.sock]
    #[arg(long, value_name = "PATH", env = "REVEILLE_SOCKET", hide_env_values = true)]
    pub socket: Option<PathBuf>,
    /// A configuration file in TOML.
    #[arg(long, value_name = "FILE", env = "REVEILLE_CONFIG", hide_env_values = true)]
    pub config: Option<PathBuf>,
    /// What to log: error, warn, info, debug or trace, also by part, as in `warn,reveille::http=info` [default: info]
    #[arg(long, value_name = "FILTER", env = "REVEILLE_LOG", hide_env_values = true)]
    pub log: Option<String>,
    /// Another value of the header Host that means this server, with its port.
    #[arg(
        long = "allow-host",
        value_name = "HOST:PORT",
        env = "REVEILLE_ALLOW_HOSTS",
        hide_env_values = true
    )]
    #[arg(value_delimiter = ',')]
    pub allow_hosts: Vec<String>,
    /// An origin whose pages may call.
    #[arg(
        long = "allow-origin",
        value_name = "ORIGIN",
        env = "REVEILLE_ALLOW_ORIGINS",
        hide_env_values = true
    )]
    #[arg(value_delimiter = ',')]
    pub allow_origins: Vec<String>,
}

/// Which daemon to ask, and as whom.
#[derive(Args, Debug)]
pub struct DaemonArgs {
    /// Ask the daemon at this address; an empty one for an engine of one's own [default: http://127.0.0.1:7517 if a
    /// daemon answers there, else an engine of one's own]
    #[arg(long, value_name = "URL", env = "REVEILLE_URL", hide_env_values = true)]
    pub url: Option<String>,
    /// Read the token from this file [default: REVEILLE_TOKEN, then DATA-DIR/operator.token]
    #[arg(long, value_name = "FILE", env = "REVEILLE_TOKEN_FILE", hide_env_values = true)]
    pub token_file: Option<PathBuf>,
    /// Where the daemon keeps its tokens [default: $XDG_STATE_HOME/reveille]
    #[arg(long, value_name = "DIR", env = "REVEILLE_DATA_DIR", hide_env_values = true)]
    pub data_dir: Option<PathBuf>,
}

/// Arguments of `reveille stdio`.
#[derive(Args, Debug)]
pub struct StdioArgs {
    /// Open a session of this id and speak for it; without it, speak as the operator.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub session: Option<SessionId>,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

/// Arguments of `reveille mcp`.
#[derive(Args, Debug)]
pub struct McpArgs {
    /// The session that calls [default: the operator; with an engine of one's own, mcp]
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub session: Option<SessionId>,
    /// Whose tools to offer: native, psi, cron, reminder, session-action, or several of them [default: native]
    #[arg(long, value_name = "DIALECTS", value_parser = offer)]
    pub tools: Option<Offer>,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

/// Arguments of `reveille tool`.
#[derive(Args, Debug)]
pub struct ToolArgs {
    /// The tool's name, such as psi-tool.
    pub name: String,
    /// The arguments in EDN or JSON; `-` or nothing reads them from stdin.
    pub args: Option<String>,
    /// The session that calls; an engine of one's own opens it [default there: cli]
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub session: Option<SessionId>,
    /// Stay until every schedule has ended, and print each as it ends; for an engine of one's own.
    #[arg(long)]
    pub wait: bool,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

fn offer(text: &str) -> Result<Offer, UnknownDialect> {
    Offer::parse(text)
}

fn moment(text: &str) -> Result<Moment, String> {
    Moment::parse(text).map_err(|error| error.to_string())
}

pub(super) fn session_id(text: &str) -> Result<SessionId, String> {
    SessionId::new(text).map_err(|error| error.to_string())
}

/// `reveille doctor`.
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// Where the daemon keeps its state.
    #[command(flatten)]
    pub state: StateArgs,
}

/// Arguments of `reveille export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Where to; made if it is not there.
    #[arg(value_name = "OUT-DIR")]
    pub directory: PathBuf,
    /// Where the daemon keeps its state.
    #[command(flatten)]
    pub state: StateArgs,
}

/// Arguments of `reveille import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The directory of the files.
    #[arg(value_name = "PATH")]
    pub directory: PathBuf,
    /// The session that tasks for a channel are to belong to.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub owner: Option<SessionId>,
    /// Where the daemon keeps its state.
    #[command(flatten)]
    pub state: StateArgs,
}

/// Where a daemon keeps its state.
#[derive(Debug, Args)]
pub struct StateArgs {
    /// The daemon's data directory [default: $XDG_STATE_HOME/reveille]
    #[arg(long, value_name = "DIR", env = "REVEILLE_DATA_DIR", hide_env_values = true)]
    pub data_dir: Option<PathBuf>,
}
