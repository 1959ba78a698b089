/** Runs `count` requests made by `request(i)`, `inFlight` at a time; answers with their times. */
export async function drive({ count, inFlight }, request) {
  const timesMs = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < count) {
        const i = next++;
        const startMs = performance.now();
        await request(i);
        timesMs.push(performance.now() - startMs);
      }
    }),
  );
  timesMs.sort((a, b) => a - b);
  return { p50Ms: timesMs[timesMs.length >> 1], p99Ms: timesMs[Math.floor(timesMs.length * 0.99)] };
}
