import { parseAccept } from '../../endpoints/negotiation.ts';
import type { ExpositionFormat } from '../../metrics/page.ts';
import { protobufFormat } from '../../metrics/protobuf.ts';
import { textFormat } from '../../metrics/text.ts';

export interface MetricsFormat {
  format: ExpositionFormat;
  contentType: string;
}

/** How names that are not plain may be written; ours all are, so that it makes no difference. */
const ESCAPINGS = new Set(['allow-utf-8', 'underscores', 'dots', 'values']);

/** What a client is answered in, that accepts this (prometheus/common/expfmt Negotiate). What nobody knows is answered as text. */
export function metricsFormat(accept: string | undefined): MetricsFormat {
  let escaping = 'underscores';
  for (const { type, subtype, params } of parseAccept(accept ?? '')) {
    const wanted = params.get('escaping') ?? '';
    if (ESCAPINGS.has(wanted)) escaping = wanted;
    const isFamily = params.get('proto') === 'io.prometheus.client.MetricFamily' && params.get('encoding') === 'delimited';
    if (type === 'application' && subtype === 'vnd.google.protobuf' && isFamily)
      return { format: protobufFormat, contentType: `${protobufFormat.contentType}; escaping=${escaping}` };
    if (type === 'text' && subtype === 'plain' && ['', '0.0.4'].includes(params.get('version') ?? '')) break;
  }
  return { format: textFormat, contentType: `${textFormat.contentType}; escaping=${escaping}` };
}

const CODING = /^\s*([^\s;,]+)\s*(?:;\s*q=([01](?:\.\d*)?)\s*)?$/;

/** Whether a client is answered compressed (client_golang/prometheus/promhttp): not where it likes the plain answer as much. What is not understood ends the list. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  let gzip = 0;
  let identity = 0;
  for (const item of acceptEncoding?.split(',') ?? []) {
    const [, coding, quality = '1'] = CODING.exec(item) ?? [];
    if (coding === undefined) break;
    if (coding === 'gzip' || coding === '*') gzip = Math.max(gzip, Number(quality));
    if (coding === 'identity' || coding === '*') identity = Math.max(identity, Number(quality));
  }
  return gzip > identity;
}
