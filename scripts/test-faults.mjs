// npm run test:faults [-- --count=N]: injects N faults (200) into a server on each store, and checks what is left (test/faults).
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { count: { type: 'string', default: '200' } } });
if (!/^[1-9]\d{0,5}$/.test(values.count)) {
  console.error('error: --count takes a number of faults, from 1 to 999999');
  process.exit(1);
}
const { status } = spawnSync('npx', ['vitest', 'run', '--project=faults'], { stdio: 'inherit', env: { ...process.env, FAULT_INJECTIONS: values.count } });
process.exit(status ?? 1);
