// LMDB's package within the bundle: its JavaScript, for which Node would look through eleven files, is loaded with the rest, from V8's code cache.
// Its native code stays in its own package, where npm installs what fits the machine; so both must be of one version (package.json names it exactly).
import { readFileSync } from 'node:fs';

const LMDB = /^lmdb$/;
const { version: LMDB_VERSION } = JSON.parse(readFileSync('node_modules/lmdb/package.json', 'utf8'));
/** What finds the native code, as `node-gyp-build` does. */
const LOADER = /^node-gyp-build-optional-packages$/;
/** They encode and cache values, if asked to; ours are bytes, and nothing of them is called. */
const UNUSED = /^(msgpackr|weak-lru-cache)$/;

/** Of which there is something in the bundle. */
export const LMDB_PACKAGES = ['lmdb', '@harperfast/extended-iterable', 'ordered-binary'];

export const bundledLmdb = {
  name: 'bundled-lmdb',
  setup({ onResolve, onLoad, resolve }) {
    const namespace = 'bundled-lmdb';
    // As CommonJS, which is one file.
    onResolve({ filter: LMDB }, ({ resolveDir, pluginData }) =>
      pluginData === namespace ? undefined : resolve('lmdb', { resolveDir, kind: 'require-call', pluginData: namespace }),
    );
    onResolve({ filter: LOADER }, () => ({ path: 'loader', namespace }));
    onResolve({ filter: UNUSED }, () => ({ path: 'unused', namespace }));
    onLoad({ filter: /^loader$/, namespace }, () => ({ contents: LOADER_CODE }));
    onLoad({ filter: /^unused$/, namespace }, () => ({ contents: 'module.exports = {};' }));
  },
};

/**
 * The file of a usual machine by its name: Linux with GNU's libc, which `ldd` tells (the package's own way to find it also reads that). All others the
 * way that the package finds them.
 */
const LOADER_CODE = `
const { existsSync, readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');

module.exports = function loadNativeCode() {
  const folder = createRequire(__filename).resolve.paths('lmdb').map((path) => join(path, 'lmdb')).find((path) => existsSync(path));
  if (folder === undefined) throw missing('it is not in any node_modules above ' + __dirname);
  const requireFromLmdb = createRequire(join(folder, 'package.json'));
  try {
    return loadUsual(requireFromLmdb) ?? requireFromLmdb('node-gyp-build-optional-packages')(folder);
  } catch (error) {
    throw missing(error.message.split('\\n', 1)[0]);
  }
};

const missing = (reason) =>
  new Error(
    'the embedded store needs the npm package lmdb with its native code: ' + reason +
      '; install it with \`npm install lmdb@${LMDB_VERSION}\`, or keep objects elsewhere with --storage-backend=memory or --etcd-servers',
  );

function loadUsual(requireFromLmdb) {
  try {
    const { platform, arch, versions } = process;
    if (platform !== 'linux' || versions.bun || versions.deno || !readFileSync('/usr/bin/ldd', 'latin1').includes('GNU C Library')) return undefined;
    return requireFromLmdb('@lmdb/lmdb-linux-' + arch + '/node.abi' + versions.modules + '.glibc.node');
  } catch {
    return undefined;
  }
}
`;
