//! The daemon's configuration: from arguments and environment first, then the configuration file,
//! then defaults.

pub(in crate::app) mod agent_hosts;
pub(in crate::app) mod channels;
mod email;
pub(in crate::app) mod environment;
pub(in crate::app) mod guard_rules;
mod inbound;
pub(in crate::app) mod primitives;
mod tool_endpoint;
pub(in crate::app) mod tool_servers;
mod tool_terms;
pub(in crate::app) mod tools;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::fault::AppFault;
use crate::adapter::outbound::GuardRoute;
use crate::adapter::system_zones;
use crate::calendar::Zones;
use crate::domain::{GuardPolicy, Primitives, TokenName};
use crate::limits;
use crate::runtime::Token;
use crate::surface::cli::ServeArgs;
use crate::surface::http;
use agent_hosts::{AgentConfig, Agents};
use channels::{ChannelConfig, Channels};
use environment::Environment;
use guard_rules::GuardFile;
use primitives::PrimitivesConfig;
use tool_servers::{ServerConfig, ToolServers};
use tools::{Tools, ToolsConfig};

/// The complete, validated configuration of the daemon.
pub(super) struct Config {
    /// The file that it was read from.
    pub(super) path: Option<PathBuf>,
    pub(super) http: http::Config,
    /// The data directory; `None` if nothing may touch a disk.
    pub(super) data_dir: Option<PathBuf>,
    /// True if durable schedules and sessions are persisted in the data directory.
    pub(super) persists: bool,
    pub(super) socket: Option<PathBuf>,
    pub(super) token: Option<Token>,
    /// Hosts that have a token of their own each, by name.
    pub(super) host_tokens: Vec<TokenName>,
    pub(super) log: String,
    pub(super) log_json: bool,
    /// The channels to open.
    pub(super) channels: Channels,
    /// The tools that sessions can have called.
    pub(super) tools: Tools,
    /// The agents whose closed conversations the daemon resumes.
    pub(super) agents: Agents,
    /// The guard policy, if one is configured.
    pub(super) guard: Option<GuardPolicy>,
    /// The external guard, if one is configured.
    pub(super) outside: Option<GuardRoute>,
    /// The zone of times that name none, if one is configured.
    pub(super) zone: Option<String>,
    /// Which primitives are switched on.
    pub(super) primitives: Primitives,
}

/// A configuration file. Every field is optional.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct File {
    listen: Option<SocketAddr>,
    listen_public: bool,
    data_dir: Option<PathBuf>,
    volatile: bool,
    socket: Option<PathBuf>,
    log: Option<String>,
    log_json: bool,
    allow_hosts: Vec<String>,
    allow_origins: Vec<String>,
    channels: BTreeMap<String, ChannelConfig>,
    tools: ToolsConfig,
    /// Servers of the Model Context Protocol, by name.
    mcp: BTreeMap<String, ServerConfig>,
    agents: BTreeMap<String, AgentConfig>,
    primitives: PrimitivesConfig,
    guard: Option<GuardFile>,
    /// The zone of times that name none.
    zone: Option<String>,
    /// The names of hosts that get a token of their own each.
    host_tokens: Vec<String>,
}

