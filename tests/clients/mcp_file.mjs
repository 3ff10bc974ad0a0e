// A server of the Model Context Protocol, made with its own kit: one tool, which reads a file. Usage: node mcp_file.mjs FILE
import { readFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const [file] = process.argv.slice(2);
const server = new McpServer({ name: "file", version: "1.0.0" });
server.registerTool("look", { description: "Reads the file." }, async () => ({
  content: [{ type: "text", text: readFileSync(file, "utf8") }],
}));
await server.connect(new StdioServerTransport());
