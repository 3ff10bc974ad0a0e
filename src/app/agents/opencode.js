// Reveille's plugin for opencode, written by `reveille plugin opencode`. It says for whom each call of a tool is, tells the
// daemon when turns begin and end, and puts what is due into the conversation that it is for.
//
// Nothing here may break a turn: without a daemon, or without the program, opencode goes on as if there were no plugin.
import { spawn } from "node:child_process"

// The program that tells the daemon, and its arguments.
const HOOK = ["reveille", "hook", "opencode"]
// A hook that has a prompt for the conversation ends with this code, and with the prompt in its error output.
const WAKE = 2
// A hook gives up by itself, long before.
const PATIENCE_MS = 2_000
// How long a prompt that opencode did not take is left alone.
const AGAIN_MS = 5_000
// A conversation over ACP has a host of its own, which reports its turns.
const IS_HOSTED = process.argv.includes("acp")
// `opencode run` ends with its turn, and is not woken.
const IS_WINDOW = !process.argv.includes("run")

export const Reveille = async ({ client, directory }) => {
  // The conversations that somebody has written into, in this process.
  const conversations = new Map()

  function start(event, id, more, outputs) {
    const child = spawn(HOOK[0], [...HOOK.slice(1), ...outputs.args], { stdio: ["pipe", "ignore", outputs.stderr] })
    // A program that is not there, or that does not read, is an error here, and none of opencode's.
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ session_id: id, cwd: directory, hook_event_name: event, ...more }))
    child.unref()
    return child
  }

  function tell(event, id, more) {
    return new Promise((done) => {
      const late = setTimeout(done, PATIENCE_MS)
      const end = () => { clearTimeout(late); done() }
      start(event, id, more, { args: [], stderr: "ignore" }).on("error", end).on("exit", end)
    })
  }

  // Waits for one prompt, in the place of an earlier waiter, which ends.
  function wait(event, id, conversation) {
    if (!IS_WINDOW) return
    const waiter = start(event, id, {}, { args: ["--wait"], stderr: "pipe" })
    let prompt = ""
    waiter.stderr.setEncoding("utf8").on("data", (text) => { prompt += text })
    conversation.waiters += 1
    waiter.on("close", (code) => {
      conversation.waiters -= 1
      if (code !== WAKE) return
      conversation.isWoken = true
      // As the person wrote last: a plan stays a plan.
      const body = { ...conversation.as, parts: [{ type: "text", text: prompt.trimEnd() }] }
      // A prompt that opencode does not take has no receipt, and comes again: it has the waiter's place until its turn is over.
      const again = async () => {
        conversation.isWoken = false
        // Not at once: opencode may refuse the next one too.
        await new Promise((go) => setTimeout(go, AGAIN_MS).unref())
        // A turn of the person's has ended meanwhile, and a waiter has begun after it.
        if (conversation.isWoken || conversation.waiters > 0) return
        if (!conversation.isBusy) await tell("Stop", id, {})
        // The person may have written meanwhile.
        wait(conversation.isBusy ? "UserPromptSubmit" : "Stop", id, conversation)
      }
      client.session.promptAsync({ path: { id }, body }).then((answer) => answer?.error && again(), again)
    })
  }

  // A sub-agent's conversation is part of its parent's turn.
  async function isOfSubAgent(id) {
    try {
      return Boolean((await client.session.get({ path: { id } })).data?.parentID)
    } catch {
      return false
    }
  }

  const marks = {
    "tool.execute.before": async (input, output) => {
      if (!input.tool.startsWith("reveille_")) return
      // No tool sees these arguments.
      output.args.address = `opencode:${input.sessionID}`
      output.args.directory = directory
    },
  }
  if (IS_HOSTED) return marks

  return {
    ...marks,

    "chat.message": async (input, output) => {
      const id = input.sessionID
      const known = conversations.get(id)
      if (!known && (await isOfSubAgent(id))) return
      const conversation = known ?? { waiters: 0 }
      conversations.set(id, conversation)
      conversation.isBusy = true
      conversation.as = { ...(input.agent && { agent: input.agent }), ...(input.model && { model: input.model }) }
      const prompt = output.parts.map((part) => part.text ?? "").join("\n")
      await tell("UserPromptSubmit", id, { prompt })
      // A turn of ours has no waiter: the next prompt comes after it.
      if (conversation.waiters === 0 && !conversation.isWoken) wait("UserPromptSubmit", id, conversation)
    },

    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id
      const conversation = conversations.get(id)
      if (!conversation) return
      const isIdle = event.type === "session.idle" ||
        (event.type === "session.status" && event.properties.status?.type === "idle")
      if (isIdle && conversation.isBusy) {
        conversation.isBusy = conversation.isWoken = false
        await tell("Stop", id, {})
        // The person may have written meanwhile.
        wait(conversation.isBusy ? "UserPromptSubmit" : "Stop", id, conversation)
      } else if (event.type === "session.deleted") {
        conversations.delete(id)
        await tell("SessionEnd", id, {})
      }
    },
  }
}
