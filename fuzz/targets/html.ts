import { HtmlLinks } from '../../src/serving/proxy/html-links.ts';
import { rewrittenLink } from '../../src/serving/proxy/links.ts';
import type { FuzzTarget } from '../target.ts';

const PLACE = { prefix: '/api/v1/namespaces/a/pods/b/proxy', backendHost: '10.0.0.1:80', clientHost: 'api.example.org' };

async function rewrite(pieces: readonly Buffer[]): Promise<string> {
  const links = new HtmlLinks((link) => rewrittenLink(link, PLACE));
  let out = '';
  links.on('data', (piece: Buffer) => (out += piece.toString('latin1')));
  for (const piece of pieces) links.write(piece);
  links.end();
  await new Promise((resolve) => links.once('end', resolve));
  return out;
}

/** A proxied page, whole and in pieces. */
export const html: FuzzTarget = {
  name: 'html',
  seeds: () => [
    '<html><body background="/b"><a href="/x?y=z#f">t</a><img src=\'i.png\' alt=x></body></html>',
    '<!-- <a href="/no"> --><script src="/s.js">"<a href=/no>"</script><style>x</style><a href = /plain >',
    '<!DOCTYPE html><form action="https://10.0.0.1:80/p"><input formaction=q><TEXTAREA><a href=/t></textarea>&amp;',
  ],
  tokens: [
    '<',
    '>',
    '</',
    '/>',
    '<!--',
    '-->',
    '<a href="',
    '"',
    "'",
    '=',
    ' ',
    '<script>',
    '</script>',
    '<!',
    '<?',
    '&',
    '&#x41;',
    '\n',
    '<title',
    '://',
    '..',
    '%',
  ],
  refusals: [],
  async run(input) {
    await rewrite([input]);
    const middle = input.length >> 1;
    return async () => void (await rewrite([input.subarray(0, middle), input.subarray(middle)]));
  },
};
