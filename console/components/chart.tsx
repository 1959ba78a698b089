import { MAX_SAMPLES } from '../state/activity-feed.ts';

interface Series {
  name: string;
  values: readonly number[];
}

interface ChartProps {
  title: string;
  /** At most four; the first is in front. */
  series: readonly Series[];
  format: (value: number) => string;
  /** What the scale counts in: bytes are shown as mebibytes. */
  unit?: number;
}

const WIDTH = 320;
const HEIGHT = 84;

/** Lines over the last minutes, the newest at the right, and the newest values in words. */
export function Chart({ title, series, format, unit = 1 }: ChartProps) {
  const highest = Math.max(0, ...series.flatMap(({ values }) => values));
  const top = niceTop(highest / unit) * unit;
  const summary = series.map(({ name, values }) => `${name} ${format(values.at(-1) ?? 0)}`).join(', ');
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        <ul>
          {series.map(({ name, values }, index) => (
            <li key={name} class={`series-${index + 1}`}>
              {name} <strong>{format(values.at(-1) ?? 0)}</strong>
            </li>
          ))}
        </ul>
      </figcaption>
      <div class="plot">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${title}: now ${summary}`}>
          {[0.25, 0.5, 0.75].map((part) => (
            <line key={part} class="grid" x1={0} x2={WIDTH} y1={HEIGHT * part} y2={HEIGHT * part} />
          ))}
          {[...series.entries()].toReversed().map(([index, { name, values }]) => (
            <path key={name} class={`line series-${index + 1}`} d={linePath(values, top)} />
          ))}
        </svg>
        <span class="chart-top">{format(top)}</span>
      </div>
    </figure>
  );
}

/** A full chart has MAX_SAMPLES values; fewer begin at its right. */
function linePath(values: readonly number[], top: number): string {
  const shown = values.slice(-MAX_SAMPLES);
  const step = WIDTH / (MAX_SAMPLES - 1);
  const points = shown.map((value, index) => {
    const x = WIDTH - (shown.length - 1 - index) * step;
    return `${x.toFixed(1)} ${(HEIGHT - 2 - (value / top) * (HEIGHT - 6)).toFixed(1)}`;
  });
  return points.length === 0 ? '' : `M${points.join('L')}`;
}

/** 1, 2 or 5 times a power of ten: a scale that does not move with every value. */
export function niceTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((top) => top >= value)!;
}