impl Config {
    /// Combines arguments, environment and configuration file.
    ///
    /// # Errors
    /// [`AppFault::Usage`] for an invalid option, [`AppFault::Io`] for a file that cannot be read.
    pub(super) fn new(args: ServeArgs, environment: &Environment) -> Result<Config, AppFault> {
        let path = args.config.clone().or_else(|| own_file(&args, environment));
        let file = path.as_deref().map_or_else(|| Ok(File::default()), read)?;
        if args.config.is_none() && file.data_dir.is_some() {
            return Err(AppFault::usage(format!(
                "data-dir: {CONFIG} is read for its own directory, and names no other"
            )));
        }
        let listen = args.listen.or(file.listen).unwrap_or(DEFAULT_LISTEN);
        // Checked before a directory is created or a port is opened.
        check_reach(listen, args.listen_public || file.listen_public)?;
        let token = environment.token.as_deref().map(check_token).transpose()?;
        let (named, socket) = (args.data_dir.or(file.data_dir), args.socket.or(file.socket));
        let volatile = args.volatile || file.volatile;
        // The directory is needed for the store and for generated tokens. Without either, create
        // none.
        let diskless = volatile && token.is_some() && named.is_none();
        let data_dir = if diskless { None } else { Some(data_dir_of(named, environment)?) };
        let socket = socket.or_else(|| data_dir.as_ref().map(|directory| directory.join(SOCKET)));
        let mut http = http::Config::new(listen);
        // Lists are combined; of single values, the argument wins.
        http.hosts = [file.allow_hosts, args.allow_hosts].concat();
        http.origins = [file.allow_origins, args.allow_origins].concat();
        let log = args.log.or(file.log).unwrap_or_else(|| "info".to_owned());
        let log_json = args.log_json || file.log_json;
        let persists = !volatile && data_dir.is_some();
        // Channels and the guard are validated now, so an invalid file prevents the start.
        let channels = Channels::new(file.channels, Environment::value)?;
        http.proofs = std::sync::Arc::new(channels.proofs());
        let tools = Tools::new(file.tools, Environment::value)?;
        let tools = tools.with_servers(ToolServers::new(file.mcp, Environment::value)?);
        // The tool servers of agents read the daemon's own tokens from the directory.
        // A token of the environment is not there.
        let agents =
            Agents::new(file.agents, Environment::value, data_dir.as_deref().filter(|_| token.is_none()))?;
        let outside = file.guard.as_ref().map(GuardFile::outside).transpose()?.flatten();
        let primitives = file.primitives.checked()?;
        let zones = zones(file.zone.as_deref())?;
        let guard = file.guard.map(|guard| guard.policy(&zones)).transpose()?;
        let guard = guard_rules::with_tools(guard, tools.approved())?;
        let zone = file.zone;
        let host_tokens = host_names(&file.host_tokens, data_dir.is_some())?;
        Ok(Config {
            path,
            host_tokens,
            http,
            data_dir,
            persists,
            socket,
            token,
            log,
            log_json,
            channels,
            tools,
            agents,
            guard,
            outside,
            zone,
            primitives,
        })
    }
}

impl Config {
    /// Logs the file that it was read from.
    pub(super) fn log_source(&self) {
        if let Some(path) = &self.path {
            tracing::info!(target: "reveille", path = %path.display(), "configuration read");
        }
    }
}

