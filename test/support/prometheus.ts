import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, vi } from 'vitest';
import { findPrometheus, hasCommand } from './find-etcd.ts';
import { freePorts } from './free-ports.ts';
import { PROJECT_DIR } from './paths.ts';
import { type ServerProcess, temporaryFolder } from './server.ts';

/** Fetches Debian's, where there is none and apt is there (scripts/prometheus.sh). False where there is none in the end. */
export function hasPrometheus(): boolean {
  if (findPrometheus() !== undefined) return true;
  if (!hasCommand('apt-get') || !hasCommand('dpkg')) return false;
  try {
    execFileSync(join(PROJECT_DIR, 'scripts', 'prometheus.sh'), { cwd: PROJECT_DIR, timeout: 120_000, stdio: 'ignore' });
  } catch {
    return false;
  }
  return findPrometheus() !== undefined;
}

export const promtool = async (folder: string, ...args: string[]): Promise<string> => {
  const { stdout, stderr } = await promisify(execFile)(findPrometheus('promtool')!, args, { cwd: folder });
  return stdout + stderr;
};

interface Answer {
  data: { result: { metric: Record<string, string>; value: [number, string] }[] };
}

const started = new Set<ChildProcess>();
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** A real one, which scrapes a server every two seconds. */
export class Prometheus {
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
  }

  /** `rules`: the file. The token is of whoever may read metrics. */
  static async start(server: ServerProcess, token: string, rules: string): Promise<Prometheus> {
    const folder = temporaryFolder();
    const [port] = await freePorts(1);
    const job = {
      job_name: 'binnacle',
      scheme: 'https',
      authorization: { credentials: token },
      tls_config: { insecure_skip_verify: true },
      static_configs: [{ targets: [`127.0.0.1:${server.port}`] }],
    };
    const config = { global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '2s' }, rule_files: [rules], scrape_configs: [job] };
    // JSON is YAML.
    writeFileSync(join(folder, 'prometheus.yaml'), JSON.stringify(config));
    const flags = [
      `--config.file=${folder}/prometheus.yaml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ];
    started.add(spawn(findPrometheus()!, flags, { stdio: 'ignore' }));
    const prometheus = new Prometheus(port!);
    await vi.waitFor(() => prometheus.query('up'), { timeout: 30_000, interval: 100 });
    return prometheus;
  }

  async query(expression: string): Promise<Answer['data']['result']> {
    const response = await fetch(`http://127.0.0.1:${this.#port}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`${expression}: ${text}`);
    return (JSON.parse(text) as Answer).data.result;
  }
}
