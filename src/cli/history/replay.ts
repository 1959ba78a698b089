import type { HistorySource, Moment } from '../../history/history-source.ts';
import { CommandError } from '../../options/command-error.ts';
import { type ReplayServer, startReplay } from '../../compose/replay/replay-server.ts';
import type { Output } from '../command.ts';
import { onlyArgument, readOwnFlags } from '../commands/own-flags.ts';
import { parseMoment, timeText } from './moments.ts';
import { TIME_HELP, textFlag, withHistory } from './history-flags.ts';

const MAX_PORT = 65_535;

/** `binnacle replay flight.bin --at T`: serves the cluster of a recorded moment until it is stopped. */
export async function replay(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, { at: { type: 'string' }, play: { type: 'string' }, port: { type: 'string' } });
  const file = onlyArgument('binnacle replay', 'file of a recording', positionals);
  const port = readPort(textFlag(values, 'port'));
  const speed = readSpeed(textFlag(values, 'play'));
  await withHistory({ file }, async (source) => {
    const { server, atMs, cluster } = await serveMoment(source, textFlag(values, 'at'), { port, speed });
    output.stdout(`${cluster.server} (${cluster.gitVersion}) as it was at ${timeText(atMs)}, read-only on ${server.url}
${speed > 0 ? `Time passes ${speed} times as fast as it did.\n` : ''}
  export KUBECONFIG=${server.kubeconfigFile}
  kubectl get pods --all-namespaces

Stop with Ctrl-C.
`);
    void server.played.then(
      () => speed > 0 && output.stdout('The recording has been played to its end.\n'),
      () => undefined,
    );
    await stopSignal();
    await server.stop();
  });
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    // A server's own timers keep no process alive.
    const alive = setInterval(() => undefined, 60_000);
    const stop = (): void => {
      clearInterval(alive);
      process.off('SIGINT', stop).off('SIGTERM', stop).off('SIGHUP', stop);
      resolve();
    };
    process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop);
  });
}

interface ServedMoment {
  server: ReplayServer;
  atMs: number;
  cluster: { server: string; gitVersion: string };
  leftOut: readonly string[];
}

/** A server of the moment that a person named; of the end where none is named. */
export async function serveMoment(source: HistorySource, at: string | undefined, options: { port: number; speed: number }): Promise<ServedMoment> {
  const endMs = await source.endMs();
  const moment: Moment = at === undefined ? { timeMs: endMs } : parseMoment('--at', at, endMs);
  const timeline = await source.timelineAt(moment).catch((error: Error) => {
    throw new CommandError(error.message);
  });
  const { atMs, cluster, leftOut } = timeline;
  return { server: await startReplay(timeline, options), atMs, cluster, leftOut };
}

/** `10x`, `0.5x`; 0 where time stands still. */
export function readSpeed(text: string | undefined): number {
  if (text === undefined) return 0;
  const speed = Number(/^(\d+(?:\.\d+)?)x?$/.exec(text)?.[1]);
  if (!(speed > 0)) throw new CommandError(`--play takes how fast time passes, such as 10x, got ${JSON.stringify(text)}`);
  return speed;
}

function readPort(text: string | undefined): number {
  const port = Number(text ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > MAX_PORT) throw new CommandError(`--port takes a port, got ${JSON.stringify(text)}`);
  return port;
}

export const replayHelp = (program: string): string => `Serves a recorded cluster as it was at a moment: read-only, with its discovery, OpenAPI and custom
resources, to kubectl and every other client, until it is stopped.

Usage:
  ${program} flight.bin [flags]

Flags:
      --at string      ${TIME_HELP};
                       or a resourceVersion; default: the end of the recording
      --play string    let time pass from there, 10x for ten times as fast: watches see what happened
      --port int       the port to listen on; default: any free one

Names, uids, resourceVersions and managedFields are the recorded ones; roles too, so that
\`kubectl auth can-i --as jane …\` answers for that moment. Writes are refused.
`;
