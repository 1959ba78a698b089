// What a history costs: the CPU of a write with it and without, and what it takes by itself.
const LIVE = 1_000;
const IN_FLIGHT = 64;
const VALUE_BYTES = 1024;
/** V8 has compiled all of it by then. */
const WARM_UPDATES = 30_000;
/** V8 collects all of its memory after some 5,000 of them, which takes as long as 500: shorter rounds have that or have it not. */
const UPDATES_A_ROUND = 10_000;
const ROUNDS = 8;
/** The history writes what it was handed a second later, and the store tidies up as long after its last write. */
const REST_MS = 2_200;
const LIMIT_US = 15;

export async function history({ withServer, record, fromSource }) {
  await updates({ withServer, record });
  await (await fromSource('history-writes')).historyWrites(record);
  await (await fromSource('history-costs')).historyCosts(record);
}

/** Both servers stay up, and are measured by turns: one that has just been started differs from the next by more than the history costs. */
async function updates({ withServer, record }) {
  const more = { load: './churn-load.mjs' };
  await withServer(
    (without, withoutLoad) =>
      withServer(
        async (recording, recordingLoad) => {
          const sides = [new Side('without', without, withoutLoad), new Side('with', recording, recordingLoad)];
          for (const side of sides) await side.warm();
          for (let round = 0; round < ROUNDS; round++) for (const side of sides) await side.measure();
          const [alone, recorded] = sides;
          record('history: an update of 1 KiB costs more', recorded.medianUs - alone.medianUs, 'µs', LIMIT_US, `medians of ${alone}; ${recorded}`);
        },
        { ...more, flags: ['--history=24h,256Mi'] },
      ),
    more,
  );
}

/** A server, and what an update has cost it in each round. */
class Side {
  #name;
  #server;
  #load;
  #roundsUs = [];

  constructor(name, server, load) {
    this.#name = name;
    this.#server = server;
    this.#load = load;
  }

  async warm() {
    await this.#load.run('fill', { valueBytes: VALUE_BYTES, count: LIVE, inFlight: IN_FLIGHT });
    await this.#update(WARM_UPDATES);
  }

  async measure() {
    const beforeMs = this.#server.cpuMs();
    await this.#update(UPDATES_A_ROUND);
    this.#roundsUs.push(((this.#server.cpuMs() - beforeMs) * 1000) / UPDATES_A_ROUND);
  }

  /** With all that is done behind them. */
  async #update(count) {
    await this.#load.run('update', { valueBytes: VALUE_BYTES, live: LIVE, inFlight: IN_FLIGHT, count });
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
  }

  get medianUs() {
    const sorted = this.#roundsUs.toSorted((a, b) => a - b);
    return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
  }

  toString() {
    return `${this.#name} ${this.#roundsUs.map((us) => us.toFixed(0)).join(' ')}`;
  }
}
