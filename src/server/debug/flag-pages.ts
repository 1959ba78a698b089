import type { Handler } from '../../endpoints/request.ts';
import { quote } from '../../util/go-quote.ts';
import type { DebugRoutes } from './profile-pages.ts';

/** The verbosity of the log, which may change while the server runs. */
export interface VerbositySetting {
  verbosity: number;
}

const NO_SNIFFING = { 'x-content-type-options': 'nosniff' };
const MAX_UINT32 = 2 ** 32 - 1;
const MAX_INT32 = 2 ** 31 - 1;
/** Longer bodies are no number. */
const MAX_BODY_BYTES = 1024;

const INDEX = `<html>
<head>
<title>/debug/flags/</title>
</head>
<body>
/debug/flags/<br>
<br>
flags:<br>
<table>
<tr>v<br>
</table>
<br>
full flags configurable<br>
</body>
</html>
`;

/** `/debug/flags/v`: the log's verbosity, to be set by PUT (apiserver/pkg/server/routes/flags.go) and, unlike upstream's, read by GET. */
export function flagRoutes(setting: VerbositySetting): DebugRoutes {
  const index: Handler = ({ exchange }) => exchange.respond(200, { 'content-type': 'text/html; charset=utf-8' }, INDEX);
  return {
    paths: new Map<string, Handler>([
      ['/debug/flags', index],
      ['/debug/flags/v', verbosityPage(setting)],
    ]),
    prefixes: new Map<string, Handler>([['/debug/flags/', index]]),
  };
}

function verbosityPage(setting: VerbositySetting): Handler {
  return async ({ exchange }) => {
    const respond = (status: number, text: string): void => exchange.respond(status, { ...NO_SNIFFING, 'content-type': 'text/plain' }, `${text}\n`);
    if (exchange.method === 'GET') return respond(200, String(setting.verbosity));
    if (exchange.method !== 'PUT') return respond(406, 'unsupported http method');
    const text = (await exchange.readBody(MAX_BODY_BYTES)).toString();
    const refusal = refusalOf(text);
    if (refusal !== undefined) return respond(400, refusal);
    setting.verbosity = Number(text);
    respond(200, `successfully set klog.logging.verbosity to ${text}`);
  };
}

/** Go's strconv, of 32 bits without a sign, then of klog's level, which has one. */
function refusalOf(text: string): string | undefined {
  if (!/^\d+$/.test(text)) return `strconv.ParseUint: parsing ${quote(text)}: invalid syntax`;
  if (Number(text) > MAX_UINT32) return `strconv.ParseUint: parsing ${quote(text)}: value out of range`;
  if (Number(text) > MAX_INT32) return `failed set klog.logging.verbosity ${text}: strconv.ParseInt: parsing ${quote(text)}: value out of range`;
  return undefined;
}
