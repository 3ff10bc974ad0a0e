/** Where a daemon is. Without any of it: at the Unix socket of the data directory. */
export interface Where {
  /** The path of its Unix socket, by which a client is the operator. */
  socket?: string;
  /** Its address, such as `http://127.0.0.1:7517`, and a token: of an operator, of a host, or of a session. */
  url?: string;
  token?: string;
}

/** A text that an agent is to read. */
export interface Message {
  role: string;
  content: { type: "text"; text: string }[];
  timestamp: string;
  source: string;
  "schedule-id": string;
  label: string | null;
  [more: string]: unknown;
}

/** What came due, and the ways to answer it. Each resolves with false if there was an answer already or it was not taken. */
export interface Delivery {
  readonly id: string;
  readonly session: string;
  readonly message: Message;
  /** The message's content. */
  readonly text: string;
  readonly schedule: string;
  readonly label: string | null;
  /** It has arrived. The body may go on for as long as it wants. */
  ack(): Promise<boolean>;
  /** It could not be handed to the agent. */
  nack(error: unknown, options?: { phase?: "prompt-submit" | "create-session" }): Promise<boolean>;
}

export interface HostOptions {
  /** The configuration with which the session is opened if it is not open. */
  config?: Record<string, unknown>;
  /** The time zone that its calls mean if they name none. */
  zone?: string;
  /** Ends the loop. */
  signal?: AbortSignal;
  /** Called before each attempt to connect again, with the reason and the wait in milliseconds. */
  onLost?: (why: Error, wait: number) => void;
}

export class Reveille {
  constructor(where?: Where);
  host(session: string, options?: HostOptions): AsyncGenerator<Delivery, void, void>;
  call(tool: string, args?: Record<string, unknown>, options?: { session?: string }): Promise<any>;
  eql(query: string, options?: { entity?: string; lenient?: boolean }): Promise<any>;
  graphql(query: string, variables?: Record<string, unknown>, options?: { session?: string }): Promise<any>;
  request(op: string, fields?: Record<string, unknown>): Promise<any>;
  close(): Promise<void>;
}

/** A refusal of the daemon, or the loss of the connection. */
export class ReveilleError extends Error {
  class?: string;
  phase?: string;
  code?: string;
  data: any;
  isLost: boolean;
}
