// A supervised server that is killed with 10,000 objects in its store: how long its clients are without it.
import { readFileSync } from 'node:fs';
import { cpuMs } from './server.mjs';

const OBJECTS = 10_000;
const KILLS = 5;
/** The supervisor waits before it starts a server again that did not live for 5 s. */
const LIFE_MS = 6_000;
const LIMIT_MS = 180_000;
const RESTART_LIMIT_MS = 1_000;

/** `withServer(measure, settings)` runs a server, `record` takes a line of the result. */
export const supervisedRestarts = ({ withServer, record, valueBytes }) =>
  withServer(
    async (server, load) => {
      const half = { count: OBJECTS / 2, inFlight: 64 };
      await load.run('create', { ...half, prefix: 'made-', valueBytes });
      await load.run('post', {
        path: '/api/v1/namespaces/default/serviceaccounts',
        body: '{"metadata":{"name":"default"}}',
        prefix: '',
        count: 1,
        inFlight: 1,
      });
      await load.run('create', { ...half, prefix: 'pod-', resource: 'pods' });
      const times = [];
      const cpuTimes = [];
      for (let kill = 0; kill < KILLS; kill++) {
        await new Promise((resolve) => setTimeout(resolve, LIFE_MS));
        const startMs = performance.now();
        process.kill(servingProcess(server.pid), 'SIGKILL');
        await gone(server);
        while (!(await server.isReady()));
        times.push(performance.now() - startMs);
        cpuTimes.push(cpuMs(servingProcess(server.pid)));
      }
      const all = times.toSorted((a, b) => a - b);
      const more = `of ${KILLS}: ${all.map((ms) => ms.toFixed(0)).join(' ')}`;
      record(`supervised, killed with ${OBJECTS} objects, to ready`, all[KILLS >> 1], 'ms', RESTART_LIMIT_MS, more);
      record('CPU until then', cpuTimes.toSorted((a, b) => a - b)[KILLS >> 1], 'ms');
    },
    { flags: ['--supervised'], limitMs: LIMIT_MS },
  );

/** The supervisor's only child. */
const servingProcess = (pid) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());

/** A killed process may still answer what its kernel has accepted for it. */
async function gone(server) {
  while (await server.isReady());
}