/// The configuration file in the data directory, if there is one. Where nothing is on disk, it is not looked for.
fn own_file(args: &ServeArgs, environment: &Environment) -> Option<PathBuf> {
    let is_diskless = args.volatile && args.data_dir.is_none() && environment.token.is_some();
    let directory = data_dir_of(args.data_dir.clone(), environment).ok().filter(|_| !is_diskless)?;
    // What cannot be looked at is read, and says why it cannot be: it may have the rules of the guard.
    let is_absent = |path: &PathBuf| {
        fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    Some(directory.join(CONFIG)).filter(|path| !is_absent(path))
}

/// The names of hosts, each of which is a part of a file's name.
fn host_names(names: &[String], has_directory: bool) -> Result<Vec<TokenName>, AppFault> {
    let is_plain = |name: &str| {
        let is_part = |byte| u8::is_ascii_lowercase(&byte) || byte.is_ascii_digit() || byte == b'-';
        !name.is_empty() && name.len() <= 64 && name.bytes().all(is_part)
    };
    if !names.is_empty() && !has_directory {
        return Err(AppFault::usage("host-tokens needs a data directory, where the tokens are"));
    }
    let name = |name: &String| {
        let named = TokenName::new(name).ok().filter(|_| is_plain(name) && !RESERVED.contains(&&**name));
        named.ok_or_else(|| {
            AppFault::usage(format!(
                "host-tokens: a name is of small letters, digits and hyphens, and not {}",
                RESERVED.join(", ")
            ))
        })
    };
    let read: Vec<TokenName> = names.iter().map(name).collect::<Result<_, _>>()?;
    match read.iter().enumerate().find(|(place, name)| read[..*place].contains(name)) {
        Some((_, twice)) => Err(AppFault::usage(format!("host-tokens: {} is listed twice", twice.as_str()))),
        None => Ok(read),
    }
}

/// Names that other tokens have in the log.
const RESERVED: &[&str] = &["operator", "observer", "host"];

/// The time zones, with the one that is configured.
fn zones(configured: Option<&str>) -> Result<Zones, AppFault> {
    let Some(name) = configured else { return Ok(system_zones()) };
    let configured = system_zones().with_configured(name);
    configured.map_err(|fault| AppFault::usage(format!("zone: {fault}: {}", fault.hint())))
}

/// The data directory: the one named, or the default of the user.
///
/// # Errors
/// [`AppFault::Usage`] if the user has no home directory.
pub(super) fn data_dir_of(named: Option<PathBuf>, environment: &Environment) -> Result<PathBuf, AppFault> {
    named.or_else(|| environment.state_dir()).ok_or_else(|| AppFault::usage(NO_HOME))
}

fn read(path: &Path) -> Result<File, AppFault> {
    let unreadable = |error: io::Error| AppFault::io(format!("{} cannot be read", path.display()), error);
    let text = fs::read_to_string(path).map_err(unreadable)?;
    toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        AppFault::usage(format!(
            "{}: {}{}",
            path.display(),
            place(&text, start),
            without_values(error.message())
        ))
    })
}

/// The line number and key of an error. The line's text is left out: it may contain a secret.
fn place(text: &str, start: usize) -> String {
    let before = text.get(..start).unwrap_or_default();
    let (number, begin) = (before.matches('\n').count() + 1, before.rfind('\n').map_or(0, |at| at + 1));
    let line = text[begin..].lines().next().unwrap_or_default();
    let name = line.split_once('=').map(|(name, _)| name.trim());
    let is_name = |name: &&str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    name.filter(is_name).map_or_else(|| format!("line {number}: "), |name| format!("line {number}, {name}: "))
}

/// An error message without quoted values, which may be secrets.
pub(super) fn without_values(message: &str) -> String {
    match (message.find('"'), message.rfind('"')) {
        (Some(first), Some(last)) if first < last => {
            format!("{}\"…\"{}", &message[..first], &message[last + 1..])
        }
        _ => message.to_owned(),
    }
}

fn check_reach(listen: SocketAddr, public: bool) -> Result<(), AppFault> {
    // Requests on a public address are unencrypted, so it takes an explicit option.
    if listen.ip().is_loopback() || public {
        return Ok(());
    }
    Err(AppFault::usage(format!(
        "other machines can reach {listen}: listen on 127.0.0.1, or pass --listen-public if that is intended"
    )))
}

fn check_token(text: &str) -> Result<Token, AppFault> {
    let min = limits::TOKEN_CHARS_MIN.value;
    let usable = text.chars().count() as u64 >= min && text.chars().all(|char| char.is_ascii_graphic());
    // The message must not contain the token, even an unusable one.
    usable.then(|| Token::from_text(text)).ok_or_else(|| {
        AppFault::usage(format!(
            "REVEILLE_TOKEN must be at least {min} printable characters without blanks; \
             `head -c 32 /dev/urandom | base64` makes one"
        ))
    })
}

/// The name of the configuration file in the data directory.
pub(super) const CONFIG: &str = "reveille.toml";
/// The default name of the Unix socket in the data directory.
pub(super) const SOCKET: &str = "reveille.sock";
pub(super) const DEFAULT_LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7517);
const NO_HOME: &str = "there is no home directory for the daemon's state; pass --data-dir DIR";
