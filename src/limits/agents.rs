//! The bounds of agents: their processes, their turns, their receipts.

use super::declare::{Limit, limits};

limits! { OF_AGENTS:
    /// Longest wait that a call of `inbox` can ask for. It is answered after `mcp-wait-ms`, with nothing if nothing has come.
    INBOX_WAIT_SECONDS = 600 "s" as "inbox-wait-seconds";
    /// Time limit of an agent's hook that is no waiter: an agent waits for its hooks, and must not notice this one.
    HOOK_MS = 200 "ms" as "hook-ms";
    /// Processes of agents whose conversation is known to tool servers. The one that was named first is forgotten first.
    AGENT_PROCESSES_KNOWN = 1_024 "processes" as "agent-processes-known";
    /// Schedules of an agent's own that are shown of one conversation: the first that the agent names. The others are counted.
    /// Claude Code allows 50.
    AGENT_SCHEDULES = 64 "schedules" as "agent-schedules";
    /// What is shown of each text of such a schedule, of its prompt for instance: the beginning.
    AGENT_SCHEDULE_TEXT_BYTES = 200 "bytes" as "agent-schedule-text-bytes";
    /// How long the receipt of an agent's conversation may take: the agent is started and loads the conversation first. The
    /// deadlines of the steps are shorter, and each has a reason of its own; this one is behind them all.
    AGENT_RECEIPT_MS = 900_000 "ms" as "agent-receipt-ms";
    /// Longest name of an agent, or of a profile of one.
    AGENT_NAME_BYTES = 32 "bytes" as "agent-name-bytes";
    /// Size of the messages that are taken out of an inbox at once. A longer one is taken alone, whole.
    TAKEN_BYTES = 16_384 "bytes" as "taken-bytes";
    /// Agents in one configuration.
    AGENTS = 32 "agents" as "agents";
    /// Processes of agents at a time, of all agents together. Each takes some hundred MB.
    AGENT_PROCESSES = 8 "processes" as "agent-processes";
    /// Longest line from an agent. A conversation that is loaded is replayed, files that the agent read included; a longer line
    /// is passed over.
    AGENT_LINE_BYTES = 2_097_152 "bytes" as "agent-line-bytes";
    /// What is retained of an agent's error output: the end of it.
    AGENT_ERRORS_BYTES = 2_048 "bytes" as "agent-errors-bytes";
    /// What is retained of an agent's last message in a turn: the beginning of it.
    TURN_TEXT_BYTES = 8_192 "bytes" as "turn-text-bytes";
    /// How often what an agent says in a turn is shown anew at most, while the turn goes on.
    TURN_SHOWN_MS = 250 "ms" as "turn-shown-ms";
    /// Tool calls that are retained of one turn.
    TURN_TOOL_CALLS = 200 "calls" as "turn-tool-calls";
    /// Questions for permission that are retained of one turn. An operator is asked none beyond these: they are refused.
    TURN_QUESTIONS = 100 "questions" as "turn-questions";
    /// Longest account of what a tool is to do that an operator is asked about. A longer one is refused, because nobody would
    /// be shown all of it.
    QUESTION_BYTES = 16_384 "bytes" as "question-bytes";
    /// Turns of agents that are retained, of all sessions together. The oldest are dropped.
    TURNS_KEPT = 1_000 "turns" as "turns-kept";
    /// Longest time that an agent may say nothing within a turn, as configured.
    AGENT_SILENCE_MS = 600_000 "ms" as "agent-silence-ms";
    /// Longest time of one turn of an agent, as configured.
    AGENT_TURN_MS = 86_400_000 "ms" as "agent-turn-ms";
    /// Longest wait before an agent that failed to start is started again.
    AGENT_BACKOFF_MS = 60_000 "ms" as "agent-backoff-ms";
    /// Shortest time between two questions who holds a conversation, and shortest wait after a start that failed, as configured:
    /// each takes a process.
    AGENT_WAIT_MS_MIN = 20 "ms" as "agent-wait-ms-min";
    /// Starts of an agent that may fail in a row before it counts as broken.
    AGENT_FAILED_STARTS = 3 "starts" as "agent-failed-starts";
    /// How long it is waited for the answer of a program that says who holds a conversation.
    AGENT_PROBE_MS = 5_000 "ms" as "agent-probe-ms";
}
