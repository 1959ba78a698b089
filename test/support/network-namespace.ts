import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

/** As root a namespace of the network is enough; others make one of users around it, in which they are root. */
const UNSHARE = process.getuid?.() === 0 ? ['--net'] : ['--map-root-user', '--net'];
const ENTER = process.getuid?.() === 0 ? ['--net'] : ['--user', '--preserve-credentials', '--net'];

/** Interfaces that need no hardware; not every kernel has both kinds. A veth runs only where its other end is up. */
const INTERFACES = [
  'ip link add outside type dummy',
  'ip link add outside type veth peer name other-end && ip link set other-end up', //
];

/** Why no network namespace can be had here; undefined where one can. */
export function whyNoNamespaces(): string | undefined {
  const made = spawnSync('unshare', [...UNSHARE, 'ip', 'link', 'set', 'lo', 'up'], { encoding: 'utf8' });
  if (made.error) return `unshare cannot be run: ${made.error.message}`;
  return made.status === 0 ? undefined : `unshare ${UNSHARE.join(' ')} fails: ${made.stderr.trim()}`;
}

/** A machine within this one: processes in it see no interface but the loopback, until `addAddress`. */
export class NetworkNamespace {
  /** A process that does nothing keeps it. */
  readonly #keeper: ChildProcess;

  private constructor(keeper: ChildProcess) {
    this.#keeper = keeper;
  }

  static async create(): Promise<NetworkNamespace> {
    const keeper = spawn('unshare', [...UNSHARE, 'sh', '-c', 'ip link set lo up && echo up && exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(keeper.stdout, 'data');
    return new NetworkNamespace(keeper);
  }

  /** What runs a command inside, to be put before it. */
  get prefix(): readonly [string, ...string[]] {
    return ['nsenter', `--target=${this.#keeper.pid}`, ...ENTER, '--'];
  }

  /** Runs a command to its end, and answers what it printed. */
  async run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<string> {
    const [enter, ...rest] = this.prefix;
    return (await promisify(execFile)(enter, [...rest, command, ...args], { env })).stdout;
  }

  /** An interface by which others could reach the machine, with this address: `192.0.2.1/24`. */
  addAddress(address: string): void {
    const [enter, ...rest] = this.prefix;
    const isMade = INTERFACES.some((command) => spawnSync(enter, [...rest, 'sh', '-c', command]).status === 0);
    if (!isMade) throw new Error('the kernel has neither dummy nor veth interfaces');
    execFileSync(enter, [...rest, 'sh', '-c', `ip link set outside up && ip address add ${address} dev outside`]);
  }

  /** Processes inside are to be ended before. */
  close(): void {
    this.#keeper.kill('SIGKILL');
  }
}
