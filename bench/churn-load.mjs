// Objects that come, change and go, in a process of its own; so many of them live at a time.
import { drive } from './drive.mjs';
import { LeanConnection } from './lean-http2.mjs';
import { configMap } from './objects.mjs';

const COLLECTION = '/api/v1/namespaces/default/configmaps';
const CONNECTIONS = 4;

process.on('message', ({ task, settings }) => {
  TASKS[task](settings).then(
    (result) => process.send(result),
    (error) => process.send({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));

const nameOf = (i) => `churned-${i}`;

async function connected({ port, token }, work) {
  const connections = Array.from({ length: CONNECTIONS }, () => new LeanConnection(port, token, { streamWindowBytes: 1 << 30 }));
  const times = await work((i, ...request) => connections[i % CONNECTIONS].request(...request));
  for (const connection of connections) connection.close();
  return times;
}

const TASKS = {
  fill: ({ valueBytes, count, inFlight, ...server }) =>
    connected(server, (request) => drive({ count, inFlight }, (i) => request(i, 'POST', COLLECTION, configMap(nameOf(i), valueBytes)))),

  /** Updates of what is there, one after the other. */
  update: ({ valueBytes, live, count, inFlight, ...server }) =>
    connected(server, (request) =>
      drive({ count, inFlight }, (i) => {
        const changed = nameOf(i % live);
        return request(i, 'PUT', `${COLLECTION}/${changed}`, configMap(changed, valueBytes).replace('"app":"bench"', `"app":"bench","n":"${i}"`));
      }),
    ),

  /** Makes one more, changes one that is `live / 2` old, and deletes the oldest. */
  churn: ({ valueBytes, live, rounds, inFlight, ...server }) =>
    connected(server, (request) =>
      drive({ count: rounds, inFlight }, async (i) => {
        await request(i, 'POST', COLLECTION, configMap(nameOf(live + i), valueBytes));
        const changed = nameOf(i + live / 2);
        await request(i, 'PUT', `${COLLECTION}/${changed}`, configMap(changed, valueBytes).replace('"app":"bench"', `"app":"bench","n":"${i}"`));
        await request(i, 'DELETE', `${COLLECTION}/${nameOf(i)}`).catch(succeeded);
      }),
    ),
};

/** A Status is what a configmap's deletion is answered with. */
function succeeded(error) {
  if (!error.message.includes('"status":"Success"')) throw error;
}
