import type { OutgoingHttpHeaders } from 'node:http';
import type { ProxyTarget } from '../../serving/proxy/forward.ts';
import { hostPort } from '../../net/dial.ts';
import { type UpgradeOutcome, upgradeBackend } from '../../serving/proxy/upgrade.ts';
import { SpdyConnection } from '../../serving/spdy/connection.ts';
import type { SpdyStream } from '../../serving/spdy/stream.ts';
import { quote } from '../../util/go-quote.ts';

/** Which of a command's streams are wanted. */
export interface CommandStreams {
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

/** A command that runs in a container, as the client side of SPDY sees it. */
export interface RemoteCommand {
  connection: SpdyConnection;
  /** What the kubelet says of how it went. */
  error: SpdyStream;
  stdin: SpdyStream | undefined;
  stdout: SpdyStream | undefined;
  stderr: SpdyStream | undefined;
  /** Sizes of the terminal, for a command that has one. */
  resize: SpdyStream | undefined;
  /** Whether the error stream holds a Status (from version 4 on), rather than text. */
  hasStatus: boolean;
}

/** Best first. Version 1 is older than any kubelet that could be met. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io'];
const STATUS_PROTOCOLS = new Set(PROTOCOLS.slice(0, 2));
const RESIZE_PROTOCOLS = new Set(PROTOCOLS.slice(0, 3));
const PING_PERIOD_MS = 5000;
const MAX_REASON_BYTES = 50_000;

const HEADERS: OutgoingHttpHeaders = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': PROTOCOLS, 'content-length': 0 };

/** Begins a command at a kubelet (client-go/tools/remotecommand). Errors are in upstream's words. The connection ends when the signal aborts. */
export async function startCommand(target: ProxyTarget, wanted: CommandStreams, signal: AbortSignal): Promise<RemoteCommand> {
  const outcome = await upgraded(target, signal);
  const { response, connection: socket, head } = outcome;
  const connection = new SpdyConnection(socket, head, { role: 'client', pingPeriodMs: PING_PERIOD_MS });
  const protocol = String(response.headers['x-stream-protocol-version'] ?? '');
  const open = (streamtype: string, isWanted: boolean): Promise<SpdyStream | undefined> =>
    isWanted ? connection.open({ streamtype }) : Promise.resolve(undefined);
  try {
    return {
      connection,
      error: await connection.open({ streamtype: 'error' }),
      stdin: await open('stdin', wanted.stdin),
      stdout: await open('stdout', wanted.stdout),
      // A terminal has one stream for both.
      stderr: await open('stderr', wanted.stderr && !wanted.tty),
      resize: await open('resize', wanted.tty && RESIZE_PROTOCOLS.has(protocol)),
      hasStatus: STATUS_PROTOCOLS.has(protocol),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function upgraded(target: ProxyTarget, signal: AbortSignal): Promise<Extract<UpgradeOutcome, { connection: unknown }>> {
  const host = hostPort(target.host, target.port);
  const url = `https://${host}${target.path}`;
  let outcome: UpgradeOutcome;
  try {
    outcome = await upgradeBackend(target, { method: 'POST', headers: { ...HEADERS, host } }, signal);
  } catch (error) {
    // The dialer's message is that of a proxy; a client's differs.
    throw new Error(`error sending request: Post ${quote(url)}: ${(error as Error).message.replace(/^error dialing backend: /, '')}`, { cause: error });
  }
  if ('refusal' in outcome) throw await refusalError(outcome.refusal);
  const { connection, response } = outcome;
  if (response.headers.upgrade?.toLowerCase().includes('spdy/3.1')) return outcome;
  connection.destroy();
  throw new Error('unable to upgrade connection: empty server response');
}

async function refusalError(refusal: Extract<UpgradeOutcome, { refusal: unknown }>['refusal']): Promise<Error> {
  const { statusCode = 0, headers, socket } = refusal;
  try {
    if (statusCode >= 300 && statusCode < 400 && headers.location)
      return new Error(`error sending request: Post ${quote(headers.location)}: redirect not allowed`);
    const reason = (await firstBytes(refusal)).toString('utf8');
    return new Error(`unable to upgrade connection: ${messageIn(reason)}`);
  } catch {
    return new Error('unable to upgrade connection: unable to read error from server response');
  } finally {
    socket.destroy();
  }
}

async function firstBytes(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes >= MAX_REASON_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_REASON_BYTES);
}

/** A Status' message, or the text itself. */
function messageIn(text: string): string {
  const message = (parsed(text) as { message?: unknown } | undefined)?.message;
  return (typeof message === 'string' && message.trim()) || text.trim() || 'empty server response';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** How a command ended: well, with an exit code, or with an error. */
export type CommandResult = { kind: 'success' } | { kind: 'exit'; code: number } | { kind: 'error'; message: string };

const SUCCESS: CommandResult = { kind: 'success' };
const failed = (message: string): CommandResult => ({ kind: 'error', message });

/** Reads the error stream to its end (client-go/tools/remotecommand, errorDecoderV4 and V2). */
export async function resultOf({ error, hasStatus }: RemoteCommand): Promise<CommandResult> {
  const text = await textOf(error);
  // Upstream takes this for a success; but a kubelet that dies says nothing of how a command went.
  if (text === '' && error.isCutOff) return failed('error reading from error stream: unexpected EOF');
  if (text === '') return SUCCESS;
  if (!hasStatus) return failed(`error executing remote command: ${text}`);
  return statusResult(text);
}

/** To its end, however that comes; beyond what anyone would want to read, nothing is kept. */
function textOf(stream: SpdyStream): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  stream.on('data', (chunk: Buffer) => {
    if (sizeBytes < MAX_REASON_BYTES) chunks.push(chunk);
    sizeBytes += chunk.length;
  });
  return new Promise((resolve) => {
    const finish = (): void => resolve(Buffer.concat(chunks).toString('utf8'));
    stream.once('end', finish).once('close', finish);
  });
}

interface SentStatus {
  status?: unknown;
  reason?: unknown;
  message?: unknown;
  details?: { causes?: { reason?: unknown; message?: unknown }[] };
}

function statusResult(text: string): CommandResult {
  const status = parsed(text) as SentStatus | null | undefined;
  if (typeof status !== 'object' || status === null) return failed(`error stream protocol error: invalid character in ${quote(text)}`);
  if (status.status === 'Success') return SUCCESS;
  if (status.status !== 'Failure') return failed('error stream protocol error: unknown error');
  if (status.reason !== 'NonZeroExitCode') return failed(String(status.message ?? ''));
  if (!status.details) return failed('error stream protocol error: details must be set');
  const causes = Array.isArray(status.details.causes) ? status.details.causes : [];
  const cause = causes.find((one) => one?.reason === 'ExitCode');
  if (!cause) return failed('error stream protocol error: no ExitCode cause given');
  const code = String(cause.message);
  return /^\d{1,3}$/.test(code) && Number(code) <= 255
    ? { kind: 'exit', code: Number(code) }
    : failed(`error stream protocol error: invalid exit code value ${quote(code)}`);
}
