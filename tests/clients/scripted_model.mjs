// A model that does as it is told, on loopback, with nothing behind it but a function: Anthropic's Messages, OpenAI's Responses
// and Chat Completions, Google's generateContent.
//
// It is also the proxy that agents are given, so that whatever they want from elsewhere is refused and can be listed.
import http from "node:http";

// `answer` gets a request as { tools, said, results, before }: the tools' names, what was said last, what tools answered last,
// and the conversation up to there, as text. It returns { say } or { call, input }, or { status } for an error of HTTP. Every request
// is kept in `seen`.
export async function scriptedModel(answer) {
  const seen = [];
  const elsewhere = new Set();
  const waiting = [];
  const server = http.createServer(async (asked, reply) => {
    let body = "";
    for await (const part of asked) body += part;
    if (asked.url.startsWith("http")) elsewhere.add(new URL(asked.url).host);
    const last = new URL(asked.url, "http://model").pathname.split("/").at(-1);
    const api = apis[last.includes(":") ? last.split(":").at(-1) : last];
    if (asked.method !== "POST" || api === undefined) {
      return reply.writeHead(asked.method === "HEAD" ? 200 : 404).end();
    }
    const request = JSON.parse(body);
    const turn = api.read(request);
    seen.push(turn);
    for (const wake of waiting.splice(0)) wake();
    const answered = await answer(turn);
    if (answered.status) {
      const error = { type: "error", message: `as it was told: ${answered.status}`, code: answered.status };
      return reply.writeHead(answered.status, { "content-type": "application/json" }).end(JSON.stringify({ type: "error", error }));
    }
    const events = api.print(request, answered, seen.length);
    if (api.isWhole?.(request, last)) {
      return reply.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(events.at(-1)));
    }
    reply.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) {
      reply.write(`${event.type === undefined ? "" : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\r\n\r\n`);
    }
    return reply.end(api.end ?? "");
  });
  server.on("connect", (asked, socket) => {
    elsewhere.add(asked.url);
    // Whoever is refused may hang up first.
    socket.on("error", () => {});
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    seen,
    elsewhere,
    // The first request that is such, now or later.
    async asked(isSuch) {
      for (;;) {
        const found = seen.find(isSuch);
        if (found) return found;
        await new Promise((wake) => waiting.push(wake));
      }
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const texts = (blocks) => blocks.map(({ text }) => text ?? "").join("\n");
const flat = (content) => (typeof content === "string" ? content : texts(content));

const messages = {
  read({ messages, tools = [], metadata }) {
    const { content } = messages.at(-1);
    const last = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return {
      tools: tools.map(({ name }) => name),
      schemas: new Map(tools.map(({ name, input_schema }) => [name, input_schema])),
      said: texts(last.filter(({ type }) => type === "text")),
      results: last.filter(({ type }) => type === "tool_result").map((result) => flat(result.content)),
      before: JSON.stringify(messages.slice(0, -1)),
      // Claude Code names its conversation here.
      user: metadata?.user_id ?? "",
    };
  },
  print({ model }, { say, call, input }, number) {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: `msg_${number}`, type: "message", role: "assistant", model, content: [], usage };
    const content_block = call
      ? { type: "tool_use", id: `toolu_${number}`, name: call, input: {} }
      : { type: "text", text: "" };
    const delta = call
      ? { type: "input_json_delta", partial_json: JSON.stringify(input) }
      : { type: "text_delta", text: say };
    const stop_reason = call ? "tool_use" : "end_turn";
    return [
      { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: "content_block_start", index: 0, content_block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
  },
};

// A tool is a function, or one of a namespace, under whose name it goes.
const functions = (tools = []) =>
  tools.flatMap(({ type, name, tools: own }) =>
    type === "namespace"
      ? own.map((tool) => ({ full: `${name}${tool.name}`, namespace: name, name: tool.name }))
      : [{ full: name, name }],
  );

const responses = {
  read({ input, tools }) {
    const last = input.findLastIndex(({ type, role }) => role === "assistant" || type === "function_call");
    const fresh = input.slice(last + 1);
    return {
      tools: functions(tools).map(({ full }) => full),
      said: fresh.filter(({ type }) => type === "message").map(({ content }) => flat(content)).join("\n"),
      results: fresh.filter(({ type }) => type === "function_call_output").map(({ output }) => flat(output)),
      before: JSON.stringify(input.slice(0, last + 1)),
    };
  },
  print({ tools }, { say, call, input }, number) {
    const { full, ...tool } = functions(tools).find(({ full }) => full === call) ?? {};
    const item = call
      ? { type: "function_call", id: `fc_${number}`, call_id: `call_${number}`, ...tool, arguments: JSON.stringify(input) }
      : { type: "message", id: `msg_${number}`, role: "assistant", content: [{ type: "output_text", text: say }] };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    return [
      { type: "response.created", response: { id: `resp_${number}` } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id: `resp_${number}`, usage } },
    ];
  },
};

// By the last word of the path, behind a colon if there is one.
// What was said since the model last spoke, and what was before it.
function since(entries, isModels, text) {
  const last = entries.findLastIndex(isModels);
  const fresh = entries.slice(last + 1);
  return { said: fresh.map(text).join("\n"), before: JSON.stringify(entries.slice(0, last + 1)), fresh };
}

const completions = {
  read({ messages, tools = [] }) {
    const { said, before, fresh } = since(messages, ({ role }) => role === "assistant", ({ content }) => flat(content ?? ""));
    const results = fresh.filter(({ role }) => role === "tool").map(({ content }) => flat(content));
    return { tools: tools.map(({ function: { name } }) => name), said, results, before };
  },
  // The last one is the whole answer.
  print({ model, stream }, { say, call, input }, number) {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const [object, part] = stream ? ["chat.completion.chunk", "delta"] : ["chat.completion", "message"];
    const of = (choice) => ({ id: `c${number}`, object, created: 1, model, choices: [{ index: 0, ...choice }], usage });
    const asked = { name: call, arguments: JSON.stringify(input) };
    const tool_calls = call && [{ index: 0, id: `call_${number}`, type: "function", function: asked }];
    const end = call ? "tool_calls" : "stop";
    const said = { [part]: { role: "assistant", content: say ?? null, tool_calls }, finish_reason: stream ? null : end };
    return stream ? [of(said), of({ [part]: {}, finish_reason: end })] : [of(said)];
  },
  isWhole: ({ stream }) => !stream,
  end: "data: [DONE]\n\n",
};

const content = {
  read({ contents, tools = [] }) {
    const text = ({ parts = [] }) => parts.map((part) => part.text ?? "").join("\n");
    const { said, before, fresh } = since(contents, ({ role }) => role === "model", text);
    const results = fresh.flatMap(({ parts = [] }) => parts.flatMap(({ functionResponse: it }) => (it ? [JSON.stringify(it.response)] : [])));
    const names = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name));
    return { tools: names, said, results, before };
  },
  print({ generationConfig }, { say, call, input }, number) {
    // Asked for JSON, it is asked which model to take.
    const choice = { reasoning: "simple", complexity_reasoning: "x", complexity_score: 1, model_choice: "flash" };
    const text = generationConfig?.responseMimeType === "application/json" ? JSON.stringify(choice) : say;
    const parts = [call ? { functionCall: { name: call, args: input } } : { text }];
    const candidates = [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }];
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    return [{ candidates, usageMetadata, modelVersion: "scripted", responseId: `r${number}` }];
  },
  isWhole: (_, method) => !method.includes("stream"),
};

const apis = { messages, responses, completions, generateContent: content, streamGenerateContent: content };
