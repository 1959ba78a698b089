import { execFile } from 'node:child_process';
import { join } from 'node:path';

/** Runs `kubectl explain`; answers with its exit code and with all that it printed. */
export function runKubectl({ kubectl, server, token }, home, args) {
  const flags = ['--server', server, '--token', token, '--insecure-skip-tls-verify', 'explain', ...args.split(' ')];
  const env = { PATH: process.env.PATH, HOME: home, KUBECONFIG: join(home, 'none') };
  return new Promise((resolve) => {
    execFile(kubectl, flags, { timeout: 60_000, maxBuffer: 1 << 26, env }, (error, stdout, stderr) => {
      resolve({ exit: error ? (error.code ?? 1) : 0, printed: stdout + stderr });
    });
  });
}
